"""From a trace to a case: what the usual frameworks write, and where, as one flat row.

The row has a key for each part of a case, filled by the conventions below, and beside them
``input``, ``output``, ``metadata`` of the root, ``root`` and ``observations`` themselves, so that
a configured path can fetch anything the conventions do not know.
"""

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langfuse.api import ObservationV2
from pydantic_core import from_json

from ancrage.domain import Turn, Usage
from ancrage.llm.recorded import whole_response

QUESTION = ("question", "query", "prompt", "user_input", "user_prompt", "message", "input", "text")
ANSWER = ("answer", "response", "output", "completion", "content", "text", "message", "result")
PARAMETERS = frozenset(
    {
        "frequency_penalty",
        "max_completion_tokens",
        "max_output_tokens",
        "max_tokens",
        "parallel_tool_calls",
        "presence_penalty",
        "reasoning",
        "reasoning_effort",
        "response_format",
        "seed",
        "service_tier",
        "stop",
        "temperature",
        "thinking",
        "tool_choice",
        "top_k",
        "top_p",
        "verbosity",
    }
)
"""Instrumentations put whole responses among a model's parameters; these are the parameters."""

Row = dict[str, Any]


@dataclass(frozen=True)
class Trace:
    """One production trace: its root observation and those under it, oldest first."""

    root: ObservationV2
    observations: tuple[ObservationV2, ...]

    @property
    def generations(self) -> list[ObservationV2]:
        """The calls of models."""
        return [each for each in self.observations if each.type == "GENERATION"]


def value_of(raw: Any) -> Any:
    """An input or output as it was before it was written as text, if it was."""
    for _ in range(3):
        if not isinstance(raw, str) or raw[:1] not in "{[\"'":
            return raw
        try:
            raw = from_json(raw, allow_inf_nan=False)
        except ValueError:
            return _literal(raw)
    return raw


def _literal(text: str) -> Any:
    """Some instrumentations write Python's representation of a dictionary."""
    if text[:1] not in "{[" or len(text) > 100_000:
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def to_row(trace: Trace) -> Row:
    """The flat row of a trace; parts that nothing tells of are None or empty."""
    root = trace.root
    given, returned = value_of(root.input), value_of(root.output)
    metadata = {key: value_of(value) for key, value in (root.metadata or {}).items()}
    question, system, history = asked(given)
    first = trace.generations[0] if trace.generations else None
    opening, prompt, turns = asked(value_of(first.input)) if first else (None, None, [])
    answering = _answering(trace.generations)
    final = value_of(answering.output) if answering else None
    answer = text_of(returned, ANSWER)
    return {
        "id": root.trace_id or root.id,
        "trace_id": root.trace_id or root.id,
        "observation_id": root.id,
        "question": opening if question is None else question,
        "answer": text_of(final, ANSWER) if answer is None else answer,
        "history": history or (turns if question in (None, opening) else []),
        "system_prompt": system or prompt or _at(final, "instructions"),
        "tool_calls": list(_tool_calls(trace.observations)),
        "study_id": metadata.get("study_id") or _at(given, "study_id"),
        "time": root.start_time,
        "model": answering.model if answering else None,
        "parameters": _parameters(answering) if answering else {},
        "finish_reason": _finish_reason(final),
        "prompt_version": _prompt_version(trace.generations),
        "input": given,
        "output": returned,
        "metadata": metadata,
        "root": root.model_dump(mode="json", by_alias=True),
        "observations": [
            {
                **each.model_dump(mode="json", by_alias=True),
                "input": value_of(each.input),
                "output": value_of(each.output),
            }
            for each in trace.observations
        ],
    }


def usage_of(trace: Trace) -> Usage | None:
    """Tokens and cost over all generations, latency of the whole; None when nothing is known."""
    calls = trace.generations

    def total(*names: str) -> int | None:
        found = [
            counts[name]
            for counts in (each.usage_details or {} for each in calls)
            for name in names
            if name in counts
        ]
        return sum(found) if found else None

    costs = [each.total_cost for each in calls if each.total_cost is not None]
    end = trace.root.end_time
    if not calls and end is None:
        return None
    return Usage(
        calls=len(calls),
        input_tokens=total("input", "prompt_tokens", "input_tokens"),
        cached_tokens=total("input_cached_tokens", "cache_read_input_tokens"),
        output_tokens=total("output", "completion_tokens", "output_tokens"),
        reasoning_tokens=total("output_reasoning_tokens", "reasoning_tokens"),
        cost=sum(costs) if costs else None,
        latency=(end - trace.root.start_time).total_seconds() if end else None,
    )


