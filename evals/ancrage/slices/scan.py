"""Which slices stand out, after correction for all that was looked at: pure arrays."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ancrage.stats.intervals import Floats, Units

FEWEST_ROWS = 8
"""A slice, and what lies outside of it, has at least so many rows."""
FEWEST_FAILING = 3
"""And so many of those in it fail, to be shown."""
_DRAWS = 999
_WITHIN = 0.25
"""A slice of which at least this share of the spread lies within studies is tested there."""

Bools = NDArray[np.bool_]


class Scan(NamedTuple):
    """What was looked at, and how each of it came out."""

    z: Floats
    """Slices × modes: failures above what the rest lets expect, in standard deviations."""
    p: Floats
    """The same, adjusted over everything looked at; 1 for what could not be looked at."""
    looked: int
    """How many pairs of slice and mode were looked at."""


def scan(
    members: Bools, failures: Floats, studies: Units, *, is_study: Bools | None = None
) -> Scan:
    """Test whether failures are more frequent in each slice than outside of it.

    A slice that cuts through studies is tested within them: the rows of a study are dealt anew, so
    that nothing that a study has in common counts. One that is made of whole studies is tested
    between studies, which are dealt anew. One that is a single study (``is_study``) is tested
    between rows. In each of the three, the largest deviation of all slices and modes under 999
    such deals says how large one must be; with several in use their chances are added up. All
    modes of a row move together, so that however much they overlap costs nothing.

    Args:
        members: rows × slices.
        failures: rows × modes, 1 fails, 0 passes, NaN unscored.
        studies: the study of each row, by number.
        is_study: the slices that are one study each.

    Source: Westfall & Young, Resampling-Based Multiple Testing (1993), single-step max T.
    """
    slices, modes = members.shape[1], failures.shape[1]
    scored = ~np.isnan(failures)
    known = np.where(scored, failures, 0.0)
    inside = members.T.astype(np.float64) @ scored
    failing = members.T.astype(np.float64) @ known
    total = scored.sum(axis=0)
    # What is looked at may not depend on what fails; what is shown may.
    open_ = (inside >= FEWEST_ROWS) & (total - inside >= FEWEST_ROWS)
    own = np.zeros(slices, dtype=np.bool_) if is_study is None else is_study
    within = ~own & (_within(members, studies) >= _WITHIN)
    between = ~own & ~within
    z = np.zeros((slices, modes))
    p = np.ones((slices, modes))
    alone = np.zeros(studies.size, dtype=np.intp)
    families = []
    for chosen, strata, blocks in (
        (within, studies, None), (own, alone, None), (between, alone, studies)
    ):  # fmt: skip
        at = np.flatnonzero(chosen & open_.any(axis=1))
        if at.size:
            families.append((at, strata, blocks))
    for at, strata, blocks in families:
        rows = members[:, at].astype(np.float64)
        residuals = _residuals(known, scored, strata)
        if blocks is not None:
            count = int(blocks.max()) + 1
            size = np.bincount(blocks, minlength=count)[:, None]
            rows = np.asarray(
                np.round(_sums(rows, blocks, count) / np.maximum(size, 1)), np.float64
            )
            residuals = _sums(residuals, blocks, count)
            strata = np.zeros(count, dtype=np.intp)
        z[at], p[at] = _largest(rows, residuals, strata, open_[at], len(families))
    return Scan(z, np.where(open_ & (failing >= FEWEST_FAILING), p, 1.0), int(open_.sum()))


def _within(members: Bools, studies: Units) -> Floats:
    """The share of each slice's spread that lies within studies; 1 with a single study."""
    values = members.astype(np.float64)
    count = int(studies.max()) + 1 if studies.size else 0
    size = np.bincount(studies, minlength=count)
    means = _sums(values, studies, count) / np.maximum(size, 1)[:, None]
    spread = values.var(axis=0)
    inside = ((values - means[studies]) ** 2).mean(axis=0)
    return np.asarray(np.divide(inside, spread, out=np.ones_like(spread), where=spread > 0))


def _sums(values: Floats, groups: Units, count: int) -> Floats:
    out = np.zeros((count, values.shape[1]))
    np.add.at(out, groups, values)
    return out


def _residuals(known: Floats, scored: Bools, strata: Units) -> Floats:
    """Failures less the rate of their stratum; 0 where unscored."""
    count = int(strata.max()) + 1
    rates = _sums(known, strata, count) / np.maximum(
        _sums(scored.astype(np.float64), strata, count), 1
    )
    return np.where(scored, known - rates[strata], 0.0)


def _largest(
    rows: Floats, residuals: Floats, strata: Units, open_: Bools, families: int
) -> tuple[Floats, Floats]:
    """Deviations, and their chances adjusted by the largest deviation of each deal."""
    count = int(strata.max()) + 1
    n = np.bincount(strata, minlength=count).astype(np.float64)[:, None]
    ones = _sums(rows, strata, count)
    squares = _sums(residuals**2, strata, count)
    # Dealing residuals that sum to 0 in each stratum: the variance of those that fall in a slice.
    hyper = ones * (n - ones) / np.maximum(n * (n - 1), 1)
    deviation = np.sqrt(hyper.T @ squares)
    usable = open_ & (deviation > 1e-9)
    scale = np.where(usable, deviation, np.inf)

    def z_of(dealt: Floats) -> Floats:
        # Half a failure less: rare slices then weigh no more than others.
        return np.asarray((rows.T @ dealt - 0.5) / scale)

    seen = z_of(residuals)
    random = np.random.default_rng(20240229)
    order = np.argsort(strata, kind="stable")
    beyond = np.ones_like(seen)
    for _ in range(_DRAWS):
        dealt = np.empty_like(residuals)
        dealt[order] = residuals[np.lexsort((random.random(strata.size), strata))]
        beyond += z_of(dealt).max() >= seen - 1e-9
    p = np.minimum(1.0, families * beyond / (_DRAWS + 1))
    return np.where(usable, seen, 0.0), np.where(usable, p, 1.0)
