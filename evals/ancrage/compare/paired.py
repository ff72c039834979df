"""Compare two sides case by case."""

from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import NDArray

from ancrage.compare.compatible import compatibility, version_problem
from ancrage.compare.model import Comparison, ModeComparison, Note, Side, Verdict
from ancrage.compare.repeats import noise_floor, repeats, verdicts
from ancrage.compare.results import Group, Mode
from ancrage.errors import UsageError
from ancrage.stats import (
    Interval,
    Noise,
    PairedTest,
    detectable_difference,
    difference_bounds,
    difference_interval,
    effective_size,
    holm,
    noise,
    rate_bounds,
    rate_interval,
    sign_flip,
)
from ancrage.stats.intervals import Floats

Cluster = Literal["auto", "study", "case"]
FEWEST_CLUSTERS = 6
"""With fewer clusters no exact test can reach p < 0.05; ``auto`` then takes cases as units."""

Ignored = Mapping[str, AbstractSet[str]]
"""Cases to take out, by mode."""


def compare(
    first: Group,
    second: Group,
    *,
    cluster: Cluster = "auto",
    alpha: float = 0.05,
    ignored: Ignored | None = None,
    only: Collection[str] = (),
) -> Comparison:
    """Compare ``second`` with ``first``, mode by mode, over the cases that both have.

    Args:
        first: the reference: one run, or the repeats of one experiment.
        second: what is compared with it.
        cluster: the independent units: ``study``, ``case``, or ``auto`` for studies when there
            are at least six.
        alpha: the chance of any false alarm over all modes together.
        ignored: cases to take out, by mode.
        only: the modes to compare; all when empty.
    """
    cases = common_cases((*first, *second))
    studies = dict(zip(first[0].cases, first[0].studies, strict=True))
    clusters = len(set(unit_codes(cases, [studies[case] for case in cases]).tolist()))
    clustered = cluster == "study" or (cluster == "auto" and clusters >= FEWEST_CLUSTERS)
    modes: dict[str, Mode] = {}
    for each in (*first, *second):
        modes = each.modes | modes
    pairings = [
        _pair(first, second, mode, cases, studies if clustered else None, ignored or {})
        for mode in modes.values()
        if not only or mode.name in only
    ]
    adjustments = iter(_adjust([pairing.test for pairing in pairings if pairing.test], alpha))
    return Comparison(
        first=tuple(each.origin for each in first),
        second=tuple(each.origin for each in second),
        made=datetime.now(UTC),
        notes=(*compatibility(first, second), *_units_note(clusters, clustered, cluster)),
        cases=len(cases),
        only_first=len({case for each in first for case in each.cases}) - len(cases),
        only_second=len({case for each in second for case in each.cases}) - len(cases),
        clustered=clustered,
        clusters=clusters if clustered else len(cases),
        alpha=alpha,
        modes=tuple(
            _conclude(each, next(adjustments) if each.test else None, alpha) for each in pairings
        ),
    )


class _Adjusted(NamedTuple):
    """What the other modes do to one mode's test."""

    p: float
    smallest: float
    """The smallest adjusted p-value that this test could have given beside the others."""
    level: float
    """The level at which the mode's own test is as strict as the adjusted one, at the most."""


def _adjust(tests: Sequence[PairedTest], alpha: float) -> list[_Adjusted]:
    p = [test.p_value for test in tests]
    attainable = [test.attainable for test in tests]
    able = [test.smallest <= alpha for test in tests]
    return [
        _Adjusted(
            p=adjusted,
            smallest=float(holm([*p[:at], test.smallest, *p[at + 1 :]], attainable)[at]),
            level=alpha / (sum(able) + (not able[at])),
        )
        for at, (test, adjusted) in enumerate(zip(tests, holm(p, attainable).tolist(), strict=True))
    ]


def check_options(cluster: str, alpha: float) -> Cluster:
    """The cluster option as typed on the command line, once it and ``alpha`` make sense.

    Raises:
        UsageError: they do not.
    """
    if not 0 < alpha < 0.5:
        raise UsageError(f"--alpha {alpha}: give a chance between 0 and 0.5")
    for known in get_args(Cluster):
        if cluster == known:
            return cast("Cluster", known)
    raise UsageError(f"--cluster {cluster}: give one of {', '.join(get_args(Cluster))}")


def _units_note(clusters: int, clustered: bool, chosen: Cluster) -> list[Note]:
    studies = f"{clusters} stud{'y' if clusters == 1 else 'ies'}"
    if clustered and clusters < FEWEST_CLUSTERS:
        text = f"{studies} as units: no test can be significant with fewer than {FEWEST_CLUSTERS}"
        return [Note(text=text, serious=True)]
    if not clustered and chosen == "auto" and clusters:
        text = f"only {studies}: cases are the units, and conclusions hold for these studies alone"
        return [Note(text=text, serious=False)]
    return []


@dataclass(frozen=True, eq=False)
class Pairing:
    """One mode's outcomes on both sides, cases × repeats, cases in the same order."""

    mode: Mode
    cases: tuple[str, ...]
    first: Floats
    second: Floats
    noise: tuple[Noise, Noise]
    """What the repeats of each side, and its repeated verdicts, say of chance."""
    units: NDArray[np.intp] | None
    """The cluster of each case; None when every case is its own."""
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

    @property
    def paired_units(self) -> NDArray[np.intp] | None:
        """The clusters of the paired cases."""
        return None if self.units is None else self.units[self.paired]

    @cached_property
    def test(self) -> PairedTest | None:
        """The exact paired test; None when the mode cannot be compared or nothing is paired."""
        if self.problem or not self.differences.size:
            return None
        return sign_flip(self.differences, self.paired_units)


