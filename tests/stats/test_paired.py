"""The paired tests against brute force, scipy and statsmodels."""

import itertools
import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom, binomtest
from statsmodels.stats.contingency_tables import mcnemar as reference_mcnemar  # type: ignore[import-untyped]

from ancrage.stats import (
    detectable_difference,
    difference_interval,
    effective_size,
    mcnemar,
    sign_flip,
)


@given(st.integers(0, 60), st.integers(0, 60))
def test_mcnemar_agrees_with_statsmodels(worse: int, better: int) -> None:
    reference = reference_mcnemar([[5, worse], [better, 5]], exact=True).pvalue
    assert mcnemar(worse, better).p_value == pytest.approx(min(1.0, reference), rel=1e-9)


def test_fewer_than_six_discordant_cases_cannot_be_significant() -> None:
    assert mcnemar(5, 0).p_value == pytest.approx(0.0625)
    assert mcnemar(6, 0).p_value == pytest.approx(0.03125)
    assert mcnemar(3, 2).smallest == pytest.approx(0.0625)


@given(st.lists(st.integers(-6, 6), min_size=1, max_size=11))
def test_sign_flip_counts_every_assignment(sums: list[int]) -> None:
    moved = [value for value in sums if value]
    observed = abs(sum(sums))
    totals = [
        abs(sum(s * v for s, v in zip(signs, moved, strict=True)))
        for signs in itertools.product((-1, 1), repeat=len(moved))
    ]
    beyond = sum(total >= observed for total in totals) / len(totals)
    test = sign_flip([v / 6 for v in sums], list(range(len(sums))))
    assert test.exact
    assert test.units == len(moved)
    assert test.p_value == pytest.approx(beyond, rel=1e-9)
    possible = sorted({sum(t >= total for t in totals) / len(totals) for total in totals})
    assert test.attainable == pytest.approx(possible, rel=1e-9)
    if not moved:
        return
    above = sum(total > observed for total in totals) / len(totals)
    assert test.mid_p == pytest.approx((beyond + above) / 2, abs=1e-9)


@given(st.integers(0, 400), st.integers(0, 400))
def test_many_units_agree_with_the_binomial_test(worse: int, better: int) -> None:
    if worse + better:
        expected = binomtest(worse, worse + better).pvalue
        assert mcnemar(worse, better).p_value == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_a_cluster_counts_once() -> None:
    differences = [1.0] * 40
    assert sign_flip(differences).p_value < 1e-9
    assert sign_flip(differences, np.repeat(np.arange(5), 8)).p_value == pytest.approx(0.0625)


def test_off_the_lattice_random_flips_agree_with_the_exact_test() -> None:
    rng = np.random.default_rng(5)
    steps = rng.integers(-3, 5, 40) / 4
    exact, shaken = sign_flip(steps), sign_flip(steps + rng.normal(0, 1e-5, 40))
    assert exact.exact
    assert not shaken.exact
    assert shaken.p_value == pytest.approx(exact.p_value, abs=0.015)


def test_nothing_moved_gives_no_evidence() -> None:
    test = sign_flip(np.zeros(50))
    assert (test.p_value, test.units, test.smallest) == (1.0, 0, 1.0)
    assert sign_flip([]).p_value == 1.0


def test_ten_thousand_cases_are_exact() -> None:
    rng = np.random.default_rng(1)
    differences = rng.choice([-1.0, 0.0, 1.0], 10_000, p=[0.1, 0.78, 0.12])
    test = sign_flip(differences, rng.integers(0, 200, 10_000))
    assert test.exact
    assert 0 < test.p_value < 1


@pytest.mark.parametrize("function", [sign_flip, difference_interval])
def test_unscored_differences_are_refused(function: Callable[[list[float]], object]) -> None:
    with pytest.raises(ValueError, match="unscored"):
        function([1.0, float("nan")])


def _tango_score(b: int, c: int, n: int, delta: float) -> float:
    """Tango's statistic with the restricted likelihood maximised by brute force."""
    q = np.linspace(max(0, -delta), (1 - delta) / 2 + abs(delta), 200_001)
    valid = (q >= 0) & (q + delta >= 0) & (2 * q + delta <= 1)
    q = q[valid]
    with np.errstate(divide="ignore", invalid="ignore"):
        likelihood = (
            np.where(b > 0, b * np.log(q + delta), 0)
            + np.where(c > 0, c * np.log(q), 0)
            + np.where(n - b - c > 0, (n - b - c) * np.log(1 - 2 * q - delta), 0)
        )
    best = q[int(np.nanargmax(likelihood))]
    return float((b - c - n * delta) / math.sqrt(n * (2 * best + delta * (1 - delta))))


@pytest.mark.parametrize(("b", "c", "n"), [(12, 2, 50), (1, 0, 30), (40, 60, 300), (0, 5, 20)])
def test_interval_ends_are_where_the_score_reaches_the_quantile(b: int, c: int, n: int) -> None:
    low, high = difference_interval([1.0] * b + [-1.0] * c + [0.0] * (n - b - c))
    assert low < (b - c) / n < high
    assert _tango_score(b, c, n, low) == pytest.approx(1.96, abs=0.02)
    assert _tango_score(b, c, n, high) == pytest.approx(-1.96, abs=0.02)


@given(
    st.lists(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]), min_size=1, max_size=60),
    st.integers(2, 12),
)
def test_interval_holds_the_difference_and_mirrors(values: list[float], k: int) -> None:
    clusters = [at % k for at in range(len(values))]
    low, high = difference_interval(values, clusters)
    assert -1 <= low <= np.mean(values) + 1e-9
    assert np.mean(values) - 1e-9 <= high <= 1
    mirrored = difference_interval([-v for v in values], clusters)
    assert (low, high) == pytest.approx((-mirrored.high, -mirrored.low), abs=1e-6)


def test_no_case_and_one_cluster_say_nothing() -> None:
    assert difference_interval([]) == (-1, 1)
    assert difference_interval([0.0, 1.0], ["s", "s"]) == (-1, 1)
    assert effective_size([0.0, 1.0], ["s", "s"]) == 0


def test_repeats_count_for_more_and_clusters_for_less() -> None:
    rng = np.random.default_rng(2)
    single = rng.choice([-1.0, 0.0, 1.0], 200, p=[0.2, 0.6, 0.2])
    averaged = rng.choice([-1.0, 0.0, 1.0], (200, 4), p=[0.2, 0.6, 0.2]).mean(axis=1)
    assert effective_size(single) == pytest.approx(200)
    assert effective_size(averaged) > 400
    assert effective_size(np.repeat(single[:20], 10), np.repeat(np.arange(20), 10)) < 30


@pytest.mark.parametrize(("n", "discordance"), [(30, 0.1), (100, 0.2), (1000, 0.1)])
def test_detectable_difference_is_the_one_found_four_times_in_five(
    n: int, discordance: float
) -> None:
    delta = detectable_difference(n, discordance)
    assert delta is not None
    share = max(discordance, delta)
    rng = np.random.default_rng(3)
    pairs = rng.binomial(n, share, 3000)
    worse = rng.binomial(pairs, (1 + delta / share) / 2)
    p = np.minimum(1, 2 * binom.cdf(np.minimum(worse, pairs - worse), pairs, 0.5))
    assert np.mean(p <= 0.05) == pytest.approx(0.8, abs=0.03)


def test_too_few_cases_could_show_nothing() -> None:
    assert detectable_difference(5, 0.5) is None
    assert detectable_difference(0, 0.0) is None
    assert detectable_difference(6, 0.0) is not None
