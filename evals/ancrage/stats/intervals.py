"""Intervals for a rate: independent cases, and cases that come in clusters."""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import betainccinv, betaincinv, ndtri, stdtrit

Floats: TypeAlias = NDArray[np.float64]
Clusters: TypeAlias = Sequence[object] | NDArray[np.generic]
"""One label a case; cases that share a label (a study, a document) are not independent."""


class Interval(NamedTuple):
    """Both ends of an interval, included."""

    low: float
    high: float


def _check(successes: float, n: float, level: float) -> None:
    if not 0 < level < 1:
        raise ValueError(f"level must lie strictly between 0 and 1, not {level}")
    if n < 0 or not 0 <= successes <= n:
        raise ValueError(f"{successes} of {n} is not a count")


def quantile(level: float, degrees: float | None = None) -> float:
    """The two-sided normal (or, with ``degrees``, Student) quantile of a level such as 0.95."""
    upper = (1 + level) / 2
    return float(ndtri(upper) if degrees is None else stdtrit(max(degrees, 1), upper))


def wilson(
    successes: float, n: float, level: float = 0.95, *, degrees: float | None = None
) -> Interval:
    """Score interval for a rate; (0, 1) when ``n`` is 0. Counts may be effective ones.

    Source: Wilson, JASA 22 (1927). ``degrees`` swaps the normal quantile for Student's.
    """
    _check(successes, n, level)
    if n == 0:
        return Interval(0.0, 1.0)
    z = quantile(level, degrees)
    rate = successes / n
    centre = (rate + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(rate * (1 - rate) / n + z * z / (4 * n * n))
    low = 0.0 if successes == 0 else max(0.0, float(centre - half))
    high = 1.0 if successes == n else min(1.0, float(centre + half))
    return Interval(low, high)


def clopper_pearson(successes: float, n: float, level: float = 0.95) -> Interval:
    """Exact interval for a rate: covers at least ``level``, whatever the rate.

    Source: Clopper & Pearson, Biometrika 26 (1934).
    """
    _check(successes, n, level)
    tail = (1 - level) / 2
    low = 0.0 if successes == 0 else float(betaincinv(successes, n - successes + 1, tail))
    high = 1.0 if successes == n else float(betainccinv(successes + 1, n - successes, tail))
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


def cluster_sums(values: Floats, clusters: Clusters | None) -> Floats:
    """The sum of ``values`` within each cluster; ``values`` themselves without clusters."""
    if clusters is None:
        return values
    if len(clusters) != values.size:
        raise ValueError(f"{values.size} values but {len(clusters)} cluster labels")
    if isinstance(clusters, np.ndarray):
        index = np.unique(clusters, return_inverse=True)[1]
    else:
        labels: dict[object, int] = {}
        index = np.array([labels.setdefault(c, len(labels)) for c in clusters], dtype=np.intp)
    return np.bincount(index, weights=values).astype(np.float64)


def variance_of_mean(values: Floats, clusters: Clusters | None = None) -> tuple[float, int]:
    """The variance of the mean of ``values``, robust to clusters, and the number of clusters.

    Source: Liang & Zeger, Biometrika 73 (1986), with the factor K / (K − 1) for few clusters.
    NaN with fewer than two clusters: one cluster says nothing of the spread between clusters.
    """
    sums = cluster_sums(values - values.mean(), clusters) if values.size else values
    if sums.size < 2:
        return float("nan"), int(sums.size)
    k = sums.size
    return float(np.sum(sums**2) * k / (k - 1) / values.size**2), k


def rate_interval(
    values: ArrayLike, clusters: Clusters | None = None, level: float = 0.95
) -> Interval:
    """Interval for the mean of ``values`` (each in [0, 1]), cases clustered by ``clusters``.

    Wilson's interval on the effective sample size, with Student's quantile on K − 1 degrees of
    freedom: clustered cases carry less information than as many independent ones. Without
    clusters and with 0/1 values it is Wilson's own.

    Source: Korn & Graubard, Survey Methodology 24 (1998), with Wilson's interval as base as in
    Franco, Little, Louis & Slud, J. Survey Statistics and Methodology 7 (2019).
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        return Interval(0.0, 1.0)
    if not np.all((array >= 0) & (array <= 1)):
        raise ValueError("values must lie in [0, 1]; take unscored cases out first")
    mean = float(array.mean())
    if clusters is None:
        return wilson(min(mean * array.size, array.size), array.size, level)
    variance, k = variance_of_mean(array, clusters)
    independent = float(array.var()) / array.size
    spread = mean * (1 - mean)
    if k < 2:
        return Interval(0.0, 1.0)
    inflation = max(1.0, variance / independent) if independent > 0 else 1.0
    size = array.size / inflation
    if independent > 0:
        size = spread / independent / inflation
    degrees = None if k == array.size else k - 1
    return wilson(min(mean * size, size), size, level, degrees=degrees)
