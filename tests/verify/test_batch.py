"""Scoring in batch."""

import asyncio
import time
from typing import Any

import pytest

from ancrage.domain import Answer, Case, Output, OutputState
from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.verify import (
    BatchItem,
    Opinion,
    Opinions,
    Verdict,
    Verification,
    claim_scorer,
    recorded_context,
    run_evals,
)
from tests.builders import case
from tests.verify.scripted import models

CONTEXT = "Acme employs 123 people."
ANSWERS: dict[str, Any] = {
    "right": CONTEXT,
    "wrong": "Acme employs 150 people.",
    "both": f"{CONTEXT} Acme employs 150 people.",
    "open": "Acme is in Rome.",
    "empty": "",
    "none": None,
    "answer": Answer(text=CONTEXT),
    "output": Output(case_id="output", state=OutputState.REFUSED, reason="I cannot."),
}


def target(one: Case) -> Any:
    if one.id == "raises":
        raise ValueError("no index")
    return ANSWERS[one.id]


def code_alone() -> Any:
    return claim_scorer(None, get_context=recorded_context, models=models())


def items(*ids: str) -> list[dict[str, Any]]:
    return [{"id": each, "input": "Acme?", "context": [CONTEXT]} for each in ids]


async def test_nothing_is_lost() -> None:
    names = [*ANSWERS, "raises"]
    heard: list[str] = []

    async def hear(item: BatchItem[Verification]) -> None:
        heard.append(item.case.id)

    batch = await run_evals(items(*names), target, [code_alone()], hear, concurrency=3)
    assert [item.case.id for item in batch.items] == names
    assert sorted(heard) == sorted(names)
    scores = {item.case.id: item.results["verify"].score for item in batch.items}
    assert scores == {
        "right": 0,
        "wrong": 1,
        "both": 0.5,
        "open": None,
        "empty": 0,
        "none": None,
        "answer": 0,
        "output": None,
        "raises": None,
    }
    reasons = {item.case.id: item.results["verify"].reason for item in batch.items}
    assert "I cannot." in reasons["output"]
    assert "ValueError: no index" in reasons["raises"]
    summary = batch.summary("verify")
    assert (summary.items, summary.scored, summary.unscored) == (9, 5, 4)
    assert summary.mean == pytest.approx(1.5 / 5)
    assert [summary.best, summary.worst] == pytest.approx([1.5 / 9, 5.5 / 9])


async def test_a_scorer_or_a_callback_that_raises_is_shown() -> None:
    class Broken:
        name = "broken"

        async def score(self, run: Subject) -> Verification:
            raise RuntimeError("bug")

    def callback(item: Any) -> None:
        raise OSError("disk full")

    batch = await run_evals(items("right", "wrong"), target, [code_alone(), Broken()], callback)
    assert [dict(item.errors) for item in batch.items] == [{"broken": "RuntimeError: bug"}] * 2
    assert batch.summary("verify").mean == 0.5
    broken = batch.summary("broken")
    assert (broken.scored, broken.unscored, broken.mean, broken.worst) == (0, 2, None, None)
    assert batch.callback_errors == ("right: OSError: disk full", "wrong: OSError: disk full")


async def test_questions_and_cases_are_items_too() -> None:
    async def answer(one: Case) -> str:
        return one.input.question

    batch = await run_evals(["Acme ?", case("x", id="c9")], answer, [code_alone()])
    assert [item.case.id for item in batch.items] == ["1", "c9"]
    assert batch.items[0].output.answer == Answer(text="Acme ?")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ([], "no item"),
        ([{"id": "a"}], "item 1: input"),
        (["q", {"input": None}], "item 2: input"),
        ([{"input": "q", "contexte": []}], "item 1: contexte"),
        (items("a", "b", "a"), "two items have the id 'a'"),
    ],
)
async def test_data_that_cannot_be_used_is_refused_before_anything_runs(
    data: Any, message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        await run_evals(data, target, [code_alone()])
    with pytest.raises(UsageError, match="a name of its own"):
        await run_evals(["q"], target, [code_alone(), code_alone()])


class Slow:
    """A verifier that is not async, and slow."""

    name, version = "slow", "1"

    def verify(self, run: Any, claims: Any, context: Any) -> Opinions:
        time.sleep(0.3)
        opinion = Opinion(verifier="slow", verdict=Verdict.UNSUPPORTED, reason="no")
        return Opinions((opinion,) * len(claims))


async def test_functions_that_are_not_async_hold_up_nobody() -> None:
    def slow_target(one: Case) -> str:
        time.sleep(0.3)
        return "Acme is in Rome."

    def slow_context(run: Subject) -> list[str]:
        time.sleep(0.3)
        return [CONTEXT]

    async def heartbeat() -> int:
        beats = 0
        while not done.is_set():
            await asyncio.sleep(0.02)
            beats += 1
        return beats

    done = asyncio.Event()
    beating = asyncio.create_task(heartbeat())
    scorer = claim_scorer(Slow(), get_context=slow_context, models=models())
    batch = await run_evals(["a", "b", "c"], slow_target, [scorer], concurrency=3)
    done.set()
    assert [item.results["verify"].score for item in batch.items] == [1, 1, 1]
    assert await beating > 20, "the loop stood still while functions slept"
