"""What anchors the answers on both sides: fewer failures mean little where less was looked at."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from ancrage.compare.model import AnchorChange
from ancrage.compare.results import Anchoring, Group
from ancrage.stats import exchanges, shares, swap_test
from ancrage.stats.intervals import Floats, Units

LOST = 1 / 3
"""A count that falls by more than this share, beyond chance, has collapsed."""
HALF = 1 / 2
"""As has one that falls by more than this share at all."""
SILENT = 0.1
"""As has anchoring when so many more of the answers cite and quote nothing, beyond chance."""
_FEWEST = 10
"""Counts below this say nothing of a collapse."""

_Count = Callable[[Anchoring], float]


def anchor_changes(
    first: Group, second: Group, cases: Sequence[str], units: Units | None
) -> tuple[AnchorChange, ...]:
    """Every count, over the cases whose answers were read on both sides; empty when none was."""
    read = [
        at
        for at, case in enumerate(cases)
        if all(any(case in run.anchors for run in side) for side in (first, second))
    ]
    if not read:
        return ()
    kept = [cases[at] for at in read]
    within = None if units is None else np.unique(units[read], return_inverse=True)[1]
    sides = (first, second)
    changes = [
        _counted(sides, kept, within, "citations", lambda answer: answer.citations),
        _counted(sides, kept, within, "quotes", lambda answer: answer.quotes),
        _counted(sides, kept, within, "quotes held", lambda answer: answer.held),
        _different(sides, len(kept)),
        _silent(sides, kept, within),
        *_diagnoses(sides, kept),
    ]
    return tuple(change for change in changes if change.first or change.second)


def _table(side: Group, cases: Sequence[str], count: _Count) -> Floats:
    """Cases × repeats; NaN where an answer was not read."""
    return np.array(
        [
            [count(run.anchors[case]) if case in run.anchors else np.nan for run in side]
            for case in cases
        ],
        dtype=np.float64,
    )


def _counted(
    sides: tuple[Group, Group],
    cases: Sequence[str],
    units: Units | None,
    what: str,
    count: _Count,
) -> AnchorChange:
    before, after = (_table(side, cases, count) for side in sides)
    first, second = (float(shares(table).sum()) for table in (before, after))
    collapsed = False
    if first >= _FEWEST:
        collapsed = second < first * (1 - HALF) or (
            second < first * (1 - LOST) and _beyond_chance(before, after, units)
        )
    return _change(what, first, second, len(cases), collapsed=collapsed)


def _silent(sides: tuple[Group, Group], cases: Sequence[str], units: Units | None) -> AnchorChange:
    before, after = (
        _table(side, cases, lambda answer: float(not answer.citations)) for side in sides
    )
    first, second = (float(shares(table).sum()) for table in (before, after))
    collapsed = second - first > SILENT * len(cases) and _beyond_chance(before, after, units)
    return _change("answers that cite nothing", first, second, len(cases), collapsed=collapsed)


def _different(sides: tuple[Group, Group], answers: int) -> AnchorChange:
    """How many different quotes a run has: one safe quote everywhere is one."""
    first, second = (sum(run.different_quotes or 0 for run in side) / len(side) for side in sides)
    collapsed = first >= _FEWEST and second < first * (1 - HALF)
    return _change("different quotes", first, second, answers, collapsed=collapsed)


def _diagnoses(sides: tuple[Group, Group], cases: Sequence[str]) -> Iterator[AnchorChange]:
    """Why quotes fail, of all quotes held against a message."""
    totals, held = [], []
    for side in sides:
        answers = [run.anchors[case] for run in side for case in cases if case in run.anchors]
        found: Counter[str] = Counter()
        for answer in answers:
            found.update(answer.diagnoses)
        totals.append({name: count / len(side) for name, count in found.items()})
        held.append(round(sum(answer.held for answer in answers) / len(side)))
    for name in dict.fromkeys([*totals[0], *totals[1]]):
        yield AnchorChange(
            what=f"quotes {name}",
            first=totals[0].get(name, 0.0),
            second=totals[1].get(name, 0.0),
            first_of=held[0],
            second_of=held[1],
        )


def _change(
    what: str, first: float, second: float, answers: int, *, collapsed: bool
) -> AnchorChange:
    return AnchorChange(
        what=what,
        first=first,
        second=second,
        first_of=answers,
        second_of=answers,
        collapsed=collapsed,
    )


def _beyond_chance(before: Floats, after: Floats, units: Units | None) -> bool:
    return swap_test(exchanges(before, after, units)).p_value <= 0.05
