"""Labelled claims for calibration, in the columns of FEVER, WiCE and three-class files too.

A claim is wrong where its reference does not support it. What cannot be used is counted by reason.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.files import json_lines
from ancrage.nli.calibrate import Labelled
from ancrage.nli.thresholds import Floats, Ints

STANDING_ALONE = "each claim by itself"
"""The grouping of a file whose claims belong to no response."""
_CLAIM = ("claim", "hypothesis", "statement", "sentence2", "text", "answer")
_PREMISE = ("premise", "gold_evidence", "evidence", "reference", "context", "sentence1")
_LABEL = ("label_text", "label", "gold_label", "wrong", "hallucinated", "contradiction")
_RESPONSE = ("response", "wikipedia_page")
_WRONG = {
    "supports": False, "supported": False, "entailment": False, "right": False, "correct": False,
    "refutes": True, "refuted": True, "contradiction": True, "neutral": True, "wrong": True,
    "incorrect": True, "not_supported": True, "partially_supported": True,
}  # fmt: skip


class Item(Frozen):
    """One claim with its reference and its label."""

    response: str
    question: str = ""
    premise: str
    claim: str
    wrong: bool
    label: str


@dataclass(frozen=True)
class Dataset:
    """Claims grouped in responses, in order, and what was left out of the file."""

    name: str
    items: tuple[Item, ...]
    dropped: dict[str, int]
    """How many rows or claims were left out, by reason."""
    grouping: str
    """How claims form responses."""

    def labelled(self, probabilities: Floats, windows: Ints) -> Labelled:
        """The claims that have probabilities, as calibration and the benchmark take them."""
        known = np.flatnonzero(~np.isnan(probabilities).any(axis=1))
        items = [self.items[i] for i in known]
        return Labelled(
            probabilities=probabilities[known],
            wrong=np.array([item.wrong for item in items], dtype=bool),
            sizes=np.array([*Counter(item.response for item in items).values()], dtype=np.int64),
            windows=windows[known],
        )

    def told(self) -> str:
        """One sentence: what was read, and what was left out and why."""
        wrong = sum(item.wrong for item in self.items)
        left_out = ", ".join(f"{count} {reason}" for reason, count in self.dropped.items())
        return (
            f"{self.name}: {len(self.items)} claims, {wrong} wrong, grouped by {self.grouping}; "
            f"left out: {left_out or 'nothing'}"
        )


def read_dataset(path: str | Path, *, limit: int | None = None) -> Dataset:
    """The labelled claims of ``path``: JSONL, CSV or TSV rows with a claim, its reference and a
    label, as FEVER, WiCE, three-class files and our own have them. ``limit`` keeps that many
    responses.

    Raises:
        UsageError: there is no such file, its columns are none of these, or its usable claims are
            all right or all wrong.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    if path.suffix not in (".csv", ".jsonl", ".tsv"):
        raise UsageError(f"{path}: expected .jsonl, .csv or .tsv")
    data = _rows_of_claims(path)
    if len({item.wrong for item in data.items}) < 2:
        kind = f"{len(data.items)} usable claims and none of the other kind"
        raise UsageError(f"{path}: {kind if data.items else 'no usable row'}: {data.told()}")
    if limit is not None:
        kept = set(list(dict.fromkeys(item.response for item in data.items))[:limit])
        items = tuple(item for item in data.items if item.response in kept)
        return Dataset(data.name, items, data.dropped, data.grouping)
    return data


def _rows_of_claims(path: Path) -> Dataset:
    dropped: Counter[str] = Counter()
    items: list[Item] = []
    rows = _jsonl(path) if path.suffix == ".jsonl" else _table(path)
    for number, row in enumerate(rows, 1):
        claim, label = _first(row, _CLAIM), _label(row)
        if not isinstance(claim, str):
            raise UsageError(f"{path}:{number}: claim: missing")
        premise = _premise(row)
        if not claim.strip():
            dropped["without a claim"] += 1
        elif not premise.strip():
            dropped["without the text of their evidence"] += 1
        elif label not in _WRONG:
            dropped[f"labelled {label or 'nothing'!r}, neither right nor wrong"] += 1
        else:
            whole = "answer" in row and claim == row["answer"]
            items.append(
                Item(
                    response=str(_first(row, _RESPONSE) or (f"answer {number}" if whole else "")),
                    premise=premise,
                    claim=claim,
                    wrong=_WRONG[label],
                    label=label,
                )
            )
    return _grouped(path, items, dropped)


def _first(row: Mapping[str, Any], names: tuple[str, ...]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _label(row: Mapping[str, Any]) -> str:
    label = _first(row, _LABEL)
    if isinstance(label, bool | int) and label in (0, 1) and "label" not in row:
        return "wrong" if label else "right"
    return str(label if label is not None else "").strip().lower()


def _premise(row: Mapping[str, Any]) -> str:
    """The evidence as text; FEVER's own file gives the ids of sentences, which are none."""
    found = _first(row, _PREMISE)
    parts = found if isinstance(found, list) else [found]
    texts = [part.get("text") if isinstance(part, dict) else part for part in parts]
    return " ".join(text for text in texts if isinstance(text, str))


def _grouped(path: Path, items: list[Item], dropped: "Counter[str]") -> Dataset:
    """The items without duplicates, those of a response together."""
    unique = list({(key_of(i.premise), key_of(i.claim)): i for i in reversed(items)}.values())[::-1]
    if len(unique) < len(items):
        dropped["repeated"] += len(items) - len(unique)
    name = f"{path.parent.name}/{path.stem}".lstrip("/")
    grouping = "the file's responses or pages"
    if not all(item.response for item in items):
        grouping = STANDING_ALONE
        unique = [
            item.model_copy(update={"response": f"claim {number}"})
            for number, item in enumerate(unique, 1)
        ]
    order = {name: i for i, name in enumerate(dict.fromkeys(i.response for i in unique))}
    unique.sort(key=lambda item: order[item.response])
    return Dataset(name, tuple(unique), dict(dropped), grouping)


def _jsonl(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, row in json_lines(path):
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: not an object")
        yield row


def _table(path: Path) -> Iterator[Mapping[str, Any]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        yield from csv.DictReader(file, delimiter="\t" if path.suffix == ".tsv" else ",")


def key_of(text: str) -> str:
    """What two claims are the same by."""
    return " ".join(text.lower().strip(" .?!").split())
