"""Beside a live agent: same results, same errors, no waiting, everything counted."""

import asyncio
import inspect
import threading
import time
from collections import Counter
from typing import Any

import pytest

from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.verify import Live, Verification, claim_scorer, make_run
from ancrage.verify.live import sampled
from tests.servers.openai_server import Hang
from tests.verify.scripted import models, scorer

CONTEXT = ["Acme employs 123 people."]
WRONG = "Acme employs 150 people."


def code_alone() -> Any:
    return claim_scorer(None, context=CONTEXT, models=models())


def adds_up(counts: Counter[str]) -> bool:
    told = ("not_sampled", "dropped", "failed", "unscored", "scored")
    return counts["answers"] == sum(counts[each] for each in told)


async def test_async_agents_are_scored_beside_their_work() -> None:
    heard: list[tuple[str, str, float | None]] = []
    live = Live(
        [code_alone()],
        on_result=lambda run, name, result: heard.append((run.case.id, name, result.score)),
        id_of=lambda question, trace: trace,
    )

    @live.wrap
    async def agent(question: str, trace: str) -> str:
        """Answers."""
        return WRONG

    assert inspect.iscoroutinefunction(agent)
    assert agent.__doc__ == "Answers."
    assert await agent("Acme ?", trace="t-1") == WRONG
    assert live.drain(10)
    assert heard == [("t-1", "verify", 1.0)]
    assert live.counts == {"answers": 1, "scored": 1}


def test_sync_agents_too_without_any_event_loop() -> None:
    live = Live([code_alone()])
    agent = live.wrap(lambda question: {"x": WRONG}[question])
    assert agent("x") == WRONG
    with pytest.raises(KeyError, match="y"):
        agent("y")
    assert live.drain(10)
    assert live.counts == {"answers": 1, "scored": 1, "agent_errors": 1}


async def test_objects_are_agents_too() -> None:
    class Agent:
        async def __call__(self, question: str) -> str:
            return WRONG

    with Live([code_alone()]) as live:
        for _ in range(2):
            assert await live.wrap(Agent())("?") == WRONG
            assert live.close(10)
    assert live.counts == {"answers": 2, "scored": 2}


def test_the_sample_depends_on_the_id_alone() -> None:
    ids = [f"trace-{n}" for n in range(10_000)]
    for rate in (0.0, 0.05, 0.5, 1.0):
        drawn = [each for each in ids if sampled(each, rate)]
        assert abs(len(drawn) - rate * 10_000) < 200
        assert drawn == [each for each in ids if sampled(each, rate)]
        assert all(sampled(each, 1.0) for each in drawn)
    assert {e for e in ids if sampled(e, 0.05)} < {e for e in ids if sampled(e, 0.5)}
    live = Live([code_alone()], rate=0.3, id_of=lambda question: question)
    agent = live.wrap(lambda question: WRONG)
    for each in ids[:200]:
        agent(each)
    assert live.drain(20)
    assert live.counts["scored"] == sum(sampled(each, 0.3) for each in ids[:200])
    assert adds_up(live.counts)


def test_the_agent_never_waits_for_a_model_that_hangs() -> None:
    with scorer(lambda _: Hang(1.5), context=CONTEXT) as (judge, _):
        live = Live([judge])
        agent = live.wrap(lambda question: "Acme is in Rome.")
        started = time.monotonic()
        for _ in range(8):
            agent("?")
        assert time.monotonic() - started < 1.0
        assert live.pending == 8
        assert not live.drain(0.05)
        assert live.drain(60)
    assert live.counts == {"answers": 8, "unscored": 8}


class Broken:
    name = "broken"

    async def score(self, run: Subject) -> Verification:
        raise RuntimeError("bug")


def _raises(*_: object, **__: object) -> Any:
    raise LookupError("mine")


def test_failures_are_seen_and_reach_no_agent(caplog: pytest.LogCaptureFixture) -> None:
    told: list[tuple[str, str]] = []

    def hear(identifier: str, error: BaseException) -> None:
        told.append((identifier, str(error)))
        raise OSError("and the callback too")

    makers: list[dict[str, Any]] = [
        {"scorers": [Broken()]},
        {"scorers": [code_alone()], "to_run": _raises},
        {"scorers": [code_alone()], "id_of": _raises},
        {"scorers": [code_alone()], "to_run": lambda id, result, *a: object()},
    ]
    for options in makers:
        live = Live(**options, on_error=hear)
        assert live.wrap(lambda question: WRONG)("?") == WRONG
        assert live.drain(10)
        assert live.counts == {"answers": 1, "failed": 1}
    assert [words for _, words in told][:3] == ["bug", "mine", "mine"]
    assert len(told) == 4
    assert "RuntimeError: bug" in caplog.text
    assert "on_error raised" in caplog.text
    live = Live([code_alone()], on_result=_raises)
    live.wrap(lambda question: WRONG)("?")
    assert live.drain(10)
    assert live.counts == {"answers": 1, "scored": 1, "callback_errors": 1}


def test_too_many_waiting_are_dropped_and_counted() -> None:
    release = threading.Event()

    class Slow:
        name = "slow"

        async def score(self, run: Subject) -> Verification:
            await asyncio.to_thread(release.wait, 10)
            result: Verification = await code_alone().score(run)
            return result

    live = Live([Slow()], max_pending=5)
    agent = live.wrap(lambda question: WRONG)
    for _ in range(12):
        agent("?")
    assert (live.pending, live.counts["dropped"]) == (5, 7)
    release.set()
    assert live.drain(10)
    assert adds_up(live.counts)


async def test_cancelling_the_agent_cancels_it() -> None:
    live = Live([code_alone()])

    async def agent(question: str) -> str:
        await asyncio.sleep(60)
        return ""

    task = asyncio.create_task(live.wrap(agent)("?"))
    await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert live.counts == {"agent_errors": 1}


def test_wrong_use_is_refused() -> None:
    for rate in (-0.1, 1.1, float("nan")):
        with pytest.raises(UsageError, match="share from 0 to 1"):
            Live([code_alone()], rate=rate)
    with pytest.raises(UsageError, match="at least one scorer"):
        Live([])
    assert make_run("q", None, id="x").output.state == "missing"
