"""The spans of an item: run, task, and under it what the assistant did, with fixed ids.

They are those that the SDK's own runner makes, so that Langfuse shows an experiment; ids depend on
the record alone, so that sending them again changes nothing.
"""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from langfuse.api import DatasetItem
from opentelemetry.proto.trace.v1.trace_pb2 import Span
from pydantic import ValidationError

from ancrage.domain import (
    MODEL_CALLS,
    Case,
    Frozen,
    JsonValue,
    ModelCall,
    Output,
    OutputState,
    ToolCall,
    Usage,
)
from ancrage.langfuse.target import ENVIRONMENT, Target, TracePlace, digest

_OBSERVATION = "langfuse.observation"
_EXPERIMENT = "langfuse.experiment"


class Experiment(Frozen):
    """What the spans of all items of a run share."""

    target: Target
    metadata: dict[str, JsonValue]
    """Flat: servers flatten what is nested."""
    description: str
    audit: bool
    """The answers are production's own, and so are their latency and cost."""


def item_spans(
    experiment: Experiment,
    case: Case,
    output: Output,
    place: TracePlace,
    item: DatasetItem,
    started: datetime,
) -> list[Span]:
    """The spans of one item, root first."""
    target = experiment.target
    usage = output.usage or (output.answer.usage if output.answer else None)
    ended = started + timedelta(seconds=(usage.latency if usage else None) or 0.001)
    task = str(place.observation_id)
    root = digest(f"{place.trace_id}/run", 16)
    shared = {
        f"{_EXPERIMENT}.id": target.experiment_id,
        f"{_EXPERIMENT}.name": target.run_name,
        f"{_EXPERIMENT}.metadata": _json(experiment.metadata),
        f"{_EXPERIMENT}.dataset.id": target.dataset_id,
        f"{_EXPERIMENT}.item.id": item.id,
        f"{_EXPERIMENT}.item.metadata": _json(item.metadata),
        f"{_EXPERIMENT}.item.root_observation_id": task,
        "langfuse.environment": ENVIRONMENT,
    }
    top = {
        **shared,
        f"{_EXPERIMENT}.description": experiment.description,
        f"{_EXPERIMENT}.item.expected_output": _json(item.expected_output),
        f"{_EXPERIMENT}.item.version": target.version.isoformat().replace("+00:00", "Z"),
        f"{_OBSERVATION}.input": _json(item.input),
        f"{_OBSERVATION}.output": shown_output(output),
        **{
            f"{_OBSERVATION}.metadata.{name}": value
            for name, value in _told(case, output, usage).items()
        },
    }
    # One failure is one error: the interface counts them observation by observation.
    failure = _level("ERROR", f"{output.state}: {output.reason or 'no answer'}")
    failed = failure if output.state is not OutputState.OK else {}

    def span(
        name: str, span_id: str, parent: str | None, kind: str, attributes: Mapping[str, Any]
    ) -> Span:
        made = Span(
            name=name,
            trace_id=bytes.fromhex(place.trace_id),
            span_id=bytes.fromhex(span_id),
            parent_span_id=bytes.fromhex(parent or ""),
            start_time_unix_nano=int(started.timestamp() * 1e9),
            end_time_unix_nano=int(ended.timestamp() * 1e9),
        )
        for key, value in {f"{_OBSERVATION}.type": kind, **attributes}.items():
            attribute = made.attributes.add()
            attribute.key = key
            if isinstance(value, bool):
                attribute.value.bool_value = value
            else:
                attribute.value.string_value = value
        return made

    app_root = {"langfuse.internal.is_app_root": True}
    spans = [
        span("experiment-item-run", root, None, "span", {**top, **app_root}),
        span("experiment-item-task", task, root, "span", {**top, **failed}),
    ]
    for number, call in enumerate(output.tool_calls):
        name = digest(f"{task}/tool/{number}", 16)
        spans.append(span(call.name, name, task, "tool", {**shared, **_tool(call)}))
    for number, (title, attributes) in enumerate(_generations(experiment, case, output, usage)):
        name = digest(f"{task}/generation/{number}", 16)
        spans.append(span(title, name, task, "generation", {**shared, **attributes}))
    return spans


