"""Intervals for a rate: independent cases, and cases that come in clusters."""

import math
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv, expit, gammaln, logit, ndtri, stdtrit

Floats: TypeAlias = NDArray[np.float64]
Units: TypeAlias = NDArray[np.intp]
"""A number from 0 for each case; cases that share one (a study) are not independent."""


class Interval(NamedTuple):
    """Both ends of an interval, included."""

    low: float
    high: float


def _check(successes: float, n: float, level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, not {level}")
    if n < 0 or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is not a count")


def quantile(level: float) -> float:
    """The two-sided normal quantile of a level such as 0.95."""
    return float(ndtri((1 + level) / 2))


def wilson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Score interval for a rate; (0, 1) when ``n`` is 0. Counts may be effective ones.

    Source: Wilson, JASA 22 (1927).
    """
    _check(successes, n, level)
    if n == 0:
        return Interval(0.0, 1.0)
    z = quantile(level)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, float(centre - half))
    high = 1.0 if successes == n else min(1.0, float(centre + half))
    return Interval(low, high)


def jeffreys(successes: float, n: float, level: float = 0.95) -> Interval:
    """Equal-tailed posterior interval under the Beta(½, ½) prior, open at an observed 0 or 1.

    Source: Brown, Cai & DasGupta, Statistical Science 16 (2001).
    """
    _check(successes, n, level)
    tail = (1 - level) / 2
    shape = successes + 0.5, n - successes + 0.5
    low = 0.0 if successes == 0 else float(betaincinv(*shape, tail))
    high = 1.0 if successes == n else float(betainccinv(*shape, tail))
    return Interval(low, high)


_CORRELATIONS = np.array([1e-4, 0.01, 0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.45, 0.6])
"""Within-unit correlations held equally likely beforehand; the data weigh them."""
_POINTS = 160


def pooled_interval(
    successes: Floats, sizes: Floats, level: float = 0.95, *, edge: float = 1e-5
) -> Interval:
    """Interval for a rate from ``successes`` of ``sizes`` in each independent unit.

    Posterior of the mean of a beta-binomial distribution under Jeffreys's prior, averaged over
    how alike the cases of a unit may be: with few units, or failures too rare to show it, that is
    not known, and an estimate of it is too often 0. With units of one case it is Jeffreys's own
    interval. Counts may be fractions. (0, 1) without any case.

    Source: Kleinman, JASA 68 (1973), for the model; Brown, Cai & DasGupta, Statistical Science 16
    (2001), for the prior.
    """
    total, failed, k = float(sizes.sum()), float(successes.sum()), sizes.size
    if total == 0:
        return Interval(0.0, 1.0)
    rate = failed / total
    ends = [float(betaincinv(rate * k + 0.5, k - rate * k + 0.5, q)) for q in (edge, 1 - edge)]
    low, high = logit(np.clip(ends, 1e-12, 1 - 1e-12)).tolist()
    grid = np.linspace(low, high, _POINTS)
    means = expit(grid)
    kinds, counts = np.unique(np.stack([sizes, successes], axis=1), axis=0, return_counts=True)
    n, x = kinds[:, 0], kinds[:, 1]
    weight = ((1 - _CORRELATIONS) / _CORRELATIONS)[:, None]
    a, b = means[:, None, None] * weight, (1 - means)[:, None, None] * weight
    likelihood = gammaln(a + x) - gammaln(a) + gammaln(b + n - x) - gammaln(b)
    likelihood += gammaln(weight) - gammaln(weight + n)
    log_density = (likelihood * counts).sum(axis=2) + 0.5 * np.log(means * (1 - means))[:, None]
    density = np.exp(log_density - log_density.max()).sum(axis=1)
    below = np.append(0.0, np.cumsum(density[1:] + density[:-1]))
    low, high = np.interp([(1 - level) / 2, (1 + level) / 2], below / below[-1], means)
    return Interval(
        0.0 if failed <= 0 else min(float(low), rate),
        1.0 if failed >= total else max(float(high), rate),
    )


def _per_unit(values: Floats, units: Units | None) -> tuple[Floats, Floats]:
    """Successes and sizes of each unit; means of repeats count for more than one case.

    How much more their spread says: it is that of so many tries, ten at the most.
    """
    mean = float(values.mean())
    spread = float(values.var())
    tries = min(10.0, max(1.0, mean * (1 - mean) / spread)) if spread > 0 else 1.0
    index = np.arange(values.size) if units is None else units
    sizes = np.bincount(index).astype(np.float64)
    present = sizes > 0
    successes = np.bincount(index, weights=values).astype(np.float64)
    return tries * successes[present], tries * sizes[present]


def rate_interval(values: ArrayLike, units: Units | None = None, level: float = 0.95) -> Interval:
    """Interval for the mean of ``values``, each in [0, 1]: Wilson's, or over ``units``.

    ``units`` is a number from 0 for each case; cases that share it (a study) are not independent:
    see ``pooled_interval``. The interval holds Wilson's too, since they never say more than
    independent ones, and Student's on the logit scale, since no single model fits all units.
    (0, 1) when there is no case, or a single unit of several cases.
    """
    array = np.asarray(values, dtype=np.float64)
    if not np.all((array >= 0) & (array <= 1)):
        raise ValueError("values must lie in [0, 1]; take unscored cases out first")
    if array.size == 0:
        return Interval(0.0, 1.0)
    successes, sizes = _per_unit(array, units)
    alone = wilson(min(successes.sum(), sizes.sum()), sizes.sum(), level)
    if units is None:
        return alone
    if sizes.size == 1:
        return Interval(0.0, 1.0)
    rate, half = _student(array, units, level)
    held = [alone, pooled_interval(successes, sizes, level)]
    if 0 < rate < 1:
        held.append(Interval(*expit(logit(rate) + np.array([-1, 1]) * half / (rate * (1 - rate)))))
    return _hull(*held)


def _hull(*intervals: Interval) -> Interval:
    return Interval(
        float(min(interval.low for interval in intervals)),
        float(max(interval.high for interval in intervals)),
    )


def _student(values: Floats, units: Units, level: float) -> tuple[float, float]:
    """The mean, and half of Student's interval for it on the cluster-robust standard error.

    Source: Liang & Zeger, Biometrika 73 (1986); k − 1 degrees of freedom: Cameron & Miller, Journal
    of Human Resources 50 (2015).
    """
    mean = float(values.mean())
    k = np.unique(units).size
    spread = float(np.sum(np.bincount(units, weights=values - mean) ** 2))
    error = math.sqrt(spread * k / (k - 1)) / values.size
    return mean, float(stdtrit(k - 1, (1 + level) / 2)) * error


def difference_interval(
    differences: ArrayLike,
    units: Units | None = None,
    level: float = 0.95,
    *,
    independent: bool = False,
) -> Interval:
    """Interval for the mean of paired differences, each in [−1, 1].

    What newly fails and what newly passes are two rates, each with its ``pooled_interval``; their
    difference follows by the square-and-add method, with the correlation between both over the
    units where it is negative (a run that shifts whole studies). It holds Student's interval over
    the units too. (−1, 1) when there is no case, or a single unit of several cases.

    ``independent`` takes the cases of a unit as independent in their change, as far as Student's
    interval over the units lets them.

    Source: Zou & Donner, Statistics in Medicine 27 (2008), after Newcombe, ibid. 17 (1998).
    """
    array = np.asarray(differences, dtype=np.float64)
    if not np.all((array >= -1) & (array <= 1)):
        raise ValueError("differences must lie in [−1, 1]; take unscored cases out first")
    if array.size == 0:
        return Interval(-1.0, 1.0)
    if units is not None and np.unique(units).size == 1:
        return Interval(-1.0, 1.0)
    (up, sizes), (down, down_sizes) = (
        _per_unit(np.maximum(part, 0), None if independent else units) for part in (array, -array)
    )
    a, b = up.sum() / sizes.sum(), down.sum() / down_sizes.sum()
    (a_low, a_high), (b_low, b_high) = (
        pooled_interval(up, sizes, level), pooled_interval(down, down_sizes, level)
    )  # fmt: skip
    together = 2 * min(0.0, _correlation(up - a * sizes, down - b * down_sizes))
    below, above = a - a_low, b_high - b
    low = a - b - math.sqrt(below**2 - together * below * above + above**2)
    below, above = b - b_low, a_high - a
    high = a - b + math.sqrt(below**2 - together * below * above + above**2)
    found = Interval(max(-1.0, float(low)), min(1.0, float(high)))
    if units is None:
        return found
    mean, half = _student(array, units, level)
    return _hull(found, Interval(max(-1.0, mean - half), min(1.0, mean + half)))


def _correlation(first: Floats, second: Floats) -> float:
    scale = math.sqrt(float(first @ first) * float(second @ second))
    return float(first @ second) / scale if scale > 0 else 0.0
