"""What a run found, as one outcome a case and failure mode: the arrays that comparisons take."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import numpy as np

from ancrage.domain import Anchors, Evaluation, Frozen, JsonValue, OutputState, RunState, Usage
from ancrage.errors import UsageError
from ancrage.runs import NOT_RUN, RUNS, RunFolder, RunView, find_run, list_runs
from ancrage.stats.intervals import Floats

LOOKS = "looks.jsonl"
"""The file of a run in which every look at it before its end is noted."""
EXTERNAL = "external"
"""The kind of an evaluator whose scores another tool wrote."""


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
    hashed_order: bool = False
    """Whether cases were sent out in the order of ``looks.dispatch_order``."""
    looks: int = 0
    """How often a gate looked at the run before it was complete."""

    @property
    def mock(self) -> bool:
        """Whether the answers were read from a file instead of coming from the assistant."""
        return bool(self.parameters.get("mock"))


class Mode(Frozen):
    """A failure mode and the evaluator that looked for it."""

    name: str
    title: str
    definition: str
    evaluator: str
    version: str


class Anchoring(Frozen):
    """What anchors one answer, in numbers."""

    citations: int = 0
    quotes: int = 0
    held: int = 0
    """Quotes held against a message."""
    diagnoses: dict[str, int] = {}
    """Why quotes fail: ``translated``, ``altered``, ``elsewhere``, ``absent``, …"""

    @classmethod
    def of(cls, anchors: Anchors) -> "Anchoring":
        """The numbers of an answer as it was read."""
        failing = [q.diagnosis for q in anchors.quotes if q.diagnosis]
        return cls(
            citations=anchors.citations,
            quotes=len(anchors.quotes),
            held=anchors.held,
            diagnoses={name: failing.count(name) for name in dict.fromkeys(failing)},
        )


@dataclass(frozen=True, eq=False)
class Results:
    """The outcomes of one run; every array has one entry a case, in the order of ``cases``."""

    origin: Origin
    modes: dict[str, Mode]
    cases: tuple[str, ...]
    """Every case that the run should have answered, reached or not, in the snapshot's order."""
    studies: tuple[str | None, ...]
    states: tuple[OutputState, ...]
    values: dict[str, Floats]
    """The score of each mode: above 0 the case fails, NaN it is unscored."""
    reasons: dict[str, dict[str, str]] = field(default_factory=dict)
    """Why cases are unscored, by mode and case; a baseline does not keep it."""
    verdicts: dict[str, dict[str, tuple[float, ...]]] = field(default_factory=dict)
    """Where an answer was judged several times, all verdicts (0, 1 or NaN), by mode and case; the
    first is the one in ``values``."""
    anchors: dict[str, Anchoring] = field(default_factory=dict)
    """How each answer was read, by case; cases of which the record does not say are absent."""
    different_quotes: int | None = None
    """How many quotes of different words the whole run has; None where that was not counted."""
    answers: dict[str, int] = field(default_factory=dict)
    """A number that stands for the text of each answer: equal texts, equal numbers."""
    usage: dict[str, Usage] = field(default_factory=dict)
    """What each answer took, where it is known."""
    foreign: tuple[str, ...] = ()
    """Scores that another tool wrote: no counts of defects, so they are not compared."""
    view: RunView | None = None
    """Where the answers are; None for a baseline, which does not hold any."""

    @cached_property
    def position(self) -> dict[str, int]:
        """Where each case stands in the arrays."""
        return {case: at for at, case in enumerate(self.cases)}

    @property
    def folder(self) -> RunFolder | None:
        """The run's folder; None for a baseline."""
        return self.view.folder if self.view else None

    def failures(self, mode: str) -> Floats:
        """1 where the case fails, 0 where it passes, NaN where it is unscored."""
        values = self.values.get(mode)
        if values is None:
            return np.full(len(self.cases), np.nan)
        return np.where(np.isnan(values), np.nan, (values > 0).astype(np.float64))

    def ended(self, case: str, mode: str) -> bool:
        """Whether the case has its output and its score, or will never have one."""
        at = self.position[case]
        return (
            self.states[at] is not OutputState.NOT_RUN
            and self.reasons.get(mode, {}).get(case) != NOT_RUN
        )


Group = Sequence[Results]
"""The repeats of one experiment, or a single run."""


def read_results(folder: RunFolder) -> Results:
    """The outcomes of a run, each mode from the scoring that counts.

    Raises:
        UsageError: the run or its snapshot cannot be read.
    """
    run, view = folder.run, RunView(folder)
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
        if info.kind != EXTERNAL
    }
    cases: list[str] = []
    studies: list[str | None] = []
    states: list[OutputState] = []
    values: dict[str, list[float]] = {mode: [] for mode in modes}
    found = Results(
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
            hashed_order=bool(run.details.get("hashed_order")),
            looks=_looks(folder),
        ),
        modes=modes,
        cases=(),
        studies=(),
        states=(),
        values={},
        reasons={mode: {} for mode in modes},
        foreign=tuple(
            mode.name
            for info, _ in view.evaluators.values()
            for mode in info.modes
            if info.kind == EXTERNAL
        ),
        view=view,
    )
    quotes: set[str] = set()
    for item in view.items():
        case, output = item.case.id, item.output
        cases.append(case)
        studies.append(item.case.study_id)
        states.append(output.state)
        scores = item.scores
        for mode, column in values.items():
            score = scores.get(mode)
            column.append(np.nan if score is None or score.value is None else score.value)
            if score is None or score.value is None:
                found.reasons[mode][case] = (score and score.reason) or NOT_RUN
        for evaluation in item.evaluations:
            for mode, again in _verdicts(evaluation):
                found.verdicts.setdefault(mode, {})[case] = again
        if output.answer and output.state is OutputState.OK:
            found.answers[case] = hash(output.answer.text)
        if item.anchors and output.state is OutputState.OK:
            found.anchors[case] = Anchoring.of(item.anchors)
            quotes.update(quote.evidence.text for quote in item.anchors.quotes)
        if output.usage:
            found.usage[case] = output.usage
    return Results(
        **{
            **vars(found),
            "cases": tuple(cases),
            "studies": tuple(studies),
            "states": tuple(states),
            "different_quotes": len(quotes) if found.anchors else None,
            "values": {mode: np.array(column, dtype=np.float64) for mode, column in values.items()},
        }
    )


def _looks(folder: RunFolder) -> int:
    path = folder.path / LOOKS
    return len(path.read_text(encoding="utf-8").splitlines()) if path.exists() else 0


def _verdicts(evaluation: Evaluation) -> list[tuple[str, tuple[float, ...]]]:
    """By mode, all verdicts on an answer that was judged several times."""
    repeats = evaluation.details.get("repeats")
    if not isinstance(repeats, dict):
        return []
    return [
        (
            mode,
            tuple(
                float(value > 0) if isinstance(value, int | float) else float("nan")
                for value in again
            ),
        )
        for mode, again in repeats.items()
        if isinstance(again, list) and again
    ]


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
