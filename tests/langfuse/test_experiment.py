"""Experiments through the SDK's runner: what Langfuse shows, what survives each fault."""

import asyncio
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import trace as otel

from ancrage.domain import Answer, Case, Output, OutputState, Usage
from ancrage.errors import UsageError
from ancrage.langfuse.experiment import open_session
from ancrage.langfuse.publish import publish
from ancrage.langfuse.push import push
from ancrage.langfuse.shapes import value_of
from ancrage.runs import RunView, recorded
from tests.langfuse.conftest import Link
from tests.langfuse.worlds import EVALUATORS, case, experiment, resume, snapshot
from tests.servers.langfuse_server import LangfuseServer

NAME = "d"
CASES = 6
SPANS = ("experiment-item-run", "experiment-item-task", "answer")


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
    tracing = await experiment(link(), NAME, tmp_path / "runs", produce=answering)
    receipt = tracing.finish()
    assert receipt.complete, str(receipt)
    assert receipt.sent_items == 0
    tasks = spans(server, "experiment-item-task")
    assert len(tasks) == CASES
    assert all(row["latency"] >= 0.01 for row in tasks)
    assert {row["experiment"]["item.version"] for row in tasks} == {
        receipt.target.version.isoformat().replace("+00:00", "Z")
    }
    generations = spans(server, "answer")
    assert {row["parentObservationId"] for row in generations} == {row["id"] for row in tasks}
    assert generations[0]["usageDetails"] == {"input": 60, "input_cached_tokens": 40, "output": 7}
    assert (generations[0]["model"], generations[0]["costDetails"]) == ("m-2", {"total": 0.5})
    assert len(spans(server, "ancrage")) == CASES
    environments = {row["environment"] for row in server.store.scores.values()}
    assert environments == {"sdk-experiment"}
    outputs = list(tracing.folder.outputs())
    assert {o.details["langfuse"]["trace_id"] for o in outputs} == {row["traceId"] for row in tasks}  # type: ignore[index,call-overload]


