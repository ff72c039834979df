"""Production traces are scored in place, once, whatever happens on the way."""

import time
from datetime import timedelta
from pathlib import Path

import pytest

from ancrage.langfuse.traces import score_traces
from ancrage.runs import RunFolder
from tests.langfuse.conftest import Link
from tests.langfuse.worlds import MISSING, audit, case, snapshot
from tests.servers.langfuse_server import LangfuseServer


@pytest.fixture
async def run(tmp_path: Path) -> RunFolder:
    production = [case(n, metadata={"environment": "prod-eu"}) for n in range(6)]
    orphan = case(9, provenance={"source": "file"})
    return await audit(snapshot(tmp_path / "s", [*production, orphan]), tmp_path / "runs")


async def test_each_trace_has_one_score_a_mode(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    receipt = score_traces(link(), run)
    assert receipt.complete
    assert (receipt.cases, receipt.traces, receipt.scores, receipt.sent) == (7, 6, 18, 18)
    rows = list(server.store.scores.values())
    assert {row["subject"]["kind"] for row in rows} == {"trace"}
    assert {row["environment"] for row in rows} == {"prod-eu"}
    assert sorted(row["value"] for row in rows if row["name"] == "wrong") == [0, 0, 0, 1, 1, 1]
    again = score_traces(link(), run)
    assert (again.sent, again.seen) == (0, 18)


async def test_another_run_over_the_same_traces_replaces_the_scores(
    link: Link, server: LangfuseServer, run: RunFolder, tmp_path: Path
) -> None:
    score_traces(link(), run)
    better = [case(n, f"Juste {n}.") for n in range(6)]
    later = await audit(snapshot(tmp_path / "t", better), tmp_path / "runs", "later")
    assert score_traces(link(), later).complete
    values = [row["value"] for row in server.store.scores.values() if row["name"] == "wrong"]
    assert values == [0] * 6


async def test_a_mode_that_is_unscored_now_keeps_no_older_score(
    link: Link, server: LangfuseServer, run: RunFolder, tmp_path: Path
) -> None:
    score_traces(link(), run)
    silent = [case(n, **MISSING) for n in range(6)]
    later = await audit(snapshot(tmp_path / "t", silent), tmp_path / "runs", "later")
    assert score_traces(link(), later).complete
    assert {row["value"] for row in server.store.scores.values()} == {"unscored"}
    assert server.store.deletions == []


async def test_traces_whose_time_is_unknown_are_not_scored_twice(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    origin = {"source": "sql", "trace_id": "a" * 32}
    data = snapshot(tmp_path / "s", [case(1, provenance=origin)])
    score_traces(link(), await audit(data, tmp_path / "runs", "first"))
    later = await audit(data, tmp_path / "runs", "second")
    later.save(later.run.model_copy(update={"created": later.run.created + timedelta(days=3)}))
    silent = snapshot(tmp_path / "t", [case(1, "Juste.", provenance=origin)])
    third = await audit(silent, tmp_path / "runs", "third")
    third.save(third.run.model_copy(update={"created": third.run.created + timedelta(days=5)}))
    assert score_traces(link(), later).sent == 0
    assert score_traces(link(), third).complete
    assert sorted(row["name"] for row in server.store.scores.values()) == [
        "anchored",
        "shy",
        "wrong",
    ]


async def test_refused_scores_are_named_and_not_waited_for(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.faults.reject_scores["shy"] = 1_000
    start = time.monotonic()
    receipt = score_traces(link(deadline=30.0), run)
    assert time.monotonic() - start < 15
    assert not receipt.complete
    assert receipt.seen == receipt.scores - 6
    assert f"shy on trace {0:032x}" in receipt.rejected


@pytest.mark.parametrize("status", [401, 503])
async def test_what_was_not_taken_is_sent_by_the_next_call(
    link: Link, server: LangfuseServer, run: RunFolder, status: int
) -> None:
    server.fail("/scores", status)
    receipt = score_traces(link(attempts=1), run)
    assert not receipt.complete
    assert str(status) in str(receipt.stopped)
    server.faults.answers.clear()
    assert score_traces(link(), run).complete
