"""How many cases it takes, found by trying: runs are drawn and compared as they would be."""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import betaincinv, ndtr, ndtri

from ancrage.stats.intervals import Floats, Units
from ancrage.stats.swaps import exchanges, swap_test
from ancrage.stats.units import independent_within


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
    simulations: int = 1500,
) -> list[Need]:
    """How many cases show that a failure ``rate`` rose by ``detect``, for several repeats.

    Good to about two points of power; the same numbers give the same answer.

    Args:
        rate: the rate before.
        detect: the rise that must be seen.
        studies: how many studies of one size the cases come from; None for independent cases.
        alike: how alike the changes of two cases of one study are (a correlation).
        steady: the share of failing cases that fail again when the same thing runs once more.
        level: the chance of a false alarm; that of the family divided by the number of modes.
        power: the chance of seeing the rise.
        repeats: the numbers of runs of each side to plan for.
        simulations: comparisons drawn for each number of repeats.
    """
    runs = _Runs.of(rate, detect, steady, alike if studies else 0.0)
    needs = []
    for count in repeats:
        cases = _cases_for(runs, count, studies, level, power, simulations)
        needs.append(Need(count, cases, None if cases is None else cases * count))
    return needs


@dataclass(frozen=True)
class _Runs:
    """Where outcomes come from: the chances to fail of the cases have a Beta distribution.

    What a run does to a whole study moves its cases together, by a Gaussian copula: their rates,
    and how steady they are, stay as they are.
    """

    before: Floats
    """The normal quantile of the chance to fail, over the cases in ascending order."""
    after: Floats
    shared: float
    """The share of a run's luck, on the normal scale, that the cases of a study have in common."""
    chance: float
    """The variance of a case's change that is chance."""
    detect: float
    scatter: float
    """The variance of the change in the chance to fail, between cases."""
    alike: float

    @classmethod
    def of(cls, rate: float, detect: float, steady: float, alike: float) -> "_Runs":
        steady = min(max(steady, rate + 0.01), 0.99)
        weight = (1 - steady) / (steady - rate)
        ranks = (np.arange(400) + 0.5) / 400
        before, after = (
            np.clip(betaincinv(mean * weight, (1 - mean) * weight, ranks), 1e-12, 1 - 1e-12)
            for mean in (max(rate, 1e-9), min(rate + detect, 1 - 1e-9))
        )
        chance = float(np.mean(before * (1 - before) + after * (1 - after)))
        scatter = float(np.var(after - before))
        sides = ndtri(before), ndtri(after)
        luck = ndtri((np.arange(60) + 0.5) / 60)[:, None]

        def likeness(shared: float) -> float:
            rates = (
                ndtr((side - math.sqrt(shared) * luck) / math.sqrt(1 - shared)).mean(axis=1)
                for side in sides
            )
            return float(sum(rate.var() for rate in rates)) / (chance + scatter)

        low, high = 0.0, 0.95
        while alike and high - low > 1e-4:
            middle = (low + high) / 2
            low, high = (low, middle) if likeness(middle) > alike else (middle, high)
        return cls(*sides, low, chance, float(np.mean(after - before)), scatter, alike)

    def draw(self, rng: np.random.Generator, units: Units, repeats: int) -> tuple[Floats, Floats]:
        """Failures (0/1), cases × repeats, of both sides."""
        cases = rng.integers(0, self.before.size, units.size)
        luck = rng.normal(size=(2, units.size, repeats))
        if self.shared:
            common = rng.normal(size=(2, int(units.max()) + 1, repeats))[:, units]
            luck = math.sqrt(1 - self.shared) * luck + math.sqrt(self.shared) * common
        first, second = (
            (side < quantile[cases, None]).astype(np.float64)
            for side, quantile in zip(luck, (self.before, self.after), strict=True)
        )
        return first, second

    def correlation(self, repeats: int) -> float:
        """How alike the changes of two cases of a study are over so many repeats."""
        total = self.chance + self.scatter
        return self.alike * total / (self.chance + repeats * self.scatter)


def _cases_for(
    runs: _Runs, repeats: int, studies: int | None, level: float, power: float, simulations: int
) -> int | None:
    """The normal approximation says where to look; what shows there says how far it is off."""
    rng = np.random.default_rng(20240229)
    alike = runs.correlation(repeats)
    bar = float(ndtri(1 - level / 2))
    wanted = bar + float(ndtri(power))
    slope = runs.detect / math.sqrt(runs.chance / repeats + runs.scatter + runs.detect**2)
    cases = _cases_worth((wanted / slope) ** 2, studies, alike)
    for share in (0.15, 0.25, 0.6):
        if cases is None or cases > _MOST:
            return None
        times = int(share * min(simulations, max(_ROOM / cases, 300)))
        sizes = np.rint(cases * np.exp(rng.uniform(-0.35, 0.35, times)))
        sizes = np.maximum(sizes, studies or 6)
        shown = sum(_shows(runs, int(size), studies, repeats, level, rng) for size in sizes)
        roots = np.sqrt(_worth(sizes, studies, alike))
        low, high = slope / 3, slope * 3
        while high - low > 1e-3 * slope:
            slope = (low + high) / 2
            low, high = (low, slope) if ndtr(slope * roots - bar).sum() > shown else (slope, high)
        cases = _cases_worth((wanted / slope) ** 2, studies, alike)
    return cases


_MOST = 1_000_000
_ROOM = 3_000_000
"""Cases drawn in all, for one answer."""


def _shows(
    runs: _Runs,
    cases: int,
    studies: int | None,
    repeats: int,
    level: float,
    rng: np.random.Generator,
) -> bool:
    """Whether a comparison of two sides calls the second worse."""
    units = np.arange(cases) % (studies or cases)
    first, second = runs.draw(rng, units, repeats)
    change = second.mean(axis=1) - first.mean(axis=1)
    if change.mean() <= 0:
        return False
    alone = studies is None or independent_within(change, units)
    return swap_test(exchanges(first, second, None if alone else units)).p_value <= level


def _worth(cases: Floats, studies: int | None, alike: float) -> Floats:
    """How many independent cases stand for so many in studies of one size.

    Source: Kish, Survey Sampling (1965), the design effect.
    """
    return cases / (1 + np.maximum(cases / (studies or np.inf) - 1, 0) * alike)


def _cases_worth(independent: float, studies: int | None, alike: float) -> int | None:
    """The inverse of ``_worth``; None when no number of cases is worth so much."""
    if studies is None or independent <= studies:
        return math.ceil(independent)
    room = 1 - alike * independent / studies
    return math.ceil(independent * (1 - alike) / room) if room > 0 else None
