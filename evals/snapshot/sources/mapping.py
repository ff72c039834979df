"""Turn a row of any shape into a case, a message or a question, by configured field paths."""

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import Field, TypeAdapter, ValidationError, field_validator
from pydantic_core import from_json

from evals.config import describe
from evals.domain import (
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

ROLES = {"human": "user", "ai": "assistant", "developer": "system", "function": "tool"}
STOPPED = {
    "length": OutputState.TRUNCATED,
    "max_tokens": OutputState.TRUNCATED,
    "max_output_tokens": OutputState.TRUNCATED,
    "content_filter": OutputState.REFUSED,
}


class AnswerFields(Frozen):
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


class MessageFields(Frozen):
    """Where each part of a respondent's message stands in a row."""

    study_id: str = "study_id"
    id: str = "id"
    respondent_id: str = "respondent_id"
    text: str = "text"
    question_ref: str = "question_ref"
    language: str = "language"


class QuestionFields(Frozen):
    """Where each part of a question stands in a row."""

    study_id: str = "study_id"
    ref: str = "ref"
    text: str = "text"


class FieldError(ValueError):
    """One field of a row that cannot be used; ``field`` is its configured path."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def at(row: Mapping[str, Any], path: str) -> Any:
    """What stands at a column or dotted path of ``row``; None when there is nothing.

    A text that holds a JSON document is entered as that document.
    """
    if path in row:
        return row[path]
    value: Any = row
    for part in path.split("."):
        if isinstance(value, str):
            value = _document(value)
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.lstrip("-").isdigit():
            value = value[int(part)] if -len(value) <= int(part) < len(value) else None
        else:
            return None
    return value


def to_case(row: Mapping[str, Any], fields: AnswerFields, source: str) -> Case:
    """The case that a row tells of.

    Raises:
        FieldError: a part is missing or of the wrong kind; names its path.
    """
    trace_id = _identifier(row, fields.trace_id)
    case_id = _identifier(row, fields.id) or trace_id
    if not case_id:
        raise FieldError(fields.id, "missing")
    question = at(row, fields.question)
    if question is None:
        raise FieldError(fields.question, "missing")
    system, history = _history(row, fields, _text(fields.question, question))
    answer = at(row, fields.answer)
    text = None if answer is None else _text(fields.answer, answer)
    finish_reason = _optional(row, fields.finish_reason)
    return _built(
        Case,
        id=case_id,
        study_id=_identifier(row, fields.study_id),
        input=_built(
            CaseInput,
            question=_text(fields.question, question),
            history=history,
            tool_calls=_tool_calls(row, fields),
            system_prompt=_optional(row, fields.system_prompt) or system,
            context=_named(row, fields.context),
        ),
        output=None if text is None else _built(Answer, text=text, finish_reason=finish_reason),
        state=_state(text, finish_reason),
        provenance=_built(
            Provenance,
            source=source,
            time=_time(row, fields),
            model=_optional(row, fields.model),
            parameters=_object(row, fields.parameters),
            prompt_version=_identifier(row, fields.prompt_version),
            trace_id=trace_id,
            observation_id=_identifier(row, fields.observation_id),
        ),
        metadata=_named(row, fields.metadata),
    )


def to_message(row: Mapping[str, Any], fields: MessageFields) -> Message:
    """The message that a row holds.

    Raises:
        FieldError: its id, respondent or text is missing, or a part is of the wrong kind.
    """
    return _built(
        Message,
        id=_required(row, fields.id),
        respondent_id=_required(row, fields.respondent_id),
        text=_words(row, fields.text),
        question_ref=_identifier(row, fields.question_ref),
        language=_optional(row, fields.language) or None,
    )


def to_question(row: Mapping[str, Any], fields: QuestionFields) -> Question:
    """The question that a row holds.

    Raises:
        FieldError: its ref or text is missing, or a part is of the wrong kind.
    """
    return _built(Question, ref=_required(row, fields.ref), text=_words(row, fields.text))


T = TypeVar("T")


def _built(kind: type[T], /, **values: Any) -> T:
    try:
        return kind(**values)
    except ValidationError as error:
        fault = error.errors(include_url=False, include_input=False, include_context=False)[0]
        raise FieldError(".".join(map(str, fault["loc"])), fault["msg"]) from None


def _identifier(row: Mapping[str, Any], path: str) -> str | None:
    value = at(row, path)
    if value is None or value == "":
        return None
    if isinstance(value, bool | float | dict | list | bytes):
        raise FieldError(path, f"expected an identifier, found {type(value).__name__}")
    return _unicode(path, str(value))


def _required(row: Mapping[str, Any], path: str) -> str:
    value = _identifier(row, path)
    if value is None:
        raise FieldError(path, "missing")
    return value


def _words(row: Mapping[str, Any], path: str) -> str:
    value = at(row, path)
    if value is None:
        raise FieldError(path, "missing")
    return _text(path, value)


def _optional(row: Mapping[str, Any], path: str) -> str | None:
    value = at(row, path)
    return None if value is None else _text(path, value)


def _text(path: str, value: Any) -> str:
    """A text, or the text parts of a message's content joined."""
    if isinstance(value, str):
        return _unicode(path, value)
    if isinstance(value, list) and all(
        isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))
        for part in value
    ):
        joined = "".join(part if isinstance(part, str) else part["text"] for part in value)
        return _unicode(path, joined)
    raise FieldError(path, f"expected text, found {type(value).__name__}")


