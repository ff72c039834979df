"""How many answers a second the code checks audit, beside the same work done the plain way.

Run ``python -m benchmarks.checks``. The demonstration snapshot is audited ten times over through
the loop that ``invoke experiment`` runs (journals, scores, findings), then by a plain script that
only looks each quote up with ``in`` after normalising both sides on every call.
"""

import asyncio
import re
import tempfile
import time
import unicodedata
from collections.abc import Iterator
from pathlib import Path

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import Case, Study
from ancrage.runs import create_run, recorded, run_experiment
from ancrage.snapshot import open_snapshot, write_snapshot
from ancrage.studies import Studies

DEMO = Path(__file__).parents[1] / "snapshots" / "demo"
TIMES = 10
QUOTED = re.compile(r"[«“\"]\s*([^«»“”\"]+?)\s*[»”\"]\s*\[[^\]]*?(M-\d+)[^\]]*\]")


def repeated(cases: list[Case]) -> Iterator[Case]:
    """The cases, ``TIMES`` over, under ids of their own."""
    for turn in range(TIMES):
        for case in cases:
            yield case.model_copy(update={"id": f"{turn}-{case.id}"})


def plain(cases: list[Case], studies: dict[str, Study]) -> int:
    """Quotes that fail a look-up written in ten lines."""
    failed = 0
    for case in repeated(cases):
        study = studies.get(case.study_id or "")
        if not case.output or not study:
            continue
        texts = {message.id: message.text for message in study.messages}
        for words, message in QUOTED.findall(case.output.text):
            source = unicodedata.normalize("NFKC", texts.get(message, "")).casefold()
            failed += unicodedata.normalize("NFKC", words).casefold() not in source
    return failed


def main() -> None:
    """Print answers a second of both, and their ratio."""
    demo = open_snapshot(DEMO)
    cases = list(demo.cases())
    ids = {case.study_id for case in cases if case.study_id}
    studies = {study.id: study for each in ids if (study := demo.study(each))}
    with tempfile.TemporaryDirectory() as folder:
        write_snapshot(Path(folder) / "snap", repeated(cases), studies.get, source="benchmark")
        snapshot = open_snapshot(Path(folder) / "snap")
        config = Config(None, {})
        run = create_run(snapshot, kind="audit", root=Path(folder) / "runs")
        start = time.perf_counter()
        sources = Studies(snapshot, config)
        asyncio.run(run_experiment(run, snapshot.cases(), recorded, load_checks(config), sources))
        ours = time.perf_counter() - start
    start = time.perf_counter()
    plain(cases, studies)
    theirs = time.perf_counter() - start
    count = TIMES * len(cases)
    print(f"audit, all checks, journals:  {count / ours:8,.0f} answers/s")
    print(f"plain look-up of quotes only: {count / theirs:8,.0f} answers/s")
    print(f"the audit takes x{ours / theirs:.1f} the time of the plain look-up")


if __name__ == "__main__":
    main()