def shares(outcomes: Floats) -> Floats:
    """The share of scored repeats that fail, by case; NaN where none was scored."""
    known = ~np.isnan(outcomes)
    counts = known.sum(axis=1)
    sums = np.where(known, outcomes, 0.0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _pair(
    first: Group,
    second: Group,
    mode: Mode,
    cases: Sequence[str],
    studies: Mapping[str, str | None] | None,
    ignored: Ignored,
) -> Pairing:
    left_out = ignored.get(mode.name, frozenset())
    kept = tuple(case for case in cases if case not in left_out)
    units = None
    if studies is not None:
        units = unit_codes(kept, [studies[case] for case in kept])
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
        units=units,
        problem=version_problem(first, second, mode.name),
        ignored=len(cases) - len(kept),
    )


def common_cases(runs: Group) -> list[str]:
    """The cases that every run has, in the order of the first."""
    everywhere = set.intersection(*(set(each.cases) for each in runs))
    return [case for case in runs[0].cases if case in everywhere]


def unit_codes(cases: Sequence[str], studies: Sequence[str | None]) -> NDArray[np.intp]:
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
    for each in side:
        failures = each.failures(mode)
        columns.append(
            failures if each.cases == cases else failures[[each.position[case] for case in cases]]
        )
    return np.stack(columns, axis=1)


def _detectable(pairing: Pairing, level: float) -> float | None:
    """None also when the units are so few that not even all of them moving could be significant."""
    units = pairing.paired_units
    count = pairing.differences.size if units is None else np.unique(units).size
    size = effective_size(pairing.differences, units)
    if not size or 2.0 ** (1 - count) > level:
        return None
    return detectable_difference(size, float(np.abs(pairing.differences).mean()), level=level)


def _cautious(pairing: Pairing, interval: Interval) -> Interval:
    """``interval``, its ends moved to where the unscored verdicts could put them."""
    first, second = pairing.first, pairing.second
    if not (np.isnan(first).any() or np.isnan(second).any()):
        return interval

    def under(before: float, after: float) -> Interval:
        a, b = np.nan_to_num(first, nan=before), np.nan_to_num(second, nan=after)
        return difference_interval(b.mean(axis=1) - a.mean(axis=1), pairing.units)

    return Interval(under(1.0, 0.0).low, under(0.0, 1.0).high)


def _conclude(pairing: Pairing, adjusted: _Adjusted | None, alpha: float) -> ModeComparison:
    differences, test = pairing.differences, pairing.test
    change = float(differences.mean()) if differences.size else None
    interval = difference_interval(differences, pairing.paired_units)
    unknown = Interval(-1.0, 1.0)
    runs = [pairing.first.shape[1], pairing.second.shape[1]]
    at = np.flatnonzero(pairing.paired)
    order = np.argsort(-np.abs(differences), kind="stable")
    first, second = (share[pairing.paired] for share in pairing.both)
    return ModeComparison(
        mode=pairing.mode.name,
        title=pairing.mode.title,
        definition=pairing.mode.definition,
        evaluator=f"{pairing.mode.evaluator} {pairing.mode.version}".strip(),
        first=side(pairing.first, pairing.units),
        second=side(pairing.second, pairing.units),
        verdict=_verdict(test, change, adjusted, alpha),
        problem=pairing.problem,
        pairs=differences.size,
        difference=change,
        interval=interval,
        bounds=unknown if pairing.problem else difference_bounds(pairing.first, pairing.second),
        cautious=unknown if pairing.problem else _cautious(pairing, interval),
        p_value=test.p_value if test else None,
        adjusted_p=adjusted.p if adjusted else None,
        units=test.units if test else 0,
        detectable=_detectable(pairing, adjusted.level if adjusted else alpha),
        noise_floor=noise_floor([n.within for n in pairing.noise], runs, differences.size),
        judge_floor=noise_floor([n.judge for n in pairing.noise], runs, differences.size),
        worse=tuple(pairing.cases[at[i]] for i in order if differences[i] > 0),
        better=tuple(pairing.cases[at[i]] for i in order if differences[i] < 0),
        both_fail=int(np.count_nonzero((first > 0) & (second > 0))),
        ignored=pairing.ignored,
        first_repeats=repeats(pairing.first, pairing.cases, pairing.noise[0]),
        second_repeats=repeats(pairing.second, pairing.cases, pairing.noise[1]),
    )


def _verdict(
    test: PairedTest | None, change: float | None, adjusted: _Adjusted | None, alpha: float
) -> Verdict:
    if test is None or change is None or adjusted is None:
        return Verdict.NOT_COMPARED
    if adjusted.p <= alpha:
        return Verdict.WORSE if change > 0 else Verdict.BETTER
    if test.units and adjusted.smallest > alpha:
        return Verdict.TOO_FEW
    return Verdict.UNCHANGED


def side(outcomes: Floats, units: NDArray[np.intp] | None) -> Side:
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
        interval=rate_interval(known, None if units is None else units[scored]),
        bounds=rate_bounds(outcomes),
    )
