"""What a number of cases can show, and how many cases it takes."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammaln, ndtri, xlog1py, xlogy

from ancrage.stats.intervals import Floats


def power_of(n: float, churn: float, change: float, level: float = 0.05) -> float:
    """The chance that the exact paired test shows a true ``change`` in ``n`` independent cases.

    ``churn`` is the share of cases that differ between two runs of the same thing; the change
    comes on top of it, all one way.

    Source: the power of McNemar's test, averaged over the number of discordant pairs: Duffy,
    Statistics in Medicine 3 (1984).
    """
    whole = int(n)
    share = min(1.0, churn + change)
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
    n: float, churn: float, *, level: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest true change that is shown with the chance ``power``; None when none is."""
    if power_of(n, churn, 1.0, level) < power:
        return None
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(n, churn, middle, level) >= power else (middle, high)
    return high


def cases_needed(
    churn: float, change: float, *, level: float = 0.05, power: float = 0.8
) -> int | None:
    """How many independent cases show a true ``change``; None beyond ten million."""
    high = 8
    while power_of(high, churn, change, level) < power:
        high *= 2
        if high > 10_000_000:
            return None
    low = high // 2
    while high - low > max(1, low // 500):
        middle = (low + high) // 2
        low, high = (
            (low, middle) if power_of(middle, churn, change, level) >= power else (middle, high)
        )
    return high


@dataclass(frozen=True)
class Need:
    """What a number of repeats of each side asks for."""

    repeats: int
    cases: int | None
    """Cases needed; None when the studies are too few for any number of cases."""
    answers: int | None
    """Answers to produce on one side: cases × repeats."""


def plan(
    rate: float,
    detect: float,
    *,
    studies: int | None = None,
    alike: float = 0.02,
    steady: float = 0.5,
    level: float = 0.05,
    power: float = 0.8,
    repeats: tuple[int, ...] = (1, 2, 3, 5),
) -> list[Need]:
    """How many cases show that a failure ``rate`` rose by ``detect``, for several repeats.

    Args:
        rate: the rate before.
        detect: the rise that must be seen.
        studies: how many studies the cases will come from; None for independent cases.
        alike: how alike the changes of two cases of one study are (a correlation).
        steady: the share of failing cases that fail again when the same thing runs once more.
        level: the chance of a false alarm; that of the family divided by the number of modes.
        power: the chance of seeing the rise.
        repeats: the numbers of runs of each side to plan for.
    """
    churn = 2 * rate * (1 - steady)
    single = cases_needed(churn, detect, level=level, power=power)
    single_spread = churn + detect - detect**2
    needs = []
    for count in repeats:
        # Repeats average out what flips by chance, and of the change what is a matter of chance
        # too: half of it, say, between cases that now always fail and cases that fail more often.
        spread = churn / count + detect * (1 + 1 / count) / 2 - detect**2
        cases = (
            None if single is None else _in_studies(single * spread / single_spread, studies, alike)
        )
        needs.append(Need(count, cases, None if cases is None else cases * count))
    return needs


def _in_studies(independent: float, studies: int | None, alike: float) -> int | None:
    """Cases in so many studies that count as ``independent`` ones; None when no number does.

    n cases in k studies count as n / (1 + (n / k − 1) · alike), and by (k − 1) / (k + 1) for the
    few studies that their spread is seen in.
    """
    if studies is None:
        return math.ceil(independent)
    if studies < 2:
        return None
    wanted = independent * (studies + 1) / (studies - 1)
    room = 1 - alike * wanted / studies
    return max(studies, math.ceil(wanted * (1 - alike) / room)) if room > 0 else None


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
