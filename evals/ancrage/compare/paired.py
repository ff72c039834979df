"""Compare sides case by case."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal, NamedTuple, cast, get_args

import numpy as np

from ancrage.compare.anchoring import anchor_changes
from ancrage.compare.compatible import compatibility
from ancrage.compare.model import ChangeVerdict, Comparison, ModeComparison, Note
from ancrage.compare.pairing import Pairing, common_cases, pair, side, unit_codes
from ancrage.compare.repeats import noise_floor, repeats
from ancrage.compare.results import Group, Mode
from ancrage.errors import UsageError
from ancrage.stats import (
    Interval,
    PairedTest,
    difference_bounds,
    holm,
)
from ancrage.stats.intervals import Units
from ancrage.stats.units import FEWEST

Cluster = Literal["auto", "study", "case"]
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
        cluster: the independent units: ``study``, ``case``, or ``auto``: studies when there are
            at least six, but for modes whose changes are no more alike within studies than
            chance makes them.
        alpha: the chance of any false alarm over all modes together.
        ignored: cases to take out, by mode.
        only: the modes to compare; all when empty.
    """
    return compare_all([first, second], cluster=cluster, alpha=alpha, ignored=ignored, only=only)[0]


def compare_all(
    sides: Sequence[Group],
    *,
    cluster: Cluster = "auto",
    alpha: float = 0.05,
    ignored: Ignored | None = None,
    only: Collection[str] = (),
) -> list[Comparison]:
    """Compare each further side with the first; see ``compare``.

    ``alpha`` is the chance of any false alarm over all modes of all comparisons together.
    """
    drafts = [
        _Draft.of(sides[0], second, cluster=cluster, ignored=ignored or {}, only=only)
        for second in sides[1:]
    ]
    tests = [pairing.test for draft in drafts for pairing in draft.pairings if pairing.test]
    adjusted = iter(_adjust(tests, alpha))
    return [draft.conclude(adjusted, alpha, len(drafts)) for draft in drafts]


@dataclass(frozen=True, eq=False)
class _Draft:
    """One comparison before its p-values are adjusted."""

    first: Group
    second: Group
    cases: list[str]
    studies: Units
    """The study of each case, by number."""
    clusters: int
    clustered: bool
    cluster: Cluster
    pairings: list[Pairing]

    @classmethod
    def of(
        cls,
        first: Group,
        second: Group,
        *,
        cluster: Cluster,
        ignored: Ignored,
        only: Collection[str],
    ) -> "_Draft":
        cases = common_cases((*first, *second))
        known = dict(zip(first[0].cases, first[0].studies, strict=True))
        studies = unit_codes(cases, [known[case] for case in cases])
        clusters = int(studies.max()) + 1 if studies.size else 0
        clustered = cluster == "study" or (cluster == "auto" and FEWEST <= clusters < len(cases))
        modes: dict[str, Mode] = {}
        for run in (*first, *second):
            modes = run.modes | modes
        pairings = [
            pair(
                first, second, mode, cases,
                studies=studies if clustered else None,
                choose=cluster == "auto",
                left_out=ignored.get(mode.name, frozenset()),
            )
            for mode in modes.values()
            if not only or mode.name in only
        ]  # fmt: skip
        return cls(first, second, cases, studies, clusters, clustered, cluster, pairings)

    def conclude(self, adjusted: "Iterator[_Adjusted]", alpha: float, family: int) -> Comparison:
        modes = tuple(
            _conclude(pairing, next(adjusted) if pairing.test else None, alpha)
            for pairing in self.pairings
        )
        only = [
            len({case for run in side for case in run.cases}) - len(self.cases)
            for side in (self.first, self.second)
        ]
        units = self.studies if self.clustered else None
        return Comparison(
            first=tuple(run.origin for run in self.first),
            second=tuple(run.origin for run in self.second),
            made=datetime.now(UTC),
            notes=(*compatibility(self.first, self.second), *self._units_note()),
            cases=len(self.cases),
            only_first=only[0],
            only_second=only[1],
            clustered=self.clustered,
            clusters=self.clusters if self.clustered else len(self.cases),
            alpha=alpha,
            modes=modes,
            anchors=anchor_changes(self.first, self.second, self.cases, units),
            family=family,
        )

    def _units_note(self) -> Iterator[Note]:
        studies = f"{self.clusters} stud{'y' if self.clusters == 1 else 'ies'}"
        if not self.cases:
            yield Note(text="no case in common: nothing could be compared", serious=True)
        if self.clustered and self.clusters < FEWEST:
            text = f"{studies} as units: no test can be significant with fewer than {FEWEST}"
            yield Note(text=text, serious=True)
        if self.cluster == "auto" and 0 < self.clusters < FEWEST:
            text = f"only {studies}: conclusions hold for these studies alone, cases are the units"
            yield Note(text=text, serious=False)


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


