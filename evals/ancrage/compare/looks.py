"""A run still under way, looked at again and again: evidence that stays valid at every look.

Answers come back in an order that the answers themselves decide: a refusal is quick, a long answer
slow. What counts is therefore the order in which cases were *sent out*, fixed before any answer,
and of that the beginning in which every case has ended.
"""

import json
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ancrage.compare.pairing import outcomes
from ancrage.compare.results import LOOKS, Group
from ancrage.domain import OutputState, RunState
from ancrage.errors import UsageError
from ancrage.stats import exchanges, swap_evidence

if TYPE_CHECKING:
    from ancrage.domain import Case
    from ancrage.snapshot import Snapshot


class Look(NamedTuple):
    """What a run under way says of one mode at this moment."""

    p: float
    """Twice the one-sided anytime-valid p-value of "it got worse"."""
    counted: int
    """Cases that count: those before the first that has not ended, in whole units."""
    ended: int
    """Cases that have ended, wherever they stand."""


def dispatch_order(cases: Sequence[tuple[str, str | None]]) -> list[str]:
    """The order in which to send out cases, given with their studies, when looks are repeated.

    Studies in the order of a hash of their id, not of the file, so that any beginning holds a
    fair choice of them; the cases of a study stand together, since it counts once it is whole.
    """

    def key(case: tuple[str, str | None]) -> tuple[bytes, bytes]:
        name, study = case
        return _digest(f"study {study}" if study else f"case {name}"), _digest(name)

    return [name for name, _ in sorted(cases, key=key)]


def _digest(text: str) -> bytes:
    return blake2b(text.encode(errors="surrogatepass"), digest_size=8).digest()


def look(
    first: Group,
    second: Group,
    mode: str,
    *,
    clustered: bool,
    ignored: AbstractSet[str] = frozenset(),
) -> Look:
    """The evidence that ``mode`` got worse, from whole units in the order of dispatch.

    Twice the one-sided p-value, as strict as a two-sided one: what improved early and then got
    worse is no evidence of a regression. The unit is the case, or with ``clustered`` the study.
    """
    head = second[0]
    everywhere = set.intersection(*(set(run.cases) for run in (*first, *second))) - ignored
    studies = dict(zip(head.cases, head.studies, strict=True))
    names = dispatch_order(list(studies.items())) if head.origin.hashed_order else list(head.cases)
    order = [case for case in names if case in everywhere]
    ended = [all(run.ended(case, mode) for run in second) for case in order]
    reached = ended.index(False) if False in ended else len(ended)
    unit_of = [
        f"study {studies[case]}" if clustered and studies[case] else f"case {case}"
        for case in order
    ]
    still_open = set(unit_of[reached:])
    kept = [at for at in range(reached) if unit_of[at] not in still_open]
    # A unit enters with its last case: nobody can look in between.
    last = {unit_of[at]: place for place, at in enumerate(kept)}
    numbers = {unit: n for n, unit in enumerate(sorted(last, key=last.__getitem__))}
    units = np.array([numbers[unit_of[at]] for at in kept], dtype=np.intp)
    cases = [order[at] for at in kept]
    p = 1.0
    if cases:
        before, after = (outcomes(side, mode, cases) for side in (first, second))
        p = min(1.0, 2 * swap_evidence(exchanges(before, after, units)))
    return Look(p, len(kept), sum(ended))


def note_look(group: Group) -> None:
    """Note in each run that is not complete that a gate looked at it: it is no secret to the test.

    Raises:
        UsageError: the run's folder cannot be written to.
    """
    for run in group:
        if run.folder is None or run.origin.state is RunState.COMPLETE:
            continue
        path = run.folder.path / LOOKS
        ended = sum(state is not OutputState.NOT_RUN for state in run.states)
        entry = {"at": datetime.now(UTC).isoformat(timespec="seconds"), "ended": ended}
        try:
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(entry) + "\n")
        except OSError as error:
            raise UsageError(
                f"{path}: {error.strerror}; a look at an unfinished run must be noted there"
            ) from None


def in_dispatch_order(snapshot: "Snapshot") -> Iterator["Case"]:
    """The cases of a snapshot in the order of ``dispatch_order``."""
    names = dispatch_order([(case.id, case.study_id) for case in snapshot.cases()])
    return (snapshot.case(name) for name in names)
