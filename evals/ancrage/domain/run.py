"""A run: one pass of an assistant over a snapshot, and the scorings of it."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from ancrage.domain.anchors import Anchors
from ancrage.domain.base import Frozen, JsonValue
from ancrage.domain.case import Answer, OutputState, ToolCall, Usage
from ancrage.domain.finding import Evaluation, FailureMode


class Output(Frozen):
    """One line of a run's journal: how one case was answered, or why it was not."""

    case_id: str
    state: OutputState
    answer: Answer | None = None
    reason: str | None = None
    """Why there is no usable answer; set whenever ``state`` is not ``ok``."""
    tool_calls: tuple[ToolCall, ...] = ()
    started: datetime | None = None
    usage: Usage | None = None
    details: dict[str, JsonValue] = {}


MODEL_CALLS = "model_calls"
"""Where the details of a replay's output keep the calls of models behind it, as ``ModelCall``."""


class ModelCall(Frozen):
    """One call of a model behind an output."""

    model: str
    parameters: dict[str, JsonValue] = {}
    usage: Usage | None = None
    seconds: float | None = None
    state: OutputState = OutputState.OK
    reason: str | None = None
    cached: bool = False
    """Answered from the cache: no call was made now."""


class SnapshotRef(Frozen):
    """Which snapshot a run read: where it lies and the hash of its content."""

    path: str
    """Relative to the run's folder where possible."""
    hash: str


class RunState(StrEnum):
    RUNNING = "running"
    """Also what a killed run shows: ``--resume`` takes it up."""
    COMPLETE = "complete"
    INCOMPLETE = "incomplete"


class Run(Frozen):
    """The manifest of a run."""

    format: int = 1
    id: str
    name: str
    kind: str
    """``audit`` for production's own answers, ``replay`` for new ones, …"""
    group: str | None = None
    """The name that the repeats of one experiment share."""
    repeat: int = Field(default=0, ge=0)
    created: datetime
    finished: datetime | None = None
    state: RunState = RunState.RUNNING
    snapshot: SnapshotRef
    versions: dict[str, str] = {}
    """``ancrage``, ``python``, ``commit`` of the user's code."""
    parameters: dict[str, JsonValue] = {}
    counts: dict[str, int] = {}
    """``cases`` and one entry an ``OutputState`` that occurs; they add up."""
    details: dict[str, JsonValue] = {}


class EvaluatorInfo(Frozen):
    """An evaluator as it was when it scored."""

    name: str
    version: str
    modes: tuple[FailureMode, ...]
    kind: str = "other"
    """``check`` for code, ``judge`` for a model's word, ``external`` for scores that another tool
    wrote: those are shown and never taken for counts of defects."""
    details: dict[str, JsonValue] = {}


class Scoring(Frozen):
    """The manifest of one scoring of a run; a run can have several, none replaced."""

    format: int = 1
    id: str
    created: datetime
    finished: datetime | None = None
    state: RunState = RunState.RUNNING
    evaluators: tuple[EvaluatorInfo, ...]
    counts: dict[str, int] = {}
    details: dict[str, JsonValue] = {}


class Scored(Frozen):
    """One line of a scoring's journal: all evaluations of one output."""

    case_id: str
    evaluations: tuple[Evaluation, ...]
    anchors: Anchors | None = None
    """How the answer was read; None where there was no answer to read."""
