"""Labelled claims for calibration and the benchmark: TruthfulQA, FEVER-style, three-class files."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.nli.calibrate import Labelled
from ancrage.nli.thresholds import Floats, Ints

_PSEUDO = 4
"""Claims in a pseudo-response, where the file's claims stand alone."""


class Item(Frozen):
    """One claim with its reference and its label."""

    response: str
    domain: str = ""
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
        """The claims with their probabilities, as calibration and the benchmark take them."""
        names = list(dict.fromkeys(item.response for item in self.items))
        counts = Counter(item.response for item in self.items)
        domain = {item.response: item.domain for item in self.items}
        return Labelled(
            probabilities=probabilities,
            wrong=np.array([item.wrong for item in self.items], dtype=bool),
            sizes=np.array([counts[name] for name in names], dtype=np.int64),
            domains=tuple(domain[name] for name in names),
            windows=windows,
        )


def read_dataset(path: str | Path, *, limit: int | None = None) -> Dataset:
    """The labelled claims of ``path``: a TruthfulQA CSV, a FEVER-style JSONL (claim, evidence,
    label), a TSV with premise, hypothesis and label, or our own JSONL (response, premise, claim,
    label). ``limit`` keeps that many responses.

    Raises:
        UsageError: there is no such file, or its columns are none of these.
    """
    path = Path(path)
    if not path.is_file():
        raise UsageError(f"{path}: no such file")
    readers: dict[str, Callable[[Path], Dataset]] = {
        ".csv": _truthfulqa,
        ".jsonl": _jsonl,
        ".tsv": _tsv,
    }
    if path.suffix not in readers:
        raise UsageError(f"{path}: expected .csv (TruthfulQA), .jsonl or .tsv")
    data = readers[path.suffix](path)
    if not data.items:
        raise UsageError(f"{path}: no usable row ({data.dropped or 'the file is empty'})")
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
    columns = {"Question", "Best Answer", "Correct Answers", "Incorrect Answers", "Category"}
    for row in _rows(path, ",", columns):
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
                    domain=row["Category"].strip(),
                    question=question,
                    premise=f"{question} {best}",
                    claim=claim,
                    wrong=is_wrong,
                    label="incorrect" if is_wrong else "correct",
                )
            )
    return Dataset("TruthfulQA", tuple(items), dict(dropped), "one question, all its answers")


_WRONG = {
    "supports": False, "refutes": True, "not enough info": True, "supported": False,
    "refuted": True, "entailment": False, "neutral": True, "contradiction": True, "right": False,
    "wrong": True, "correct": False, "incorrect": True,
}  # fmt: skip


def _jsonl(path: Path) -> Dataset:
    dropped: Counter[str] = Counter()
    items: list[Item] = []
    grouped = False
    with path.open(encoding="utf-8-sig") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError:
                raise UsageError(f"{path}:{number}: not JSON") from None
            claim = (row.get("claim") or row.get("text")) if isinstance(row, dict) else None
            if not isinstance(claim, str):
                raise UsageError(f"{path}:{number}: claim: missing")
            premise = _evidence(row)
            label = str(row.get("label") or row.get("gold_label") or "").strip().lower()
            grouped = grouped or "response" in row or "wikipedia_page" in row
            _add(items, dropped, premise, claim, label, row)
    return _grouped(path, items, dropped, grouped)


def _evidence(row: dict[str, Any]) -> str:
    found = next(
        (row[k] for k in ("premise", "evidence", "gold_evidence", "reference") if row.get(k)), ""
    )
    if isinstance(found, list):
        parts = [part.get("text", "") if isinstance(part, dict) else str(part) for part in found]
        return " ".join(parts)
    return str(found)


def _tsv(path: Path) -> Dataset:
    dropped: Counter[str] = Counter()
    items: list[Item] = []
    for row in _rows(path, "\t", set()):
        premise = row.get("premise") or row.get("sentence1") or ""
        claim = row.get("hypothesis") or row.get("sentence2") or ""
        label = (row.get("label_text") or row.get("gold_label") or "").strip().lower()
        _add(items, dropped, premise, claim, label, {})
    return _grouped(path, items, dropped, False)


def _add(
    items: list[Item], dropped: "Counter[str]", premise: str, claim: str, label: str,
    row: dict[str, Any],
) -> None:  # fmt: skip
    if not premise.strip() or not claim.strip():
        dropped["incomplete row"] += 1
    elif label not in _WRONG:
        dropped[f"label {label or 'missing'!r}"] += 1
    else:
        items.append(
            Item(
                response=str(row.get("response") or row.get("wikipedia_page") or ""),
                domain=str(row.get("domain") or row.get("category") or ""),
                premise=premise,
                claim=claim,
                wrong=_WRONG[label],
                label=label,
            )
        )


def _grouped(path: Path, items: list[Item], dropped: "Counter[str]", grouped: bool) -> Dataset:
    """Duplicates left out; claims that stand alone put into pseudo-responses, in a seeded order."""
    unique = list({(_key(i.premise), _key(i.claim)): i for i in reversed(items)}.values())[::-1]
    if len(unique) < len(items):
        dropped["duplicate pair"] += len(items) - len(unique)
    name = f"{path.parent.name}/{path.stem}"
    if grouped:
        order = {name: i for i, name in enumerate(dict.fromkeys(i.response for i in unique))}
        unique.sort(key=lambda item: order[item.response])
        return Dataset(name, tuple(unique), dict(dropped), "the file's responses or pages")
    order_of = np.random.default_rng(0).permutation(len(unique))
    named = [
        item.model_copy(update={"response": f"pseudo-{i // _PSEUDO:05}"})
        for i, item in enumerate(unique[j] for j in order_of)
    ]
    note = f"pseudo-responses of {_PSEUDO} claims drawn at random"
    return Dataset(name, tuple(named), dict(dropped), note)


def _rows(path: Path, delimiter: str, needed: set[str]) -> Iterator[dict[str, str]]:
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