def text_of(value: Any, keys: Sequence[str] = ANSWER) -> str | None:
    """The text that a value of any known shape carries last; None when there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        spoken = [each for each in value if _role(each) == "assistant"]
        for each in reversed(spoken or value):
            if text := _content(each):
                return text
        return None
    if not isinstance(value, Mapping):
        return None
    for key in ("messages", "choices", *keys):
        if key in value and (text := text_of(value[key], keys)) is not None:
            return text
    return None


def _content(message: Any) -> str | None:
    """The text of one message or part, tool calls and reasoning left out."""
    if isinstance(message, str):
        return message
    if not isinstance(message, Mapping):
        return None
    if isinstance(message.get("message"), Mapping):
        return _content(message["message"])
    body = message.get("content", message.get("parts", message.get("text")))
    if isinstance(body, list):
        texts = [
            text
            for part in body
            if not isinstance(part, Mapping) or part.get("type") in _TEXT_PARTS
            if (text := _content(part))
        ]
        return "".join(texts) or None
    return body if isinstance(body, str) and body else None


_TEXT_PARTS = (None, "text", "input_text", "output_text")
_ROLES = {"human": "user", "ai": "assistant", "developer": "system", "model": "assistant"}


def _role(message: Any) -> str | None:
    if not isinstance(message, Mapping):
        return None
    inner = message.get("message")
    named = message.get("role") or (_role(inner) if inner else message.get("type"))
    return _ROLES.get(str(named), str(named)) if named else None


def asked(given: Any) -> tuple[str | None, str | None, list[Row]]:
    """The question, the system prompt and the earlier turns that an input holds."""
    if isinstance(given, Mapping) and isinstance(given.get("args"), list) and "kwargs" in given:
        # A decorated function: its keyword arguments, or its only positional one.
        if (found := asked(given["kwargs"]))[0] is not None:
            return found
        return asked(given["args"][0]) if len(given["args"]) == 1 else (None, None, [])
    if isinstance(given, str):
        return given, None, []
    if isinstance(given, list) or isinstance(_at(given, "messages"), list):
        messages = given if isinstance(given, list) else given["messages"]
        turns = list(_turns(messages))
        last = max((n for n, turn in enumerate(turns) if turn["role"] == "user"), default=None)
        if last is None:
            return None, None, []
        earlier = turns[:last]
        system = next((turn["content"] for turn in earlier if turn["role"] == "system"), None)
        return (
            turns[last]["content"],
            system,
            [turn for turn in earlier if turn["role"] != "system"],
        )
    if not isinstance(given, Mapping):
        return None, None, []
    system = given.get("system") or given.get("system_prompt")
    for key in QUESTION:
        if isinstance(given.get(key), str):
            history = given.get("history") or given.get("chat_history") or []
            return given[key], system, asked([*history, {"role": "user", "content": "?"}])[2]
        if key in given and (found := asked(given[key]))[0] is not None:
            return found
    return None, None, []


def _turns(messages: Sequence[Any]) -> Iterator[Row]:
    """The messages that have a text or call a tool, each as it was sent."""
    for message in messages:
        inner = message.get("message") if isinstance(message, Mapping) else None
        written = inner if isinstance(inner, Mapping) else message
        if not isinstance(written, Mapping):
            continue
        try:
            turn = Turn.of(written)
        except ValueError:
            if (role := _role(message)) in ("system", "user", "assistant") and _content(message):
                yield {"role": role, "content": _content(message)}
            continue
        if turn.content or turn.calls or turn.role == "tool":
            yield turn.model_dump(exclude_none=True)


def _answering(generations: Sequence[ObservationV2]) -> ObservationV2 | None:
    """The last call of a model that wrote text, or the last one."""
    for each in reversed(generations):
        if text_of(value_of(each.output)):
            return each
    return generations[-1] if generations else None


def _tool_calls(observations: Sequence[ObservationV2]) -> Iterator[Row]:
    """What tools were asked and gave back; some frameworks write them as plain spans."""
    for each in observations:
        output = value_of(each.output)
        message = _at(output, "type") == "tool" and _at(output, "tool_call_id")
        if each.type != "TOOL" and not message:
            continue
        given = value_of(each.input)
        if isinstance(given, Mapping) and set(given) == {"input"}:
            given = value_of(given["input"])
        attributes = value_of((each.metadata or {}).get("attributes"))
        gave = value_of(output["content"]) if message else output
        gave = None if gave == "null" else gave
        failed = str(each.level or "").endswith("ERROR")
        yield {
            "name": (each.name or "tool").removeprefix("running tool: "),
            "arguments": dict(given) if isinstance(given, Mapping) else {"input": given},
            **({} if each.output is None else {"output": gave}),
            "call_id": message or _at(attributes, "gen_ai.tool.call.id"),
            "error": (each.status_message or "failed") if failed else None,
        }


def _parameters(generation: ObservationV2) -> Row:
    """The parameters of a call, those of the request apart where the trace tells them apart."""
    found = value_of(generation.model_parameters)
    found = found if isinstance(found, Mapping) else {}
    kept = {
        name: value_of(value)
        for name, value in found.items()
        if name in PARAMETERS and value is not None
    }
    effort = _at(kept.get("reasoning"), "effort")
    kept |= {"reasoning_effort": effort} if effort else {}
    attributes = value_of((generation.metadata or {}).get("attributes"))
    prefix = "gen_ai.request."
    asked = {
        name.removeprefix(prefix): value
        for name, value in (attributes if isinstance(attributes, Mapping) else {}).items()
        if name.startswith(prefix) and name.removeprefix(prefix) in PARAMETERS
    }
    if whole_response(found):
        return {"request": asked, "response": kept}
    return {**kept, **asked}


def _finish_reason(final: Any) -> str | None:
    for message in final if isinstance(final, list) else [final]:
        for name in ("finish_reason", "stop_reason"):
            if isinstance(found := _at(message, name), str):
                return found
        inner = _at(message, "response_metadata") or _at(message, "incomplete_details")
        if isinstance(found := _at(inner, "finish_reason") or _at(inner, "reason"), str):
            return found
    return None


def _prompt_version(generations: Sequence[ObservationV2]) -> str | None:
    for each in reversed(generations):
        if each.prompt_name:
            return f"{each.prompt_name}@{each.prompt_version}"
    return None


def _at(value: Any, key: str) -> Any:
    return value.get(key) if isinstance(value, Mapping) else None
