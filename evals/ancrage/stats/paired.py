"""Two runs over the same cases: is the difference more than noise, and how large may it be?"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, gammaln, ndtri, xlog1py, xlogy

from ancrage.stats.intervals import (
    Clusters,
    Floats,
    Interval,
    cluster_sums,
    quantile,
    variance_of_mean,
)

_LATTICE = 200_000
_SCALES = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 15, 16, 18, 20, 24, 28, 30, 36, 40, 42, 60, 84)
_DRAWS = 9_999


@dataclass(frozen=True)
class PairedTest:
    """What a paired test says. ``p_value`` is two-sided and valid at any sample size."""

    p_value: float
    mid_p: float
    """Counts half of the probability of the observed value: nearer to 5 %, not guaranteed below."""
    units: int
    """Independent units (cases, or clusters) that moved; only they inform the test."""
    exact: bool
    """False when the p-value comes from random sign flips instead of all of them."""
    attainable: Floats = field(repr=False)
    """Every p-value that the test could have given with these units, ascending."""

    @property
    def smallest(self) -> float:
        """The smallest p-value that these units could have given."""
        return float(self.attainable[0])


def sign_flip(differences: ArrayLike, clusters: Clusters | None = None) -> PairedTest:
    """Test that the runs do not differ, from one difference (second − first) a case.

    When the runs do not differ, swapping them within a cluster changes nothing: the sum of each
    cluster is as likely with either sign. The p-value is the share of all sign assignments whose
    total is at least as far from 0 as the one observed, computed exactly by convolution when the
    sums lie on a lattice (0/1 outcomes, means of a few repeats), else with 9,999 random
    assignments from a fixed seed. For 0/1 outcomes and no clusters this is the exact McNemar test.

    Fewer than six clusters that moved cannot give p < 0.05: see ``PairedTest.smallest``.

    Source: Fisher, The Design of Experiments (1935); Canay, Romano & Shaikh, Econometrica 85
    (2017), for clusters.
    """
    array = np.asarray(differences, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("differences must be finite; take unscored cases out first")
    sums = cluster_sums(array, clusters)
    sums = sums[np.abs(sums) > 1e-9]
    if sums.size == 0:
        return PairedTest(1.0, 1.0, 0, True, np.ones(1))
    for scale in _SCALES:
        steps = np.rint(sums * scale)
        if np.allclose(sums * scale, steps, rtol=0, atol=1e-6):
            if np.abs(steps).sum() <= _LATTICE:
                return _exact(steps.astype(np.int64))
            break
    return _random(sums)


def _exact(sums: "np.ndarray[tuple[int, ...], np.dtype[np.int64]]") -> PairedTest:
    magnitudes, counts = np.unique(np.abs(sums), return_counts=True)
    common = int(np.gcd.reduce(magnitudes))
    magnitudes //= common
    total = int(np.sum(magnitudes * counts))
    mass = np.ones(1)
    for magnitude, count in zip(magnitudes.tolist(), counts.tolist(), strict=True):
        kernel = np.zeros(magnitude * count + 1)
        kernel[::magnitude] = _binomial(np.arange(count + 1), count, 0.5)
        mass = _convolve(mass, kernel)
    # mass[j] is the probability of a total of 2j − total; it is symmetric about 0.
    observed = abs(int(sums.sum()) // common)
    lower = np.arange((total + 1) // 2)
    possible = mass[lower] > 1e-300
    tails = np.minimum(2 * np.cumsum(mass[lower]), 1.0)
    attainable = np.append(tails[possible & (tails < 1 - 1e-12)], 1.0)
    if observed == 0:
        return PairedTest(1.0, float(1 - mass[total // 2] / 2), sums.size, True, attainable)
    at = (total - observed) // 2
    p = float(tails[at])
    return PairedTest(p, max(p - float(mass[at]), 0.0), sums.size, True, attainable)


def _binomial(k: ArrayLike, n: ArrayLike, p: float) -> Floats:
    """The binomial probabilities; scipy.stats would take most of the time a command starts in."""
    k, n = np.asarray(k, dtype=np.float64), np.asarray(n, dtype=np.float64)
    ways = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)
    return np.asarray(np.exp(ways + xlogy(k, p) + xlog1py(n - k, -p)))


def _convolve(first: Floats, second: Floats) -> Floats:
    if min(first.size, second.size) < 2000:
        return np.convolve(first, second)
    size = first.size + second.size - 1
    product = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(second, size), size)
    return np.maximum(product, 0.0)


def _random(sums: Floats) -> PairedTest:
    random = np.random.default_rng(20240229)
    observed = abs(float(sums.sum())) - 1e-9
    beyond = 0
    for start in range(0, _DRAWS, 1000):
        rows = min(1000, _DRAWS - start)
        signs = random.integers(0, 2, size=(rows, sums.size), dtype=np.int8) * 2.0 - 1.0
        beyond += int(np.count_nonzero(np.abs(signs @ sums) >= observed))
    p = (beyond + 1) / (_DRAWS + 1)
    floor = max(2.0 ** (1 - sums.size), 1 / (_DRAWS + 1))
    attainable = np.append(np.arange(floor, 1.0, 1 / (_DRAWS + 1)), 1.0)
    return PairedTest(p, p, sums.size, False, attainable)


def mcnemar(worse: int, better: int) -> PairedTest:
    """The exact McNemar test on the two counts of discordant pairs, cases independent.

    Source: McNemar, Psychometrika 12 (1947); mid-p: Fagerland, Lydersen & Laake, BMC Medical
    Research Methodology 13 (2013).
    """
    return sign_flip(np.repeat([1.0, -1.0], [worse, better]))


def difference_interval(
    differences: ArrayLike, clusters: Clusters | None = None, level: float = 0.95
) -> Interval:
    """Interval for the mean of paired differences, each in [−1, 1].

    Tango's score interval, which behaves with few or no discordant pairs, on the effective
    number of cases: the number that independent cases would need for the cluster-robust variance
    observed. With clusters the quantile is Student's on K − 1 degrees of freedom. (−1, 1) when
    there is nothing to learn from: no case, or a single cluster.

    Source: Tango, Statistics in Medicine 17 (1998); the effective size as in Rao & Scott,
    Biometrics 48 (1992).
    """
    array = np.asarray(differences, dtype=np.float64)
    if not np.all((array >= -1) & (array <= 1)):
        raise ValueError("differences must lie in [−1, 1]; take unscored cases out first")
    if array.size == 0:
        return Interval(-1.0, 1.0)
    size, k = _effective_size(array, clusters)
    if size == 0:
        return Interval(-1.0, 1.0)
    z = quantile(level, k - 1 if k < array.size else None)
    return _tango(float(np.maximum(array, 0).mean()), float(np.maximum(-array, 0).mean()), size, z)


def effective_size(differences: ArrayLike, clusters: Clusters | None = None) -> float:
    """How many independent 0/1 pairs carry as much information as these differences.

    0 when there is no case or a single cluster. Averaged repeats can count for more than their
    number, clustered cases for less.
    """
    return _effective_size(np.asarray(differences, dtype=np.float64), clusters)[0]


def _effective_size(differences: Floats, clusters: Clusters | None) -> tuple[float, int]:
    """The effective size, and the number of clusters (of cases, without clusters)."""
    variance, k = variance_of_mean(differences, clusters)
    if k == 0 or (clusters is not None and k < 2):
        return 0.0, k
    independent = float(differences.var()) / differences.size
    if independent <= 1e-15:
        return float(differences.size), k
    inflation = 1.0 if clusters is None else max(1.0, variance / independent)
    spread = float(np.abs(differences).mean() - differences.mean() ** 2)
    return spread / independent / inflation, k


def _tango(up: float, down: float, n: float, z: float) -> Interval:
    """Both roots of the score equation; ``up`` and ``down`` are the shares of discordant pairs."""
    observed = up - down

    def score(delta: float) -> float:
        # The likeliest share of downward pairs, given delta, is the root of a quadratic.
        a = 2.0
        b = -up - down + (2 - up + down) * delta
        c = -down * delta * (1 - delta)
        share = (math.sqrt(max(b * b - 4 * a * c, 0.0)) - b) / (2 * a)
        variance = max(2 * share + delta * (1 - delta), 0.0) / n
        if variance <= 1e-18:
            return 0.0 if abs(observed - delta) < 1e-12 else math.copysign(1e9, observed - delta)
        return (observed - delta) / math.sqrt(variance)

    edge = 1 - 1e-12
    low = -1.0 if score(-edge) <= z else _crossing(lambda d: score(d) > z, -edge, observed)
    high = 1.0 if score(edge) >= -z else _crossing(lambda d: score(d) >= -z, observed, edge)
    return Interval(low, high)


def _crossing(
    above: Callable[[float], bool], low: float, high: float, error: float = 1e-7
) -> float:
    """Where ``above`` turns false between ``low`` and ``high``."""
    while high - low > error:
        middle = (low + high) / 2
        low, high = (middle, high) if above(middle) else (low, middle)
    return (low + high) / 2


def detectable_difference(
    n: float, discordance: float, *, level: float = 0.05, power: float = 0.8
) -> float | None:
    """The smallest true difference that the exact paired test would probably have shown.

    ``n`` is the number of independent cases (an effective size will do), ``discordance`` the share
    of cases that differ between the runs. When that share is too small for any difference to be
    seen, every differing case is taken to go one way. None when even a difference of 1 would not
    be seen with the probability ``power``.

    Source: the power of McNemar's test, averaged over the number of discordant pairs: Duffy,
    Statistics in Medicine 3 (1984).
    """
    whole = int(n)
    if whole < 1:
        return None

    def shown(delta: float) -> float:
        share = max(discordance, delta)
        spread = 8 * math.sqrt(whole * share * (1 - share)) + 8
        low = max(0, int(whole * share - spread))
        pairs = np.arange(low, min(whole, int(whole * share + spread)) + 1)
        critical = _critical(pairs, level)
        way = (1 + delta / share) / 2
        rejected = _at_least(critical, pairs, way) + _at_least(critical, pairs, 1 - way)
        return float(np.sum(_binomial(pairs, whole, share) * np.minimum(rejected, 1.0)))

    if shown(1.0) < power:
        return None
    return _crossing(lambda delta: shown(delta) < power, 0.0, 1.0, 1e-4)


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
