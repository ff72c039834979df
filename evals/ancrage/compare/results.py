"""What a run found, as one outcome a case and failure mode; read from the run's record."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel

from ancrage.domain import Frozen, JsonValue, OutputState, RunState
from ancrage.errors import UsageError
from ancrage.runs import NOT_RUN, RUNS, RunFolder, RunView, find_run, list_runs
from ancrage.runs.journal import read
from ancrage.snapshot import open_snapshot
from ancrage.stats.intervals import Floats


class Origin(Frozen):
    """Where outcomes come from, and all that could make them incomparable."""

    id: str
    name: str
    kind: str
    group: str | None = None
    repeat: int = 0
    created: datetime
    state: RunState
    snapshot: str
    """Hash of the snapshot."""
    parameters: dict[str, JsonValue] = {}
    versions: dict[str, str] = {}


class Mode(Frozen):
    """A failure mode and the evaluator that looked for it."""

    name: str
    title: str
    definition: str
    evaluator: str
    version: str


@dataclass(frozen=True, eq=False)
class Results:
    """The outcomes of one run; every array has one entry a case, in the order of ``cases``."""

    origin: Origin
    modes: dict[str, Mode]
    cases: tuple[str, ...]
    """Every case that the run should have answered, reached or not."""
    studies: tuple[str | None, ...]
    states: tuple[OutputState, ...]
    values: dict[str, Floats]
    """The score of each mode: above 0 the case fails, NaN it is unscored."""
    reasons: dict[str, dict[str, str]] = field(default_factory=dict)
    """Why cases are unscored, by mode and case; a baseline does not keep it."""
    completed: tuple[str, ...] = ()
    """The cases that have an output, in the order in which they were answered."""
    verdicts: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)
    """Where an answer was judged several times, all verdicts (0, 1 or NaN), by mode and case; the
    first is the one in ``values``."""
    folder: RunFolder | None = None
    """Where the answers are; None for a baseline, which does not hold any."""

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each case stands in the arrays."""
        return {case: at for at, case in enumerate(self.cases)}

    def failures(self, mode: str) -> Floats:
        """1 where the case fails, 0 where it passes, NaN where it is unscored."""
        values = self.values.get(mode)
        if values is None:
            return np.full(len(self.cases), np.nan)
        return np.where(np.isnan(values), np.nan, (values > 0).astype(np.float64))


Group = Sequence[Results]
"""The repeats of one experiment, or a single run."""


class _Score(BaseModel):
    name: str
    value: float | None = None
    reason: str | None = None


class _Details(BaseModel):
    repeats: Any = None
    """What a judge asked several times says; other evaluators may mean anything by the word."""


class _Evaluation(BaseModel):
    evaluator: str
    scores: tuple[_Score, ...]
    details: _Details | None = None


class _Scored(BaseModel):
    """A line of a scores journal without its findings, which would take most of the time."""

    case_id: str
    evaluations: tuple[_Evaluation, ...]


class _Output(BaseModel):
    case_id: str
    state: OutputState
    reason: str | None = None


