"""The SDK's client as an experiment needs it: nothing sampled, nothing dropped, nothing unheard."""

import asyncio
import logging
import os
from functools import cache

from langfuse import Langfuse
from opentelemetry import trace as otel
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.sampling import TraceIdRatioBased

from ancrage.errors import UsageError
from ancrage.langfuse.connection import Connection, Credentials, Settings
from ancrage.langfuse.spans import ReliableExporter

QUEUE = "OTEL_BSP_MAX_QUEUE_SIZE"
SPANS_HELD = 1_000_000
"""Spans that may wait to be sent; the default, 2,048, drops the oldest in silence."""
WARNINGS = 20


@cache
def sdk_client(
    keys: Credentials, settings: Settings
) -> tuple[Langfuse, ReliableExporter, "Generations"]:
    """The client of these keys, and what watches it; the SDK has but one for each public key."""
    os.environ[QUEUE] = str(SPANS_HELD)
    exporter = ReliableExporter(Connection(keys, settings))
    client = Langfuse(
        public_key=keys.public_key,
        secret_key=keys.secret_key,
        base_url=keys.base_url,
        timeout=int(settings.timeout) or 1,
        flush_at=64,
        sample_rate=1.0,
        span_exporter=exporter,
    )
    generations = Generations()
    otel.get_tracer_provider().add_span_processor(generations)  # type: ignore[attr-defined]
    return client, exporter, generations


class Generations(SpanProcessor):
    """The traces in which a call of a model was traced."""

    MARKS = ("gen_ai.request.model", "llm.model_name", "langfuse.observation.model.name")

    def __init__(self) -> None:
        self._traces: set[str] = set()

    def on_end(self, span: ReadableSpan) -> None:
        """Note the trace of a model's call."""
        if span.context and any(mark in (span.attributes or {}) for mark in self.MARKS):
            self._traces.add(otel.format_trace_id(span.context.trace_id))

    def pop(self, trace_id: str | None) -> bool:
        """Whether a model's call was traced there; forgets it."""
        found = trace_id in self._traces
        self._traces.discard(str(trace_id))
        return found


class Keep(logging.Handler):
    """Keeps the first warnings that the SDK logs."""

    def __init__(self, kept: list[str]) -> None:
        super().__init__(logging.WARNING)
        self.kept = kept

    def emit(self, record: logging.LogRecord) -> None:
        """Keep one, cut."""
        if len(self.kept) < WARNINGS:
            self.kept.append(f"{record.name}: {record.getMessage()}"[:500])


def cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what runs in ``loop``, as an interruption would."""
    for each in asyncio.all_tasks(loop):
        each.cancel()


def refuse_sampling() -> None:
    """Refuse an environment in which the SDK would drop traces without a word."""
    for name, wrong in (
        ("LANGFUSE_TRACING_ENABLED", "false"),
        ("OTEL_SDK_DISABLED", "true"),
    ):
        if os.environ.get(name, "").lower() == wrong:
            raise UsageError(f"{name}={wrong}: no trace would be sent; unset it")
    rate = os.environ.get("LANGFUSE_SAMPLE_RATE", "1")
    try:
        whole = float(rate) >= 1
    except ValueError:
        whole = False
    if not whole:
        raise UsageError(
            f"LANGFUSE_SAMPLE_RATE={rate}: experiments would be sampled too; unset it for this run"
        )


def refuse_sampled_provider() -> None:
    """Refuse a tracer that the user's program has set up to sample."""
    sampler = getattr(otel.get_tracer_provider(), "sampler", None)
    if isinstance(sampler, TraceIdRatioBased) and sampler.rate < 1:
        raise UsageError("the program has set up tracing with a sample rate below 1; set it to 1")
