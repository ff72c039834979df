"""The calls of models behind one case's answer, whichever client makes them."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from ancrage.domain import MODEL_CALLS, JsonValue, ModelCall, OutputState
from ancrage.llm.cache import Exchange
from ancrage.llm.gateway import APIS, Api, Call, Gateway
from ancrage.llm.request import Completion
from ancrage.llm.tiers import Tier, default_endpoint, headers_of


@dataclass(frozen=True)
class Made:
    """One call that was made, or answered from the cache."""

    completion: Completion
    body: dict[str, Any]
    began: float
    ended: float

    @property
    def told(self) -> ModelCall:
        """What the record keeps of it."""
        done = self.completion
        return ModelCall(
            model=str(done.model or self.body.get("model") or "?"),
            parameters={k: v for k, v in self.body.items() if k not in _NO_PARAMETERS},
            usage=done.usage,
            seconds=self.ended - self.began,
            state=done.state,
            reason=done.reason,
            cached=done.cached,
        )


_NO_PARAMETERS = frozenset({"model", "messages", "input", "instructions", "tools", "stream"})
"""Parts of a request that say what is asked, not how."""


@dataclass
class Calls:
    """What a case's assistant may call, and what it called so far.

    A call through a client of the assistant's own goes out with the tier's model and parameters,
    to the tier's endpoint where that is not the default; models in ``untouched`` go out as they
    are.
    """

    gateway: Gateway
    tier: Tier
    repeat: int = 0
    untouched: frozenset[str] = frozenset()
    made: list[Made] = field(default_factory=list)
    loop: asyncio.AbstractEventLoop = field(default_factory=asyncio.get_running_loop)

    async def send(self, call: Call) -> Exchange:
        """Pass a call on to the gateway, and note how it ended."""
        began = time.monotonic()
        exchange = await self.gateway.send(replace(call, repeat=self.repeat))
        self.made.append(Made(exchange.completion, call.body, began, time.monotonic()))
        return exchange

    def restated(self, api: Api, url: str, body: dict[str, Any], headers: dict[str, str]) -> Call:
        """The call that a client wanted to make, as it is to be made here."""
        tier, parts = self.tier, urlsplit(url)
        endpoint = url.partition("?")[0].removesuffix(APIS[api].PATH)
        query = parts.query
        if body.get("model") not in self.untouched:
            body = APIS[api].restate(body, tier)
            if tier.endpoint != default_endpoint():
                endpoint, query, headers = tier.endpoint, "", headers_of(tier)
        return Call(
            api=api,
            endpoint=endpoint,
            body=body,
            headers=headers,
            query=query,
            timeout=tier.timeout,
            retries=tier.retries,
            patience=tier.patience,
        )

    def trouble(self) -> Completion | None:
        """The call that decides that the answer is none, if any.

        One that the budget stopped; else one that brought no whole answer, unless another call
        that was begun after it brought one: then the assistant has coped.
        """
        stopped = [m.completion for m in self.made if m.completion.state == "over_budget"]
        if stopped:
            return stopped[0]
        fine = max((made.began for made in self.made if made.completion.ok), default=-1.0)
        bad = [m for m in self.made if not m.completion.ok and m.ended > fine]
        return bad[-1].completion if bad else None

    def details(self) -> dict[str, JsonValue]:
        """What the record keeps: models, calls coped with, reasoning."""
        models = dict.fromkeys(str(made.body.get("model")) for made in self.made)
        found: dict[str, JsonValue] = {
            "calls": len(self.made),
            "models": list(models),
            MODEL_CALLS: [
                made.told.model_dump(mode="json", exclude_defaults=True) for made in self.made
            ],
        }
        coped = [m.completion for m in self.made if m.completion.state != OutputState.OK]
        if coped:
            found["calls_without_answer"] = [
                f"{unanswered.state}: {unanswered.reason}" for unanswered in coped
            ]
        thoughts = [made.completion.thoughts for made in self.made if made.completion.thoughts]
        if thoughts:
            found["thoughts"] = list(thoughts)
        return found


_CALLS: ContextVar[Calls | None] = ContextVar("calls", default=None)


@contextmanager
def recording(calls: Calls) -> Iterator[Calls]:
    """Within the block, and the tasks and threads begun in it, clients' calls pass ``calls``."""
    token = _CALLS.set(calls)
    try:
        yield calls
    finally:
        _CALLS.reset(token)


def calls_of(gateway: Gateway | None = None) -> Calls | None:
    """The calls being recorded here (through ``gateway``); None outside a replay."""
    calls = _CALLS.get()
    return None if calls is None or (gateway and calls.gateway is not gateway) else calls
