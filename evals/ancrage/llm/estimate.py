"""What calling models would take, before anything is spent."""

import json
from collections import Counter
from collections.abc import AsyncIterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from pydantic import BaseModel

from ancrage.domain import Frozen, OutputState, Usage
from ancrage.llm.prices import Prices
from ancrage.llm.structured import json_schema
from ancrage.llm.tiers import Tier

if TYPE_CHECKING:
    from ancrage.evaluator import Subject

BYTES_A_TOKEN = 3
"""As the budget reckons: French and JSON take more tokens than English prose."""
USUAL_OUTPUT = 300
"""Tokens of a reply where the tier states no limit."""


@runtime_checkable
class Caller(Protocol):
    """An evaluator that calls models."""

    @property
    def tiers(self) -> Mapping[str, Tier]:
        """What it calls for each of its purposes, such as its own name."""

    async def plan(self, subject: "Subject") -> Mapping[str, Sequence[int]]:
        """The input tokens of each call that an answer would take, by purpose; none is made."""


class Estimate(Frozen):
    """The calls for one purpose, by the worst case: no answer in the cache, no repair turn."""

    name: str
    model: str
    answers: int
    """Outputs that would be evaluated."""
    settled: int
    """Of these, answers that take no call."""
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In the currency of the price file; None where the model has no price."""


def tokens_of(messages: Sequence[Mapping[str, Any]], reply: type[BaseModel], name: str) -> int:
    """About how many tokens a call takes in that asks for a reply of this form."""
    sent = json.dumps(list(messages), ensure_ascii=False)
    sent += json_schema(reply, name).model_dump_json()
    return len(sent.encode("utf-8", "replace")) // BYTES_A_TOKEN


async def estimate(
    callers: Sequence[Caller], subjects: AsyncIterable["Subject"], prices: Prices
) -> list[Estimate]:
    """One estimate a purpose of each caller; nothing is called."""
    counts = {name: Counter[str]() for caller in callers for name in caller.tiers}
    async for subject in subjects:
        if subject.output.state is not OutputState.OK:
            continue
        for caller in callers:
            planned = await caller.plan(subject)
            for name in caller.tiers:
                calls = planned.get(name, ())
                counts[name].update(
                    answers=1, settled=not calls, calls=len(calls), input=sum(calls)
                )
    return [
        _estimate(name, tier, counts[name], prices)
        for caller in callers
        for name, tier in caller.tiers.items()
    ]


def _estimate(name: str, tier: Tier, count: Counter[str], prices: Prices) -> Estimate:
    output = count["calls"] * (tier.max_output_tokens or USUAL_OUTPUT)
    usage = Usage(calls=count["calls"], input_tokens=count["input"], output_tokens=output)
    return Estimate(
        name=name,
        model=tier.model,
        answers=count["answers"],
        settled=count["settled"],
        calls=count["calls"],
        input_tokens=count["input"],
        output_tokens=output,
        cost=prices.cost(tier.model, usage),
    )
