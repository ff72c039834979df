"""Look through the slices of a run and say in one sentence each what stands out."""

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np

from ancrage.domain import Frozen
from ancrage.slices.scan import FEWEST_ROWS, Bools, scan
from ancrage.slices.tables import Table, tables, values_of

if TYPE_CHECKING:
    from ancrage.runs import RunView

LEVEL = 0.05
"""The chance that a run without any such slice shows one, over all that was looked at."""
MOST_SLICES = 1_500
_OVERLAP = 0.5
"""Of two slices of one mode that share more than this, the clearer one speaks for both."""

Condition = tuple[tuple[str, str], ...]


class SliceFinding(Frozen):
    """One failure that is more frequent in one part of a run."""

    mode: str
    noun: str
    """What is counted: ``answers`` or ``quotes``."""
    where: Condition
    """Fields and their values, all of which hold in the slice."""
    failing: int
    scored: int
    failing_elsewhere: int
    scored_elsewhere: int
    p: float
    """Adjusted over everything that was looked at."""
    cases: tuple[str, ...]
    """The cases of the slice that fail."""

    @property
    def sentence(self) -> str:
        """``translated quotes: 31 of 44 where …, 3 of 210 elsewhere``."""
        what = f"{self.mode} quotes" if self.noun == "quotes" else self.mode
        where = " and ".join(f"{name} is {value}" for name, value in self.where)
        return (
            f"{what}: {self.failing} of {self.scored} where {where}, "
            f"{self.failing_elsewhere} of {self.scored_elsewhere} elsewhere"
        )


class Found(Frozen):
    """All that stands out in a run, and how much was looked at."""

    looked: int
    """Pairs of slice and mode that were tested."""
    slices: int
    rows: dict[str, int]
    """How many answers and quotes there were."""
    findings: tuple[SliceFinding, ...]


def looked_at(found: Found) -> str:
    """How much was looked at, and what the findings were adjusted for."""
    rows = " and ".join(f"{count} {noun}" for noun, count in found.rows.items())
    if not found.looked:
        return f"Too few rows to look at any slice: {rows}."
    return (
        f"{found.looked} pairs of slice and failure looked at, over {rows}; adjusted for all of "
        f"them: a run where nothing stands out shows something {LEVEL:.0%} of the time."
    )


def find(view: "RunView") -> Found:
    """The slices of a run that stand out, clearest first."""
    pair = tables(view)
    looks = [find_in(table) for table in pair]
    # Two tables are two families: each is held to half of the level.
    used = sum(looked > 0 for looked, _, _ in looks)
    findings = [
        finding.model_copy(update={"p": min(1.0, finding.p * used)})
        for _, _, found in looks
        for finding in found
        if finding.p * used <= LEVEL
    ]
    return Found(
        looked=sum(looked for looked, _, _ in looks),
        slices=sum(slices for _, slices, _ in looks),
        rows={table.noun: len(table.cases) for table in pair},
        findings=tuple(sorted(findings, key=lambda finding: finding.p)),
    )


def find_in(table: Table) -> tuple[int, int, list[SliceFinding]]:
    """How much of one table was looked at, its slices, and what stands out at the level."""
    n = len(table.cases)
    if n < 2 * FEWEST_ROWS or not table.failures:
        return 0, 0, []
    conditions, members = _slices(table)
    if not conditions:
        return 0, 0, []
    modes = list(table.failures)
    failures = np.array(
        [[np.nan if v is None else v for v in table.failures[mode]] for mode in modes]
    ).T
    numbers = {study: at for at, study in enumerate(dict.fromkeys(table.studies))}
    studies = np.array([numbers[study] for study in table.studies], dtype=np.intp)
    own = np.array([any(name == "study" for name, _ in where) for where in conditions])
    result = scan(members, failures, studies, is_study=own)
    ranked = sorted(
        ((s, m) for s, m in zip(*np.nonzero(result.p <= LEVEL), strict=True)),
        key=lambda at: -result.z[at],
    )
    findings: list[SliceFinding] = []
    kept: list[tuple[int, int]] = []
    for s, m in ranked:
        if any(m == other and _alike(members[:, s], members[:, at]) for at, other in kept):
            continue
        kept.append((s, m))
        column = failures[:, m]
        scored, inside = ~np.isnan(column), members[:, s]
        failing = scored & (column > 0)
        findings.append(
            SliceFinding(
                mode=modes[m],
                noun=table.noun,
                where=conditions[s],
                failing=int((failing & inside).sum()),
                scored=int((scored & inside).sum()),
                failing_elsewhere=int((failing & ~inside).sum()),
                scored_elsewhere=int((scored & ~inside).sum()),
                p=float(result.p[s, m]),
                cases=tuple(
                    dict.fromkeys(table.cases[at] for at in np.flatnonzero(failing & inside))
                ),
            )
        )
    return result.looked, len(conditions), findings


def _slices(table: Table) -> tuple[list[Condition], Bools]:
    """Each value of each field, and pairs of them, with the rows that they hold for."""
    n = len(table.cases)
    singles: list[tuple[str, str, Bools]] = []
    for name, values in values_of(table.fields):
        for value in values:
            inside = np.array([row.get(name) == value for row in table.fields])
            if FEWEST_ROWS <= inside.sum() <= n - FEWEST_ROWS:
                singles.append((name, value, inside))
    found: list[tuple[Condition, Bools]] = [
        (((name, value),), inside) for name, value, inside in singles
    ]
    found += sorted(_pairs(singles), key=lambda pair: -int(pair[1].sum()))
    kept = found[:MOST_SLICES]
    if not kept:
        return [], np.zeros((n, 0), dtype=np.bool_)
    return [where for where, _ in kept], np.stack([inside for _, inside in kept], axis=1)


def _pairs(singles: list[tuple[str, str, Bools]]) -> Iterator[tuple[Condition, Bools]]:
    for (a, x, first), (b, y, second) in combinations(singles, 2):
        if a == b or "study" in (a, b):
            continue
        both = first & second
        # A pair that is one of its halves says nothing more.
        if FEWEST_ROWS <= both.sum() < 0.95 * min(first.sum(), second.sum()):
            yield ((a, x), (b, y)), both


def _alike(first: Bools, second: Bools) -> bool:
    return bool((first & second).sum() > _OVERLAP * min(first.sum(), second.sum()))
