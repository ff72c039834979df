"""TruthfulQA's CSV as labelled claims, and claims that stand alone as made-up responses."""

import csv
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np

from ancrage.nli.labelled import STANDING_ALONE, Dataset, Item, key_of, read_dataset

_PSEUDO = 4
"""Claims in a made-up response."""


def read(path: Path, limit: int | None = None) -> Dataset:
    """The claims of ``path``; those that stand alone are put four by four, in a seeded order, for
    the rules that look at whole responses."""
    if path.name == "TruthfulQA.csv":
        return _truthfulqa(path)
    data = read_dataset(path, limit=limit)
    if data.grouping != STANDING_ALONE:
        return data
    order = np.random.default_rng(0).permutation(len(data.items))
    items = tuple(
        data.items[j].model_copy(update={"response": f"made up {i // _PSEUDO}"})
        for i, j in enumerate(order)
    )
    return replace(data, items=items, grouping=f"{_PSEUDO} at random")


def _truthfulqa(path: Path) -> Dataset:
    """One response a question: the reference is it and its best answer, the claims the others."""
    dropped: Counter[str] = Counter()
    items: list[Item] = []
    seen: set[str] = set()
    for row in csv.DictReader(path.open(encoding="utf-8-sig", newline="")):
        question, best = row["Question"].strip(), row["Best Answer"].strip()
        right, wrong = _split(row["Correct Answers"]), _split(row["Incorrect Answers"])
        if not (question and best and right and wrong):
            dropped["incomplete row"] += 1
            continue
        if key_of(question) in seen:
            dropped["duplicate question"] += 1
            continue
        seen.add(key_of(question))
        told = {key_of(best)}
        for claim, is_wrong in [*((c, False) for c in right), *((c, True) for c in wrong)]:
            if key_of(claim) in told:
                dropped["claim that repeats the reference or another claim"] += 1
                continue
            told.add(key_of(claim))
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


def _split(answers: str) -> list[str]:
    return [part.strip() for part in answers.split(";") if part.strip()]
