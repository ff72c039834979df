"""Scoring leaves the event loop to the assistant."""

import time
from pathlib import Path

from ancrage.domain import Case, Evaluation
from ancrage.evaluator import Subject
from ancrage.llm import LLM, Tier
from ancrage.replay import Settings, make_plan
from ancrage.replay.session import Session, run_session, start
from ancrage.runs import find_run
from ancrage.snapshot import Snapshot
from tests.replay import assistants
from tests.replay.actors import actor
from tests.servers.openai_server import OpenAIServer


async def test_scoring_does_not_count_as_the_models_latency(
    workplace: Path, data: Snapshot, cases: list[Case]
) -> None:
    class Slow:
        name, version, modes = "slow", "1", ()

        async def evaluate(self, subject: Subject) -> Evaluation:
            time.sleep(0.4)  # noqa: ASYNC251 - a check that computes
            return Evaluation(evaluator="slow", version="1", scores=())

    with OpenAIServer(actor(cases), latency=0.05) as server:
        tier = Tier(model="m", endpoint=server.url)
        settings = Settings(tier="t", model="m", endpoint=server.url, api="chat")
        plan, tiers = make_plan(data.cases(), assistants.agent, tier, settings)
        session = Session(data, assistants.agent, settings, tier, plan, tiers)
        async with LLM({}) as llm:
            (run_,) = await run_session(session, start(session, name="r"), [Slow()], llm)
    assert run_.counts["ok"] == 12
    took = [o.usage.latency / 2 for o in find_run("r").outputs() if o.usage and o.usage.latency]
    assert len(took) == 12
    assert sorted(took)[6] < 0.3
