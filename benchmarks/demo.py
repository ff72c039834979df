"""Precision and recall of the code checks on the demonstration snapshot, per failure mode.

Run ``python -m benchmarks.demo``. The labels are ``snapshots/demo/labels.jsonl``, made by hand.
"""

import asyncio
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.runs import recorded
from ancrage.runs.scoring import evaluate
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies

DEMO = Path(__file__).parents[1] / "snapshots" / "demo"
Key = tuple[str, str, str]
"""Case, failure mode, passage."""


@dataclass
class Agreement:
    """Findings and labels of each mode, as multisets of (case, mode, passage)."""

    both: Counter[Key] = field(default_factory=Counter)
    false_alarms: Counter[Key] = field(default_factory=Counter)
    missed: Counter[Key] = field(default_factory=Counter)
    diagnoses: list[tuple[Key, str | None, str | None]] = field(default_factory=list)
    """Found and labelled diagnosis, where both agree on the finding and they differ."""

    def modes(self) -> Iterator[tuple[str, int, int, int]]:
        """(mode, agreed, false alarms, missed) for each mode met."""
        for mode in sorted({key[1] for key in self.both + self.false_alarms + self.missed}):
            counts = (
                sum(n for key, n in counter.items() if key[1] == mode)
                for counter in (self.both, self.false_alarms, self.missed)
            )
            agreed, false, missed = counts
            yield mode, agreed, false, missed


async def compare() -> Agreement:
    """Run the code checks on the demonstration snapshot and hold them against the labels."""
    snapshot = open_snapshot(DEMO)
    sources = Studies(snapshot, Config(None, {}))
    checks = load_checks(Config(None, {}))
    found: Counter[Key] = Counter()
    found_diagnosis: dict[Key, object] = {}
    for case in snapshot.cases():
        entry = await evaluate(sources.subject(case, await recorded(case)), checks)
        for evaluation in entry.evaluations:
            for each in evaluation.findings:
                key = (case.id, each.mode, each.evidence.text)
                found[key] += 1
                found_diagnosis[key] = each.details.get("diagnosis")
    labelled: Counter[Key] = Counter()
    result = Agreement()
    for line in (DEMO / "labels.jsonl").read_text(encoding="utf-8").splitlines():
        line_ = json.loads(line)
        for label in line_["findings"]:
            key = (line_["case_id"], label["mode"], label["passage"])
            labelled[key] += 1
            diagnosis = label.get("diagnosis")
            if diagnosis and key in found and found_diagnosis[key] != diagnosis:
                result.diagnoses.append((key, str(found_diagnosis[key]), diagnosis))
    result.both = found & labelled
    result.false_alarms = found - labelled
    result.missed = labelled - found
    return result


if __name__ == "__main__":
    agreement = asyncio.run(compare())
    print("mode                    found  false  missed  precision  recall")
    for mode, agreed, false, missed in agreement.modes():
        precision = agreed / (agreed + false) if agreed + false else float("nan")
        recall = agreed / (agreed + missed) if agreed + missed else float("nan")
        print(f"{mode:22} {agreed:6} {false:6} {missed:7}  {precision:9.3f}  {recall:6.3f}")
    for name, keys in (("false alarm", agreement.false_alarms), ("missed", agreement.missed)):
        for key in sorted(keys):
            print(f"{name}: {key}")
    for key, got, wanted in agreement.diagnoses:
        print(f"diagnosis {got} where the label says {wanted}: {key}")
