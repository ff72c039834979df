"""The true rate of a failure mode, from a judge that errs and a few human labels."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ancrage.stats.agreement import Confusion
from ancrage.stats.intervals import Interval, quantile, wilson

YOUDEN_FLOOR = 0.3
"""Below this sensitivity + specificity − 1 a judge carries too little to correct a rate."""


@dataclass(frozen=True)
class Corrected:
    """A corrected rate, or the reason why there is none."""

    method: str
    rate: float | None
    interval: Interval | None
    refusal: str | None = None
    weight: float | None = None
    """PPI++ only: how much the judge was listened to, 0 (not at all) to 1."""


def ppi(
    labelled_truth: ArrayLike,
    labelled_judge: ArrayLike,
    unlabelled_judge: ArrayLike,
    level: float = 0.95,
) -> Corrected:
    """The true rate by PPI++, when the labelled cases are a random sample of the same traffic.

    The mean of the labels, moved by what the judge saw on the other cases, with the weight that
    makes the variance smallest: never worse than the labels alone, up to its own estimation. The
    interval is Wilson's on the effective size that the estimated variance stands for. Half a case
    in each cell of label × verdict keeps a variance of 0, which a few labels can show by luck,
    from being believed.

    Arrays of 0/1, labelled ones of length n ≥ 2, unlabelled of length N (the labelled cases left
    out). Source: Angelopoulos, Duchi & Zrnic, PPI++ (2023).
    """
    truth, judge, other = (
        np.asarray(a, dtype=np.float64) for a in (labelled_truth, labelled_judge, unlabelled_judge)
    )
    if truth.shape != judge.shape:
        raise ValueError(f"{truth.size} labels but {judge.size} verdicts on them")
    n, rest = truth.size, other.size
    if n < 2:
        return Corrected("PPI++", None, None, f"{n} labels are too few to correct a rate")
    if rest == 0:
        rate = float(truth.mean())
        return Corrected("PPI++", rate, wilson(rate * n, n, level), weight=0.0)
    # Moments of the 2×2 table of label × verdict with half a case added to each cell.
    size = n + 2.0
    y = (truth.sum() + 1) / size
    f = (judge.sum() + 1) / size
    both = (float(truth @ judge) + 0.5) / size
    pooled = (judge.sum() + other.sum() + 1) / (n + rest + 2)
    var_y, var_f, cov = y * (1 - y), pooled * (1 - pooled), both - y * f
    var_labelled = f * (1 - f)
    weight = min(1.0, max(0.0, cov / ((1 + n / rest) * var_labelled)))
    rate = float(truth.mean() - weight * (judge.mean() - other.mean()))
    rate = min(1.0, max(0.0, rate))
    residual = var_y - 2 * weight * cov + weight**2 * var_labelled
    variance = residual / n + weight**2 * var_f / rest
    centre = (rate * n + 0.5) / (n + 1)
    effective = min(centre * (1 - centre) / variance, float(n + rest))
    return Corrected("PPI++", rate, wilson(rate * effective, effective, level), weight=weight)


def rogan_gladen(alarms: int, n: int, calibration: Confusion, level: float = 0.95) -> Corrected:
    """The true rate from ``alarms`` of the judge in ``n`` cases and its measured error rates.

    For labels that do not come from the same traffic: only the judge's sensitivity and
    specificity, with their uncertainty, carry over. Refused when sensitivity + specificity − 1 is
    below 0.3, or when either has no denominator.

    Source: Rogan & Gladen, American J. Epidemiology 107 (1978); interval: Lang & Reiczigel,
    Preventive Veterinary Medicine 113 (2014).
    """
    if not 0 <= alarms <= n:
        raise ValueError(f"{alarms} alarms in {n} cases is not a count")
    method = "Rogan–Gladen"
    if n == 0:
        return Corrected(method, None, None, "no case was judged")
    se, sp = calibration.sensitivity, calibration.specificity
    if se is None or sp is None:
        absent = "with" if se is None else "without"
        return Corrected(method, None, None, f"no labelled case {absent} the defect")
    youden = se + sp - 1
    if youden < YOUDEN_FLOOR:
        reason = f"sensitivity + specificity − 1 is {youden:.2f}, below {YOUDEN_FLOOR}"
        return Corrected(method, None, None, f"the judge carries too little information: {reason}")
    rate = min(1.0, max(0.0, (alarms / n + sp - 1) / youden))

    z = quantile(level)
    n_se, n_sp = calibration.positives + 2, calibration.negatives + 2
    se = (calibration.true_positive + 1) / n_se
    sp = (calibration.true_negative + 1) / n_sp
    apparent = (alarms + z * z / 2) / (n + z * z)
    youden = se + sp - 1
    centre = (apparent + sp - 1) / youden
    of_se, of_sp = se * (1 - se) / n_se, sp * (1 - sp) / n_sp
    shift = 2 * z * z * (centre * of_se - (1 - centre) * of_sp)
    variance = apparent * (1 - apparent) / (n + z * z)
    variance += centre**2 * of_se + (1 - centre) ** 2 * of_sp
    half = z * math.sqrt(variance) / youden
    low, high = (min(1.0, max(0.0, centre + shift + sign * half)) for sign in (-1, 1))
    return Corrected(method, rate, Interval(min(low, rate), max(high, rate)))
