"""A baseline: the outcomes of a run as a small file that is committed with the code.

It holds ids and outcomes, no question, answer or reason: nothing that a respondent wrote.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Literal, Self

import numpy as np
from pydantic import Field, PositiveFloat, model_validator

from ancrage.compare.results import Anchoring, Group, Mode, Origin, Results
from ancrage.domain import Frozen, OutputState, RunState
from ancrage.errors import UsageError
from ancrage.files import read_model, write_atomic
from ancrage.program import called

FOLDER = "baselines"


class BaselineRun(Frozen):
    """The outcomes of one run; a case that is neither failing nor unscored passes."""

    origin: Origin
    modes: dict[str, Mode]
    states: dict[str, OutputState] = {}
    """The cases whose output is not ``ok``."""
    failing: dict[str, dict[str, PositiveFloat]] = {}
    """The score of each failing case, by mode and case."""
    unscored: dict[str, tuple[str, ...]] = {}
    """The unscored cases, by mode."""
    anchors: dict[str, Anchoring] = {}
    """How many citations and quotes each answer has, by case."""
    different_quotes: int | None = None


class Baseline(Frozen):
    """The file ``baselines/NAME.json``."""

    format: Literal[1] = 1
    recorded: datetime
    studies: dict[str, tuple[str, ...]]
    """Every case, by study; ``""`` for cases without one."""
    runs: tuple[BaselineRun, ...] = Field(min_length=1)
    """One, or the repeats of one experiment."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        listed = [case for cases in self.studies.values() for case in cases]
        known = set(listed)
        if len(known) != len(listed):
            raise ValueError("a case is listed twice")
        for run in self.runs:
            named = set(run.states).union(*run.failing.values(), *run.unscored.values())
            if unknown := named - known:
                raise ValueError(f"case {min(unknown)!r} is in no study")
            if strange := (run.failing.keys() | run.unscored.keys()) - run.modes.keys():
                raise ValueError(f"mode {min(strange)!r} is not among the modes")
        return self


def write_baseline(name: str, group: Group, root: Path) -> Path:
    """Record ``group`` as the baseline ``name`` under ``root``; returns the file.

    Raises:
        UsageError: a run is not complete, or a mock, or has no case or other cases.
    """
    if unfinished := [run.origin.id for run in group if run.origin.state is not RunState.COMPLETE]:
        raise UsageError(f"{unfinished[0]} is not complete; a baseline must be")
    if mocks := [run.origin.id for run in group if run.origin.mock]:
        raise UsageError(f"{mocks[0]} was answered by a mock; a baseline must be real")
    if not all(run.cases == group[0].cases for run in group):
        raise UsageError("the repeats do not have the same cases; record one run alone")
    if not group[0].cases:
        raise UsageError(f"{group[0].origin.id} has no case: nothing to compare with later")
    studies: dict[str, list[str]] = {}
    for case, study in zip(group[0].cases, group[0].studies, strict=True):
        studies.setdefault(study or "", []).append(case)
    baseline = Baseline(
        recorded=datetime.now(UTC),
        studies={study: tuple(cases) for study, cases in sorted(studies.items())},
        runs=tuple(_pack(run) for run in group),
    )
    path = baseline_path(name, root)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomic(path, baseline.model_dump_json(indent=1, exclude_defaults=True) + "\n")
    return path


def baseline_path(name: str, root: Path) -> Path:
    """Where the baseline ``name`` lies.

    Raises:
        UsageError: the name is not a plain file name.
    """
    if not name or Path(name).name != name or name.startswith("."):
        raise UsageError(f"{name!r} cannot name a baseline; use letters, digits, - and _")
    return root / FOLDER / f"{name}.json"


def read_baseline(name: str, root: Path) -> Group:
    """The outcomes recorded as the baseline ``name`` under ``root``.

    Raises:
        UsageError: there is no such baseline, or its file is damaged.
    """
    path = baseline_path(name, root)
    if not path.exists():
        raise UsageError(
            f"no baseline {name!r} ({path}); record one: {called('gate RUN --save')} {name}"
        )
    baseline = read_model(path, Baseline)
    listed = [(case, study) for study, cases in baseline.studies.items() for case in cases]
    position = {case: at for at, (case, _) in enumerate(listed)}
    return tuple(_unpack(run, listed, position) for run in baseline.runs)


def find_reference(name: str | None, root: Path) -> Group | str | None:
    """What the gate compares with: outcomes, in words why there are none, or None for ``none``."""
    if not name or name == "none":
        return None
    try:
        return read_baseline(name, root)
    except UsageError as error:
        return str(error)


def _pack(results: Results) -> BaselineRun:
    failing, unscored = {}, {}
    for mode, values in results.values.items():
        failing[mode] = {
            results.cases[at]: float(values[at]) for at in np.flatnonzero(values > 0).tolist()
        }
        unscored[mode] = tuple(results.cases[at] for at in np.flatnonzero(np.isnan(values)))
    states = zip(results.cases, results.states, strict=True)
    return BaselineRun(
        origin=results.origin,
        modes=results.modes,
        states={case: state for case, state in states if state is not OutputState.OK},
        failing=failing,
        unscored=unscored,
        anchors=results.anchors,
        different_quotes=results.different_quotes,
    )


def _unpack(
    run: BaselineRun, listed: list[tuple[str, str]], position: Mapping[str, int]
) -> Results:
    values = {mode: np.zeros(len(listed)) for mode in run.modes}
    for mode, array in values.items():
        for case, value in run.failing.get(mode, {}).items():
            array[position[case]] = value
        array[[position[case] for case in run.unscored.get(mode, ())]] = np.nan
    return Results(
        origin=run.origin,
        modes=run.modes,
        cases=tuple(case for case, _ in listed),
        studies=tuple(study or None for _, study in listed),
        states=tuple(run.states.get(case, OutputState.OK) for case, _ in listed),
        values=values,
        anchors=dict(run.anchors),
        different_quotes=run.different_quotes,
    )