def _unicode(path: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FieldError(path, "not valid UTF-8") from None
    return text


def _document(text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return None


def _json(row: Mapping[str, Any], path: str, kind: type) -> Any:
    """A JSON value of that kind; empty when there is none."""
    value = at(row, path)
    if isinstance(value, str):
        if not value.strip():
            return kind()
        value = _document(value)
    if value is None and not isinstance(at(row, path), str):
        return kind()
    if not isinstance(value, kind):
        wanted = "a list" if kind is list else "an object"
        raise FieldError(path, f"expected {wanted} in JSON")
    return value


def _object(row: Mapping[str, Any], path: str) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = _json(row, path, dict)
    return found


def _named(row: Mapping[str, Any], paths: Mapping[str, str]) -> dict[str, JsonValue]:
    found = {name: at(row, path) for name, path in paths.items()}
    return {
        name: _unicode(paths[name], value) if isinstance(value, str) else _plain(value)
        for name, value in found.items()
    }


def _plain(value: Any) -> JsonValue:
    """A value that JSON has; what databases add (dates, decimals, UUIDs) as text."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and value - value == 0:
        return value
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _history(
    row: Mapping[str, Any], fields: AnswerFields, question: str
) -> tuple[str | None, tuple[Turn, ...]]:
    """The system prompt, when the first turn is one, and the turns before the question."""
    turns: list[Turn] = []
    for rank, turn in enumerate(_json(row, fields.history, list)):
        path = f"{fields.history}.{rank}"
        if not isinstance(turn, dict):
            raise FieldError(path, "expected an object with role and content")
        role = turn.get("role") or turn.get("type")
        content = turn.get("content")
        try:
            turns.append(
                Turn.model_validate(
                    {
                        "role": ROLES.get(str(role), role),
                        "content": "" if content is None else _text(f"{path}.content", content),
                    }
                )
            )
        except ValidationError as error:
            raise FieldError(path, describe(error)) from None
    system = turns.pop(0).content if turns and turns[0].role == "system" else None
    if turns and turns[-1].role == "user" and turns[-1].content == question:
        turns.pop()
    return system, tuple(turns)


def _tool_calls(row: Mapping[str, Any], fields: AnswerFields) -> tuple[ToolCall, ...]:
    """Calls in the project's shape or in that of the OpenAI interface, outputs beside them."""
    calls: list[ToolCall] = []
    for rank, call in enumerate(_json(row, fields.tool_calls, list)):
        path = f"{fields.tool_calls}.{rank}"
        if not isinstance(call, dict):
            raise FieldError(path, "expected an object with name, arguments and output")
        function = call["function"] if isinstance(call.get("function"), dict) else call
        outputs = (call.get(name) for name in ("output", "result", "content"))
        error = call.get("error")
        try:
            calls.append(
                ToolCall(
                    name=function.get("name", ""),
                    arguments=_object(function, "arguments"),
                    output=_plain(next((each for each in outputs if each is not None), None)),
                    call_id=_identifier(call, "call_id") or _identifier(call, "id"),
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
