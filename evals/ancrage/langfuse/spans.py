"""Spans: an exporter that loses nothing in silence, and the spans of runs made without Langfuse."""

import gzip
import json
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any

from langfuse.api import DatasetItem
from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, TraceFlags

from ancrage.domain import Case, JsonValue, Output, OutputState, Usage
from ancrage.langfuse.connection import SDK, Connection, LangfuseError
from ancrage.langfuse.items import ItemOutput
from ancrage.langfuse.target import ENVIRONMENT, Place, Target, digest

BATCH = 64
BATCH_BYTES = 3_000_000
_OBSERVATION = "langfuse.observation"
_EXPERIMENT = "langfuse.experiment"


class ReliableExporter(SpanExporter):
    """Sends batches several at once, no larger than a server takes, and counts what failed.

    The SDK's own exporter sends one batch after the other, so that a slow server makes its queue
    overflow; it gives up on a rate limit of more than some seconds; and its ``flush`` never says
    that something was lost.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        width = max(8, connection.settings.concurrency)
        self._pool = ThreadPoolExecutor(width, thread_name_prefix="langfuse-spans")
        self._room = threading.Semaphore(4 * width)
        self._lock = threading.Lock()
        self._pending: set[Future[None]] = set()
        self._down = False
        self.failed = 0
        """Spans, so far."""
        self.error: str | None = None
        """Why the last of them failed."""

    def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
        """Take spans to send; what becomes of them is known after ``wait``."""
        self.send(spans)
        return SpanExportResult.SUCCESS

    def send(self, spans: Iterable[ReadableSpan]) -> None:
        """Take spans as they come, never many more than are under way."""
        for batch in _batches(spans):
            self._room.acquire()
            future = self._pool.submit(self._send, batch)
            with self._lock:
                self._pending.add(future)
            future.add_done_callback(self._done)

    def wait(self) -> int:
        """Wait until everything taken was sent or failed; returns how many spans failed so far."""
        while True:
            with self._lock:
                pending = list(self._pending)
            if not pending:
                return self.failed
            for future in pending:
                future.result()
            with self._lock:
                self._pending.difference_update(pending)

    def force_flush(self, timeout_millis: int = 30_000) -> bool:
        """Whether all that was taken so far arrived."""
        return self.wait() == 0

    def shutdown(self) -> None:
        """Send what is left, and end."""
        self._pool.shutdown(wait=True)

    def _done(self, future: Future[None]) -> None:
        self._room.release()
        with self._lock:
            self._pending.discard(future)

    def _send(self, batch: list[ReadableSpan]) -> None:
        body = gzip.compress(encode_spans(batch).SerializeToString(), 6)
        try:
            # Once Langfuse is down, a run does not wait out every retry of every batch.
            self._connection.post_spans(body, attempts=1 if self._down else None)
        except LangfuseError as error:
            if error.status == 413 and len(batch) > 1:
                half = len(batch) // 2
                self._send(batch[:half])
                self._send(batch[half:])
                return
            self._down = True
            with self._lock:
                self.failed += len(batch)
                self.error = str(error)
        else:
            self._down = False


def _batches(spans: Iterable[ReadableSpan]) -> Iterator[list[ReadableSpan]]:
    batch: list[ReadableSpan] = []
    size = 0
    for span in spans:
        length = 500 + sum(
            len(value) if isinstance(value, str) else 20
            for value in (span.attributes or {}).values()
        )
        if batch and (len(batch) >= BATCH or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(span)
        size += length
    if batch:
        yield batch


def output_of(output: Output) -> dict[str, JsonValue]:
    """What an experiment shows as the output of an item; an object, never a bare string."""
    answer = output.answer
    shown = ItemOutput(
        state=output.state,
        answer=answer.text if answer else None,
        reason=output.reason,
        finish_reason=answer.finish_reason if answer else None,
    )
    dumped: dict[str, JsonValue] = shown.model_dump(mode="json", exclude_defaults=True)
    return {"state": str(output.state), **dumped}


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


def model_of(case: Case, output: Output) -> str | None:
    """The model that wrote an output: the run's where it names one, else production's."""
    model = output.details.get("model") or case.provenance.model
    return str(model) if model else None


def item_spans(
    public_key: str,
    target: Target,
    case: Case,
    output: Output,
    place: Place,
    *,
    item: DatasetItem,
    started: datetime,
    metadata: dict[str, JsonValue],
    description: str,
) -> list[ReadableSpan]:
    """The spans of one item as the SDK's runner would have made them, with fixed ids."""
    answered = output.answer.usage if output.answer else None
    usage = output.usage or answered
    ended = started + timedelta(seconds=(usage.latency if usage else None) or 0.001)
    shown = output_of(output)
    task = str(place.observation_id)
    root = digest(f"{place.trace_id}/run", 16)
    scope = InstrumentationScope("langfuse-sdk", SDK, attributes={"public_key": public_key})
    shared = {
        f"{_EXPERIMENT}.id": target.experiment_id,
        f"{_EXPERIMENT}.name": target.run_name,
        f"{_EXPERIMENT}.metadata": _json(metadata),
        f"{_EXPERIMENT}.dataset.id": target.dataset_id,
        f"{_EXPERIMENT}.item.id": item.id,
        f"{_EXPERIMENT}.item.metadata": _json(item.metadata),
        f"{_EXPERIMENT}.item.root_observation_id": task,
        "langfuse.environment": ENVIRONMENT,
    }
    top = {
        **shared,
        f"{_EXPERIMENT}.description": description,
        f"{_EXPERIMENT}.item.expected_output": _json(item.expected_output),
        f"{_EXPERIMENT}.item.version": target.version.isoformat().replace("+00:00", "Z"),
        f"{_OBSERVATION}.input": _json(item.input),
        f"{_OBSERVATION}.output": _json(shown),
        f"{_OBSERVATION}.metadata.case_id": _json(case.id),
    }
    if output.state is not OutputState.OK:
        top[f"{_OBSERVATION}.level"] = "ERROR"
        top[f"{_OBSERVATION}.status_message"] = f"{output.state}: {output.reason or 'no answer'}"

    def span(
        name: str, span_id: str, parent: str | None, kind: str, attributes: dict[str, Any]
    ) -> ReadableSpan:
        return ReadableSpan(
            name=name,
            context=_context(place.trace_id, span_id),
            parent=_context(place.trace_id, parent) if parent else None,
            resource=Resource({}),
            attributes={f"{_OBSERVATION}.type": kind, **attributes},
            start_time=int(started.timestamp() * 1e9),
            end_time=int(ended.timestamp() * 1e9),
            instrumentation_scope=scope,
        )

    spans = [
        span(
            "experiment-item-run",
            root,
            None,
            "span",
            {**top, "langfuse.internal.is_app_root": True},
        ),
        span("experiment-item-task", task, root, "span", top),
    ]
    for number, call in enumerate(output.tool_calls):
        attributes = {
            f"{_OBSERVATION}.input": _json(call.arguments),
            f"{_OBSERVATION}.output": _json(call.output),
            **({f"{_OBSERVATION}.level": "ERROR"} if call.error else {}),
        }
        name = digest(f"{task}/tool/{number}", 16)
        spans.append(span(call.name, name, task, "tool", {**shared, **attributes}))
    if usage and (details := usage_details(usage)):
        attributes = {f"{_OBSERVATION}.usage_details": _json(details)}
        if model := model_of(case, output):
            attributes[f"{_OBSERVATION}.model.name"] = model
        if usage.cost is not None:
            attributes[f"{_OBSERVATION}.cost_details"] = _json({"total": usage.cost})
        name = digest(f"{task}/generation", 16)
        spans.append(span("answer", name, task, "generation", {**shared, **attributes}))
    return spans


def _context(trace_id: str, span_id: str) -> SpanContext:
    return SpanContext(
        int(trace_id, 16),
        int(span_id, 16),
        is_remote=False,
        trace_flags=TraceFlags(TraceFlags.SAMPLED),
    )


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