def shown_output(output: Output) -> str:
    """What the interface shows first of an answer: its text, bare where no reader of JSON would
    take it for something else."""
    answer = output.answer
    if answer is None or not answer.text:
        return _json({"state": str(output.state), "reason": output.reason or "no answer"})
    try:
        json.loads(answer.text)
    except ValueError:
        return answer.text
    return _json({"answer": answer.text})


def usage_details(usage: Usage) -> dict[str, int]:
    """Tokens by the names that Langfuse prices; each token counts under one name."""
    cached, reasoning = usage.cached_tokens or 0, usage.reasoning_tokens or 0
    counts = {
        "input": None if usage.input_tokens is None else usage.input_tokens - cached,
        "input_cached_tokens": usage.cached_tokens,
        "output": None if usage.output_tokens is None else usage.output_tokens - reasoning,
        "output_reasoning_tokens": usage.reasoning_tokens,
    }
    return {name: count for name, count in counts.items() if count is not None}


def _told(case: Case, output: Output, usage: Usage | None) -> dict[str, str]:
    answer = output.answer
    told = {
        "case_id": case.id,
        "state": str(output.state),
        "reason": output.reason,
        "finish_reason": answer.finish_reason if answer else None,
        "usage": _json(usage.model_dump(exclude_none=True)) if usage else None,
    }
    return {name: value for name, value in told.items() if value}


def _tool(call: ToolCall) -> dict[str, str]:
    attributes = {
        f"{_OBSERVATION}.input": _json(call.arguments),
        f"{_OBSERVATION}.output": _json(call.output),
    }
    # As recorded: not an error of this run.
    return attributes | (_level("WARNING", call.error) if call.error else {})


def _level(level: str, message: str) -> dict[str, str]:
    return {f"{_OBSERVATION}.level": level, f"{_OBSERVATION}.status_message": message}


def _generations(
    experiment: Experiment, case: Case, output: Output, usage: Usage | None
) -> Sequence[tuple[str, dict[str, str]]]:
    """Name and attributes of each call of a model; of production's, one that stands for all."""
    found = []
    for written in _calls(output):
        attributes = _generation(written.model, written.parameters, written.usage)
        if written.state is not OutputState.OK:
            attributes |= _level("WARNING", f"{written.state}: {written.reason or ''}")
        found.append(("call (from the cache)" if written.cached else "call", attributes))
    if found or usage is None:
        return found
    model = output.details.get("model") or case.provenance.model
    title = "answer (production's latency and cost)" if experiment.audit else "answer"
    parameters = (
        case.provenance.parameters if experiment.audit else output.details.get("parameters")
    )
    named = parameters if isinstance(parameters, dict) else {}
    return [(title, _generation(str(model) if model else None, named, usage))]


def _calls(output: Output) -> list[ModelCall]:
    written = output.details.get(MODEL_CALLS)
    try:
        return [ModelCall.model_validate(call) for call in written or ()]  # type: ignore[union-attr]
    except (ValidationError, TypeError):
        return []


def _generation(
    model: str | None, parameters: Mapping[str, JsonValue], usage: Usage | None
) -> dict[str, str]:
    attributes = {}
    if model:
        attributes[f"{_OBSERVATION}.model.name"] = model
    if parameters:
        attributes[f"{_OBSERVATION}.model.parameters"] = _json(parameters)
    if usage and (details := usage_details(usage)):
        attributes[f"{_OBSERVATION}.usage_details"] = _json(details)
    if usage and usage.cost is not None:
        attributes[f"{_OBSERVATION}.cost_details"] = _json({"total": usage.cost})
    return attributes


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
