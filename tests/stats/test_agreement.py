"""Agreement against statsmodels and the krippendorff library; corrected rates at their limits."""

import krippendorff
import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from statsmodels.stats.inter_rater import cohens_kappa  # type: ignore[import-untyped]

from ancrage.stats import Confusion, agreement, krippendorff_alpha, ppi, rogan_gladen, wilson

_LABELS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=4, max_size=80)


@given(_LABELS)
def test_kappa_agrees_with_statsmodels(pairs: list[tuple[int, int]]) -> None:
    first, second = zip(*pairs, strict=True)
    assume(len({*first, *second}) > 1)
    table = np.zeros((3, 3))
    for one, other in pairs:
        table[one, other] += 1
    reference = cohens_kappa(table)
    ours = agreement(first, second)
    assert ours.raw == pytest.approx(np.trace(table) / len(pairs))
    assert ours.kappa == pytest.approx(reference.kappa, abs=1e-9)
    assert ours.kappa_interval is not None
    if not np.isfinite(reference.std_kappa):
        return  # its variance, 0 in truth, came out negative by rounding
    assert ours.kappa_interval.high == pytest.approx(min(1, reference.kappa_upp), abs=1e-6)
    assert ours.kappa_interval.low == pytest.approx(max(-1, reference.kappa_low), abs=1e-6)


def test_kappa_does_not_exist_for_one_label() -> None:
    ours = agreement([True] * 5, [True] * 5)
    assert (ours.raw, ours.kappa) == (1.0, None)
    assert agreement([], []).raw is None
    with pytest.raises(ValueError, match="against"):
        agreement([1], [])


@given(
    st.lists(
        st.lists(st.sampled_from([None, 0, 1, 2]), min_size=3, max_size=3), min_size=2, max_size=40
    )
)
def test_alpha_agrees_with_the_library(cases: list[list[int | None]]) -> None:
    data = np.array([[np.nan if v is None else v for v in case] for case in cases], dtype=float).T
    ours = krippendorff_alpha(cases)
    pairable = [c for c in cases if sum(v is not None for v in c) >= 2]
    if len({v for c in pairable for v in c if v is not None}) < 2:
        assert ours is None
        return
    reference = krippendorff.alpha(data, level_of_measurement="nominal")
    assert ours == pytest.approx(reference, abs=1e-9)


def test_confusion_keeps_its_denominators() -> None:
    found = Confusion.of([True, True, False, False, False], [True, False, True, False, False])
    assert (found.n, found.positives, found.negatives) == (5, 2, 3)
    assert found.sensitivity == 0.5
    assert found.specificity == pytest.approx(2 / 3)
    assert (found.precision, found.agreement, found.prevalence) == (0.5, 0.6, 0.4)
    empty = Confusion(0, 0, 0, 0)
    assert empty.sensitivity is empty.precision is empty.agreement is None


def test_rogan_gladen_undoes_known_errors() -> None:
    # Prevalence 20 %, Se 0.9, Sp 0.8: the judge alarms on 34 %.
    found = rogan_gladen(340, 1000, Confusion(90, 20, 10, 80))
    assert found.rate == pytest.approx(0.2)
    assert found.interval is not None
    assert found.interval.low < 0.2 < found.interval.high
    # The width must own up to calibration: far wider than counting alone.
    assert found.interval.high - found.interval.low > 2 * np.diff(wilson(200, 1000))[0]


@pytest.mark.parametrize(
    ("alarms", "n", "confusion", "words"),
    [
        (5, 10, Confusion(6, 4, 4, 6), "too little information"),
        (5, 10, Confusion(0, 1, 0, 9), "with the defect"),
        (5, 10, Confusion(9, 0, 1, 0), "without the defect"),
        (0, 0, Confusion(9, 1, 1, 9), "no case"),
    ],
)
def test_rogan_gladen_refuses(alarms: int, n: int, confusion: Confusion, words: str) -> None:
    found = rogan_gladen(alarms, n, confusion)
    assert found.rate is None
    assert found.interval is None
    assert found.refusal is not None
    assert words in found.refusal


def test_ppi_ignores_a_judge_that_tosses_coins_and_listens_to_a_good_one() -> None:
    rng = np.random.default_rng(8)
    truth = (rng.random(5000) < 0.3).astype(float)
    coin = (rng.random(5000) < 0.5).astype(float)
    useless = ppi(truth[:200], coin[:200], coin[200:])
    useful = ppi(truth[:200], truth[:200], truth[200:])
    assert useless.weight is not None
    assert useless.weight < 0.15
    assert useful.weight is not None
    assert useful.weight > 0.85
    assert useful.interval is not None
    assert useless.interval is not None
    assert np.diff(useful.interval)[0] < 0.5 * np.diff(useless.interval)[0]


def test_ppi_without_labels_or_without_traffic() -> None:
    assert ppi([1], [1], [0, 1]).refusal is not None
    alone = ppi([1, 0, 0, 0], [1, 0, 0, 0], [])
    assert (alone.rate, alone.interval) == (0.25, wilson(1, 4))
    with pytest.raises(ValueError, match="verdicts"):
        ppi([1, 0], [1], [0])


def test_a_lucky_set_of_labels_is_not_believed_to_be_certain() -> None:
    """No error and no positive among 50 labels: the interval still reaches a few percent."""
    found = ppi(np.zeros(50), np.zeros(50), np.zeros(1000))
    assert found.rate == 0
    assert found.interval is not None
    assert found.interval.high > 0.01


def test_rogan_gladen_agrees_with_the_delta_method_on_many_cases() -> None:
    counts = np.array([3400, 10_000, 900, 1000, 1600, 2000], dtype=float)

    def rate(alarms: float, n: float, hit: float, ill: float, calm: float, well: float) -> float:
        return (alarms / n + calm / well - 1) / (hit / ill + calm / well - 1)

    variance = 0.0
    for at, size in ((0, 1), (2, 3), (4, 5)):
        moved = counts.copy()
        moved[at] += 1
        slope = rate(*moved) - rate(*counts)
        variance += slope**2 * counts[at] * (1 - counts[at] / counts[size])
    found = rogan_gladen(3400, 10_000, Confusion(900, 400, 100, 1600))
    assert found.rate == pytest.approx(rate(*counts))
    assert found.interval is not None
    half = 1.96 * variance**0.5
    assert found.interval == pytest.approx((rate(*counts) - half, rate(*counts) + half), abs=1e-3)


def test_ppi_agrees_with_the_formulas_of_the_paper_on_many_labels() -> None:
    """Angelopoulos, Duchi & Zrnic, equations of the mean: weight, estimate and variance."""
    rng = np.random.default_rng(12)
    truth = (rng.random(12_000) < 0.3).astype(float)
    judged = np.where(rng.random(12_000) < 0.1, 1 - truth, truth)
    y, f, rest = truth[:4000], judged[:4000], judged[4000:]
    weight = np.cov(y, f)[0, 1] / ((1 + 4000 / 8000) * judged.var())
    rate = y.mean() - weight * (f.mean() - rest.mean())
    half = 1.96 * np.sqrt(np.var(y - weight * f) / 4000 + weight**2 * rest.var() / 8000)
    found = ppi(y, f, rest)
    assert found.weight == pytest.approx(weight, abs=0.01)
    assert found.rate == pytest.approx(rate, abs=1e-3)
    assert found.interval == pytest.approx((rate - half, rate + half), abs=1.5e-3)
