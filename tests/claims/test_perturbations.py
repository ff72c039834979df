"""The comparison of figures on generated claims, half of whose facts are held out."""

from collections import Counter

import pytest

from evals.claims import compare_figures
from tests.claims.perturbations import Item, items

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
    kept = [v for i, v in judged if not i.contradicts and i.how != "other entity"]
    assert len(kept) >= 1_000
    assert kept.count("contradicts") / len(kept) <= 0.01
    assert kept.count("agrees") / len(kept) >= 0.95


def test_another_entity_is_no_contradiction(judged: list[tuple[Item, str]]) -> None:
    kept = [v for i, v in judged if i.how == "other entity"]
    assert len(kept) >= 200
    assert kept.count("contradicts") / len(kept) <= 0.01
