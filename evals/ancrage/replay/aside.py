"""Scoring beside the assistant: in a thread with a loop of its own.

A check that computes for half a second would otherwise hold up the replies that arrive meanwhile,
and its time would be counted as the model's latency.
"""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ancrage.domain import Evaluation
from ancrage.evaluator import Evaluator, Subject


class _Aside:
    """An evaluator whose work is done in another loop; all else is its own."""

    def __init__(self, evaluator: Evaluator, loop: asyncio.AbstractEventLoop) -> None:
        self._evaluator = evaluator
        self._loop = loop

    def __getattr__(self, name: str) -> Any:
        return getattr(self._evaluator, name)

    async def evaluate(self, subject: Subject) -> Evaluation:
        work = asyncio.run_coroutine_threadsafe(self._evaluator.evaluate(subject), self._loop)
        return await asyncio.wrap_future(work)

    async def aclose(self) -> None:
        if close := getattr(self._evaluator, "aclose", None):
            await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(close(), self._loop))


@contextmanager
def aside(evaluators: Sequence[Evaluator]) -> Iterator[list[Evaluator]]:
    """The evaluators as they work in a thread, which ends with the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="scoring", daemon=True)
    thread.start()
    try:
        found: list[Any] = [_Aside(evaluator, loop) for evaluator in evaluators]
        yield found
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        if not thread.is_alive():
            loop.close()
