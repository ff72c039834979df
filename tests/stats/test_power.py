"""What cases can show, against scipy, statsmodels and simulation."""

import numpy as np
import pytest
from scipy.stats import binom, binomtest, permutation_test
from statsmodels.regression.linear_model import OLS  # type: ignore[import-untyped]
from statsmodels.stats.proportion import proportion_confint  # type: ignore[import-untyped]

from ancrage.stats import (
    cases_needed,
    detectable_change,
    dominant,
    effective_cases,
    independent_within,
    labels_needed,
    plan,
    power_of,
)
from ancrage.stats.intervals import Floats, Units


@pytest.mark.parametrize(
    ("n", "churn", "change", "steady"),
    [(30, 0.1, 0.2, 0.0), (100, 0.2, 0.1, 0.0), (400, 0.02, 0.05, 0.0), (100, 0.1, 0.1, 0.5)],
)
def test_power_agrees_with_a_sum_over_scipy_s_tests(
    n: int, churn: float, change: float, steady: float
) -> None:
    """Every number of discordant pairs, every split of them, weighed by its chance."""
    share = churn + change - steady * change * (1 - change)
    way = (1 + change / share) / 2
    expected = 0.0
    for pairs in range(n + 1):
        chance = binom.pmf(pairs, n, share)
        if chance < 1e-12:
            continue
        rejected = [k for k in range(pairs + 1) if pairs and binomtest(k, pairs).pvalue <= 0.05]
        expected += chance * float(np.sum(binom.pmf(rejected, pairs, way)))
    assert power_of(n, churn, change, steady=steady) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("n", "churn"), [(60, 0.1), (100, 0.2), (1000, 0.1)])
def test_detectable_change_and_cases_needed_undo_each_other(n: int, churn: float) -> None:
    change = detectable_change(n, churn)
    assert change is not None
    assert power_of(n, churn, change) >= 0.8 > power_of(n, churn, change - 0.005)
    assert cases_needed(churn, change) == pytest.approx(n, rel=0.03)


def test_few_cases_show_nothing() -> None:
    assert detectable_change(5, 0.0) is None
    assert detectable_change(0, 0.5) is None
    assert cases_needed(0.5, 1e-6) is None


def test_a_plan_grows_with_clustering_and_shrinks_with_repeats() -> None:
    alone = [need.cases for need in plan(0.05, 0.05)]
    studies = [need.cases for need in plan(0.05, 0.05, studies=40)]
    assert all(cases is not None for cases in (*alone, *studies))
    assert alone == sorted(alone, reverse=True)  # type: ignore[type-var]
    few = plan(0.05, 0.05, studies=12, repeats=(1,))[0].cases
    assert (alone[0] or 0) <= (studies[0] or 0) < (few or 0) / 1.2
    assert plan(0.05, 0.05, studies=6, alike=0.5, repeats=(1,))[0].cases is None
    assert plan(0.1, 0.1, repeats=(3,))[0].answers == 3 * (plan(0.1, 0.1)[2].cases or 0)


def test_a_plan_without_repeats_agrees_with_the_power_of_mcnemar_s_test() -> None:
    """Where all that changes is chance, the plan is the sample size of the exact test."""
    (found,) = plan(0.1, 0.1, steady=0.11, repeats=(1,), simulations=4000)
    churn = 0.1 * 0.8 + 0.2 * 0.9 - 0.1
    assert found.cases == pytest.approx(cases_needed(churn, 0.1), rel=0.1)


def test_labels_pin_the_rate_down_as_statsmodels_has_it() -> None:
    n = labels_needed(0.1, 0.05)
    low, high = proportion_confint(round(0.1 * n), n, 0.05, "normal")
    assert high - low == pytest.approx(0.1, abs=0.01)


def test_likeness_within_studies_is_seen_and_says_nothing_of_the_direction() -> None:
    rng = np.random.default_rng(3)
    units = np.repeat(np.arange(20), 15)
    changes = rng.choice([-1.0, 0.0, 1.0], 300, p=[0.1, 0.8, 0.1])
    together = np.repeat(rng.choice([-1.0, 0.0, 1.0], 20, p=[0.2, 0.6, 0.2]), 15)
    for changed, alone in ((changes, True), (together, False)):
        assert independent_within(changed, units) is alone
        assert independent_within(-changed, units) is alone
    assert independent_within(np.zeros(300), units)
    assert independent_within(np.ones(300), units)


def test_a_study_that_breaks_is_no_set_of_independent_cases() -> None:
    units = np.repeat(np.arange(20), 15)
    broken = np.where(units == 3, 1.0, 0.0)
    assert not independent_within(broken, units)
    # Hard studies change more often, both ways alike: the cases are independent all the same.
    hard = np.where(units < 10, np.tile([1.0, -1.0, 0.0], 100), 0.0)
    assert independent_within(hard, units)


@pytest.mark.parametrize("spread", [0.0, 0.6, 2.0])
def test_the_choice_of_units_is_scipy_s_permutation_test(spread: float) -> None:
    rng = np.random.default_rng(int(10 * spread))
    units = np.repeat(np.arange(16), 12)
    told = 0
    for _ in range(12):
        changes = np.sign(rng.normal(rng.normal(0, spread, 16)[units])) * (rng.random(192) < 0.4)
        moved = changes != 0

        def likeness(values: Floats, groups: Units = units[moved]) -> float:
            return float(np.sum(np.bincount(groups, weights=values - values.mean()) ** 2))

        p = permutation_test(
            (changes[moved],), likeness, permutation_type="pairings", n_resamples=800,
            alternative="greater", vectorized=False, rng=1,
        ).pvalue  # fmt: skip
        if abs(p - 0.1) > 0.05:
            told += 1
            assert independent_within(changes, units) == (p > 0.1)
    assert told > 5


def test_effective_cases_are_those_of_the_clustered_errors_of_statsmodels() -> None:
    rng = np.random.default_rng(4)
    units = np.sort(rng.integers(0, 20, 300))
    changes = np.sign(rng.normal(rng.normal(0, 2, 20)[units])) * (rng.random(300) < 0.5)
    model = OLS(changes, np.ones(300))
    alone = float(model.fit().bse[0] ** 2) * 299 / 300
    together = float(model.fit(cov_type="cluster", cov_kwds={"groups": units}).bse[0] ** 2)
    assert effective_cases(changes, units) == pytest.approx(300 * alone / together * 19 / 21)


def test_effective_cases() -> None:
    rng = np.random.default_rng(2)
    changes = rng.choice([-1.0, 0.0, 1.0], 200, p=[0.2, 0.6, 0.2])
    assert effective_cases(changes, None) == 200
    copies = effective_cases(np.repeat(changes[:20], 10), np.repeat(np.arange(20), 10))
    assert copies < 21
    assert effective_cases(np.array([0.0, 1.0]), np.zeros(2, dtype=int)) == 0
    averaged = rng.choice([-1.0, 0.0, 1.0], (200, 4), p=[0.2, 0.6, 0.2]).mean(axis=1)
    assert effective_cases(averaged, None) > 400


def test_a_study_that_decides_alone_is_named() -> None:
    units = np.repeat(np.arange(12), 10)
    changes = np.zeros(120)
    changes[::10] = 1.0
    assert dominant(changes, units) is None
    changes[:10] = -1.0
    assert dominant(changes, units) == 0
