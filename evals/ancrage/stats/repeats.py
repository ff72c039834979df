"""Several runs of the same thing: what always holds, what flips, and whose noise it is."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ancrage.stats.intervals import quantile


def pass_hat_k(passes: int, n: int, k: int) -> float | None:
    """pass^k: the chance that ``k`` tries all pass, from ``passes`` of ``n``; None when n < k.

    Unbiased: C(passes, k) / C(n, k). Source: Yao et al., τ-bench (2024).
    """
    _check(passes, n, k)
    return None if n < k else math.comb(passes, k) / math.comb(n, k)


def pass_at_k(passes: int, n: int, k: int) -> float | None:
    """pass@k: the chance that at least one of ``k`` tries passes; None when n < k.

    Unbiased: 1 − C(n − passes, k) / C(n, k). Source: Chen et al., Codex (2021).
    """
    _check(passes, n, k)
    return None if n < k else 1 - math.comb(n - passes, k) / math.comb(n, k)


def _check(passes: int, n: int, k: int) -> None:
    if k < 1 or not 0 <= passes <= n:
        raise ValueError(f"pass^{k} of {passes} in {n} does not exist")


@dataclass(frozen=True)
class Consistency:
    """How cases fared over repeats; the four counts add up to ``cases``."""

    cases: int
    always_pass: int
    always_fail: int
    flips: int
    missing: int
    """Cases without a score in at least one repeat and no flip seen in the others."""

    @property
    def flip_rate(self) -> float | None:
        """Share of the cases with a known fate that flip; None when there is none."""
        known = self.cases - self.missing
        return self.flips / known if known else None


ALWAYS_PASS, ALWAYS_FAIL, FLIP, MISSING = "always_pass", "always_fail", "flip", "missing"


def fates(failures: ArrayLike) -> list[str]:
    """The fate of each case from an array cases × repeats: > 0 fails, 0 passes, NaN is unscored.

    A case seen to both pass and fail flips, whatever its unscored repeats; a case with an unscored
    repeat that never flipped is ``missing``: it is not known to hold always.
    """
    array = np.atleast_2d(np.asarray(failures, dtype=np.float64))
    fails = (array > 0).any(axis=1)
    passes = (array <= 0).any(axis=1)
    absent = np.isnan(array).any(axis=1) | (array.shape[1] == 0)
    names = np.select(
        [fails & passes, absent, fails, passes], [FLIP, MISSING, ALWAYS_FAIL, ALWAYS_PASS], MISSING
    )
    return [str(name) for name in names]


def consistency(failures: ArrayLike, expected: int | None = None) -> Consistency:
    """Counts of the fates of an array cases × repeats (see ``fates``).

    ``expected`` is the number of cases that there should be: those absent altogether are missing.
    """
    names = fates(failures) if np.size(failures) else []
    cases = len(names) if expected is None else expected
    if cases < len(names):
        raise ValueError(f"{len(names)} cases given but only {cases} expected")
    found = {name: names.count(name) for name in (ALWAYS_PASS, ALWAYS_FAIL, FLIP, MISSING)}
    return Consistency(
        cases,
        found[ALWAYS_PASS],
        found[ALWAYS_FAIL],
        found[FLIP],
        found[MISSING] + cases - len(names),
    )


@dataclass(frozen=True)
class Noise:
    """Variance of one score, split by where it comes from; None where nothing measures it."""

    between_cases: float | None
    model: float | None
    """Between regenerated answers of one case, the judge's own noise taken out."""
    judge: float | None
    """Between verdicts on one and the same answer."""
    within: float | None
    """Between repeats of one case, as observed: model and judge together."""
    cases: int

    def floor(self, n: int | None = None, repeats: int = 1, level: float = 0.95) -> float | None:
        """The difference that two runs of the *same* thing stay within, ``level`` of the time.

        For ``n`` cases (default: as many as measured), each run the mean of ``repeats``.
        """
        size = self.cases if n is None else n
        if self.within is None or size < 1:
            return None
        return quantile(level) * math.sqrt(2 * self.within / (size * repeats))


def noise(values: ArrayLike) -> Noise:
    """Split the variance of an array cases × repeats × verdicts (or cases × repeats).

    NaN marks an unscored verdict. Method of moments for nested random effects; a negative
    component, which chance can give, is shown as 0.

    Source: Searle, Casella & McCulloch, Variance Components (1992), chapter 3.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim == 2:
        array = array[:, :, None]
    if array.ndim != 3:
        raise ValueError("values must be cases × repeats, or cases × repeats × verdicts")
    known = ~np.isnan(array)
    verdicts = known.sum(axis=2)
    filled = np.where(known, array, 0.0)
    with np.errstate(invalid="ignore"):
        answers = filled.sum(axis=2) / verdicts
    spread = np.where(known, (array - answers[:, :, None]) ** 2, 0.0).sum()
    freedom = np.maximum(verdicts - 1, 0).sum()
    judge = float(spread / freedom) if freedom else None

    scored = verdicts > 0
    repeats = scored.sum(axis=1)
    with np.errstate(invalid="ignore"):
        means = np.where(scored, answers, 0.0).sum(axis=1) / repeats
    spread = np.where(scored, (answers - means[:, None]) ** 2, 0.0).sum()
    freedom = np.maximum(repeats - 1, 0).sum()
    observed = float(spread / freedom) if freedom else None
    # ``observed`` is the variance of the mean of a few verdicts: model + judge / verdicts.
    share = float(np.mean(1 / verdicts[scored])) if scored.any() else 1.0
    model = within = None
    if observed is not None:
        model = max(0.0, observed - (judge or 0.0) * share)
        within = model + (judge or 0.0) if judge is not None else observed

    cases = means[repeats > 0]
    between = None
    if cases.size > 1:
        part = (observed or 0.0) * float(np.mean(1 / repeats[repeats > 0]))
        between = max(0.0, float(cases.var(ddof=1)) - part)
    return Noise(between, model, judge, within, int(cases.size))
