"""One failure mode on two sides, as arrays, and what may be said of its cases together."""

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from ancrage.compare.compatible import version_problem
from ancrage.compare.model import Side
from ancrage.compare.repeats import verdicts
from ancrage.compare.results import Group, Mode
from ancrage.stats import (
    Interval,
    Noise,
    PairedTest,
    cases_needed,
    detectable_change,
    difference_interval,
    dominant,
    effective_cases,
    exchanges,
    independent_within,
    noise,
    rate_bounds,
    rate_interval,
    shares,
    swap_test,
)
from ancrage.stats.intervals import Floats, Units


@dataclass(frozen=True, eq=False)
class Pairing:
    """One mode's outcomes on both sides, cases × repeats, cases in the same order."""

    mode: Mode
    cases: tuple[str, ...]
    first: Floats
    second: Floats
    noise: tuple[Noise, Noise]
    """What the repeats of each side, and its repeated verdicts, say of chance."""
    studies: Units | None
    """The study of each case; None where cases are independent in any case."""
    choose: bool
    """Whether the data may say that cases are independent in their change."""
    problem: str | None
    ignored: int

    @cached_property
    def both(self) -> tuple[Floats, Floats]:
        """The shares of both sides."""
        return shares(self.first), shares(self.second)

    @cached_property
    def paired(self) -> NDArray[np.bool_]:
        """The cases scored on both sides, by evaluators whose verdicts can be compared."""
        first, second = self.both
        if self.problem:
            return np.zeros(len(self.cases), dtype=np.bool_)
        return ~np.isnan(first) & ~np.isnan(second)

    @cached_property
    def differences(self) -> Floats:
        """Second − first of every paired case."""
        first, second = self.both
        return np.asarray((second - first)[self.paired])

    @cached_property
    def paired_studies(self) -> Units | None:
        """The study of each paired case, numbered anew."""
        if self.studies is None:
            return None
        return renumbered(self.studies[self.paired])

    @cached_property
    def by_studies(self) -> bool:
        """Whether studies are the independent units of the change."""
        if self.paired_studies is None or not self.differences.size:
            return False
        return not (self.choose and independent_within(self.differences, self.paired_studies))

    @property
    def units(self) -> Units | None:
        """The independent unit of each paired case; None when every case is its own."""
        return self.paired_studies if self.by_studies else None

    def interval_of(self, differences: Floats, studies: Units | None) -> Interval:
        """The interval of the mean of ``differences``, under the choice made for the test."""
        return difference_interval(differences, studies, independent=not self.by_studies)

    @cached_property
    def test(self) -> PairedTest | None:
        """The exact paired test; None when the mode cannot be compared or nothing is paired."""
        return self.test_by(self.units) if self.differences.size else None

    def test_by(self, units: Units | None) -> PairedTest:
        """The exact paired test with these units."""
        return swap_test(exchanges(self.first[self.paired], self.second[self.paired], units))

    @property
    def one_study_decides(self) -> bool:
        """Whether one of few studies makes up most of what differs: no test is safe then."""
        units = self.units
        return units is not None and dominant(self.differences, units) is not None

    def would_show(self, level: float) -> float | None:
        """The smallest true change that these cases show at ``level`` four times in five.

        None when none is, or when so few units are there that not even all of them moving could be
        significant. Two more cases that failed in one run keep a churn of 0, which luck can show,
        from being believed.
        """
        units, n = self.units, self.differences.size
        count = n if units is None else np.unique(units).size
        if not count or 2.0 ** (1 - count) > level:
            return None
        moved = float(np.abs(self.differences).sum()) + 2
        failing = sum(float(share[self.paired].sum()) for share in self.both) + 2
        return detectable_change(
            effective_cases(self.differences, units),
            moved / (n + 2),
            level=level,
            steady=max(0.0, 1 - moved / failing),
        )

    def needed(self, level: float) -> int | None:
        """Cases that would show a true change as large as the one seen; None when none was."""
        change = abs(float(self.differences.mean())) if self.differences.size else 0.0
        size = effective_cases(self.differences, self.units)
        if not change or not size:
            return None
        churn = float(np.abs(self.differences).mean()) - change
        independent = cases_needed(churn, change, level=level)
        return None if independent is None else round(independent * self.differences.size / size)


def pair(
    first: Group,
    second: Group,
    mode: Mode,
    cases: Sequence[str],
    *,
    studies: Units | None,
    choose: bool,
    left_out: AbstractSet[str],
) -> Pairing:
    """The outcomes of ``mode`` over ``cases``, without those ``left_out``.

    ``studies`` is the study of each case, None where studies are too few to be units.
    """
    keep = np.array([case not in left_out for case in cases], dtype=np.bool_)
    kept = tuple(case for case in cases if case not in left_out)
    before, after = outcomes(first, mode.name, kept), outcomes(second, mode.name, kept)
    return Pairing(
        mode=mode,
        cases=kept,
        first=before,
        second=after,
        noise=(
            noise(verdicts(first, mode.name, kept, before)),
            noise(verdicts(second, mode.name, kept, after)),
        ),
        studies=None if studies is None else studies[keep],
        choose=choose,
        problem=version_problem(first, second, mode.name),
        ignored=len(cases) - len(kept),
    )


def common_cases(runs: Group) -> list[str]:
    """The cases that every run has, in the order of the first."""
    everywhere = set.intersection(*(set(run.cases) for run in runs))
    return [case for case in runs[0].cases if case in everywhere]


def unit_codes(cases: Sequence[str], studies: Sequence[str | None]) -> Units:
    """A number for the study of each case; a case without one is a unit of its own."""
    codes: dict[tuple[str, str], int] = {}
    keys = (
        ("study", study) if study else ("case", case)
        for case, study in zip(cases, studies, strict=True)
    )
    return np.array([codes.setdefault(key, len(codes)) for key in keys], dtype=np.intp)


def outcomes(side: Group, mode: str, cases: Sequence[str]) -> Floats:
    """An array cases × repeats: 1 fails, 0 passes, NaN is unscored."""
    columns = []
    for run in side:
        failures = run.failures(mode)
        columns.append(
            failures if run.cases == cases else failures[[run.position[case] for case in cases]]
        )
    return np.stack(columns, axis=1)


def renumbered(units: Units) -> Units:
    """The same units, numbered from 0 without gaps."""
    return np.unique(units, return_inverse=True)[1]


def side(outcomes: Floats, units: Units | None) -> Side:
    """Rate, interval and bounds of one side's outcomes, cases × repeats."""
    values = shares(outcomes)
    scored = ~np.isnan(values)
    known = values[scored]
    return Side(
        cases=len(values),
        scored=int(scored.sum()),
        unscored=int((~scored).sum()),
        failing=float(known.sum()),
        rate=float(known.mean()) if known.size else None,
        interval=rate_interval(known, None if units is None else renumbered(units[scored])),
        bounds=rate_bounds(outcomes),
    )