def _cautious(pairing: Pairing, interval: Interval) -> Interval:
    """``interval``, its ends moved to where the unscored verdicts could put them."""
    first, second = pairing.first, pairing.second
    if not (np.isnan(first).any() or np.isnan(second).any()):
        return interval

    def under(before: float, after: float) -> Interval:
        a, b = np.nan_to_num(first, nan=before), np.nan_to_num(second, nan=after)
        return pairing.interval_of(b.mean(axis=1) - a.mean(axis=1), pairing.studies)

    return Interval(under(1.0, 0.0).low, under(0.0, 1.0).high)


def _conclude(pairing: Pairing, adjusted: _Adjusted | None, alpha: float) -> ModeComparison:
    differences, test = pairing.differences, pairing.test
    change = float(differences.mean()) if differences.size else None
    interval = pairing.interval_of(differences, pairing.paired_studies)
    unknown = Interval(-1.0, 1.0)
    runs = [pairing.first.shape[1], pairing.second.shape[1]]
    at = np.flatnonzero(pairing.paired)
    order = np.argsort(-np.abs(differences), kind="stable")
    first, second = (share[pairing.paired] for share in pairing.both)
    level = adjusted.level if adjusted else alpha
    caution = None
    if pairing.one_study_decides:
        caution = "one study makes up over half of what differs: neither p nor interval is safe"
    other = None
    if test and pairing.choose and pairing.paired_studies is not None:
        other = pairing.test_by(None if pairing.by_studies else pairing.paired_studies).p_value
    return ModeComparison(
        mode=pairing.mode.name,
        title=pairing.mode.title,
        definition=pairing.mode.definition,
        evaluator=f"{pairing.mode.evaluator} {pairing.mode.version}".strip(),
        first=side(pairing.first, pairing.studies),
        second=side(pairing.second, pairing.studies),
        verdict=_verdict(test, change, adjusted, alpha, safe=caution is None),
        problem=pairing.problem,
        pairs=differences.size,
        difference=change,
        interval=interval,
        bounds=unknown if pairing.problem else difference_bounds(pairing.first, pairing.second),
        cautious=unknown if pairing.problem else _cautious(pairing, interval),
        p_value=test.p_value if test else None,
        adjusted_p=adjusted.p if adjusted else None,
        by="studies" if pairing.by_studies else "cases",
        other_p=other,
        units=test.units if test else 0,
        detectable=pairing.would_show(level),
        needed=pairing.needed(level),
        caution=caution,
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
    test: PairedTest | None,
    change: float | None,
    adjusted: _Adjusted | None,
    alpha: float,
    *,
    safe: bool,
) -> ChangeVerdict:
    if test is None or change is None or adjusted is None:
        return ChangeVerdict.NOT_COMPARED
    if adjusted.p <= alpha:
        if not safe:
            return ChangeVerdict.UNEVEN
        return ChangeVerdict.WORSE if change > 0 else ChangeVerdict.BETTER
    if test.units and adjusted.smallest > alpha:
        return ChangeVerdict.TOO_FEW
    return ChangeVerdict.UNCHANGED
