"""Intervals against statsmodels, their limits, and what clusters do to them."""

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import cumulative_simpson
from scipy.special import expit, logit
from scipy.stats import betabinom, t
from statsmodels.regression.linear_model import OLS  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from ancrage.stats import (
    difference_interval,
    jeffreys,
    rate_interval,
    wilson,
)
from ancrage.stats.intervals import pooled_interval


@given(st.integers(1, 2000), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_and_jeffreys_agree_with_statsmodels(n: int, share: float, level: float) -> None:
    successes = round(share * n)
    for ours, method in ((wilson, "wilson"), (jeffreys, "jeffreys")):
        low, high = proportion_confint(successes, n, 1 - level, method)
        if ours is jeffreys:  # which is open where none fails, or all do
            low, high = (low if successes else 0.0), (high if successes < n else 1.0)
        assert ours(successes, n, level) == pytest.approx((low, high), abs=1e-9)


@given(st.integers(1, 500), st.floats(0, 1))
def test_intervals_hold_the_rate_and_stay_between_0_and_1(n: int, share: float) -> None:
    successes = round(share * n)
    for method in (wilson, jeffreys):
        low, high = method(successes, n)
        assert 0 <= low <= successes / n <= high <= 1
        mirrored = method(n - successes, n)
        assert (low, high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-9)


def test_no_case_says_nothing() -> None:
    assert wilson(0, 0) == (0, 1)
    assert jeffreys(0, 0) == (0, 1)
    assert rate_interval([]) == (0, 1)


@pytest.mark.parametrize(("successes", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
def test_impossible_counts_are_refused(successes: int, n: int, level: float) -> None:
    for method in (wilson, jeffreys):
        with pytest.raises(ValueError, match=r"count|level"):
            method(successes, n, level)


def test_studies_that_agree_within_widen_the_interval() -> None:
    values = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0], 25)
    alone, together = rate_interval(values), rate_interval(values, np.repeat(np.arange(8), 25))
    assert together.low < alone.low
    assert together.high > alone.high
    # 25 copies of one case carry the information of that one case.
    assert rate_interval(values[::25]).high == pytest.approx(together.high, abs=0.1)


def test_one_study_says_nothing_of_other_studies() -> None:
    assert rate_interval([0, 1, 1], np.zeros(3, dtype=int)) == (0, 1)
    assert difference_interval([0.0, 1.0], np.zeros(2, dtype=int)) == (-1, 1)
    assert difference_interval([]) == (-1, 1)


@pytest.mark.parametrize("function", [rate_interval, difference_interval])
def test_unscored_values_are_not_averaged(function: Callable[[list[float]], object]) -> None:
    with pytest.raises(ValueError, match="unscored"):
        function([0, float("nan"), 1])


def _posterior(successes: list[int], sizes: list[int]) -> tuple[float, float]:
    """The beta-binomial posterior by scipy, integrated by Simpson's rule on a fine grid."""
    from ancrage.stats.intervals import _CORRELATIONS

    means = expit(np.linspace(logit(1e-6), logit(1 - 1e-6), 6001))
    density = np.zeros_like(means)
    for correlation in _CORRELATIONS:
        weight = (1 - correlation) / correlation
        each = [
            betabinom.logpmf(x, n, means * weight, (1 - means) * weight)
            for x, n in zip(successes, sizes, strict=True)
        ]
        density += np.exp(np.sum(each, axis=0))
    density *= (means * (1 - means)) ** -0.5
    below = cumulative_simpson(density, x=means, initial=0)
    low, high = np.interp([0.025, 0.975], below / below[-1], means)
    return float(low), float(high)


@pytest.mark.parametrize(
    ("successes", "sizes"),
    [
        ([0, 1, 0, 5, 2], [10, 12, 8, 9, 30]),
        ([1, 0, 0, 0, 0, 0, 0, 2], [40] * 8),
        ([3, 9, 4, 7, 5], [10, 11, 9, 12, 10]),
    ],
)
def test_the_interval_over_studies_is_that_of_the_posterior(
    successes: list[int], sizes: list[int]
) -> None:
    found = pooled_interval(np.array(successes, float), np.array(sizes, float))
    assert found == pytest.approx(_posterior(successes, sizes), abs=2e-3)
    values = [float(at < x) for x, n in zip(successes, sizes, strict=True) for at in range(n)]
    low, high = rate_interval(values, np.repeat(np.arange(len(sizes)), sizes))
    held = [wilson(sum(successes), sum(sizes)), found, _by_least_squares(values, sizes)]
    assert low == pytest.approx(min(end for end, _ in held))
    assert high == pytest.approx(max(end for _, end in held))


def _by_least_squares(values: list[float], sizes: list[int]) -> tuple[float, float]:
    """The rate on the logit scale, with the clustered errors of statsmodels."""
    groups = np.repeat(np.arange(len(sizes)), sizes)
    rate, error = _clustered(values, groups)
    half = t.ppf(0.975, len(sizes) - 1) * error / (rate * (1 - rate))
    return float(expit(logit(rate) - half)), float(expit(logit(rate) + half))


def _clustered(values: Sequence[float], groups: NDArray[np.intp]) -> tuple[float, float]:
    fit = OLS(values, np.ones(len(values))).fit(
        cov_type="cluster", cov_kwds={"groups": groups}, use_t=True
    )
    return float(fit.params[0]), float(fit.bse[0])


@given(st.integers(1, 300), st.integers(0, 300))
def test_each_case_its_own_unit_is_jeffreys(n: int, failed: int) -> None:
    failed = min(failed, n)
    values = [1.0] * failed + [0.0] * (n - failed)
    found = pooled_interval(np.array(values), np.ones(n))
    assert found == pytest.approx(jeffreys(failed, n), abs=3e-3)


@pytest.mark.parametrize(("up", "down", "n"), [(12, 2, 50), (1, 0, 30), (40, 60, 300), (0, 5, 20)])
def test_a_change_is_two_rates_squared_and_added(up: int, down: int, n: int) -> None:
    """Zou and Donner's formula by hand, the correlation that of a multinomial draw."""
    low, high = difference_interval([1.0] * up + [-1.0] * down + [0.0] * (n - up - down))
    (a_low, a_high), (b_low, b_high) = jeffreys(up, n), jeffreys(down, n)
    a, b = up / n, down / n
    r = -np.sqrt(a * b / ((1 - a) * (1 - b)))
    assert low < a - b < high
    below = (a - a_low) ** 2 - 2 * r * (a - a_low) * (b_high - b) + (b_high - b) ** 2
    above = (a_high - a) ** 2 - 2 * r * (a_high - a) * (b - b_low) + (b - b_low) ** 2
    assert low == pytest.approx(a - b - np.sqrt(below), abs=3e-3)
    assert high == pytest.approx(a - b + np.sqrt(above), abs=3e-3)


def test_a_change_over_studies_holds_student_s_interval() -> None:
    rng = np.random.default_rng(8)
    units = np.sort(rng.integers(0, 14, 240))
    changes = np.sign(rng.normal(rng.normal(0, 1, 14)[units], 1)) * (rng.random(240) < 0.4)
    mean, error = _clustered(changes.tolist(), units)
    half = float(t.ppf(0.975, np.unique(units).size - 1)) * error
    alone = difference_interval(changes)
    found = difference_interval(changes, units, independent=True)
    expected = min(alone.low, mean - half), max(alone.high, mean + half)
    assert found == pytest.approx(expected)
    assert found != pytest.approx(alone)
    by_studies = difference_interval(changes, units)
    assert by_studies.low <= mean - half < mean + half <= by_studies.high


@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=60),
    st.integers(2, 12),
)
def test_a_change_lies_inside_and_mirrors(values: list[float], k: int) -> None:
    units = np.arange(len(values)) % k
    low, high = difference_interval(values, units)
    assert -1 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 1
    mirrored = difference_interval([-value for value in values], units)
    assert (low, high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-6)


def test_repeats_count_for_more_than_one_case() -> None:
    rng = np.random.default_rng(2)
    single = rng.choice([-1.0, 0.0, 1.0], 200, p=[0.2, 0.6, 0.2])
    averaged = rng.choice([-1.0, 0.0, 1.0], (200, 4), p=[0.2, 0.6, 0.2]).mean(axis=1)
    widths = [high - low for low, high in map(difference_interval, (single, averaged))]
    assert widths[1] < 0.7 * widths[0]
