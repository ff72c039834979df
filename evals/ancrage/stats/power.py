"""What a number of independent cases can show, by the power of the exact paired test."""

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammaln, ndtri, xlog1py, xlogy

from ancrage.stats.intervals import Floats


def power_of(
    n: float, churn: float, change: float, level: float = 0.05, *, steady: float = 0.0
) -> float:
    """The chance that the exact paired test shows a true ``change`` in ``n`` independent cases.

    ``churn`` is the share of cases that differ between two runs of the same thing; the change
    comes on top of it. Where failing cases fail again in another run, a share ``steady`` of them,
    less of it does: more failures are then more that both runs have.

    Source: the power of McNemar's test, averaged over the number of discordant pairs: Duffy,
    Statistics in Medicine 3 (1984).
    """
    whole = int(n)
    share = min(1.0, max(change, churn + change * (1 - steady * (1 - change))))
    if whole < 1 or share <= 0:
        return 0.0
    spread = 8 * math.sqrt(whole * share * (1 - share)) + 8
    low = max(0, int(whole * share - spread))
    pairs = np.arange(low, min(whole, int(whole * share + spread)) + 1)
    way = (1 + min(change / share, 1.0)) / 2
    critical = _critical(pairs, level)
    shown = _at_least(critical, pairs, way) + _at_least(critical, pairs, 1 - way)
    return float(np.sum(_binomial(pairs, whole, share) * np.minimum(shown, 1.0)))


def detectable_change(
    n: float, churn: float, *, level: float = 0.05, power: float = 0.8, steady: float = 0.0
) -> float | None:
    """The smallest true change that is shown with the chance ``power``; None when none is."""
    if power_of(n, churn, 1.0, level) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        enough = power_of(n, churn, middle, level, steady=steady) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def cases_needed(
    churn: float, change: float, *, level: float = 0.05, power: float = 0.8
) -> int | None:
    """How many independent cases show a true ``change``; None beyond ten million."""
    low, high = 4, 8
    while power_of(high, churn, change, level) < power:
        low, high = high, 2 * high
        if high > 10_000_000:
            return None
    while high - low > max(1, low // 500):
        middle = (low + high) // 2
        enough = power_of(middle, churn, change, level) >= power
        low, high = (low, middle) if enough else (middle, high)
    return high


def labels_needed(rate: float, within: float, level: float = 0.95) -> int:
    """Human labels, drawn at random, that pin a rate down to ± ``within``."""
    z = float(ndtri((1 + level) / 2))
    return math.ceil(z**2 * rate * (1 - rate) / within**2)


def _binomial(k: ArrayLike, n: ArrayLike, p: float) -> Floats:
    """The binomial probabilities; scipy.stats would take most of the time a command starts in."""
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, p) + xlog1py(n - k, -p)))


def _at_least(k: Floats, n: ArrayLike, p: float) -> Floats:
    """The binomial chance of ``k`` or more; 0 beyond ``n``."""
    n = np.asarray(n, dtype=np.float64)
    inside = np.clip(k, 1, np.maximum(n, 1))
    tail = betainc(inside, np.maximum(n - inside, 0) + 1, p)
    return np.asarray(np.where(k > n, 0.0, np.where(k <= 0, 1.0, tail)))


def _critical(pairs: ArrayLike, level: float) -> Floats:
    """The smallest count, of each number of discordant pairs, that the exact test rejects at."""
    n = np.asarray(pairs, dtype=np.float64)
    near = n / 2 + ndtri(1 - level / 2) * np.sqrt(n) / 2
    k: Floats = np.maximum(np.floor(near) - 3, 0)
    while np.any(short := _at_least(k, n, 0.5) > level / 2):
        k = np.asarray(k + short, dtype=np.float64)
    return k
