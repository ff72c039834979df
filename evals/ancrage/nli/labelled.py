"""Labelled claims for calibration: TruthfulQA, FEVER, WiCE and three-class files.

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

_PSEUDO = 4
"""Claims in a pseudo-response, where the file's claims stand alone."""
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
    """The labelled claims of ``path``: a TruthfulQA CSV, or JSONL or TSV rows with a claim, its
    reference and a label, as FEVER, WiCE, three-class files and our own have them. ``limit`` keeps
    that many responses.

    Raises:
        UsageError: there is no such file, its columns are none of these, or its usable claims are
            all right or all wrong.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    readers = {".csv": _truthfulqa, ".jsonl": _rows_of_claims, ".tsv": _rows_of_claims}
    if path.suffix not in readers:
        raise UsageError(f"{path}: expected .csv (TruthfulQA), .jsonl or .tsv")
    data = readers[path.suffix](path)
    if len({item.wrong for item in data.items}) < 2:
        kind = f"{len(data.items)} usable claims and none of the other kind"
        raise UsageError(f"{path}: {kind if data.items else 'no usable row'}: {data.told()}")
    if limit is not None:
        kept = set(list(dict.fromkeys(item.response for item in data.items))[:limit])
        items = tuple(item for item in data.items if item.response in kept)
        return Dataset(data.name, items, data.dropped, data.grouping)
    return data


def _truthfulqa(path: Path) -> Dataset:
    """One response a question: the reference is it and its best answer, the claims the others."""
    dropped: Counter[str] = Counter()
    items: list[Item] = []
    seen: set[str] = set()
    columns = {"Question", "Best Answer", "Correct Answers", "Incorrect Answers"}
    for row in _table(path, ",", columns):
        question, best = row["Question"].strip(), row["Best Answer"].strip()
        right, wrong = _split(row["Correct Answers"]), _split(row["Incorrect Answers"])
        if not (question and best and right and wrong):
            dropped["incomplete row"] += 1
            continue
        if _key(question) in seen:
            dropped["duplicate question"] += 1
            continue
        seen.add(_key(question))
        told = {_key(best)}
        for claim, is_wrong in [*((c, False) for c in right), *((c, True) for c in wrong)]:
            if _key(claim) in told:
                dropped["claim that repeats the reference or another claim"] += 1
                continue
            told.add(_key(claim))
            items.append(
                Item(
                    response=question,
                    question=question,
                    premise=f"{question} {best}",
                    claim=claim,
                    wrong=is_wrong,
                    label="incorrect" if is_wrong else "correct",
                )
            )
    return Dataset("TruthfulQA", tuple(items), dict(dropped), "question")


def _rows_of_claims(path: Path) -> Dataset:
    dropped: Counter[str] = Counter()
    items: list[Item] = []
    rows = _jsonl(path) if path.suffix == ".jsonl" else _table(path, "\t", set())
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
    """Duplicates left out; claims that stand alone put into pseudo-responses, in a seeded order."""
    unique = list({(_key(i.premise), _key(i.claim)): i for i in reversed(items)}.values())[::-1]
    if len(unique) < len(items):
        dropped["repeated"] += len(items) - len(unique)
    name = f"{path.parent.name}/{path.stem}"
    if items and all(item.response for item in items):
        order = {name: i for i, name in enumerate(dict.fromkeys(i.response for i in unique))}
        unique.sort(key=lambda item: order[item.response])
        return Dataset(name, tuple(unique), dict(dropped), "the file's responses, pages or answers")
    order_of = np.random.default_rng(0).permutation(len(unique))
    named = [
        item.model_copy(update={"response": f"pseudo-{i // _PSEUDO:05}"})
        for i, item in enumerate(unique[j] for j in order_of)
    ]
    return Dataset(name, tuple(named), dict(dropped), f"{_PSEUDO} at random")


def _jsonl(path: Path) -> Iterator[Mapping[str, Any]]:
    for number, row in json_lines(path):
        if not isinstance(row, dict):
            raise UsageError(f"{path}:{number}: not an object")
        yield row


def _table(path: Path, delimiter: str, needed: set[str]) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as file:
        reader = csv.DictReader(file, delimiter=delimiter)
        missing = sorted(needed - set(reader.fieldnames or ()))
        if missing:
            raise UsageError(f"{path}:1: no column {missing[0]!r}")
        for row in reader:
            yield {key: value or "" for key, value in row.items() if key is not None}


def _split(answers: str) -> list[str]:
    return [part.strip() for part in answers.split(";") if part.strip()]


def _key(text: str) -> str:
    return " ".join(text.lower().strip(" .?!").split())