def read_results(folder: RunFolder) -> Results:
    """The outcomes of a run, each mode from the newest scoring that owns it.

    Raises:
        UsageError: the run or its snapshot cannot be read, or scores speak of unknown cases.
    """
    run = folder.run
    snapshot = folder.snapshot()
    listed = _listed(snapshot.path, snapshot.hash)
    position = {case: at for at, (case, _) in enumerate(listed)}
    outputs: dict[str, _Output] = {}
    for entry in read(folder.path / "outputs.jsonl", _Output):
        outputs.pop(entry.case_id, None)  # a case tried again takes its place anew
        outputs[entry.case_id] = entry
    for case in outputs.keys() - position.keys():
        raise UsageError(f"{folder.path / 'outputs.jsonl'}: case {case!r} is not in the snapshot")
    view = RunView(folder)
    modes = {
        mode.name: Mode(
            name=mode.name,
            title=mode.title,
            definition=mode.definition,
            evaluator=info.name,
            version=info.version,
        )
        for info, _ in view.evaluators.values()
        for mode in info.modes
    }
    values = {mode: np.full(len(listed), np.nan) for mode in modes}
    reasons: dict[str, dict[str, str]] = {mode: {} for mode in modes}
    verdicts: dict[str, dict[str, tuple[float, ...]]] = {}
    for case, score, repeats in _scores(view, position):
        if score.name not in values:
            continue
        if repeats:
            again = tuple(np.nan if each is None else float(each > 0) for each in repeats)
            verdicts.setdefault(score.name, {})[case] = again
        values[score.name][position[case]] = np.nan if score.value is None else score.value
        if score.value is None:
            reasons[score.name][case] = score.reason or "no reason given"
        else:
            reasons[score.name].pop(case, None)
    for mode, array in values.items():
        for at in np.flatnonzero(np.isnan(array)).tolist():
            reasons[mode].setdefault(listed[at][0], NOT_RUN)
    return Results(
        origin=Origin(
            id=run.id,
            name=run.name,
            kind=run.kind,
            group=run.group,
            repeat=run.repeat,
            created=run.created,
            state=run.state,
            snapshot=run.snapshot.hash,
            parameters=run.parameters,
            versions=run.versions,
        ),
        modes=modes,
        cases=tuple(case for case, _ in listed),
        studies=tuple(study for _, study in listed),
        states=tuple(
            outputs[case].state if case in outputs else OutputState.NOT_RUN for case, _ in listed
        ),
        values=values,
        reasons=reasons,
        completed=tuple(outputs),
        verdicts=verdicts,
        folder=folder,
    )


def _scores(
    view: RunView, known: dict[str, int]
) -> Iterator[tuple[str, _Score, tuple[float | None, ...]]]:
    """Case, score, and the scores of all verdicts where the answer was judged several times."""
    for folder in view.scorings:
        wanted = {name for name, (_, home) in view.evaluators.items() if home == folder}
        path = folder.path / "scores.jsonl"
        for entry in read(path, _Scored) if wanted else ():
            if entry.case_id not in known:
                raise UsageError(f"{path}: case {entry.case_id!r} is not in the snapshot")
            for evaluation in entry.evaluations:
                if evaluation.evaluator in wanted:
                    for score in evaluation.scores:
                        again = _again(evaluation.details, score.name)
                        yield entry.case_id, score, again


def _again(details: _Details | None, mode: str) -> tuple[float | None, ...]:
    repeats = details.repeats if details else None
    values = repeats.get(mode) if isinstance(repeats, dict) else None
    if not isinstance(values, list):
        return ()
    return tuple(each if isinstance(each, int | float) else None for each in values)


@lru_cache(maxsize=4)
def _listed(path: Path, hash: str) -> tuple[tuple[str, str | None], ...]:
    """Id and study of each case; runs over one snapshot read it once."""
    return tuple((case.id, case.study_id) for case in open_snapshot(path, verify=False).cases())


def find_group(reference: str, root: Path = RUNS) -> Group:
    """The runs meant by ``reference``: all repeats of a group of that name, else one run.

    Raises:
        UsageError: nothing answers to it, or runs that are no repeats share the group's name.
    """
    repeats = [folder for folder in list_runs(root) if folder.run.group == reference]
    if reference and repeats:
        repeats.sort(key=lambda folder: folder.run.repeat)
        for one, other in pairwise(repeats):
            if one.run.repeat == other.run.repeat:
                raise UsageError(
                    f"{reference!r} names two experiments: {one.path.name} and {other.path.name} "
                    f"are both its repeat {one.run.repeat}; give the folder of one: {one.path}"
                )
        return tuple(read_results(folder) for folder in repeats)
    return (read_results(find_run(reference, root)),)
