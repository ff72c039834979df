"""What code alone contradicts: how often it is right, and what it catches of planted errors.

Run ``python -m benchmarks.figures DATA``, the folder with summedits, fever-symmetric,
fool-me-twice, wice and halueval-qa as their projects publish them. Nothing here calls a model.
"""

import argparse
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ancrage.claims import Agreement, compare_figures, extract_claims
from ancrage.nli.labelled import read_dataset
from ancrage.verify import ContextItem, Verdict
from ancrage.verify.code import Context
from ancrage.verify.decide import settle

Pair = tuple[str, str]
"""A claim and what it is held against."""
_NUMBER = re.compile(r"(?<![\w.,-])\d[\d,]*(?:\.\d+)?(?!\w)")


def rows(path: Path) -> Iterator[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    with path.open(encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def flagged(answer: str, context: list[str]) -> bool:
    """Whether code contradicts a claim of an answer."""
    held = Context(tuple(ContextItem(text=text) for text in context))
    verdicts = (settle(claim, (), held) for claim in extract_claims(answer))
    return any(verdict.verdict is Verdict.CONTRADICTED for verdict in verdicts)


def contradicted(pairs: list[Pair]) -> int:
    """How many claims code contradicts."""
    return sum(compare_figures(*pair).verdict is Agreement.CONTRADICTS for pair in pairs)


def planted(pairs: list[Pair]) -> Iterator[Pair]:
    """Claims that hold, each with one of its numbers changed."""
    drawn = random.Random(0)
    for claim, context in pairs:
        found = list(_NUMBER.finditer(claim))
        if not found:
            continue
        match = drawn.choice(found)
        raw = match.group().rstrip(",")
        value = float(raw.replace(",", ""))
        if 1000 < value < 2100:  # a year
            new = value + drawn.choice([-1, 1]) * drawn.randint(2, 20)
        else:
            new = value + drawn.choice([-1, 1]) * max(2, round(value * drawn.uniform(0.1, 0.5)))
        new = new if new > 0 else value * 2 + 1
        written = f"{new:.1f}" if "." in raw else f"{int(new):,}" if "," in raw else str(int(new))
        yield claim[: match.start()] + written + claim[match.start() + len(raw) :], context


def main() -> None:
    """Print one line a set."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path)
    data = parser.parse_args().data
    hold: list[Pair] = []
    for name in ("news", "samsum"):
        summaries = list(rows(data / "summedits" / f"{name}.jsonl"))
        told = [(row["hallucinated"], flagged(row["answer"], row["context"])) for row in summaries]
        print(
            f"summedits {name}: {len(told)} summaries, half with an error; flagged "
            f"{sum(f for _, f in told)}, of them {sum(f for wrong, f in told if wrong)} rightly"
        )
        for row in summaries:
            if not row["hallucinated"]:
                text = "\n".join(row["context"])
                hold += [(claim.statement, text) for claim in extract_claims(row["answer"])]
    for path in ("fever-symmetric/fever_symmetric_test", "fool-me-twice/test"):
        items = read_dataset(data / f"{path}.jsonl").items
        right = [(item.claim, item.premise) for item in items if not item.wrong]
        wrong = [(item.claim, item.premise) for item in items if item.wrong]
        print(
            f"{path}: contradicted {contradicted(right)} of {len(right)} supported and "
            f"{contradicted(wrong)} of {len(wrong)} refuted claims"
        )
        hold += right
    supported = [
        (row["claim"], " ".join(row["evidence"]))
        for row in rows(data / "wice" / "oracle_claim_dev.jsonl")
        if row["label"] == "supported"
    ]
    print(f"wice: contradicted {contradicted(supported)} of {len(supported)} supported claims")
    hold += supported
    answers = [
        (f"{row['question']} {row['right_answer']}", row["knowledge"])
        for path in sorted((data / "halueval-qa").glob("*.json"))
        for row in rows(path)
    ]
    print(
        f"halueval: contradicted {contradicted(answers)} of {len(answers)} right answers, "
        "question and answer as one claim"
    )
    altered = list(planted(hold))
    agreed = sum(compare_figures(*pair).verdict is Agreement.AGREES for pair in altered)
    print(
        f"planted: of {len(altered)} claims that hold with one number changed, contradicted "
        f"{contradicted(altered)}, called in agreement {agreed}"
    )


if __name__ == "__main__":
    main()
