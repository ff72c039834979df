"""Calibration: its guarantees, measured over many splits of simulated responses."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.errors import UsageError
from ancrage.nli import NLISettings, rule_of
from ancrage.nli.calibrate import (
    Calibration,
    Facts,
    Labelled,
    calibrated,
    fit,
    held_out,
    logistic,
    probabilities_wrong,
    read,
    refuse_foreign,
)
from ancrage.nli.conformal import hoeffding_bentkus, learn_then_test, risk_controlled
from ancrage.nli.rules import rule_name
from ancrage.nli.thresholds import Decision


def simulate(responses: int, seed: int) -> Labelled:
    """Responses that differ in how wrong they are, and a model that is overconfident."""
    random = np.random.default_rng(seed)
    sizes = random.integers(1, 7, responses)
    badness = np.repeat(random.beta(0.7, 1.4, responses), sizes)
    wrong = random.random(len(badness)) < badness
    evidence = random.normal(np.where(wrong, 1.0, -1.0), 1.4) * 2
    neutral = random.normal(0, 1, len(wrong))
    logits = np.column_stack([-evidence, neutral, evidence])
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    return Labelled(probabilities=p, wrong=wrong, sizes=sizes)


def false_negative_rate(flagged: np.ndarray, data: Labelled) -> float:
    totals = np.bincount(data.owner, weights=data.wrong, minlength=len(data.sizes))
    missed = np.bincount(data.owner, weights=data.wrong & ~flagged, minlength=len(data.sizes))
    return float((missed[totals > 0] / totals[totals > 0]).mean())


@pytest.mark.parametrize("alpha", [0.05, 0.1, 0.2])
def test_conformal_risk_is_kept_over_1000_splits(alpha: float) -> None:
    everything = simulate(1200, 3)
    fitted = fit(simulate(400, 4))
    q = probabilities_wrong(fitted, everything.probabilities)
    random = np.random.default_rng(0)
    totals = np.bincount(everything.owner, weights=everything.wrong, minlength=1200)
    starts = np.r_[0, np.cumsum(everything.sizes)]
    risks = []
    for _ in range(1000):
        chosen = random.permutation(1200)
        half = np.zeros(1200, dtype=bool)
        half[chosen[:300]] = True
        rows = half[everything.owner]
        t = risk_controlled(q[rows], everything.wrong[rows], everything.sizes[half], alpha)
        missed = np.add.reduceat((everything.wrong & (q < t)).astype(float), starts[:-1])
        some = ~half & (totals > 0)
        risks.append((missed[some] / totals[some]).mean())
    assert np.mean(risks) <= alpha + 0.005
    assert np.mean(risks) >= alpha / 2  # and it is not kept by flagging everything


@given(st.integers(0, 10_000), st.sampled_from([0.02, 0.1, 0.3, 0.9]))
def test_the_threshold_is_the_largest_that_keeps_the_risk(seed: int, alpha: float) -> None:
    data = simulate(40, seed)
    q = np.round(data.probabilities[:, 2], 2)
    t = risk_controlled(q, data.wrong, data.sizes, alpha)

    number = len(set(data.owner[data.wrong]))

    def bound(threshold: float) -> float:
        return (number * false_negative_rate(q >= threshold, data) + 1) / (number + 1)

    if t == 0.0:
        least = float(np.nextafter(q[data.wrong].min(initial=1), 2))
        assert bound(least) > alpha or alpha < 1 / (number + 1)
        return
    assert bound(t) <= alpha + 1e-9
    higher = [float(v) for v in np.unique(q) if v > t]
    assert all(bound(v) > alpha for v in higher) or t == 1.0


def test_correction_precision_holds_with_its_confidence() -> None:
    everything = simulate(1500, 9)
    q = probabilities_wrong(fit(simulate(400, 4)), everything.probabilities)
    random = np.random.default_rng(1)
    failures = corrected = 0
    for _ in range(300):
        half = np.zeros(1500, dtype=bool)
        half[random.permutation(1500)[:500]] = True
        rows = half[everything.owner]
        t = learn_then_test(q[rows], everything.wrong[rows], everything.sizes[half], 0.7, 0.1)
        above = (q >= t) & ~rows
        due = np.bincount(everything.owner[above], weights=everything.wrong[above], minlength=1500)
        all_ = np.bincount(everything.owner[above], minlength=1500)
        some = all_ > 0
        corrected += bool(some.any())
        failures += bool(some.any() and (due[some] / all_[some]).mean() < 0.7)
    assert corrected > 200
    assert failures / 300 <= 0.1


def test_a_few_responses_are_no_test_whatever_their_labels() -> None:
    """Skipping a test only when it fails would be looking at the labels first."""
    q = np.r_[np.full(12, 0.95), np.full(200, 0.5)]
    wrong = np.r_[np.ones(12, dtype=bool), np.zeros(200, dtype=bool)]
    assert learn_then_test(q, wrong, np.ones(212, dtype=int), 0.8, 0.1) == 2.0
    q[:200], wrong[:200] = 0.95, True
    assert learn_then_test(q, wrong, np.ones(212, dtype=int), 0.8, 0.1) <= 0.51


def test_nothing_is_corrected_without_evidence() -> None:
    data = simulate(60, 2)
    noise = np.random.default_rng(0).random(len(data.wrong))
    assert learn_then_test(noise, data.wrong, data.sizes, 0.95, 0.05) == 2.0


@given(st.floats(0, 1), st.integers(1, 500), st.floats(0.01, 0.99))
def test_p_values_are_probabilities_and_fall_with_evidence(
    mean: float, n: int, bound: float
) -> None:
    p = hoeffding_bentkus(mean, n, bound)
    assert 0 <= p <= 1
    assert mean < bound or p == 1


def test_logistic_recovers_its_coefficients() -> None:
    random = np.random.default_rng(0)
    x = np.column_stack([np.ones(20_000), random.normal(size=(20_000, 2))])
    y = random.random(20_000) < 1 / (1 + np.exp(-x @ np.array([0.5, 1.0, -2.0])))
    assert logistic(x, y) == pytest.approx([0.5, 1.0, -2.0], abs=0.1)


def test_responses_without_an_error_do_not_loosen_the_threshold() -> None:
    """Averaged in, a tenth of responses with errors would let nearly all of them through."""
    data = simulate(300, 8)
    faultless = simulate(2700, 9)
    whole = Labelled(
        probabilities=np.vstack([data.probabilities, faultless.probabilities]),
        wrong=np.r_[data.wrong, np.zeros(len(faultless.wrong), dtype=bool)],
        sizes=np.r_[data.sizes, faultless.sizes],
    )
    q = whole.probabilities[:, 2]
    alone = risk_controlled(data.probabilities[:, 2], data.wrong, data.sizes, 0.1)
    assert risk_controlled(q, whole.wrong, whole.sizes, 0.1) == alone


def test_the_held_out_half_is_shown_beside_a_tuned_cut_and_flagging_all() -> None:
    found = held_out(simulate(400, 3), 0.1, 0.8, 0.1)
    calibrated_row, cut, everything = found.values()
    assert everything.flagged == 1
    assert everything.missed == 0
    assert calibrated_row.missed <= 0.15
    assert cut.f1 >= everything.f1
    assert calibrated_row.precision is not None


def test_a_calibration_of_another_model_is_refused() -> None:
    facts: Facts = {"model": "a", "revision": "1", "dtype": "float32", "device": "cpu"}
    fitted = fit(simulate(100, 6), model=facts)
    refuse_foreign(fitted, {**facts, "device": "cuda"})
    for name in ("model", "revision", "dtype"):
        with pytest.raises(UsageError, match=f"fitted with {name}"):
            refuse_foreign(fitted, {**facts, name: "other"})


def test_unscored_claims_move_no_other() -> None:
    fitted = fit(simulate(200, 1))
    data = simulate(30, 2)
    plain = calibrated(fitted, data.probabilities, data.sizes)
    gapped = np.insert(data.probabilities, 0, np.nan, axis=0)
    sizes = data.sizes + np.eye(1, 30, dtype=int)[0]
    decided = calibrated(fitted, gapped, sizes)
    assert decided.decisions[0] == Decision.UNSCORED
    assert (decided.decisions[1:] == plain.decisions).all()


def test_a_penalty_sets_the_threshold_of_least_cost(tmp_path: Path) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(fit(simulate(200, 1)).model_dump_json())
    plain = NLISettings(rule="calibrated", calibration=str(path))
    dear = plain.model_copy(update={"penalty": 9.0})
    data = simulate(30, 2)
    windows = np.ones(len(data.wrong), dtype=np.int64)
    decided = rule_of(dear)(data.probabilities, data.sizes, windows)
    q = probabilities_wrong(read(path), data.probabilities, windows)
    assert ((decided.decisions != Decision.SUPPORTED) == (q >= 0.1)).all()
    assert rule_name(dear) != rule_name(plain)


def test_calibration_is_stored_with_its_data_hash(tmp_path: Path) -> None:
    data = simulate(100, 6)
    fitted = fit(data)
    path = tmp_path / "calibration.json"
    path.write_text(fitted.model_dump_json())
    assert read(path) == fitted == Calibration.model_validate_json(path.read_text())
    assert fitted.data_hash == data.digest() != simulate(100, 7).digest()


@pytest.mark.parametrize("content", ["{}", "not json", '{"format": 2, "alpha": 2}'])
def test_a_broken_calibration_is_one_line(tmp_path: Path, content: str) -> None:
    path = tmp_path / "calibration.json"
    path.write_text(content)
    with pytest.raises(UsageError, match=r"calibration\.json: not a calibration: "):
        read(path)
    with pytest.raises(UsageError, match="calibrate --nli"):
        read(tmp_path / "absent.json")


def test_too_little_data_is_refused() -> None:
    with pytest.raises(UsageError, match="20 responses"):
        fit(simulate(10, 1))
