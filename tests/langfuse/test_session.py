"""Runs on a dataset, published as they grow: what Langfuse shows, what survives each fault."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ancrage.domain import MODEL_CALLS, Answer, Case, ModelCall, Output, OutputState, Usage
from ancrage.errors import UsageError
from ancrage.langfuse.publish import publish
from ancrage.langfuse.push import push
from ancrage.langfuse.session import open_session
from ancrage.runs import RunView, recorded
from tests.langfuse.conftest import Link
from tests.langfuse.worlds import EVALUATORS, Wrong, case, experiment, resume, snapshot
from tests.servers.langfuse_server import LangfuseServer

NAME = "d"
CASES = 6


@pytest.fixture(autouse=True)
def _pushed(link: Link, server: LangfuseServer, tmp_path: Path) -> None:
    push(link(), snapshot(tmp_path / "snapshots" / "s", CASES), NAME)


def spans(server: LangfuseServer, name: str) -> list[dict[str, Any]]:
    return [row for row in server.store.observations.values() if row["name"] == name]


async def answering(case: Case) -> Output:
    """A replay that costs something."""
    await asyncio.sleep(0.01)
    usage = Usage(calls=1, input_tokens=100, cached_tokens=40, output_tokens=7, cost=0.5)
    return Output(
        case_id=case.id,
        state=OutputState.OK,
        answer=Answer(text=f"Neuf {case.id}"),
        usage=usage,
        details={"model": "m-2"},
    )


async def test_an_experiment_is_what_langfuse_expects(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    follower = await experiment(link(), NAME, tmp_path / "runs", produce=answering)
    receipt = follower.finish()
    assert receipt.complete, str(receipt)
    assert receipt.sent_items == 0  # All of it was sent as it came.
    tasks = spans(server, "experiment-item-task")
    assert len(tasks) == CASES
    assert {row["experiment"]["item.version"] for row in tasks} == {
        receipt.target.version.isoformat().replace("+00:00", "Z")
    }
    assert {row["output"] for row in tasks} == {f"Neuf c{n:04d}" for n in range(CASES)}
    assert all(row["input"].startswith('{"question":"Que disent-ils') for row in tasks)
    generations = spans(server, "answer (production's latency and cost)")
    assert {row["parentObservationId"] for row in generations} == {row["id"] for row in tasks}
    assert generations[0]["usageDetails"] == {"input": 60, "input_cached_tokens": 40, "output": 7}
    assert (generations[0]["model"], generations[0]["costDetails"]) == ("m-2", {"total": 0.5})
    environments = {row["environment"] for row in server.store.scores.values()}
    assert environments == {"sdk-experiment"}


async def test_calls_of_models_and_tools_are_nested(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    async def replaying(case: Case) -> Output:
        call = ModelCall(
            model="m-3",
            parameters={"temperature": 0.5},
            usage=Usage(calls=1, input_tokens=10, output_tokens=2, cost=0.1),
        )
        tool = case.input.tool_calls[0].model_copy(update={"error": "out of order"})
        return Output(
            case_id=case.id,
            state=OutputState.OK,
            answer=Answer(text="4"),
            tool_calls=(tool,),
            details={MODEL_CALLS: [call.model_dump(mode="json")] * 2},
        )

    follower = await experiment(link(), NAME, tmp_path / "runs", produce=replaying)
    assert follower.finish().complete
    (task, *_) = spans(server, "experiment-item-task")
    # A bare "4" would be read as a number.
    assert task["output"] == '{"answer":"4"}'
    inner = [
        row
        for row in server.store.observations.values()
        if row["parentObservationId"] == task["id"]
    ]
    assert sorted((row["type"], row["name"]) for row in inner) == [
        ("GENERATION", "call"),
        ("GENERATION", "call"),
        ("TOOL", "search"),
    ]
    assert {row["model"] for row in inner} == {"m-3", None}
    assert {row["level"] for row in inner} == {"DEFAULT", "WARNING"}


async def test_the_local_record_is_the_same_as_without_langfuse(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    follower = await experiment(link(), NAME, tmp_path / "runs")
    view = RunView(follower.folder)
    assert follower.folder.run.state == "complete"
    assert follower.folder.run.counts == {"cases": 6, "ok": 6}
    rows = {row.mode.name: (row.scored, row.failing) for row in view.summaries()}
    assert rows == {"wrong": (6, 3), "shy": (4, 4)}


async def test_failures_are_states_and_show_as_errors(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    async def faulty(case: Case) -> Output:
        if case.id == "c0001":
            raise RuntimeError("broken")
        if case.id == "c0002":
            return Output(case_id=case.id, state=OutputState.REFUSED, reason="policy")
        return await recorded(case)

    follower = await experiment(link(), NAME, tmp_path / "runs", produce=faulty)
    receipt = follower.finish()
    assert receipt.complete, str(receipt)
    assert follower.folder.run.counts == {"cases": 6, "failed": 1, "ok": 4, "refused": 1}
    tasks = spans(server, "experiment-item-task")
    assert Counter(row["level"] for row in tasks) == {"DEFAULT": 4, "ERROR": 2}
    assert {row["statusMessage"] for row in tasks if row["statusMessage"]} == {
        "failed: RuntimeError: broken",
        "refused: policy",
    }
    levels = Counter(row["level"] for row in server.store.observations.values())
    assert levels["ERROR"] == 2  # One error a failure, not two.


async def test_resuming_runs_only_what_failed(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    calls: Counter[str] = Counter()

    async def flaky(case: Case) -> Output:
        calls[case.id] += 1
        if case.id == "c0004" and calls[case.id] == 1:
            raise RuntimeError("once")
        return await recorded(case)

    follower = await experiment(link(), NAME, tmp_path / "runs", produce=flaky)
    follower.finish()
    again = await resume(link(), follower.folder, produce=flaky)
    receipt = again.finish()
    assert receipt.complete, str(receipt)
    assert calls["c0004"] == 2
    assert calls.total() == CASES + 1
    of_run = {
        row["name"]: row["value"]
        for row in server.store.scores.values()
        if row["subject"]["kind"] == "experiment" and row["name"].startswith("cases")
    }
    assert {name: value for name, value in of_run.items() if value} == {
        "cases": CASES,
        "cases.ok": CASES,
    }
    assert len(spans(server, "experiment-item-task")) == CASES


async def test_the_same_name_is_refused_before_any_work(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    (await experiment(link(), NAME, tmp_path / "runs")).finish()
    with pytest.raises(UsageError, match="give another --run-name"):
        open_session(link(), NAME).details("essai")


@pytest.mark.parametrize("status", [400, 401, 413, 500])
async def test_spans_refused_in_the_middle_of_a_run_are_repaired_by_publish(
    link: Link, server: LangfuseServer, tmp_path: Path, status: int
) -> None:
    server.fail("/otel", status)
    server.fail("/scores", 503, headers={"Retry-After": "0"})
    follower = await experiment(link(timeout=1, attempts=1), NAME, tmp_path / "runs")
    assert follower.folder.run.state == "complete"
    assert len(list(follower.folder.outputs())) == CASES
    receipt = publish(link(attempts=1, deadline=0.1, timeout=1), follower.folder)
    assert not receipt.complete
    server.faults.answers.clear()
    repaired = publish(link(), follower.folder)
    assert repaired.complete, str(repaired)
    assert len(spans(server, "experiment-item-task")) == CASES


async def test_langfuse_going_down_in_the_middle_does_not_stop_the_run(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    seen: list[str] = []

    async def then_down(case: Case) -> Output:
        seen.append(case.id)
        server.faults.down = len(seen) >= 3
        return await recorded(case)

    follower = await experiment(
        link(timeout=1, attempts=1), NAME, tmp_path / "runs", produce=then_down, concurrency=1
    )
    assert follower.folder.run.counts == {"cases": 6, "ok": 6}
    server.faults.down = False
    repaired = publish(link(), follower.folder)
    assert repaired.complete, str(repaired)


async def test_a_slow_server_loses_nothing(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    push(link(), snapshot(tmp_path / "big", [case(n) for n in range(200)]), "big")
    server.faults.slow["/otel"] = 0.3
    server.store.lag = 0.3
    follower = await experiment(link(), "big", tmp_path / "runs", concurrency=50)
    receipt = follower.finish()
    assert receipt.complete, str(receipt)
    assert receipt.sent_items == 0
    assert receipt.items_seen == 200


async def test_an_interrupted_run_keeps_what_was_done_and_goes_on(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    done: list[str] = []

    async def slow(case: Case) -> Output:
        if len(done) >= 2:
            await asyncio.sleep(60)
        done.append(case.id)
        return await recorded(case)

    running = asyncio.create_task(
        experiment(link(), NAME, tmp_path / "runs", produce=slow, concurrency=1)
    )
    while len(done) < 2:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    from ancrage.runs import find_run

    folder = find_run("essai", tmp_path / "runs")
    assert folder.run.state == "incomplete"
    assert len(list(folder.outputs())) == 2
    follower = await resume(link(), folder, evaluators=EVALUATORS)
    receipt = follower.finish()
    assert receipt.complete, str(receipt)
    assert folder.run.state == "complete"


async def test_failing_answers_alone_are_sent_as_the_run_grows(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    follower = await experiment(
        link(), NAME, tmp_path / "runs", evaluators=[Wrong()], only="failing"
    )
    receipt = follower.finish()
    assert receipt.complete, str(receipt)
    assert (receipt.items_seen, receipt.cases, receipt.sent_items) == (3, CASES, 0)
    assert len(spans(server, "experiment-item-task")) == 3
