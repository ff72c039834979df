"""The clients that judges and scorers share, one for each event loop they are run in."""

import asyncio
from pathlib import Path

from ancrage.config import Config, load
from ancrage.llm.budget import Budget
from ancrage.llm.cache import Cache
from ancrage.llm.client import LLM
from ancrage.llm.prices import read_prices
from ancrage.llm.tiers import Tier, find_tier, read_tiers

CACHE = Path(".ancrage") / "answers.sqlite"


class Models:
    """Tiers, one budget and one answer cache; a client for each event loop.

    An experiment of the Langfuse SDK runs in a loop and a thread of its own, and neither
    connections nor the cache's file can be shared between threads.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        concurrency: int = 8,
        budget: Budget | None = None,
        cache: Path | None = CACHE,
    ) -> None:
        """
        Raises:
            UsageError: the tiers of the configuration cannot be used.
        """
        self.config = config or load()
        self.concurrency = concurrency
        self.budget = budget or Budget()
        self.cache = cache
        self.tiers = read_tiers(self.config)
        self.prices = read_prices(self.config)
        self._open: dict[asyncio.AbstractEventLoop, LLM] = {}

    def tier(self, name: str) -> Tier:
        """The tier ``name``.

        Raises:
            UsageError: the configuration has none of that name.
        """
        return find_tier(self.tiers, name)

    def client(self) -> LLM:
        """The client of the running event loop."""
        loop = asyncio.get_running_loop()
        if loop not in self._open:
            for closed in [other_loop for other_loop in self._open if other_loop.is_closed()]:
                del self._open[closed]
            self._open[loop] = LLM.configured(
                self.config,
                concurrency=self.concurrency,
                budget=self.budget,
                cache=Cache(self.cache) if self.cache else None,
            )
        return self._open[loop]

    async def aclose(self) -> None:
        """Close the client of the running event loop; it opens again when needed."""
        if llm := self._open.pop(asyncio.get_running_loop(), None):
            await llm.aclose()
