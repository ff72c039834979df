"""Turn a row of any shape into a case, a message or a question, by configured field paths."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, field_validator

from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Frozen,
    JsonValue,
    Message,
    OutputState,
    Provenance,
    Question,
    ToolCall,
    Turn,
)
from ancrage.errors import describe
from ancrage.llm.recorded import sent_and_echoed
from ancrage.snapshot.sources.fields import (
    FieldError,
    at,
    has,
    identifier,
    json_of,
    missing,
    object_of,
    optional,
    plain,
    required,
    text_of,
    unicode,
    words,
)

STOPPED = {
    "length": OutputState.TRUNCATED,
    "max_tokens": OutputState.TRUNCATED,
    "max_output_tokens": OutputState.TRUNCATED,
    "content_filter": OutputState.REFUSED,
}


class Fields(Frozen):
    """Paths, trimmed as headers are."""

    model_config = ConfigDict(str_strip_whitespace=True, str_min_length=1)

    def chosen(self, leave_out: frozenset[str] = frozenset()) -> dict[str, str]:
        """The paths that somebody chose, by the setting that did."""
        chosen: dict[str, str] = {}
        for name in sorted(self.model_fields_set - {"timezone"} - leave_out):
            value = getattr(self, name)
            if isinstance(value, dict):
                chosen |= {f"{name}.{key}": path for key, path in value.items()}
            else:
                chosen[name] = value
        return {f"fields.{name}": path for name, path in chosen.items()}


class AnswerFields(Fields):
    """Where each part of a case stands in a row: a column, or a dotted path into JSON."""

    id: str = "id"
    study_id: str = "study_id"
    question: str = "question"
    answer: str = "answer"
    history: str = "history"
    tool_calls: str = "tool_calls"
    system_prompt: str = "system_prompt"
    time: str = "time"
    model: str = "model"
    parameters: str = "parameters"
    finish_reason: str = "finish_reason"
    prompt_version: str = "prompt_version"
    trace_id: str = "trace_id"
    observation_id: str = "observation_id"
    context: dict[str, str] = {}
    """Name in ``input.context`` → path."""
    metadata: dict[str, str] = {}
    """Name in ``metadata`` → path."""
    timezone: str = Field(default="UTC")
    """Of times that state none, such as ``Europe/Paris``."""

    @field_validator("timezone")
    @classmethod
    def _known(cls, value: str) -> str:
        try:
            ZoneInfo(value)
        except (ZoneInfoNotFoundError, ValueError):
            raise ValueError(f"unknown time zone {value!r}") from None
        return value


class PartFields(Fields):
    """Where the parts stand that rows of studies have."""

    study_id: str = "study_id"
    text: str = "text"


class MessageFields(PartFields):
    """Where each part of a respondent's message stands in a row."""

    id: str = "id"
    respondent_id: str = "respondent_id"
    question_ref: str = "question_ref"
    language: str = "language"


class QuestionFields(PartFields):
    """Where each part of a question stands in a row."""

    ref: str = "ref"


def to_case(row: Mapping[str, Any], fields: AnswerFields, source: str) -> Case:
    """The case that a row tells of.

    Raises:
        FieldError: a part is missing or of the wrong kind; names its path.
    """
    trace_id = identifier(row, fields.trace_id)
    case_id = identifier(row, fields.id) or trace_id
    if not case_id:
        raise missing(row, fields.id)
    question = at(row, fields.question)
    if question is None:
        raise missing(row, fields.question)
    system, history = _history(row, fields, text_of(fields.question, question))
    answer = at(row, fields.answer)
    text = None if answer is None else text_of(fields.answer, answer)
    finish_reason = optional(row, fields.finish_reason)
    sent, echoed = sent_and_echoed(object_of(row, fields.parameters))
    return _built(
        Case,
        id=case_id,
        study_id=identifier(row, fields.study_id),
        input=_built(
            CaseInput,
            question=text_of(fields.question, question),
            history=history,
            tool_calls=_tool_calls(row, fields),
            system_prompt=optional(row, fields.system_prompt) or system,
            context=_named(row, fields.context),
        ),
        output=None if text is None else _built(Answer, text=text, finish_reason=finish_reason),
        state=_state(text, finish_reason),
        provenance=_built(
            Provenance,
            source=source,
            time=_time(row, fields),
            model=optional(row, fields.model),
            parameters=sent,
            echoed=echoed,
            prompt_version=identifier(row, fields.prompt_version),
            trace_id=trace_id,
            observation_id=identifier(row, fields.observation_id),
        ),
        metadata=_named(row, fields.metadata),
    )