async def test_a_published_run_has_the_spans_that_the_sdk_would_have_sent(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    tracing = await experiment(link(), NAME, tmp_path / "runs", produce=answering)
    tracing.finish()
    theirs = {name: spans(server, name) for name in SPANS}
    server.store.observations.clear()
    server.store.scores.clear()
    assert publish(link(), tracing.folder).complete

    def told(row: dict[str, Any]) -> dict[str, Any]:
        read = {key: value_of(value) for key, value in row["experiment"].items()}
        shown = {"input", "output", "model", "usageDetails", "costDetails"}
        same = ("traceId", "name", "type", "level", "environment", "isRootObservation")
        return {**read, **{key: value_of(row[key]) for key in (*same, *shown)}}

    def by_trace(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return sorted((told(row) for row in rows), key=lambda row: str(row["traceId"]))

    for name in SPANS:
        assert by_trace(spans(server, name)) == by_trace(theirs[name]), name


async def test_the_local_record_is_the_same_as_without_langfuse(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    tracing = await experiment(link(), NAME, tmp_path / "runs")
    view = RunView(tracing.folder)
    assert tracing.folder.run.state == "complete"
    assert tracing.folder.run.counts == {"cases": 6, "ok": 6}
    rows = {row.mode.name: (row.scored, row.failing) for row in view.summaries()}
    assert rows == {"wrong": (6, 3), "shy": (4, 4)}


async def test_blocking_work_in_threads_runs_at_once(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    async def blocking(case: Case) -> Output:
        await asyncio.to_thread(time.sleep, 0.3)
        return await recorded(case)

    start = time.monotonic()
    await experiment(link(), NAME, tmp_path / "runs", produce=blocking, concurrency=6)
    assert time.monotonic() - start < 0.3 * CASES


async def test_failures_are_states_and_show_as_errors(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    async def faulty(case: Case) -> Output:
        if case.id == "c0001":
            raise RuntimeError("broken")
        if case.id == "c0002":
            return Output(case_id=case.id, state=OutputState.REFUSED, reason="policy")
        return await recorded(case)

    tracing = await experiment(link(), NAME, tmp_path / "runs", produce=faulty)
    receipt = tracing.finish()
    assert receipt.complete, str(receipt)
    assert tracing.folder.run.counts == {"cases": 6, "failed": 1, "ok": 4, "refused": 1}
    tasks = spans(server, "experiment-item-task")
    assert Counter(row["level"] for row in tasks) == {"DEFAULT": 4, "ERROR": 2}
    assert {row["statusMessage"] for row in tasks if row["statusMessage"]} == {
        "failed: RuntimeError: broken",
        "refused: policy",
    }
    unscored = [row["value"] for row in server.store.scores.values() if row["name"] == "unscored"]
    assert sorted(unscored) == [0, 0, 1, 1, 2, 2]


async def test_an_active_span_does_not_swallow_the_traces(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    with otel.get_tracer("user").start_as_current_span("outer"):
        tracing = await experiment(link(), NAME, tmp_path / "runs")
    assert tracing.finish().complete
    assert len({row["traceId"] for row in spans(server, "experiment-item-task")}) == CASES


async def test_resuming_runs_only_what_failed(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    calls: Counter[str] = Counter()

    async def flaky(case: Case) -> Output:
        calls[case.id] += 1
        if case.id == "c0004" and calls[case.id] == 1:
            raise RuntimeError("once")
        return await recorded(case)

    tracing = await experiment(link(), NAME, tmp_path / "runs", produce=flaky)
    tracing.finish()
    again = await resume(link(), tracing.folder, produce=flaky)
    receipt = again.finish()
    assert receipt.complete, str(receipt)
    assert calls["c0004"] == 2
    assert calls.total() == CASES + 1
    of_run = {
        row["name"]: row["value"]
        for row in server.store.scores.values()
        if row["subject"]["kind"] == "experiment" and row["name"].startswith("cases")
    }
    assert of_run == {"cases": CASES, "cases.ok": CASES}
    assert len(spans(server, "experiment-item-task")) == CASES + 1


async def test_the_same_name_is_refused_before_any_work(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    (await experiment(link(), NAME, tmp_path / "runs")).finish()
    with pytest.raises(UsageError, match="give another --run-name"):
        open_session(link(), NAME).target("essai")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("LANGFUSE_SAMPLE_RATE", "0.5"),
        ("LANGFUSE_SAMPLE_RATE", "half"),
        ("LANGFUSE_TRACING_ENABLED", "false"),
        ("OTEL_SDK_DISABLED", "true"),
    ],
)
def test_what_would_lose_traces_is_refused(
    link: Link, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=name):
        open_session(link(), NAME)


@pytest.mark.parametrize("status", [400, 401, 413, 500])
async def test_spans_refused_in_the_middle_of_a_run_are_repaired_by_publish(
    link: Link, server: LangfuseServer, tmp_path: Path, status: int
) -> None:
    server.fail("/otel", status)
    server.fail("/scores", 503, headers={"Retry-After": "0"})
    tracing = await experiment(link(timeout=1, attempts=1), NAME, tmp_path / "runs")
    assert tracing.folder.run.state == "complete"
    assert len(list(tracing.folder.outputs())) == CASES
    assert tracing.exporter.failed
    assert f"answered {status}" in str(tracing.exporter.error)
    assert server.secret_key not in f"{tracing.warnings} {tracing.exporter.error}"
    receipt = publish(link(attempts=1, deadline=0.1, timeout=1), tracing.folder)
    assert not receipt.complete
    server.faults.answers.clear()
    repaired = publish(link(), tracing.folder)
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

    tracing = await experiment(
        link(timeout=1, attempts=1), NAME, tmp_path / "runs", produce=then_down, concurrency=1
    )
    assert tracing.folder.run.counts == {"cases": 6, "ok": 6}
    server.faults.down = False
    repaired = publish(link(), tracing.folder)
    assert repaired.complete, str(repaired)


async def test_a_slow_server_loses_nothing(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    push(link(), snapshot(tmp_path / "big", [case(n) for n in range(200)]), "big")
    server.faults.slow["/otel"] = 0.3
    server.store.lag = 0.3
    tracing = await experiment(link(), "big", tmp_path / "runs", concurrency=50)
    receipt = tracing.finish()
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
    tracing = await resume(link(), folder, evaluators=EVALUATORS)
    receipt = tracing.finish()
    assert receipt.complete, str(receipt)
    assert folder.run.state == "complete"
