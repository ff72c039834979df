"""The paired test and its anytime-valid form against brute force, scipy and statsmodels."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest, hypergeom
from statsmodels.stats.contingency_tables import (  # type: ignore[import-untyped]
    mcnemar as reference_mcnemar,
)

from ancrage.stats import exchanges, mcnemar, swap_evidence, swap_test
from ancrage.stats.intervals import Floats


def single(first: list[float], second: list[float], units: list[int] | None = None) -> Floats:
    """The exchanges of one run on each side."""
    a, b = (np.array(values, dtype=float)[:, None] for values in (first, second))
    return exchanges(a, b, None if units is None else np.array(units))


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_statsmodels(worse: int, better: int) -> None:
    reference = reference_mcnemar([[5, worse], [better, 5]], exact=True).pvalue
    assert mcnemar(worse, better).p_value == pytest.approx(min(1.0, reference), rel=1e-9)


@given(st.integers(0, 400), st.integers(0, 400))
def test_many_units_agree_with_the_binomial_test(worse: int, better: int) -> None:
    if worse + better:
        expected = binomtest(worse, worse + better).pvalue
        assert mcnemar(worse, better).p_value == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_fewer_than_six_discordant_cases_cannot_be_significant() -> None:
    assert mcnemar(5, 0).p_value == pytest.approx(0.0625)
    assert mcnemar(6, 0).p_value == pytest.approx(0.03125)
    assert mcnemar(3, 2).smallest == pytest.approx(0.0625)


_OUTCOMES = st.sampled_from([0.0, 1.0])


@given(st.data(), st.integers(1, 3), st.integers(1, 3), st.integers(1, 5))
def test_every_exchange_is_counted(data: st.DataObject, left: int, right: int, n: int) -> None:
    """Brute force over all rotations of all units, with repeats in any number on each side."""
    cells = st.lists(_OUTCOMES, min_size=left + right, max_size=left + right)
    table = np.array([data.draw(cells) for _ in range(n)])
    units = np.array([data.draw(st.integers(0, 2)) for _ in range(n)])
    units = np.unique(units, return_inverse=True)[1]

    def change(rotations: tuple[int, ...]) -> float:
        turned = [np.roll(row, rotations[unit]) for row, unit in zip(table, units, strict=True)]
        return sum(float(row[left:].mean() - row[:left].mean()) for row in turned)

    possible = list(itertools.product(range(left + right), repeat=int(units.max()) + 1))
    totals = np.array([change(rotations) for rotations in possible])
    observed = change(possible[0])
    tails = [np.mean(sign * (totals - observed) >= -1e-9) for sign in (1, -1)]
    found = swap_test(exchanges(table[:, :left], table[:, left:], units))
    assert found.exact
    assert found.p_value == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-9)
    assert np.isclose(found.attainable, found.p_value, rtol=1e-9).any() or found.p_value == 1


def test_one_run_against_five_is_the_exact_stratified_test() -> None:
    """Given how many of its six runs fail, which of them is the new one is a draw."""
    rng = np.random.default_rng(1)
    table = (rng.random((40, 6)) < rng.random((40, 1)) ** 3).astype(float)
    mass = np.ones(1)
    for row in table:
        mass = np.convolve(mass, hypergeom(6, int(row.sum()), 1).pmf([0, 1]))
    observed = int(table[:, 5].sum())
    tails = mass[observed:].sum(), mass[: observed + 1].sum()
    found = swap_test(exchanges(table[:, :5], table[:, 5:]))
    assert found.p_value == pytest.approx(min(1.0, 2 * min(tails)), rel=1e-9)


def test_a_study_counts_once() -> None:
    zeros, ones = [0.0] * 40, [1.0] * 40
    assert swap_test(single(zeros, ones)).p_value < 1e-9
    studies = np.repeat(np.arange(5), 8).tolist()
    assert swap_test(single(zeros, ones, studies)).p_value == pytest.approx(0.0625)


def test_off_the_lattice_random_exchanges_agree_with_the_exact_test() -> None:
    rng = np.random.default_rng(5)
    before, after = rng.integers([[0], [1]], [[5], [6]], (2, 40)) / 5
    exact = swap_test(single(before.tolist(), after.tolist()))
    shaken = swap_test(single(before.tolist(), (after + rng.normal(0, 1e-5, 40)).tolist()))
    assert exact.exact
    assert not shaken.exact
    assert shaken.p_value == pytest.approx(exact.p_value, abs=0.02)


def test_nothing_moved_gives_no_evidence() -> None:
    test = swap_test(single([0.0] * 50, [0.0] * 50))
    assert (test.p_value, test.units, test.smallest) == (1.0, 0, 1.0)
    assert swap_test(np.empty((0, 2))).p_value == 1.0


def test_ten_thousand_cases_are_exact() -> None:
    rng = np.random.default_rng(1)
    before, after = (rng.random((2, 10_000)) < [[0.10], [0.11]]).astype(float)
    test = swap_test(single(before.tolist(), after.tolist(), (np.arange(10_000) % 200).tolist()))
    assert test.exact
    assert 0 < test.p_value < 1


def test_a_case_without_a_score_on_one_side_says_nothing() -> None:
    orbits = single([0.0, 0.0], [1.0, float("nan")])
    assert orbits.tolist() == [[1.0, -1.0], [0.0, 0.0]]
    with pytest.raises(ValueError, match="unscored"):
        swap_test(np.array([[1.0, float("nan")]]))


def _wealth_by_hand(changes: list[float]) -> list[float]:
    """The gambler's wealth after each change of ±1, by integrating over bets numerically."""
    nodes = np.cos(np.pi * (np.arange(1, 17) - 0.5) / 32)
    held = np.ones(16) / 16
    path = []
    for change in changes:
        held = held * (1 + change * nodes)
        path.append(float(held.sum()))
    return path


@given(st.lists(st.sampled_from([-1.0, 1.0]), min_size=1, max_size=40))
def test_evidence_is_one_over_the_largest_wealth(changes: list[float]) -> None:
    before = [float(change < 0) for change in changes]
    after = [float(change > 0) for change in changes]
    expected = min(1.0, 1 / max(_wealth_by_hand(changes)))
    assert swap_evidence(single(before, after)) == pytest.approx(expected, rel=1e-9)


def test_the_game_is_fair_for_any_number_of_runs() -> None:
    """Over all rotations of a unit the mean growth of every stake is 1."""
    from ancrage.stats.swaps import wealth

    rng = np.random.default_rng(2)
    table = (rng.random((1, 6)) < 0.4).astype(float)
    orbit = exchanges(table[:, :5], table[:, 5:])
    growth = [np.exp(wealth(np.roll(orbit, -at, axis=1))[0]) for at in range(6)]
    assert np.mean(growth) == pytest.approx(1.0)