def to_message(row: Mapping[str, Any], fields: MessageFields) -> Message:
    """The message that a row holds.

    Raises:
        FieldError: its id or text is missing, its respondent is empty, or a part is of the wrong
            kind.
    """
    return _built(
        Message,
        id=required(row, fields.id),
        respondent_id=required(row, fields.respondent_id) if has(row, fields.respondent_id) else "",
        text=words(row, fields.text),
        question_ref=identifier(row, fields.question_ref),
        language=optional(row, fields.language) or None,
    )


def to_question(row: Mapping[str, Any], fields: QuestionFields) -> Question:
    """The question that a row holds.

    Raises:
        FieldError: its ref or text is missing, or a part is of the wrong kind.
    """
    return _built(Question, ref=required(row, fields.ref), text=words(row, fields.text))


T = TypeVar("T")


def _built(kind: type[T], /, **values: Any) -> T:
    try:
        return kind(**values)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise FieldError(".".join(map(str, fault["loc"])), fault["msg"]) from None


def _named(row: Mapping[str, Any], paths: Mapping[str, str]) -> dict[str, JsonValue]:
    found = {name: at(row, path) for name, path in paths.items()}
    return {
        name: unicode(paths[name], value) if isinstance(value, str) else plain(value)
        for name, value in found.items()
    }


def _history(
    row: Mapping[str, Any], fields: AnswerFields, question: str
) -> tuple[str | None, tuple[Turn, ...]]:
    """The system prompt, when the first turn is one, and the turns before the question."""
    turns: list[Turn] = []
    for rank, turn in enumerate(json_of(row, fields.history, list)):
        path = f"{fields.history}.{rank}"
        if not isinstance(turn, dict):
            raise FieldError(path, "expected an object with role and content")
        try:
            turns.append(Turn.of(turn))
        except ValidationError as error:
            raise FieldError(path, describe(error)) from None
        except ValueError as error:
            raise FieldError(f"{path}.content", str(error)) from None
        unicode(f"{path}.content", json.dumps(turn, ensure_ascii=False, default=str))
    system = turns.pop(0).content if turns and turns[0].role == "system" else None
    if turns and turns[-1].role == "user" and turns[-1].content == question:
        turns.pop()
    return system, tuple(turns)


def _tool_calls(row: Mapping[str, Any], fields: AnswerFields) -> tuple[ToolCall, ...]:
    """Calls in the project's shape or in that of the OpenAI interface, outputs beside them."""
    calls: list[ToolCall] = []
    for rank, call in enumerate(json_of(row, fields.tool_calls, list)):
        path = f"{fields.tool_calls}.{rank}"
        if not isinstance(call, dict):
            raise FieldError(path, "expected an object with name, arguments and output")
        function = call["function"] if isinstance(call.get("function"), dict) else call
        outputs = [call[name] for name in ("output", "result", "content") if name in call]
        error = call.get("error")
        try:
            calls.append(
                ToolCall(
                    name=function.get("name", ""),
                    arguments=object_of(function, "arguments"),
                    output=plain(next((each for each in outputs if each is not None), None)),
                    output_recorded=bool(outputs),
                    call_id=identifier(call, "call_id") or identifier(call, "id"),
                    error=None if error is None else str(error),
                )
            )
        except FieldError as fault:
            raise FieldError(f"{path}.{fault.field}", str(fault)) from None
        except ValidationError as fault:
            raise FieldError(path, describe(fault)) from None
    return tuple(calls)


def _state(text: str | None, finish_reason: str | None) -> OutputState:
    if text is None:
        return OutputState.MISSING
    if finish_reason in STOPPED:
        return STOPPED[finish_reason]
    return OutputState.OK if text.strip() else OutputState.EMPTY


_TIME = TypeAdapter(datetime)


def _time(row: Mapping[str, Any], fields: AnswerFields) -> datetime | None:
    """An aware moment from a date, ISO 8601 text, or seconds or milliseconds since 1970."""
    value = at(row, fields.time)
    if value is None or value == "":
        return None
    try:
        moment = _TIME.validate_python(value)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=ZoneInfo(fields.timezone))
        return moment.astimezone(UTC)
    except (ValidationError, OverflowError):
        raise FieldError(fields.time, "not a date and time") from None
