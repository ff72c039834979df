"""Intervals against statsmodels, their limits, and what clusters do to them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from ancrage.stats import clopper_pearson, jeffreys, rate_interval, wilson


@given(st.integers(1, 2000), st.floats(0, 1), st.sampled_from([0.8, 0.95, 0.99]))
def test_wilson_and_clopper_pearson_agree_with_statsmodels(
    n: int, share: float, level: float
) -> None:
    successes = round(share * n)
    for ours, method in ((wilson, "wilson"), (clopper_pearson, "beta")):
        reference = proportion_confint(successes, n, 1 - level, method)
        assert ours(successes, n, level) == pytest.approx(reference, abs=1e-9)


@given(st.integers(1, 500), st.floats(0, 1))
def test_intervals_hold_the_rate_and_stay_between_0_and_1(n: int, share: float) -> None:
    successes = round(share * n)
    for method in (wilson, clopper_pearson, jeffreys):
        low, high = method(successes, n)
        assert 0 <= low <= successes / n <= high <= 1
        mirrored = method(n - successes, n)
        assert (low, high) == pytest.approx((1 - mirrored.high, 1 - mirrored.low), abs=1e-9)


def test_no_case_says_nothing() -> None:
    assert wilson(0, 0) == (0, 1)
    assert clopper_pearson(0, 0) == (0, 1)
    assert jeffreys(0, 0) == (0, 1)
    assert rate_interval([]) == (0, 1)


@pytest.mark.parametrize(("successes", "n", "level"), [(3, 2, 0.95), (-1, 2, 0.95), (1, 2, 1.0)])
def test_impossible_counts_are_refused(successes: int, n: int, level: float) -> None:
    for method in (wilson, clopper_pearson, jeffreys):
        with pytest.raises(ValueError, match=r"count|level"):
            method(successes, n, level)


def test_clusters_that_agree_within_widen_the_interval() -> None:
    values = np.repeat([0.0, 1.0, 0.0, 1.0, 0.0, 0.0, 1.0, 0.0], 25)
    clusters = np.repeat(np.arange(8), 25)
    alone, clustered = rate_interval(values), rate_interval(values, clusters)
    assert clustered.low < alone.low
    assert clustered.high > alone.high
    # 25 copies of one case carry the information of that one case.
    assert rate_interval(values[::25]).high == pytest.approx(clustered.high, abs=0.1)


def test_one_cluster_says_nothing_of_other_clusters() -> None:
    assert rate_interval([0, 1, 1], ["s"] * 3) == (0, 1)


def test_unscored_values_are_not_averaged() -> None:
    with pytest.raises(ValueError, match="unscored"):
        rate_interval([0, float("nan"), 1])
