"""The comparison of figures on generated claims, half of whose facts are held out."""

from collections import Counter

import pytest

from evals.claims import Agreement, compare_figures
from tests.claims.perturbations import UNSEEN, Item, items

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


def test_unknown_wordings_are_missed_rather_than_misread() -> None:
    """Facts whose words are in no list: precision holds, recall pays."""
    unseen = [(i, compare_figures(i.claim, i.context).verdict) for i in items(2000, SEED, UNSEEN)]
    assert f1([(i, v) for i, v in unseen]) >= 0.8
    others = [v for i, v in unseen if not i.contradicts]
    assert others.count(Agreement.CONTRADICTS) / len(others) <= 0.01
