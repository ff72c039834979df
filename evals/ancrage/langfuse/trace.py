"""From a trace to a case: what the usual frameworks write, and where, as one flat row.

The row has a key for each part of a case, filled by the conventions of ``shapes``, and beside
them ``input``, ``output``, ``metadata`` of the root, ``root`` and ``observations`` themselves, so
that a configured path can fetch anything the conventions do not know.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from langfuse.api import ObservationV2

from ancrage.domain import Usage
from ancrage.langfuse.shapes import (
    ANSWER,
    Row,
    asked,
    at,
    content,
    role,
    text_of,
    tool_requests,
    tool_results,
    unwrapped,
    value_of,
)
from ancrage.llm.recorded import whole_response

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
_TOOL_NAMES = ("running tool: ", "execute_tool ", "tool: ")
"""What instrumentations put before the name of a tool."""


@dataclass(frozen=True)
class Trace:
    """One production trace: its root observation and those under it, oldest first."""

    root: ObservationV2
    observations: tuple[ObservationV2, ...]

    @property
    def generations(self) -> list[ObservationV2]:
        """The calls of models."""
        return [
            observation for observation in self.observations if observation.type == "GENERATION"
        ]

    @property
    def error(self) -> str | None:
        """What the root says of its failure; None when its level is not ERROR."""
        if not str(self.root.level or "").endswith("ERROR"):
            return None
        return self.root.status_message or "level ERROR, no message"


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
        "answer": text_of(final, ANSWER) if answer is None and not trace.error else answer,
        "history": history or (turns if question in (None, opening) else []),
        "system_prompt": system or prompt or at(final, "instructions"),
        "tool_calls": _tool_calls(trace.observations),
        "study_id": metadata.get("study_id") or at(given, "study_id"),
        "time": root.start_time,
        "model": answering.model if answering else None,
        "parameters": _parameters(answering) if answering else {},
        "finish_reason": _finish_reason(final) or _finish_reason(returned),
        "prompt_version": _prompt_version(trace.generations),
        "input": given,
        "output": returned,
        "metadata": metadata,
        "root": root.model_dump(mode="json", by_alias=True),
        "observations": [
            {
                **observation.model_dump(mode="json", by_alias=True),
                "input": value_of(observation.input),
                "output": value_of(observation.output),
            }
            for observation in trace.observations
        ],
    }


def usage_of(trace: Trace) -> Usage | None:
    """Tokens and cost over all generations, latency of the whole; None when nothing is known."""
    calls = trace.generations

    def total(*names: str) -> int | None:
        found = [
            counts[name]
            for counts in (call.usage_details or {} for call in calls)
            for name in names
            if name in counts
        ]
        return sum(found) if found else None

    costs = [call.total_cost for call in calls if call.total_cost is not None]
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


def _answering(generations: Sequence[ObservationV2]) -> ObservationV2 | None:
    """The last call of a model that wrote text, or the last one."""
    for call in reversed(generations):
        if text_of(value_of(call.output)):
            return call
    return generations[-1] if generations else None


def _tool_calls(observations: Sequence[ObservationV2]) -> list[Row]:
    """What tools were asked and gave back: as observations of their own (some frameworks write
    them as plain spans), and what only the messages sent to models, or the root, tell of."""
    calls = [call for seen in observations if (call := _tool_call(seen))]
    said = [value_of(value) for seen in observations for value in (seen.input, seen.output)]
    requests: dict[Any, Row] = {}
    for request in (found for value in said for found in tool_requests(value)):
        requests.setdefault(request["call_id"] or request["name"], request)
    known = {mark for call in calls for mark in _marks(call)}
    for result in (found for value in said for found in tool_results(value)):
        request = requests.get(result["call_id"]) or requests.get(result["name"]) or {}
        call = {
            "name": str(result["name"] or request.get("name") or "tool"),
            "arguments": request.get("arguments", {}),
            "output": result["output"],
            "call_id": result["call_id"],
            "error": None,
        }
        if not known & (marks := _marks(call)):
            known |= marks
            calls.append(call)
    return calls


def _marks(call: Row) -> set[tuple[str, str]]:
    """What tells that two records are of one call: its id, else its arguments or its output."""
    output = call.get("output")
    marks = set() if output is None else {("output", str(content(output) or output))}
    if call["call_id"]:
        marks.add(("id", str(call["call_id"])))
    if call["arguments"]:
        marks.add((call["name"], repr(sorted(call["arguments"].items(), key=str))))
    return marks


def _tool_call(seen: ObservationV2) -> Row | None:
    output = unwrapped(value_of(seen.output))
    message = role(output) == "tool" and at(output, "tool_call_id")
    if seen.type != "TOOL" and not message:
        return None
    given = value_of(seen.input)
    if isinstance(given, Mapping) and set(given) == {"input"}:
        given = value_of(given["input"])
    attributes = value_of((seen.metadata or {}).get("attributes"))
    failed = str(seen.level or "").endswith("ERROR")
    name = str(seen.name or at(output, "name") or "tool")
    for prefix in _TOOL_NAMES:
        name = name.removeprefix(prefix)
    body = output
    call_id = message or at(attributes, "gen_ai.tool.call.id")
    if message:
        (result,) = tool_results(output)
        body = result["output"]
    elif isinstance(output, Mapping) and {"name", "response"} <= output.keys():
        body, call_id = output["response"], call_id or at(output, "id")  # Google ADK.
    return {
        "name": name,
        "arguments": dict(given) if isinstance(given, Mapping) else {"input": given},
        # A tool can give null; where nothing at all was kept, the replay has to know.
        **({} if seen.output is None else {"output": None if body == "null" else body}),
        "call_id": call_id or None,
        "error": (seen.status_message or "failed") if failed else None,
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
    effort = at(kept.get("reasoning"), "effort")
    kept |= {"reasoning_effort": effort} if effort else {}
    attributes = value_of((generation.metadata or {}).get("attributes"))
    prefix = "gen_ai.request."
    asked_for = {
        name.removeprefix(prefix): value
        for name, value in (attributes if isinstance(attributes, Mapping) else {}).items()
        if name.startswith(prefix) and name.removeprefix(prefix) in PARAMETERS
    }
    if whole_response(found):
        return {"request": asked_for, "response": kept}
    return {**kept, **asked_for}


def _finish_reason(final: Any) -> str | None:
    candidates = at(final, "candidates", "choices", "generations") or final
    for written in candidates if isinstance(candidates, list) else [candidates]:
        message = unwrapped(written)
        for where in (written, message):
            found = at(where, "finish_reason", "stop_reason", "finishReason")
            if isinstance(found, str):
                return found.rsplit(".", 1)[-1].lower()
        inner = at(message, "response_metadata") or at(message, "incomplete_details")
        if isinstance(found := at(inner, "finish_reason", "reason"), str):
            return found
    return None


def _prompt_version(generations: Sequence[ObservationV2]) -> str | None:
    for call in reversed(generations):
        if call.prompt_name:
            return f"{call.prompt_name}@{call.prompt_version}"
    return None
