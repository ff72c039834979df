"""Two sides over the same cases: every way in which their runs could have changed places.

When the runs of both sides do not differ, exchanging them within an independent unit (a case, a
study) changes nothing. All that this package says against "no difference" rests on that.
"""

from dataclasses import dataclass, field
from math import lcm

import numpy as np
from numpy.typing import NDArray

from ancrage.stats.intervals import Floats, Units

_LATTICE = 400_000
_DRAWS = 9_999


@dataclass(frozen=True)
class PairedTest:
    """What a paired test says. ``p_value`` is two-sided and valid at any sample size."""

    p_value: float
    units: int
    """Independent units (cases, or studies) that moved; only they inform the test."""
    exact: bool
    """False when the p-value comes from random exchanges instead of all of them."""
    attainable: Floats = field(repr=False)
    """Every p-value that the test could have given with these units, ascending."""

    @property
    def smallest(self) -> float:
        """The smallest p-value that these units could have given."""
        return float(self.attainable[0])


def shares(outcomes: Floats) -> Floats:
    """The share of scored repeats that fail, by case; NaN where none was scored."""
    known = ~np.isnan(outcomes)
    counts = known.sum(axis=1)
    sums = np.where(known, outcomes, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def exchanges(first: Floats, second: Floats, units: Units | None = None) -> Floats:
    """The sum of second − first in each unit, under every rotation of its runs.

    Args:
        first: outcomes cases × repeats in [0, 1], NaN where unscored.
        second: the same cases, with as many repeats or others.
        units: the unit of each case, numbered from 0; each case its own when None.

    Returns:
        An array units × rotations; column 0 is what was observed. With one run on each side the
        rotations are "as it was" and "the other way round". A case without a score on one side
        counts 0.

    One run against the mean of five is not as likely to be above it as below; rotating the six
    knows that, flipping signs does not.
    """
    runs = np.concatenate([first, second], axis=1)
    k = first.shape[1]
    columns = []
    for shift in range(runs.shape[1]):
        turned = np.roll(runs, shift, axis=1)
        change = np.nan_to_num(shares(turned[:, k:]) - shares(turned[:, :k]))
        columns.append(change if units is None else np.bincount(units, weights=change))
    return np.stack(columns, axis=1)


def swap_test(orbits: Floats) -> PairedTest:
    """Test that two sides do not differ, from ``exchanges``.

    The p-value is twice the share of all exchanges, made in each unit independently, whose total
    is at least as far on the side of the one observed: by convolution where the sums lie on a
    lattice, else with 9,999 random exchanges from a fixed seed. With one run on each side and
    cases as units this is the exact McNemar test; with studies, the exact sign-flip test.

    Fewer than six units that moved cannot give p < 0.05: see ``PairedTest.smallest``.

    Source: Fisher, The Design of Experiments (1935); Canay, Romano & Shaikh, Econometrica 85
    (2017), for clusters.
    """
    if not np.all(np.isfinite(orbits)):
        raise ValueError("differences must be finite; take unscored cases out first")
    moved = orbits[np.ptp(orbits, axis=1) > 1e-9]
    if moved.shape[0] == 0:
        return PairedTest(1.0, 0, True, np.ones(1))
    steps = _on_a_lattice(moved)
    return _random(moved) if steps is None else _exact(steps)


def _on_a_lattice(orbits: Floats) -> NDArray[np.int64] | None:
    scale = 1
    for width in range(1, 61):
        scale = lcm(scale, width)
        if scale > 10_000:
            return None
        steps = np.rint(orbits * scale)
        if np.allclose(orbits * scale, steps, rtol=0, atol=1e-6):
            whole = steps.astype(np.int64)
            whole //= max(1, int(np.gcd.reduce(np.abs(whole), axis=None)))
            return whole if np.ptp(whole, axis=1).sum() <= _LATTICE else None
    return None


def _exact(orbits: NDArray[np.int64]) -> PairedTest:
    low = orbits.min(axis=1)
    kinds, counts = np.unique(np.sort(orbits - low[:, None], axis=1), axis=0, return_counts=True)
    size = int(np.ptp(orbits, axis=1).sum()) + 1
    spectrum = np.ones(size // 2 + 1, dtype=np.complex128)
    for kind, count in zip(kinds, counts.tolist(), strict=True):
        mass = np.bincount(kind, minlength=size) / kind.size
        spectrum *= np.fft.rfft(mass, size) ** count
    mass = np.fft.irfft(spectrum, size)
    mass[mass < 1e-15] = 0.0
    mass /= mass.sum()
    observed = int(orbits[:, 0].sum() - low.sum())
    upper, lower = np.cumsum(mass[::-1])[::-1], np.cumsum(mass)
    both = np.minimum(2 * np.minimum(upper, lower), 1.0)
    p = float(both[observed])
    attainable = np.sort(np.append(both[mass > 0], 1.0))
    distinct = np.append(True, np.diff(attainable) > 1e-9 * attainable[:-1])
    return PairedTest(p, orbits.shape[0], True, attainable[distinct])


def _random(orbits: Floats) -> PairedTest:
    random = np.random.default_rng(20240229)
    rows = np.arange(orbits.shape[0])
    totals = np.array(
        [orbits[rows, random.integers(0, orbits.shape[1], rows.size)].sum() for _ in range(_DRAWS)]
    )
    observed = orbits[:, 0].sum()
    tails = (np.count_nonzero(sign * (totals - observed) >= -1e-9) for sign in (1, -1))
    p = min(1.0, 2 * (int(min(tails)) + 1) / (_DRAWS + 1))
    step = 2 / (_DRAWS + 1)
    floor = max(2.0 * float(orbits.shape[1]) ** -rows.size, step)
    return PairedTest(p, rows.size, False, np.append(np.arange(floor, 1.0, step), 1.0))


def swap_evidence(orbits: Floats) -> float:
    """Evidence that second is worse, valid however often one looks: a p-value that never grows.

    ``orbits`` are those of ``exchanges``, in an order fixed beforehand; each unit enters once it
    is complete. A gambler who starts with 1 stakes on increases alone, at odds that are fair when
    the runs could have changed places; a mixture of stakes is held. The chance that the wealth
    ever reaches 1/p is then at most p. One-sided: an early fall is no evidence of an increase.

    Source: Ville (1939); Robbins, Annals of Mathematical Statistics 41 (1970); Ramdas, Grünwald,
    Vovk & Shafer, Statistical Science 38 (2023); for units of several runs, Koning, Post-hoc and
    anytime valid permutation (2023).
    """
    moved = orbits[np.ptp(orbits, axis=1) > 1e-9]
    if moved.shape[0] == 0:
        return 1.0
    return float(min(1.0, np.exp(-wealth(moved).max())))


_STAKES = np.arctanh(np.cos(np.pi * (np.arange(1, 17) - 0.5) / 32))
"""Chebyshev nodes of the bets 0 to 1 at even odds: Jeffreys's prior on a chance above 1/2."""


def wealth(orbits: Floats, stakes: Floats = _STAKES) -> Floats:
    """The logarithm of the wealth after each unit, spread evenly over ``stakes`` at the start."""
    tilted = orbits[:, :, None] * stakes
    fair = np.logaddexp.reduce(tilted, axis=1) - np.log(orbits.shape[1])
    steps = tilted[:, 0] - fair
    path: Floats = np.logaddexp.reduce(np.cumsum(steps, axis=0), axis=1)
    return np.asarray(path - np.log(stakes.size))


def mcnemar(worse: int, better: int) -> PairedTest:
    """The exact McNemar test on the two counts of discordant pairs, cases independent.

    Source: McNemar, Psychometrika 12 (1947).
    """
    return swap_test(np.repeat([[1.0, -1.0], [-1.0, 1.0]], [worse, better], axis=0))
