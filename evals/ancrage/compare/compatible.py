"""What differs between two sides besides their answers, and whether it forbids comparing."""

import json
from collections.abc import Iterator

from ancrage.compare.model import Note
from ancrage.compare.results import Group
from ancrage.domain import OutputState, RunState
from ancrage.program import called


def compatibility(first: Group, second: Group) -> tuple[Note, ...]:
    """Everything but the evaluators' versions, which concern single modes."""
    return tuple(
        dict.fromkeys(
            (*_within(first), *_within(second), *_states(first, second), *_between(first, second))
        )
    )


def version_problem(first: Group, second: Group, mode: str) -> str | None:
    """Why the verdicts on ``mode`` cannot be compared; None when they can."""
    absent = [each.origin.name for each in (*first, *second) if mode not in each.modes]
    if absent:
        return f"{absent[0]} was not scored for it"
    versions = [
        f"{each.modes[mode].evaluator} {each.modes[mode].version}".strip()
        for each in (*first, *second)
    ]
    if len(set(versions)) == 1:
        return None
    old, new = versions[0], next(each for each in versions if each != versions[0])
    return f"scored by {old} and by {new}; score both runs with one version: {called('score RUN')}"


def same_data(first: Group, second: Group) -> bool:
    """Whether every run read the same snapshot."""
    return len({each.origin.snapshot for each in (*first, *second)}) == 1


def _within(side: Group) -> Iterator[Note]:
    head = side[0].origin
    for other in (each.origin for each in side[1:]):
        if other.snapshot != head.snapshot:
            yield Note(text=f"repeats {head.id} and {other.id} read different data", serious=True)
        for change in _changes(head.parameters, other.parameters):
            yield Note(text=f"repeats {head.id} and {other.id}: {change}", serious=True)
        for change in _changes(head.versions, other.versions):
            yield Note(text=f"repeats {head.id} and {other.id}: {change}", serious=False)


def _states(first: Group, second: Group) -> Iterator[Note]:
    for each in (*first, *second):
        origin = each.origin
        if origin.state is RunState.COMPLETE:
            continue
        reached = sum(state is not OutputState.NOT_RUN for state in each.states)
        share = f": {reached} of {len(each.cases)} cases answered" if each.view else ""
        yield Note(text=f"{origin.name} is {origin.state.value}{share}", serious=True)


def _between(first: Group, second: Group) -> Iterator[Note]:
    a, b = first[0].origin, second[0].origin
    same = {each.origin.id for each in first} & {each.origin.id for each in second}
    if same:
        yield Note(text=f"{min(same)} stands on both sides, against itself", serious=True)
    if a.snapshot != b.snapshot:
        yield Note(
            text=f"the data differ: snapshot {a.snapshot[:12]} → {b.snapshot[:12]}; "
            "only cases with the same id are compared",
            serious=True,
        )
    if a.kind != b.kind:
        yield Note(text=f"kind: {a.kind} → {b.kind}", serious=False)
    for change in _changes(a.parameters, b.parameters):
        yield Note(text=change, serious=False)
    for change in _changes(a.versions, b.versions):
        yield Note(text=change, serious=False)
    foreign = dict.fromkeys(name for run in (*first, *second) for name in run.foreign)
    if foreign:
        names = ", ".join(foreign)
        text = f"not compared: {names}: scores that another tool wrote are no counts of defects"
        yield Note(text=text, serious=False)
    if any(run.origin.mock for run in second) and not any(run.origin.mock for run in first):
        yield Note(text=f"{b.name} was answered by a mock, not by the assistant", serious=True)


def _changes(old: object, new: object) -> Iterator[str]:
    assert isinstance(old, dict)  # noqa: S101
    assert isinstance(new, dict)  # noqa: S101
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            yield f"{name}: {_brief(old.get(name))} → {_brief(new.get(name))}"


def _brief(value: object) -> str:
    if value is None:
        return "unset"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:59] + "…"
