"""Structured output: a value of a pydantic model out of whatever a model writes."""

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeVar

from pydantic import BaseModel, ValidationError

from ancrage.domain import OutputState, Usage
from ancrage.errors import describe
from ancrage.llm.cache import Exchange
from ancrage.llm.request import Completion, JsonSchema, Request, add_usage

if TYPE_CHECKING:
    from ancrage.llm.client import LLM

T = TypeVar("T", bound=BaseModel)


@dataclass(frozen=True)
class Structured(Generic[T]):
    """How a request for structured output ended.

    ``value`` is there exactly when ``problem`` is None. Otherwise ``problem`` is ``refused``,
    ``truncated``, ``empty``, ``over_budget``, ``unparsable``, or the failed call's own error
    (``timeout``, ``rate_limit``, …, see ``Completion.error``), and ``reason`` says it in words.
    """

    value: T | None
    problem: str | None
    reason: str | None
    read: Literal["strict", "tolerant"] | None
    """``strict``: the reply was the JSON and nothing else; ``tolerant``: it had to be found in
    the reply or mended."""
    turns: int
    """1, or 2 when a repair turn was needed."""
    text: str
    """The last reply, verbatim."""
    usage: Usage
    cached: bool


def json_schema(model: type[BaseModel], name: str) -> JsonSchema:
    """The model's schema in the form that strict structured output takes.

    Every property is required, no other is allowed, and there are no defaults.
    """

    def strict(node: Any) -> Any:
        if isinstance(node, list):
            return [strict(item) for item in node]
        if not isinstance(node, dict):
            return node
        node = {key: strict(value) for key, value in node.items() if key != "default"}
        if node.get("type") == "object" and "properties" in node:
            node |= {"required": list(node["properties"]), "additionalProperties": False}
        return node

    safe = re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64]
    return JsonSchema(name=safe, definition=strict(model.model_json_schema()))


async def ask(llm: "LLM", request: Request, model: type[T], name: str) -> Structured[T]:
    """Ask, read, and ask once more when the reply cannot be read."""
    schema = json_schema(model, name)
    exchange, request = await _exchange(llm, request, schema)
    completion = exchange.completion
    if not completion.ok:
        return _unanswered(completion, 1, completion.usage)
    value, read, fault = parse_json(completion.text, model)
    if value is not None:
        llm.gateway.keep(exchange)
        return Structured(
            value, None, None, read, 1, completion.text, completion.usage, completion.cached
        )
    repair: dict[str, Any] = {
        "role": "user",
        "content": f"Your reply could not be read: {fault}. "
        "Write the complete answer again as one JSON object of the required form, nothing else.",
    }
    # The message is rebuilt without tool calls or items, which a reply to a schema has no use for.
    said: dict[str, Any] = {"role": "assistant", "content": completion.text}
    again = request.model_copy(update={"messages": (*request.messages, said, repair)})
    other = await llm.exchange(again, keep=False)
    second = other.completion
    usage = add_usage([completion.usage, second.usage])
    if not second.ok:
        return _unanswered(second, 2, usage)
    value, read, fault = parse_json(second.text, model)
    if value is None:
        return Structured(
            None, "unparsable", f"unparsable: {fault}", None, 2, second.text, usage, second.cached
        )
    llm.gateway.keep(exchange)
    llm.gateway.keep(other)
    return Structured(value, None, None, read, 2, second.text, usage, second.cached)


async def _exchange(llm: "LLM", request: Request, schema: JsonSchema) -> tuple[Exchange, Request]:
    """The first call; the schema moves into the prompt where the endpoint does not take it."""
    if request.tier.structured != "none" and not llm.lacks_schema(request.tier):
        native = request.model_copy(update={"json_schema": schema})
        if request.tier.structured == "json_object":
            native = _in_prompt(native, schema)
        exchange = await llm.exchange(native, keep=False)
        completion = exchange.completion
        refused = completion.error == "rejected" and re.search(
            r"response_format|json_schema|text\.format|structured output", completion.reason or ""
        )
        if not refused:
            return exchange, native
        llm.note_lack_of_schema(request.tier)
    prompted = _in_prompt(request, schema)
    return await llm.exchange(prompted, keep=False), prompted


