"""The client of judges, scorers and agents of our own: requests of tiers, through the gateway."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Self, TypeVar

from pydantic import BaseModel

from ancrage.config import Config, load
from ancrage.llm.budget import Budget
from ancrage.llm.cache import Cache, Exchange
from ancrage.llm.calls import calls_of
from ancrage.llm.gateway import APIS, Call, Gateway
from ancrage.llm.prices import Prices, read_prices
from ancrage.llm.request import Completion, Request
from ancrage.llm.structured import Structured, ask
from ancrage.llm.tiers import Tier, find_tier, headers_of, read_tiers

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T", bound=BaseModel)


class LLM:
    """Calls models through the tiers of the configuration::

        async with LLM.configured(concurrency=20, budget=Budget(tokens=100_000)) as llm:
            tier = llm.tier("standard")
            request = Request(tier=tier, messages=({"role": "user", "content": "…"},))
            completion = await llm.complete(request)             # never raises for a failed call
            verdict = await llm.complete_json(request, Verdict)  # structured output

    Limits, retries, budget and cache are the gateway's. Keys are read when first needed and
    appear in no cache, log or message.
    """

    def __init__(
        self,
        tiers: Mapping[str, Tier],
        *,
        concurrency: int = 20,
        cache: Cache | None = None,
        budget: Budget | None = None,
        prices: Prices | None = None,
        transport: "httpx2.AsyncBaseTransport | None" = None,
    ) -> None:
        """
        Args:
            concurrency: the most calls under way to one endpoint.
            cache: where answers are kept; None calls the model every time.
            transport: what carries requests instead of the network.

        Raises:
            UsageError: ``concurrency`` is less than 1.
        """
        self.tiers = dict(tiers)
        self.gateway = Gateway(
            concurrency=concurrency, cache=cache, budget=budget, prices=prices, transport=transport
        )
        self.cache = cache
        self.budget = self.gateway.budget
        self.prices = self.gateway.prices
        self.counts = self.gateway.counts
        self._without_schema: set[tuple[str, str]] = set()

    @classmethod
    def configured(
        cls,
        config: Config | None = None,
        *,
        concurrency: int = 20,
        cache: Cache | None = None,
        budget: Budget | None = None,
    ) -> Self:
        """A client with the tiers and prices of the configuration.

        Raises:
            UsageError: the configuration cannot be used.
        """
        config = config or load()
        return cls(
            read_tiers(config),
            concurrency=concurrency,
            cache=cache,
            budget=budget,
            prices=read_prices(config),
        )

    def tier(self, name: str) -> Tier:
        """The tier ``name``.

        Raises:
            UsageError: the configuration has none of that name.
        """
        return find_tier(self.tiers, name)

    def ready(self, tier: Tier) -> None:
        """Make sure that calls of ``tier`` can be made at all.

        Raises:
            UsageError: its key is not set, or the budget is in money and its model has no price.
        """
        self.gateway.affordable(tier.model)
        headers_of(tier)

    async def complete(self, request: Request, *, use_cache: bool = True) -> Completion:
        """Make one call, or take its answer from the cache; however it ends is in the result.

        Raises:
            UsageError: the call cannot be made at all, see ``ready``.
        """
        return (await self.exchange(request, use_cache=use_cache)).completion

    async def exchange(
        self, request: Request, *, use_cache: bool = True, keep: bool = True
    ) -> Exchange:
        """Like ``complete``, with what the server sent; see ``Gateway.send`` for ``keep``."""
        tier = request.tier
        calls = calls_of(self.gateway)
        call = Call(
            api=tier.api,
            endpoint=tier.endpoint,
            body=APIS[tier.api].body(request),
            headers=headers_of(tier),
            timeout=tier.timeout,
            retries=tier.retries,
            patience=tier.patience,
            repeat=request.repeat if calls is None else calls.repeat,
        )
        if calls:
            return await calls.send(call)
        return await self.gateway.send(call, use_cache=use_cache, keep=keep)

    async def complete_json(
        self, request: Request, model: type[T], *, name: str | None = None
    ) -> Structured[T]:
        """Ask for a value of ``model``; see ``Structured`` for how it can end.

        The schema goes out as structured output where the tier's endpoint has it, in the prompt
        otherwise; one repair turn at most follows a reply that cannot be read. Only a value is
        kept in the cache: what could not be read is asked again the next time.
        """
        return await ask(self, request, model, name or model.__name__)

    async def aclose(self) -> None:
        """Close the connections and the cache."""
        await self.gateway.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def lacks_schema(self, tier: Tier) -> bool:
        """Whether this endpoint has refused structured output for this model."""
        return (tier.endpoint, tier.model) in self._without_schema

    def note_lack_of_schema(self, tier: Tier) -> None:
        self._without_schema.add((tier.endpoint, tier.model))
