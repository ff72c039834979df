"""Thousands of seeded edits that must fail and variants of typography that must pass."""

import csv
from collections import Counter
from pathlib import Path

from ancrage.quotes import find_passage
from tests.quotes.generators import edits, messages, variants


def survey(shared: Path) -> list[str]:
    with (shared / "data/survey/messages.csv").open(encoding="utf-8") as file:
        return [row["text"] for row in csv.DictReader(file) if len(row["text"].split()) >= 5]


def passing_edits(sources: list[str], count: int, seed: int) -> tuple[Counter[str], list[str]]:
    kinds: Counter[str] = Counter()
    passed = []
    for kind, quote, message in edits(sources, count, seed):
        kinds[kind] += 1
        if find_passage(quote, message):
            passed.append(f"{kind}: {quote!r} of {message!r}")
    return kinds, passed


def false_alarms(sources: list[str], count: int, seed: int) -> list[str]:
    return [
        f"{kind}: {quote!r} of {message!r}"
        for kind, quote, message in variants(sources, count, seed)
        if not find_passage(quote, message)
    ]


def test_no_edit_passes() -> None:
    kinds, passed = passing_edits(messages(), 4_000, seed=1)
    assert passed == []
    assert kinds.total() >= 3_000
    assert len(kinds) == 12
    assert min(kinds.values()) >= 100


def test_no_edit_of_the_real_survey_passes(shared: Path) -> None:
    kinds, passed = passing_edits(survey(shared), 3_000, seed=2)
    assert passed == []
    assert kinds["digit"] >= 100


def test_typography_raises_no_false_alarm() -> None:
    alarms = false_alarms(messages(), 6_000, seed=3)
    assert len(alarms) <= 6, alarms


def test_typography_of_the_real_survey_raises_no_false_alarm(shared: Path) -> None:
    alarms = false_alarms(survey(shared), 6_000, seed=4)
    assert len(alarms) <= 6, alarms