def _in_prompt(request: Request, schema: JsonSchema) -> Request:
    """The schema as a last system message, before anything else was said."""
    words: dict[str, Any] = {
        "role": "system",
        "content": "Reply with one JSON object that fits this JSON Schema, and nothing else:\n"
        + json.dumps(schema.definition, ensure_ascii=False),
    }
    leading = 0
    while leading < len(request.messages) and request.messages[leading]["role"] == "system":
        leading += 1
    messages = (*request.messages[:leading], words, *request.messages[leading:])
    return request.model_copy(update={"messages": messages})


def _unanswered(completion: Completion, turns: int, usage: Usage) -> Structured[Any]:
    problem = completion.error if completion.state is OutputState.FAILED else completion.state.value
    return Structured(
        None, problem, completion.reason, None, turns, completion.text, usage, completion.cached
    )


def parse_json(
    text: str, model: type[T]
) -> tuple[T | None, Literal["strict", "tolerant"] | None, str | None]:
    """Read a value of ``model`` out of ``text``: the value, how it was read, or what is wrong.

    Comments, raw newlines and trailing commas are mended; JSON that is cut short is not, since
    what is missing could be anything. Of several JSON values that fit and differ none is taken:
    which of them is a draft or an example cannot be told.
    """
    try:
        value = model.model_validate_json(text.strip())
        _once(text.strip())
        return value, "strict", None
    except ValidationError as error:
        fault = describe(error)
    except _SaidTwiceError as error:
        return None, None, str(error)
    blocks, unclosed = _blocks(text)
    if unclosed:
        return None, None, "an object is not closed"
    found: list[T] = []
    for block in blocks:
        for load in (_once, _mended):
            try:
                found.append(model.model_validate(load(block), strict=False))
                break
            except ValidationError as error:
                fault = describe(error)
            except _SaidTwiceError as error:
                return None, None, str(error)
            except (ValueError, RecursionError):
                continue
    if any(other != found[0] for other in found[1:]):
        return None, None, f"it holds {len(found)} objects of the required form, which differ"
    return (found[0], "tolerant", None) if found else (None, None, fault)


class _SaidTwiceError(ValueError):
    """An object gives one key two values: which of them is meant cannot be told."""


def _once(block: str) -> Any:
    return json.loads(block, strict=False, object_pairs_hook=_object)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    for key, value in pairs:
        if found[key] is not value and found[key] != value:
            raise _SaidTwiceError(f"the key {key!r} stands twice with different values")
    return found


def _mended(block: str) -> Any:
    from json_repair import loads

    try:
        return loads(block, skip_json_loads=True)
    except Exception as error:  # its own assertions, on what is far from JSON
        raise ValueError("not JSON, nor anything like it") from error


_MOST_FALSE_STARTS = 50
"""Braces that open no JSON, after which a reply is given up: each costs a pass over the rest."""


def _blocks(text: str) -> tuple[list[str], bool]:
    """The JSON objects of ``text`` that are closed, by their start, and whether one is not.

    Whatever is not JSON as it stands is also searched inside: a lone brace or quote in the prose
    before it can look like the beginning of one.
    """
    blocks: list[str] = []
    position = false_starts = 0
    unclosed = False
    while (start := text.find("{", position)) >= 0 and false_starts < _MOST_FALSE_STARTS:
        end = _closing(text, start)
        position = start + 1
        if end is not None:
            blocks.append(text[start:end])
            try:
                json.loads(text[start:end], strict=False)
            except (ValueError, RecursionError):
                false_starts += 1
            else:
                position = end
        else:
            false_starts += 1
            unclosed = unclosed or _KEY.match(text, start) is not None
    return blocks, unclosed


_KEY = re.compile(r'\{\s*"[^"\n]{1,80}"\s*:')


def _closing(text: str, start: int) -> int | None:
    """The end of the object that opens at ``start``: braces inside strings do not count."""
    depth, inside = 0, False
    position = start
    while position < len(text):
        character = text[position]
        if inside:
            if character == "\\":
                position += 1
            elif character == '"':
                inside = False
        elif character == '"':
            inside = True
        elif character == "/" and text[position : position + 2] == "//":
            position = text.find("\n", position)
            if position < 0:
                return None
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return None
