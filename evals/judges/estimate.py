"""What judging would take, before anything is spent."""

import json
from collections import Counter
from collections.abc import AsyncIterable, Sequence

from evals.domain import Frozen, OutputState, Usage
from evals.evaluator import Subject
from evals.judges.contract import reply_model
from evals.judges.judge import Judge
from evals.llm.structured import json_schema

BYTES_A_TOKEN = 3
"""As the budget reckons: French and JSON take more tokens than English prose."""
USUAL_OUTPUT = 300
"""Tokens of a reply where the tier states no limit."""


class Estimate(Frozen):
    """The calls of one judge, by the worst case: no answer in the cache, no repair turn."""

    judge: str
    model: str
    answers: int
    """Outputs that would be judged."""
    settled: int
    """Of these, answers that code settles without a call."""
    calls: int
    input_tokens: int
    output_tokens: int
    cost: float | None
    """In the currency of the price file; None where the model has no price."""


async def estimate(judges: Sequence[Judge], subjects: AsyncIterable[Subject]) -> list[Estimate]:
    """One estimate a judge; nothing is called."""
    counts: dict[str, Counter[str]] = {judge.name: Counter() for judge in judges}
    async for subject in subjects:
        if subject.output.state is not OutputState.OK:
            continue
        for judge in judges:
            count = counts[judge.name]
            count["answers"] += 1
            if judge.needs_no_call(subject):
                count["settled"] += 1
                continue
            call = judge.prompt(subject)
            schema = json_schema(reply_model([m.name for m in judge.modes], call.seal), judge.name)
            sent = json.dumps(call.messages, ensure_ascii=False) + schema.model_dump_json()
            count["calls"] += judge.repeats
            count["input"] += judge.repeats * (len(sent.encode()) // BYTES_A_TOKEN)
    return [_estimate(judge, counts[judge.name]) for judge in judges]


def _estimate(judge: Judge, count: Counter[str]) -> Estimate:
    output = count["calls"] * (judge.tier.max_output_tokens or USUAL_OUTPUT)
    usage = Usage(calls=count["calls"], input_tokens=count["input"], output_tokens=output)
    return Estimate(
        judge=judge.name,
        model=judge.tier.model,
        answers=count["answers"],
        settled=count["settled"],
        calls=count["calls"],
        input_tokens=count["input"],
        output_tokens=output,
        cost=judge.models.prices.cost(judge.tier.model, usage),
    )
