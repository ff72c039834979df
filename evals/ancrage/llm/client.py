"""The one door to language models."""

import asyncio
import json
import logging
import time
from collections import Counter
from collections.abc import Callable, Mapping
from copy import copy
from typing import TYPE_CHECKING, Any, Self, TypeVar

from pydantic import BaseModel

from ancrage.config import Config, load, secret
from ancrage.domain import OutputState, Usage
from ancrage.errors import UsageError
from ancrage.llm import chat, responses
from ancrage.llm.budget import Budget, Reservation
from ancrage.llm.cache import Cache, cache_key
from ancrage.llm.failures import Failure, understand
from ancrage.llm.limiter import Limiter, TooLongError
from ancrage.llm.prices import Prices, read_prices
from ancrage.llm.request import Completion, Request
from ancrage.llm.structured import Structured, ask
from ancrage.llm.tiers import Tier, find_tier, read_tiers

if TYPE_CHECKING:
    from openai import AsyncOpenAI

logger = logging.getLogger(__name__)

_APIS: Mapping[str, Any] = {"chat": chat, "responses": responses}
_PATIENCE = 600.0
"""Seconds that one call may spend waiting out rate limits."""

T = TypeVar("T", bound=BaseModel)


class LLM:
    """Calls models through the tiers of the configuration; the one entry of this package::

        async with LLM.configured(concurrency=20, budget=Budget(tokens=100_000)) as llm:
            tier = llm.tier("standard")
            request = Request(tier=tier, messages=({"role": "user", "content": "…"},))
            completion = await llm.complete(request)             # never raises for a failed call
            verdict = await llm.complete_json(request, Verdict)  # structured output

    It bounds concurrency and yields to every 429, retries failures that may pass (the SDK's own
    hidden retries are off), keeps within the budget, and answers from ``cache`` what was already
    paid for. A call whose answer is in the cache costs nothing. Keys are read when first needed
    and appear in no cache, log or message.
    """

    def __init__(
        self,
        tiers: Mapping[str, Tier],
        *,
        concurrency: int = 20,
        cache: Cache | None = None,
        budget: Budget | None = None,
        prices: Prices | None = None,
    ) -> None:
        """
        Args:
            concurrency: the most calls under way to one endpoint.
            cache: where answers are kept; None calls the model every time.

        Raises:
            UsageError: ``concurrency`` is less than 1.
        """
        if concurrency < 1:
            raise UsageError("--concurrency: at least 1")
        self.tiers = dict(tiers)
        self.concurrency = concurrency
        self.cache = cache
        self.budget = budget or Budget()
        self.prices = prices or Prices()
        self.counts: Counter[str] = Counter()
        """``calls`` (tries included), ``cached``, ``retries``, ``rate_limited``, ``failed``, and
        ``lost``: tries without an answer that the server may bill."""
        self.repeat: int | None = None
        """Of every call, whatever its request says; None: as the request says."""
        self.completions: list[Completion] = []
        """What came back, in a conversation."""
        self._clients: dict[tuple[str, str | None], AsyncOpenAI] = {}
        self._limiters: dict[str, Limiter] = {}
        self._without_schema: set[tuple[str, str]] = set()
        self._keys: set[str] = set()
        self._first = asyncio.Lock()

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

    def conversation(self, repeat: int) -> Self:
        """This client as one conversation sees it: all calls are of ``repeat``, and their
        answers are kept in ``completions``. Limits, budget, cache and counts stay shared."""
        view = copy(self)
        view.repeat = repeat
        view.completions = []
        return view

    def ready(self, tier: Tier) -> None:
        """Make sure that calls of ``tier`` can be made at all.

        Raises:
            UsageError: its key is not set, or the budget is in money and its model has no price.
        """
        if self.budget.cost is not None and tier.model not in self.prices.models:
            raise UsageError(
                f"a budget in money needs the price of {tier.model!r}: "
                f'add [prices.models."{tier.model}"] with input and output'
            )
        self._client(tier)

    async def complete(self, request: Request, *, use_cache: bool = True) -> Completion:
        """Make one call, or take its answer from the cache; however it ends is in the result.

        Raises:
            UsageError: the call cannot be made at all, see ``ready``.
        """
        if self.repeat is not None:
            request = request.model_copy(update={"repeat": self.repeat})
        completion = await self._complete(request, self.cache if use_cache else None)
        if self.repeat is not None:
            self.completions.append(completion)
        return completion

    async def _complete(self, request: Request, cache: Cache | None) -> Completion:
        tier = request.tier
        sent: dict[str, Any] = _APIS[tier.api].body(request)
        key = cache_key(tier.endpoint, tier.api, sent, request.repeat)
        if cache and (known := cache.get(key)):
            self.counts["cached"] += 1
            return known
        self.ready(tier)
        if self._blind(tier):
            # Calls at once could all be long: the first answer tells how long they are.
            async with self._first:
                if self._blind(tier):
                    return await self._spend(tier, sent, key, cache)
        return await self._spend(tier, sent, key, cache)

    def _blind(self, tier: Tier) -> bool:
        return self.budget.bounded and self.budget.expected_output(tier.max_output_tokens) is None

    async def _spend(
        self, tier: Tier, sent: dict[str, Any], key: str, cache: Cache | None
    ) -> Completion:
        expected = self._expect(tier, sent)
        if reason := self.budget.reserve(expected):
            return Completion(state=OutputState.OVER_BUDGET, reason=reason)
        used = Usage()
        try:
            completion = await self._call(tier, sent, expected)
            used = self._billed(tier, completion, expected)
            cost = self.prices.cost(tier.model, completion.usage)
            usage = completion.usage.model_copy(update={"cost": cost})
            completion = completion.model_copy(update={"usage": usage})
        finally:
            self.budget.settle(expected, used)
        if completion.state is OutputState.FAILED:
            self.counts["failed"] += 1
        elif cache:
            cache.put(key, completion)
        return completion

    async def complete_json(
        self, request: Request, model: type[T], *, name: str | None = None
    ) -> Structured[T]:
        """Ask for a value of ``model``; see ``Structured`` for how it can end.

        The schema goes out as structured output where the tier's endpoint has it, in the prompt
        otherwise; one repair turn at most follows a reply that cannot be read.
        """
        return await ask(self, request, model, name or model.__name__)

    async def aclose(self) -> None:
        """Close the connections and the cache."""
        for client in self._clients.values():
            await client.close()
        self._clients.clear()
        if self.cache:
            self.cache.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def lacks_schema(self, tier: Tier) -> bool:
        """Whether this endpoint has refused structured output for this model."""
        return (tier.endpoint, tier.model) in self._without_schema

    def note_lack_of_schema(self, tier: Tier) -> None:
        self._without_schema.add((tier.endpoint, tier.model))

    def _expect(self, tier: Tier, sent: dict[str, Any]) -> Reservation:
        if not self.budget.bounded:
            return Reservation()
        tokens = _tokens(json.dumps(sent, ensure_ascii=False))
        output = self.budget.expected_output(tier.max_output_tokens) or 0
        usage = Usage(calls=1, input_tokens=tokens, output_tokens=output)
        cost = self.prices.cost(tier.model, usage)
        return Reservation(input_tokens=tokens, output_tokens=output, cost=cost or 0.0)

    def _billed(self, tier: Tier, completion: Completion, expected: Reservation) -> Usage:
        """What to count against the budget: an estimate where the server does not say."""
        used = completion.usage
        if used.calls and (used.input_tokens is None or used.output_tokens is None):
            said = completion.text + "".join(call.arguments for call in completion.tool_calls)
            output = max(1, _tokens(said))
            update = {"input_tokens": expected.input_tokens, "output_tokens": output}
            used = used.model_copy(update=update)
        return used.model_copy(update={"cost": self.prices.cost(tier.model, used)})

    async def _call(self, tier: Tier, sent: dict[str, Any], expected: Reservation) -> Completion:
        """One call with its retries."""
        from tenacity import AsyncRetrying, RetryError, retry_if_result, wait_random_exponential

        errors = 0
        refused: float | None = None

        def patience() -> float:
            return _PATIENCE - (time.monotonic() - refused if refused else 0.0)

        def enough(state: Any) -> bool:
            nonlocal errors, refused
            failure = state.outcome.result()
            if failure.error == "rate_limit":
                refused = refused or time.monotonic()
            else:
                errors += 1
            return errors > tier.retries or (failure.retry_after or 0.0) > patience()

        backoff = wait_random_exponential(multiplier=0.5, max=30)

        def pause(state: Any) -> float:
            failure = state.outcome.result()
            if failure.retry_after:
                # The limiter already holds every call back after a 429.
                return 0.0 if failure.error == "rate_limit" else failure.retry_after
            return float(backoff(state))

        retrying = AsyncRetrying(
            stop=enough,
            wait=pause,
            retry=retry_if_result(lambda tried: isinstance(tried, Failure) and tried.passing),
            before_sleep=lambda _: self.counts.update(retries=1),
        )
        try:
            tried: Completion | Failure = await retrying(self._try, tier, sent, expected, patience)
        except RetryError as error:
            tried = error.last_attempt.result()
        except TooLongError as error:
            tried = Failure(error="rate_limit", words=str(error), passing=True)
        if isinstance(tried, Failure):
            logger.warning("%s: %s: %s", tier.model, tried.error, tried.words)
            return Completion.failed(tried.error, tried.words)
        return tried

    async def _try(
        self,
        tier: Tier,
        sent: dict[str, Any],
        expected: Reservation,
        patience: Callable[[], float],
    ) -> Completion | Failure:
        client = self._client(tier)
        limiter = self._limiters.setdefault(tier.endpoint, Limiter(self.concurrency))
        async with limiter.slot(patience()) as since:
            self.counts["calls"] += 1
            try:
                async with asyncio.timeout(tier.timeout):
                    completion: Completion = await _APIS[tier.api].send(client, sent)
            except Exception as error:  # noqa: BLE001 - whatever a server does ends as a state
                failure = understand(error, tier.timeout)
                failure = failure.model_copy(update={"words": self._redact(failure.words)})
                if failure.error == "rate_limit":
                    self.counts["rate_limited"] += 1
                    limiter.refused(since, failure.retry_after or 0.0)
                if failure.lost:
                    self.counts["lost"] += 1
                    self.budget.lose(expected)
                return failure
        limiter.succeeded()
        latency = time.monotonic() - since
        usage = completion.usage.model_copy(update={"latency": latency})
        return completion.model_copy(update={"usage": usage})

    def _client(self, tier: Tier) -> "AsyncOpenAI":
        identity = (tier.endpoint, tier.key_name)
        if identity not in self._clients:
            from openai import AsyncOpenAI

            key = secret(tier.key_name) if tier.key_name else "none"
            if key is None:
                raise UsageError(
                    f"model {tier.model!r} needs a key: set {tier.key_name} "
                    "in the environment or in .env"
                )
            if tier.key_name:
                self._keys.add(key)
            self._clients[identity] = AsyncOpenAI(
                api_key=key, base_url=tier.endpoint, max_retries=0, timeout=tier.timeout
            )
        return self._clients[identity]

    def _redact(self, words: str) -> str:
        for key in self._keys:
            words = words.replace(key, "[key]")
        return words


def _tokens(text: str) -> int:
    """A high guess: a token is seldom less than three bytes."""
    return len(text.encode()) // 3
