"""Deliver spans and scores: every answer of the server is checked, and each score accounted for."""

import gzip
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import ResourceSpans, ScopeSpans, Span

from ancrage.langfuse.connection import LISTED_SCORES, SDK, Connection, LangfuseError, batches
from ancrage.langfuse.scores import ScoreBody

BATCH = 64
BATCH_BYTES = 900_000
SPANS = 256
SPANS_BYTES = 3_000_000
TRIES = 3
"""How often a score rejected inside an accepted request is sent again, alone."""
RATE_AFTER = 40
"""Scores posted one by one before their rate is told."""
Say = Callable[[str], None]
T = TypeVar("T")


@dataclass
class Delivery:
    """What became of what was sent."""

    accepted: int = 0
    """Scores."""
    rejected: dict[str, str] = field(default_factory=dict)
    """Reason by score id."""
    undelivered: int = 0
    """Scores not sent, or without an answer."""
    lost_spans: int = 0
    stopped: str | None = None
    """Why delivery ended early, when it did."""


class Sender:
    """Sends to one project; ``delivery`` says of everything what became of it.

    Nothing is doubled by sending it again: ids and times are fixed. A request for scores that is
    accepted in part is sent again score by score. Servers older than 4.59 get each score alone.
    """

    def __init__(self, connection: Connection, say: Say = lambda _: None) -> None:
        self.connection = connection
        self.delivery = Delivery()
        self._single = connection.server.single_scores
        self._say = say
        self._lock = threading.Lock()

    def scores(self, scores: Iterable[ScoreBody], total: int | None = None) -> None:
        """Send scores, whatever it takes; never raises.

        Args:
            total: how many there are, where it is known; to tell the time left.
        """
        groups = batches(
            scores, 1 if self._single else BATCH, BATCH_BYTES, lambda score: len(score.json_bytes)
        )
        start, told = time.monotonic(), not self._single
        for _ in self.connection.each(self._scores, groups):
            if not told and self.delivery.accepted >= RATE_AFTER:
                told = True
                rate = self.delivery.accepted / (time.monotonic() - start)
                left = f", {total / rate:,.0f} s in all" if total else ""
                self._say(
                    f"servers before {'.'.join(map(str, LISTED_SCORES))} take scores one by one: "
                    f"{rate:,.0f} a second{left}"
                )

    def spans(self, spans: Iterable[Span]) -> None:
        """Send spans, several batches at once; never raises."""
        groups = batches(spans, SPANS, SPANS_BYTES, lambda span: span.ByteSize())
        for _ in self.connection.each(self._spans, groups):
            pass

    def _spans(self, batch: list[Span]) -> None:
        if self.delivery.stopped:
            with self._lock:
                self.delivery.lost_spans += len(batch)
            return
        scope = ScopeSpans(spans=batch)
        scope.scope.name, scope.scope.version = "langfuse-sdk", SDK
        public_key = scope.scope.attributes.add()
        public_key.key = "public_key"
        public_key.value.string_value = self.connection.credentials.public_key
        request = ExportTraceServiceRequest(resource_spans=[ResourceSpans(scope_spans=[scope])])
        try:
            self.connection.post_spans(gzip.compress(request.SerializeToString(), 6))
        except LangfuseError as error:
            if error.status == 413 and len(batch) > 1:
                for half in _halves(batch):
                    self._spans(half)
                return
            with self._lock:
                self.delivery.lost_spans += len(batch)
                self.delivery.stopped = self.delivery.stopped or str(error)

    def _scores(self, batch: list[ScoreBody]) -> None:
        if self.delivery.stopped:
            self._count(undelivered=len(batch))
            return
        try:
            answer = self._post(batch)
        except LangfuseError as error:
            self._failed(batch, error)
            return
        if not answer.get("rejected"):
            self._count(accepted=len(batch))
        else:
            # The answer does not say which: each alone tells.
            for score in batch:
                self._again(score)

    def _failed(self, batch: list[ScoreBody], error: LangfuseError) -> None:
        if error.status == 413 and len(batch) > 1:
            for half in _halves(batch):
                self._scores(half)
        elif error.status == 400 and "received array" in str(error) and not self._single:
            self._single = True
            for score in batch:
                self._scores([score])
        elif error.status in (400, 413) and len(batch) > 1:
            for score in batch:
                self._scores([score])
        elif error.status in (400, 413):
            self._rejected(batch[0], str(error))
        else:
            with self._lock:
                self.delivery.stopped = self.delivery.stopped or str(error)
            self._count(undelivered=len(batch))

    def _again(self, score: ScoreBody) -> None:
        message = "rejected"
        for _ in range(TRIES):
            try:
                answer = self._post([score])
            except LangfuseError as error:
                self._failed([score], error)
                return
            if not answer.get("rejected"):
                self._count(accepted=1)
                return
            message = next((str(said.get("message")) for said in answer["errors"]), message)
        self._rejected(score, message)

    def _post(self, batch: list[ScoreBody]) -> dict[str, Any]:
        """The answer: 200 to a single score, to a list 202, or 207 ``{accepted, rejected, …}``."""
        bodies = [score.json_bytes for score in batch]
        if self._single and len(batch) > 1:
            raise LangfuseError("Invalid input: expected object, received array", 400)
        body = bodies[0] if self._single else b"[%s]" % b",".join(bodies)
        answer: dict[str, Any] = self.connection.post("/scores", body)
        return answer

    def _count(self, accepted: int = 0, undelivered: int = 0) -> None:
        with self._lock:
            self.delivery.accepted += accepted
            self.delivery.undelivered += undelivered

    def _rejected(self, score: ScoreBody, message: str) -> None:
        with self._lock:
            self.delivery.rejected[score.id] = message


def _halves(batch: Sequence[T]) -> tuple[list[T], list[T]]:
    half = len(batch) // 2
    return list(batch[:half]), list(batch[half:])
