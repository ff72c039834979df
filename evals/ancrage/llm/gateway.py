"""What every call of a model passes, whoever makes it: cache, budget, limiter, retries."""

import asyncio
import json
import logging
import random
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit

from ancrage.domain import OutputState, Usage
from ancrage.errors import UsageError
from ancrage.llm import chat, replies, responses
from ancrage.llm.budget import Budget, OverBudgetError, Reservation
from ancrage.llm.cache import Cache, Exchange, cache_key
from ancrage.llm.failures import BrokenReply, Failure, of_exception, of_reply, of_status
from ancrage.llm.limiter import Limiter, TooLongError
from ancrage.llm.prices import Prices
from ancrage.llm.request import Completion
from ancrage.redact import told

if TYPE_CHECKING:
    import httpx2

logger = logging.getLogger(__name__)

Api = Literal["chat", "responses"]
APIS: Mapping[Api, Any] = {"chat": chat, "responses": responses}
SAID_EVERY = 10.0
"""Seconds between two words on one endpoint's being waited for."""
_JSON = "application/json"
_STATUS = {"timeout": 504, "rate_limit": 429, "rejected": 400}
"""How a caller that speaks HTTP is told of a failure that had no status of its own."""
_OVER_BUDGET = 402


@dataclass(frozen=True)
class Call:
    """One request, as it goes out."""

    api: Api
    endpoint: str
    """Base URL: the limiter's and the cache's key."""
    body: dict[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    timeout: float = 120.0
    retries: int = 4
    patience: float = 600.0
    repeat: int = 0

    @property
    def model(self) -> str:
        return str(self.body.get("model", ""))

    @property
    def url(self) -> str:
        path: str = APIS[self.api].PATH
        return f"{self.endpoint}{path}" + (f"?{self.query}" if self.query else "")


class Gateway:
    """Bounds concurrency and yields to every 429, retries what may pass, keeps within the budget,
    and answers from ``cache`` what was already paid for. One for each event loop."""

    def __init__(
        self,
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
            transport: what carries requests instead of the network.

        Raises:
            UsageError: ``concurrency`` is less than 1.
        """
        if concurrency < 1:
            raise UsageError("--concurrency: at least 1")
        self.concurrency = concurrency
        self.cache = cache
        self.budget = budget or Budget()
        self.prices = prices or Prices()
        self.counts: Counter[str] = Counter()
        """``calls`` (tries included), ``cached``, ``retries``, ``rate_limited``, ``failed``, and
        ``lost``: tries without an answer that the server may bill."""
        self._transport = transport
        self._http: httpx2.AsyncClient | None = None
        self._limiters: dict[str, Limiter] = {}
        self._said: dict[str, float] = {}
        self._answered: set[str] = set()
        self._absent: set[str] = set()
        """Endpoints that never answered, and were given up once: one try a call is enough."""

    async def send(self, call: Call, *, use_cache: bool = True, keep: bool = True) -> Exchange:
        """Make one call, or take its answer from the cache; however it ends is in the result.

        Args:
            keep: whether to put the answer into the cache; ``keep(exchange)`` does so later.

        Raises:
            UsageError: the budget is in money and the model has no price.
        """
        key = cache_key(call.endpoint, call.api, call.body, call.repeat)
        if use_cache and self.cache and (known := self.cache.get(key)):
            self.counts["cached"] += 1
            return known
        self.affordable(call.model)
        exchange = await self._tries(call, key)
        if exchange.completion.state is OutputState.FAILED:
            self.counts["failed"] += 1
            logger.warning("%s: %s", call.model, exchange.completion.reason)
        elif keep and use_cache:
            self.keep(exchange)
        return exchange

    def keep(self, exchange: Exchange) -> None:
        """Put an answer into the cache; one that failed or was never made is not kept."""
        state = exchange.completion.state
        unanswered = state in (OutputState.FAILED, OutputState.OVER_BUDGET)
        if self.cache and not unanswered and not exchange.completion.cached:
            self.cache.put(exchange)

    def affordable(self, model: str) -> None:
        """
        Raises:
            UsageError: the budget is in money and ``model`` has no price.
        """
        if self.budget.cost is not None and model not in self.prices.models:
            raise UsageError(
                f"a budget in money needs the price of {model!r}: "
                f'add [prices.models."{model}"] with input and output'
            )

    async def aclose(self) -> None:
        """Close the connections and the cache."""
        if self._http:
            await self._http.aclose()
            self._http = None
        if self.cache:
            self.cache.close()

    async def _tries(self, call: Call, key: str) -> Exchange:
        """One call with its retries, each of which the budget must allow."""
        errors = 0
        refused: float | None = None
        failure: Failure | None = None
        while True:
            try:
                expected = await self.budget.reserve(lambda: self._expect(call))
            except OverBudgetError as error:
                words = f"{error}, after {failure.words}" if failure else str(error)
                over = Completion(state=OutputState.OVER_BUDGET, reason=words)
                return _unanswered(key, over, _OVER_BUDGET)
            patience = call.patience - (time.monotonic() - refused if refused else 0.0)
            tried = await self._try(call, key, expected, patience, refused)
            if isinstance(tried, Exchange):
                return tried
            failure = tried
            if failure.error == "rate_limit":
                refused = refused or time.monotonic()
            else:
                errors += 1
            # What cannot be read is billed each time, and seldom reads better the next.
            most = min(call.retries, 1) if failure.error == "malformed" else call.retries
            if failure.error == "connection" and call.endpoint in self._absent:
                most = 0
            patience = call.patience - (time.monotonic() - refused if refused else 0.0)
            if not failure.passing or errors > most or (failure.retry_after or 0.0) > patience:
                if failure.error == "connection" and call.endpoint not in self._answered:
                    self._absent.add(call.endpoint)
                completion = Completion.failed(failure.error, failure.words)
                status = failure.status or _STATUS.get(failure.error, 502)
                return _unanswered(key, completion, status)
            self.counts["retries"] += 1
            await asyncio.sleep(_pause(failure, errors))

    async def _try(
        self, call: Call, key: str, expected: Reservation, patience: float, refused: float | None
    ) -> Exchange | Failure:
        limiter = self._limiters.setdefault(call.endpoint, Limiter(self.concurrency))
        used: Usage | None = Usage()
        try:
            async with limiter.slot(patience) as since:
                self.counts["calls"] += 1
                used = None
                tried = await self._exchange(call, key)
                if isinstance(tried, Failure):
                    used = None if tried.lost else Usage()
                    if tried.error == "rate_limit":
                        self.counts["rate_limited"] += 1
                        limiter.refused(since, tried.retry_after or 0.0)
                        self._say(call, tried, refused, limiter)
                    return tried
            limiter.succeeded()
            self._answered.add(call.endpoint)
            self._absent.discard(call.endpoint)
            usage = tried.completion.usage.model_copy(update={"latency": time.monotonic() - since})
            used = self._billed(call.model, tried.completion, expected)
            usage = usage.model_copy(update={"cost": self.prices.cost(call.model, usage)})
            completion = tried.completion.model_copy(update={"usage": usage})
            return tried.model_copy(update={"completion": completion})
        except TooLongError as error:
            return Failure(error="rate_limit", words=str(error), passing=False)
        finally:
            if used is None:  # also of a call that was cancelled under way
                self.counts["lost"] += 1
                self.budget.lose(expected)
            else:
                self.budget.settle(expected, used)

    async def _exchange(self, call: Call, key: str) -> Exchange | Failure:
        """One request over the wire."""
        http = self._client()
        try:
            async with asyncio.timeout(call.timeout):
                reply = await http.post(
                    call.url,
                    content=json.dumps(call.body, ensure_ascii=False).encode("utf-8", "replace"),
                    headers={**call.headers, "content-type": _JSON},
                )
            content = reply.content.decode("utf-8", "replace")
        except Exception as error:  # noqa: BLE001 - whatever a server does ends as a state
            return of_exception(error, call.timeout)
        if not reply.is_success:
            return of_status(reply.status_code, reply.headers, content)
        try:
            completion = replies.read(APIS[call.api], content, call.body)
        except BrokenReply as error:
            return of_reply(error)
        return Exchange(
            key=key,
            status=reply.status_code,
            content_type=reply.headers.get("content-type", _JSON),
            content=content,
            completion=completion,
        )

    def _client(self) -> "httpx2.AsyncClient":
        if self._http is None:
            import httpx2

            limits = httpx2.Limits(max_keepalive_connections=self.concurrency)
            try:
                self._http = httpx2.AsyncClient(
                    limits=limits, timeout=None, follow_redirects=True, transport=self._transport
                )
            except (ImportError, ValueError) as error:  # a proxy that cannot be used
                raise UsageError(f"no connection to models can be made: {told(error)}") from None
        return self._http

    def _say(self, call: Call, failure: Failure, refused: float | None, limiter: Limiter) -> None:
        """Tell, now and then, that calls wait, for what, and how long."""
        now = time.monotonic()
        so_far = now - refused if refused else 0.0
        wait = failure.retry_after or 0.0
        if now - self._said.get(call.endpoint, -SAID_EVERY) < SAID_EVERY or wait + so_far < 1:
            return
        self._said[call.endpoint] = now
        logger.warning(
            "%s at %s: waiting %.0f s, %d calls held back; %.0f s so far, at most %.0f s (%s)",
            call.model,
            urlsplit(call.endpoint).netloc,
            wait,
            limiter.held,
            so_far,
            call.patience,
            failure.words,
        )

    def _expect(self, call: Call) -> Reservation:
        if not self.budget.bounded:
            return Reservation()
        tokens = _tokens(json.dumps(call.body, ensure_ascii=False))
        output = self.budget.expected_output(APIS[call.api].output_limit(call.body))
        usage = Usage(calls=1, input_tokens=tokens, output_tokens=output or 0)
        cost = self.prices.cost(call.model, usage)
        return Reservation(input_tokens=tokens, output_tokens=output, cost=cost or 0.0)

    def _billed(self, model: str, completion: Completion, expected: Reservation) -> Usage:
        """What to count against the budget: an estimate where the server does not say."""
        used = completion.usage
        if used.calls and (used.input_tokens is None or used.output_tokens is None):
            said = completion.text + completion.thoughts
            said += "".join(call.arguments for call in completion.tool_calls)
            output = max(1, _tokens(said))
            update = {"input_tokens": expected.input_tokens, "output_tokens": output}
            used = used.model_copy(update=update)
        return used.model_copy(update={"cost": self.prices.cost(model, used)})


def _unanswered(key: str, completion: Completion, status: int) -> Exchange:
    """What stands in for a reply: an error in OpenAI's form."""
    error = {"message": completion.reason, "type": completion.error or completion.state.value}
    return Exchange(
        key=key,
        status=status,
        content_type=_JSON,
        content=json.dumps({"error": {**error, "param": None, "code": None}}),
        completion=completion,
    )


def _pause(failure: Failure, errors: int) -> float:
    """Seconds before the next try: as the server asks, else exponential with full jitter."""
    if failure.retry_after:
        # The limiter already holds every call back after a 429.
        return 0.0 if failure.error == "rate_limit" else failure.retry_after
    return random.uniform(0.01, min(30.0, 0.5 * 2**errors))  # noqa: S311 - no secret hangs on it


def _tokens(text: str) -> int:
    """A high guess: a token is seldom less than three bytes."""
    return len(text.encode("utf-8", "replace")) // 3
