"""A case: one question put to the assistant, its frozen world, and the answer."""

from datetime import datetime
from enum import StrEnum

from pydantic import Field

from ancrage.domain.base import Frozen, JsonValue
from ancrage.domain.turn import Turn

NO_STUDY = "the case names no study"
"""Why what is looked up in a study is unscored, where there never was one."""


class ToolCall(Frozen):
    """One call the assistant made and what the tool gave back, frozen."""

    name: str = Field(min_length=1)
    arguments: dict[str, JsonValue] = {}
    output: JsonValue = None
    output_recorded: bool = True
    """False where nobody kept what the tool gave; null is something that a tool can give."""
    call_id: str | None = None
    error: str | None = None
    """The tool's error, when it failed in production; a replay fails alike."""


class CaseInput(Frozen):
    """All that the assistant was given."""

    question: str
    history: tuple[Turn, ...] = ()
    """Earlier turns, oldest first, without the system prompt and the question."""
    tool_calls: tuple[ToolCall, ...] = ()
    system_prompt: str | None = None
    system_prompt_hash: str | None = None
    """SHA-256 of the system prompt in hexadecimal; kept where the prompt itself is not."""
    context: dict[str, JsonValue] = {}
    """What the assistant's code needs to render its prompt (study, locale, …)."""


class Usage(Frozen):
    """Tokens, money and time of one or several model calls; None where unknown."""

    calls: int = 0
    input_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    cost: float | None = None
    """In the currency of the price file."""
    latency: float | None = None
    """Seconds."""


class Answer(Frozen):
    """What the assistant replied. Offsets elsewhere are code points of ``text``."""

    text: str
    finish_reason: str | None = None
    usage: Usage | None = None


class OutputState(StrEnum):
    """What became of an answer; only ``ok`` can be scored."""

    OK = "ok"
    MISSING = "missing"
    FAILED = "failed"
    TRUNCATED = "truncated"
    REFUSED = "refused"
    EMPTY = "empty"
    UNRECORDED_TOOL_CALL = "unrecorded_tool_call"
    """A replay asked for a tool output that was never recorded."""
    OVER_BUDGET = "over_budget"
    NOT_RUN = "not_run"
    """The run did not come to the case; never written, found when a run is read."""


class Provenance(Frozen):
    """Where a case comes from."""

    source: str
    time: datetime | None = None
    model: str | None = None
    parameters: dict[str, JsonValue] = {}
    """As sent in production: reasoning effort, temperature, maximum output, …"""
    echoed: dict[str, JsonValue] = {}
    """Parameters that only the response reported, which may be the server's own defaults."""
    prompt_version: str | None = None
    trace_id: str | None = None
    observation_id: str | None = None


class Case(Frozen):
    """One line of a dataset: input, production's answer, provenance."""

    id: str = Field(min_length=1)
    study_id: str | None = None
    input: CaseInput
    output: Answer | None = None
    state: OutputState = OutputState.OK
    """State of production's own answer; ``missing`` when there is none."""
    source_missing: str | None = None
    """Why the study cannot be consulted any more, when that is so."""
    provenance: Provenance
    metadata: dict[str, JsonValue] = {}
