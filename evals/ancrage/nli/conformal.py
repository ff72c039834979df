"""Thresholds with a guarantee for new responses: conformal risk control and Learn-then-Test."""

import math

import numpy as np

from ancrage.nli.thresholds import Bools, Floats, Ints


def risk_controlled(q: Floats, wrong: Bools, sizes: Ints, alpha: float) -> float:
    """The largest t such that flagging q ≥ t keeps (R·risk(t) + 1)/(R + 1) ≤ α; 0 flags all.

    The risk is the mean false-negative rate over the R responses that hold a wrong claim: those
    without one have nothing to miss, and averaging them in would let misses through. It grows
    with t, which is what conformal risk control needs (Angelopoulos et al., 2024).
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    totals = np.bincount(owner, weights=wrong, minlength=len(sizes))
    number = int((totals > 0).sum())
    if alpha * (number + 1) < 1:
        return 0.0
    missed = q[wrong]
    weight = 1 / totals[owner[wrong]]
    order = np.argsort(missed, kind="stable")
    values, cumulated = missed[order], np.cumsum(weight[order])
    # Beyond a value v, that claim and all below it are missed: candidates are the values.
    last = np.r_[values[1:] != values[:-1], True]
    values, risks = values[last], cumulated[last] / number
    allowed = (alpha * (number + 1) - 1) / number
    beyond = np.flatnonzero(risks > allowed + 1e-12)
    return float(values[beyond[0]]) if len(beyond) else 1.0


def learn_then_test(q: Floats, wrong: Bools, sizes: Ints, precision: float, delta: float) -> float:
    """The least t, tested downwards from the surest, at which corrections are precise enough.

    The precision of a response is the share of its claims with q ≥ t that are wrong; responses
    without any do not count. Returns 2 when no t passes: nothing is corrected. With confidence
    1 − δ the mean precision is at least the one asked for (Angelopoulos et al., 2021).
    """
    owner = np.repeat(np.arange(len(sizes)), sizes)
    chosen = 2.0
    # The grid is fixed beforehand, not read off the data, so that the sequence stays valid.
    for t in np.arange(0.99, 0.0, -0.01):
        above = q >= t
        flagged = np.bincount(owner[above], minlength=len(sizes))
        due = np.bincount(owner[above], weights=wrong[above], minlength=len(sizes))
        some = flagged > 0
        count = int(some.sum())
        # Where few responses are flagged there is no test to pass or to fail: their number depends
        # on q alone, not on the labels, so the sequence stays valid.
        if count < _least(precision, delta):
            continue
        loss = float(1 - (due[some] / flagged[some]).mean())
        if hoeffding_bentkus(loss, count, 1 - precision) > delta:
            break
        chosen = float(t)
    return chosen


def _least(precision: float, delta: float) -> int:
    """Responses that pass the test when a quarter of the tolerated share is not due.

    A sequence that begins with fewer mostly ends there, for want of evidence.
    """
    return math.ceil(-math.log(delta) / _kl((1 - precision) / 4, 1 - precision))


def hoeffding_bentkus(mean: float, n: int, bound: float) -> float:
    """A p-value for "the true mean exceeds ``bound``", for n independent losses in [0, 1]."""
    from scipy.stats import binom

    if mean >= bound:
        return 1.0
    divergence = _kl(mean, bound)
    tail = np.e * float(binom.cdf(np.ceil(n * mean), n, bound))
    return float(min(1.0, np.exp(-n * divergence), tail))


def _kl(a: float, b: float) -> float:
    def term(x: float, y: float) -> float:
        return 0.0 if x == 0 else x * math.log(x / y)

    return term(a, b) + term(1 - a, 1 - b)
