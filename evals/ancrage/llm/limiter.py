"""One limiter for an endpoint: bounded concurrency that gives way to each 429 it is told of."""

import asyncio
import math
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


class TooLongError(Exception):
    """The server asks for a longer wait than the call can spend; holds the seconds asked for."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the server asks to wait {seconds:.0f} s")


class Limiter:
    """Additive increase, multiplicative decrease, and a pause as long as the server asks.

    A refusal halves the number of calls in flight, once for all the calls that were under way
    together, and holds every call back until the server's ``Retry-After`` is over; each success
    gives back a little, up to ``ceiling``.
    """

    def __init__(self, ceiling: int) -> None:
        self.ceiling = ceiling
        self.limit = float(ceiling)
        self.under_way = 0
        self.held = 0
        """Calls waiting for a place."""
        self._resume = 0.0
        self._changed = asyncio.Condition()

    @asynccontextmanager
    async def slot(self, patience: float = math.inf) -> AsyncIterator[float]:
        """Wait for a place, hold it; gives the time at which it was got, for ``refused``.

        Raises:
            TooLongError: the server's pause has more than ``patience`` seconds to go.
        """
        self.held += 1
        try:
            await self._admit(patience)
        finally:
            self.held -= 1
        try:
            yield time.monotonic()
        finally:
            self.under_way -= 1
            async with self._changed:
                self._changed.notify_all()

    async def _admit(self, patience: float) -> None:
        async with self._changed:
            while True:
                pause = self._resume - time.monotonic()
                if pause > patience:
                    raise TooLongError(pause)
                if pause <= 0 and self.under_way < max(1, int(self.limit)):
                    break
                try:
                    await asyncio.wait_for(self._changed.wait(), pause if pause > 0 else None)
                except TimeoutError:
                    continue
            self.under_way += 1

    def refused(self, since: float, retry_after: float) -> None:
        """A call begun at ``since`` met a 429 that asks to wait ``retry_after`` seconds."""
        now = time.monotonic()
        if since >= self._resume:
            self.limit = max(1.0, self.limit / 2)
        self._resume = max(self._resume, now + retry_after)

    def succeeded(self) -> None:
        """A call went through."""
        self.limit = min(float(self.ceiling), self.limit + 1 / self.limit)
