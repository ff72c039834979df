"""The comparison of figures on generated claims, half of whose facts are held out."""

from collections import Counter
from pathlib import Path

import pytest

from ancrage.claims import Agreement, compare_figures
from ancrage.nli.labelled import read_dataset
from tests.claims.perturbations import FRESH, LAST, UNSEEN, Fact, Item, items

SEED, COUNT = 20_240, 4_000


@pytest.fixture(scope="module")
def judged() -> list[tuple[Item, str]]:
    return [(i, compare_figures(i.claim, i.context).verdict) for i in items(COUNT, SEED)]


def f1(judged: list[tuple[Item, str]]) -> float:
    hits = sum(i.contradicts and v == "contradicts" for i, v in judged)
    wrong = sum(i.contradicts != (v == "contradicts") for i, v in judged)
    return 2 * hits / (2 * hits + wrong)


def test_items_are_varied(judged: list[tuple[Item, str]]) -> None:
    assert len({(i.claim, i.context) for i, _ in judged}) >= 2_000
    assert {i.language for i, _ in judged} == {"fr", "en"}
    assert len(Counter(i.how for i, _ in judged)) >= 9
    assert 0.4 < sum(i.contradicts for i, _ in judged) / len(judged) < 0.6


@pytest.mark.parametrize("language", ["fr", "en"])
@pytest.mark.parametrize("held_out", [False, True])
def test_contradictions_are_found(
    judged: list[tuple[Item, str]], language: str, held_out: bool
) -> None:
    part = [(i, v) for i, v in judged if i.language == language and i.held_out == held_out]
    assert len(part) >= 900
    assert f1(part) >= 0.95


def test_rounding_and_paraphrase_are_no_contradiction(judged: list[tuple[Item, str]]) -> None:
    kept = [v for i, v in judged if not i.contradicts and not i.how.startswith("other")]
    assert len(kept) >= 1_000
    assert kept.count("contradicts") / len(kept) <= 0.01
    assert kept.count("agrees") / len(kept) >= 0.95


@pytest.mark.parametrize("how", ["other entity", "other attribute"])
def test_something_else_is_no_contradiction(judged: list[tuple[Item, str]], how: str) -> None:
    kept = [v for i, v in judged if i.how == how]
    assert len(kept) >= 200
    assert kept.count("contradicts") / len(kept) <= 0.01


@pytest.mark.parametrize(("facts", "least"), [(UNSEEN, 0.92), (FRESH, 0.94), (LAST, 0.95)])
def test_wordings_that_no_list_knows_are_aligned_too(facts: tuple[Fact, ...], least: float) -> None:
    unseen = [(i, compare_figures(i.claim, i.context).verdict) for i in items(1000, SEED, facts)]
    assert f1([(i, v) for i, v in unseen]) >= least
    others = [v for i, v in unseen if not i.contradicts]
    assert others.count(Agreement.CONTRADICTS) / len(others) <= 0.01


def test_claims_that_real_evidence_supports_are_not_contradicted(shared: Path) -> None:
    """FEVER's symmetric test set: 356 supported claims, 356 refuted ones, few by a figure."""
    rows = read_dataset(shared / "data" / "fever-symmetric" / "fever_symmetric_test.jsonl").items
    said = [(row.wrong, compare_figures(row.claim, row.premise).verdict) for row in rows]
    right = [verdict for wrong, verdict in said if not wrong]
    assert len(right) >= 300
    assert right.count(Agreement.CONTRADICTS) / len(right) <= 0.01
    assert [v for wrong, v in said if wrong].count(Agreement.CONTRADICTS) >= 25
