"""Deliver scores: every answer of the server is checked, and each score accounted for."""

import threading
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from ancrage.langfuse.connection import Connection, LangfuseError
from ancrage.langfuse.scores import ScoreBody

BATCH = 64
BATCH_BYTES = 900_000
TRIES = 3
"""How often a score rejected inside an accepted request is sent again, alone."""


@dataclass
class Delivery:
    """What became of the scores sent."""

    accepted: int = 0
    rejected: dict[str, str] = field(default_factory=dict)
    """Reason by score id."""
    undelivered: int = 0
    """Not sent, or without an answer."""
    stopped: str | None = None
    """Why delivery ended early, when it did."""


def deliver(connection: Connection, scores: Iterable[ScoreBody]) -> Delivery:
    """Send scores, whatever it takes; never raises, and says of each what became of it.

    A request that is accepted in part is sent again score by score: ids and times are fixed, so
    that nothing is doubled. Servers older than 4.59 get every score alone.
    """
    courier = _Courier(connection)
    with ThreadPoolExecutor(connection.settings.concurrency) as pool:
        for _ in pool.map(courier.send, _batches(scores)):
            pass
    return courier.delivery


class _Courier:
    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self.single = connection.server.single_scores
        self.delivery = Delivery()
        self._lock = threading.Lock()

    def send(self, batch: list[ScoreBody]) -> None:
        if self.delivery.stopped:
            self._undelivered(len(batch))
            return
        try:
            if self.single:
                for score in batch:
                    self._alone(score)
                return
            answer = self._post(batch)
        except LangfuseError as error:
            self._failed(batch, error)
            return
        if not answer.get("rejected"):
            self._accepted(len(batch))
        elif len(batch) > 1:
            # The answer does not say which: each alone tells.
            for score in batch:
                self._again(score)
        else:
            self._again(batch[0])

    def _failed(self, batch: list[ScoreBody], error: LangfuseError) -> None:
        if error.status == 413 and len(batch) > 1:
            half = len(batch) // 2
            self.send(batch[:half])
            self.send(batch[half:])
        elif error.status == 400 and "received array" in str(error) and not self.single:
            self.single = True
            self.send(batch)
        elif error.status in (400, 413):
            if len(batch) > 1:
                for score in batch:
                    self.send([score])
            else:
                self._rejected(batch[0], str(error))
        else:
            with self._lock:
                self.delivery.stopped = self.delivery.stopped or str(error)
            self._undelivered(len(batch))

    def _again(self, score: ScoreBody) -> None:
        message = "rejected"
        for _ in range(TRIES):
            try:
                answer = self._post([score])
            except LangfuseError as error:
                self._failed([score], error)
                return
            if not answer.get("rejected"):
                self._accepted(1)
                return
            message = next((str(each.get("message")) for each in answer["errors"]), message)
        self._rejected(score, message)

    def _alone(self, score: ScoreBody) -> None:
        try:
            self.connection.post("/scores", score.json_bytes)
        except LangfuseError as error:
            if error.status in (400, 413):
                self._rejected(score, str(error))
            else:
                self._failed([score], error)
        else:
            self._accepted(1)

    def _post(self, batch: list[ScoreBody]) -> dict[str, Any]:
        """The answer to a list: 202 ``{message}``, or 207 ``{accepted, rejected, errors}``."""
        body = b"[%s]" % b",".join(score.json_bytes for score in batch)
        answer: dict[str, Any] = self.connection.post("/scores", body)
        return answer

    def _accepted(self, count: int) -> None:
        with self._lock:
            self.delivery.accepted += count

    def _undelivered(self, count: int) -> None:
        with self._lock:
            self.delivery.undelivered += count

    def _rejected(self, score: ScoreBody, message: str) -> None:
        with self._lock:
            self.delivery.rejected[score.id] = message


def _batches(scores: Iterable[ScoreBody]) -> Iterator[list[ScoreBody]]:
    batch: list[ScoreBody] = []
    size = 0
    for score in scores:
        length = len(score.json_bytes) + 1
        if batch and (len(batch) >= BATCH or size + length > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(score)
        size += length
    if batch:
        yield batch
