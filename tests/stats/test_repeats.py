"""Repeats: pass^k, fates that add up, and noise split by its source."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from statsmodels.regression.mixed_linear_model import MixedLM  # type: ignore[import-untyped]

from ancrage.stats import (
    consistency,
    difference_bounds,
    fates,
    noise,
    pass_at_k,
    pass_hat_k,
    rate_bounds,
)

NAN = float("nan")


@given(st.integers(1, 8), st.data())
def test_pass_k_counts_every_choice_of_k_tries(n: int, data: st.DataObject) -> None:
    passes = data.draw(st.integers(0, n))
    k = data.draw(st.integers(1, n))
    tries = [True] * passes + [False] * (n - passes)
    choices = list(itertools.combinations(tries, k))
    assert pass_hat_k(passes, n, k) == pytest.approx(sum(map(all, choices)) / len(choices))
    assert pass_at_k(passes, n, k) == pytest.approx(sum(map(any, choices)) / len(choices))


def test_pass_k_beyond_the_repeats_is_unknown() -> None:
    assert pass_hat_k(3, 3, 4) is None
    assert pass_at_k(0, 0, 1) is None
    with pytest.raises(ValueError, match="does not exist"):
        pass_hat_k(4, 3, 1)


@given(st.lists(st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=3, max_size=3), max_size=40))
def test_fates_add_up(rows: list[list[float]]) -> None:
    found = consistency(np.array(rows).reshape(-1, 3), len(rows) + 2)
    total = found.always_pass + found.always_fail + found.flips + found.missing
    assert total == found.cases == len(rows) + 2
    assert found.missing >= 2


def test_the_article_s_thirty_cases() -> None:
    """14 always pass, 10 always fail, 4 flip: two of the 30 are unexplained, hence missing."""
    rows = [[0.0] * 3] * 14 + [[1.0] * 3] * 10 + [[0.0, 1.0, 0.0]] * 4
    found = consistency(rows, 30)
    assert (found.always_pass, found.always_fail, found.flips, found.missing) == (14, 10, 4, 2)
    assert found.flip_rate == pytest.approx(4 / 28)


def test_an_unscored_repeat_is_not_a_pass() -> None:
    assert fates(np.array([[0, NAN], [1, NAN], [0, 1], [NAN, NAN]])) == [
        "missing",
        "missing",
        "flip",
        "missing",
    ]
    assert consistency([], 0).flip_rate is None
    with pytest.raises(ValueError, match="expected"):
        consistency([[0.0], [1.0]], 1)


def test_noise_recovers_its_components() -> None:
    rng = np.random.default_rng(4)
    cases = rng.normal(0, 0.5, (3000, 1, 1))
    answers = cases + rng.normal(0, 0.3, (3000, 4, 1))
    verdicts = answers + rng.normal(0, 0.2, (3000, 4, 3))
    verdicts[rng.random(verdicts.shape) < 0.1] = NAN
    found = noise(verdicts)
    assert found.between_cases == pytest.approx(0.25, rel=0.1)
    assert found.model == pytest.approx(0.09, rel=0.1)
    assert found.judge == pytest.approx(0.04, rel=0.1)
    assert found.within == pytest.approx(0.13, rel=0.1)


def test_noise_floor_holds_the_differences_of_equal_runs() -> None:
    rng = np.random.default_rng(5)
    chance = rng.beta(0.5, 0.8, 200)
    runs = (rng.random((400, 200)) < chance).astype(float)
    floor = noise(runs[:5].T).floor()
    assert floor is not None
    differences = np.abs(runs[0::2].mean(axis=1) - runs[1::2].mean(axis=1))
    assert np.mean(differences <= floor) == pytest.approx(0.95, abs=0.04)


def test_noise_that_nothing_measures_is_unknown() -> None:
    single = noise([[0.0], [1.0], [0.0]])
    assert (single.model, single.judge, single.within, single.floor()) == (None, None, None, None)
    rejudged = noise(np.array([[[0.0, 1.0]], [[1.0, 1.0]]]))
    assert rejudged.model is None
    assert rejudged.judge == pytest.approx(0.25)
    with pytest.raises(ValueError, match="repeats"):
        noise([0.0, 1.0])


_OUTCOMES = st.lists(st.sampled_from([0.0, 1.0, NAN]), min_size=1, max_size=6)


@given(_OUTCOMES)
def test_bounds_are_the_best_and_worst_completion(values: list[float]) -> None:
    choices = [(v,) if v == v else (0.0, 1.0) for v in values]
    means = [float(np.mean(c)) for c in itertools.product(*choices)]
    assert rate_bounds(values) == pytest.approx((min(means), max(means)))
    other = values[::-1]
    low, high = difference_bounds(values, other)
    known = [b - a for a, b in zip(values, other, strict=True) if a == a and b == b]
    unknown = len(values) - len(known)
    assert low <= (sum(known)) / len(values) + unknown / len(values) + 1e-9
    assert low <= high


def test_bounds_without_cases_say_nothing() -> None:
    assert rate_bounds([]) == (0, 1)
    assert difference_bounds([], []) == (-1, 1)
    with pytest.raises(ValueError, match="one value"):
        difference_bounds([1.0], [1.0, 0.0])


def test_noise_is_that_of_a_mixed_model_of_statsmodels() -> None:
    rng = np.random.default_rng(9)
    values = rng.normal(0, 0.7, (80, 1)) + rng.normal(0, 0.4, (80, 4))
    fit = MixedLM(values.ravel(), np.ones(320), np.repeat(np.arange(80), 4)).fit(reml=True)
    found = noise(values)
    assert found.within == pytest.approx(fit.scale, rel=1e-3)
    assert found.between_cases == pytest.approx(float(fit.cov_re[0, 0]), rel=1e-2)
