"""Publish: a local run is there once, whole, seen; and every fault is repaired by the next call."""

import asyncio
import time
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from ancrage.calibration.annotations import queue_answers
from ancrage.domain import FailureMode, OutputState
from ancrage.errors import ExitCode, UsageError
from ancrage.langfuse.configs import make_queue
from ancrage.langfuse.connection import LangfuseError
from ancrage.langfuse.delivery import Sender
from ancrage.langfuse.publish import publish
from ancrage.langfuse.push import push
from ancrage.langfuse.receipt import Receipt, load_receipt, write_receipt
from ancrage.langfuse.scores import ScoreBody
from ancrage.langfuse.target import TracePlace
from ancrage.runs import (
    RunFolder,
    RunView,
    create_run,
    recorded,
    run_experiment,
    score_run,
)
from ancrage.studies import Studies
from tests.langfuse.conftest import Link
from tests.langfuse.worlds import MISSING, TIME, Shy, Wrong, audit, case, snapshot
from tests.servers.langfuse_server import LangfuseServer

NAME = "études/démo"
CASES = 6
SCORES = 3 * 6
"""wrong, shy and anchored for all; then the run: per mode three, cases by state, what was read."""
RUN_SCORES = 3 + 3 + 1 + len(OutputState) + 9


@pytest.fixture
async def run(link: Link, tmp_path: Path) -> RunFolder:
    data = snapshot(tmp_path / "snapshots" / "s", CASES)
    push(link(), data, NAME)
    return await audit(data, tmp_path / "runs")


def whole(receipt: Receipt) -> None:
    assert receipt.complete, str(receipt)
    assert (receipt.items, receipt.items_seen) == (CASES, CASES)
    assert receipt.scores == receipt.scores_seen == SCORES + RUN_SCORES


def writes(server: LangfuseServer) -> int:
    return server.count("POST", "/otel") + server.count("POST", "/scores")


def roots(server: LangfuseServer) -> list[dict[str, Any]]:
    return [
        row for row in server.store.observations.values() if row["name"] == "experiment-item-task"
    ]


def scores(server: LangfuseServer, name: str) -> list[float | str]:
    """The values of a score, numbers first."""
    found = [row["value"] for row in server.store.scores.values() if row["name"] == name]
    return sorted(found, key=lambda value: (isinstance(value, str), value))


def comments(server: LangfuseServer, name: str) -> set[str | None]:
    return {row["comment"] for row in server.store.scores.values() if row["name"] == name}


async def test_a_local_run_is_an_experiment_with_its_scores(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    receipt = publish(link(), run, NAME)
    whole(receipt)
    assert load_receipt(run) == receipt
    assert len(roots(server)) == CASES
    assert scores(server, "wrong") == [0, 0, 0, 1, 1, 1]
    assert scores(server, "shy") == [0.25] * 4 + ["unscored"] * 2
    assert scores(server, "anchored") == [0, 0, 0, 1, 1, 1]
    assert scores(server, "wrong.rate") == [0.5]
    assert scores(server, "shy.coverage") == [pytest.approx(4 / 6)]
    assert scores(server, "cases") == [6]
    assert comments(server, "wrong") == {None, "« FAUX »: says « FAUX » <b>here</b>"}
    assert comments(server, "shy") == {None, "cannot tell", "shy raised RuntimeError: out of order"}
    assert comments(server, "anchored") == {None, "wrong"}
    assert f"baseline={receipt.target.experiment_id}" in str(receipt)


async def test_publishing_again_sends_nothing(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    publish(link(), run, NAME)
    before = writes(server)
    again = publish(link(), run)
    whole(again)
    assert (again.sent_items, again.sent_scores) == (0, 0)
    assert writes(server) == before


async def test_sending_twice_within_the_lag_makes_no_duplicate(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.store.lag = 1.0
    first = publish(link(deadline=0.0), run, NAME)
    assert not first.complete
    assert len(first.missing.items) == CASES
    whole(publish(link(), run))
    assert len(roots(server)) == CASES
    assert len(server.store.scores) == SCORES + RUN_SCORES


async def test_a_new_scoring_replaces_the_scores(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    publish(link(), run, NAME)

    class Silent(Wrong):
        version = "2"

        async def evaluate(self, subject: Any) -> Any:
            if subject.case.id == "c0001":
                raise RuntimeError("no more")
            return await Wrong.evaluate(self, subject)

    await score_run(run, [Silent(), Shy()], Studies(run.snapshot()))
    receipt = publish(link(), run)
    assert receipt.complete, str(receipt)
    assert scores(server, "wrong") == [0, 0, 0, 1, 1, "unscored"]
    assert scores(server, "wrong.coverage") == [pytest.approx(5 / 6)]
    assert len(roots(server)) == CASES


async def test_a_mode_that_cannot_be_scored_any_more_keeps_no_older_score(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    publish(link(), run, NAME)

    class Broken(Wrong):
        version = "3"

        async def evaluate(self, subject: Any) -> Any:
            raise RuntimeError("gone")

    await score_run(run, [Broken(), Shy()], Studies(run.snapshot()))
    receipt = publish(link(), run)
    assert receipt.complete, str(receipt)
    assert scores(server, "wrong") == ["unscored"] * CASES
    assert scores(server, "wrong.rate") == ["unscored"]
    assert server.store.deletions == []
    assert scores(server, "wrong.coverage") == [0]


async def test_new_evidence_replaces_the_old_where_the_value_is_the_same(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    publish(link(), run, NAME)

    class Wordy(Wrong):
        version = "2"

        async def evaluate(self, subject: Any) -> Any:
            found = await Wrong.evaluate(self, subject)
            findings = [f.model_copy(update={"explanation": "said anew"}) for f in found.findings]
            return found.model_copy(update={"version": "2", "findings": tuple(findings)})

    await score_run(run, [Wordy(), Shy()], Studies(run.snapshot()))
    receipt = publish(link(), run)
    assert receipt.complete, str(receipt)
    # Each score of the mode, each record, and the record of the run.
    assert receipt.sent_scores == 3 * CASES + 1
    rows = [row for row in server.store.scores.values() if row["name"] == "wrong"]
    assert {row["comment"] for row in rows} == {None, "« FAUX »: said anew"}
    assert {row["metadata"]["version"] for row in rows} == {"2"}
    assert publish(link(), run).sent_scores == 0


async def test_a_dataset_deleted_and_pushed_again_takes_the_run_again(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    first = publish(link(), run, NAME)
    store = server.store
    for held in (store.datasets, store.items, store.observations, store.scores):
        held.clear()
    push(link(), run.snapshot(), NAME)
    again = publish(link(), run)
    whole(again)
    assert again.target.dataset_id != first.target.dataset_id
    assert publish(link(), run).sent_items == 0


async def test_refused_scores_are_named_and_not_waited_for(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.faults.reject_scores["shy"] = 1_000
    start = time.monotonic()
    receipt = publish(link(deadline=30.0), run, NAME)
    assert time.monotonic() - start < 15
    assert not receipt.complete
    assert f"shy on {NAME}:c0000" in receipt.rejected
    assert sorted(receipt.rejected) == sorted(receipt.missing.scores)


async def test_failed_outputs_show_as_errors_and_stay_in_every_count(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    data = snapshot(tmp_path / "s", [case(0), case(1, **MISSING), case(2)])
    push(link(), data, NAME)
    run = await audit(data, tmp_path / "runs")
    receipt = publish(link(), run, NAME)
    assert receipt.complete, str(receipt)
    assert sorted(row["level"] for row in roots(server)) == ["DEFAULT", "DEFAULT", "ERROR"]
    assert scores(server, "wrong") == [0, 0, "unscored"]
    assert scores(server, "wrong.coverage") == [pytest.approx(2 / 3)]
    assert scores(server, "cases.missing") == [1]
    assert scores(server, "anchored") == [1, 1, "unscored"]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/otel", 400),
        ("/otel", 413),
        ("/otel", 500),
        ("/scores", 401),
        ("/scores", 404),
        ("/scores", 500),
        ("/scores", 503),
        ("/scores", 429),
    ],
)
async def test_faults_are_told_and_repaired(
    link: Link, server: LangfuseServer, run: RunFolder, path: str, status: int
) -> None:
    server.fail(path, status, headers={"Retry-After": "0"})
    receipt = publish(link(attempts=2, deadline=0.2, timeout=1), run, NAME)
    assert not receipt.complete
    assert "ancrage publish" in str(receipt)
    if path == "/otel":
        assert len(receipt.missing.items) == CASES
    else:
        assert len(receipt.missing.scores) == SCORES + RUN_SCORES
    assert receipt.stopped is not None
    assert f"answered {status}" in receipt.stopped
    assert server.secret_key not in (run.path / "langfuse.json").read_text(encoding="utf-8")
    server.faults.answers.clear()
    whole(publish(link(), run))


@pytest.mark.parametrize("status", [413, 429, 500, 503])
async def test_spans_refused_for_a_moment_are_sent_again(
    link: Link, server: LangfuseServer, run: RunFolder, status: int
) -> None:
    server.fail("/otel", status, times=2, headers={"Retry-After": "0"})
    receipt = publish(link(deadline=0.5), run, NAME)
    whole(receipt)
    assert [s for verb, path, s in server.requests if path.startswith("/otel")].count(status) == 2


async def test_a_rate_limit_on_spans_is_waited_out_beyond_the_timeout(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.fail("/otel", 429, times=1, headers={"Retry-After": "1"})
    whole(publish(link(timeout=0.5), run, NAME))


@pytest.mark.parametrize("path", ["/otel", "/scores"])
async def test_answers_slower_than_the_timeout_are_told_and_repaired(
    link: Link, server: LangfuseServer, run: RunFolder, path: str
) -> None:
    server.faults.slow[path] = 0.8
    receipt = publish(link(attempts=1, deadline=0.1, timeout=0.4), run, NAME)
    assert receipt.items == CASES
    server.faults.slow.clear()
    whole(publish(link(), run))
    assert len(roots(server)) == CASES
    assert len(server.store.scores) == SCORES + RUN_SCORES


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_score_that_is_no_number_cannot_even_be_built(value: float) -> None:
    with pytest.raises(ValidationError):
        ScoreBody(id="i", trace_id="t", name="n", value=value, timestamp=TIME)


async def test_scores_too_large_for_one_request_are_split(
    link: Link, server: LangfuseServer
) -> None:
    big = [
        ScoreBody(id=f"i{n}", trace_id="t", name="n", value=n, comment="é" * 60_000, timestamp=TIME)
        for n in range(20)
    ]
    impossible = big[0].model_copy(update={"id": "huge", "comment": "é" * 600_000})
    sender = Sender(link())
    sender.scores([*big, impossible])
    delivery = sender.delivery
    assert delivery.accepted == 20
    assert list(delivery.rejected) == ["huge"]
    assert server.count("POST", "/scores") < 20


async def test_rejects_inside_a_207_are_sent_again_and_then_told(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.faults.reject_scores["wrong"] = 2
    whole(publish(link(), run, NAME))
    server.store.scores.clear()
    server.faults.reject_scores["shy"] = 1_000
    receipt = publish(link(deadline=0.2), run)
    assert not receipt.complete
    assert len(receipt.rejected) == 6
    assert set(receipt.rejected.values()) == {"shy: rejected"}
    assert len(receipt.missing.scores) == 6
    server.faults.reject_scores.clear()
    again = publish(link(), run)
    whole(again)
    assert again.sent_scores == 6


async def test_an_older_server_gets_scores_one_by_one(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.version = "4.16.0"
    whole(publish(link(), run, NAME))
    assert server.count("POST", "/scores") == SCORES + RUN_SCORES


async def test_a_server_that_refuses_lists_whatever_its_version_says(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    connection = link()
    assert not connection.server.single_scores
    server.version = "4.16.0"
    whole(publish(connection, run, NAME))


async def test_lost_spans_are_seen_as_missing(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.faults.lose_spans = True
    receipt = publish(link(deadline=0.2), run, NAME)
    assert len(receipt.missing.items) == CASES
    assert "items absent" in str(receipt)
    server.faults.lose_spans = False
    whole(publish(link(), run))


async def test_langfuse_down_is_one_line_and_the_record_is_whole(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.faults.down = True
    with pytest.raises(LangfuseError, match="cannot be reached") as failure:
        publish(link(attempts=1), run, NAME)
    assert failure.value.exit_code == ExitCode.INCOMPLETE
    assert len(list(RunView(run).items())) == CASES
    server.faults.down = False
    whole(publish(link(), run, NAME))


async def test_the_dataset_must_be_known_and_hold_the_cases(
    link: Link, server: LangfuseServer, run: RunFolder, tmp_path: Path
) -> None:
    with pytest.raises(UsageError, match="--dataset"):
        publish(link(), run)
    with pytest.raises(UsageError, match="ancrage push"):
        publish(link(), run, "none")
    push(link(), snapshot(tmp_path / "other", 2), "small")
    with pytest.raises(UsageError, match=r"lacks 4 cases of the run \(c0002"):
        publish(link(), run, "small")
    whole(publish(link(dataset=NAME), run))


async def test_another_run_of_the_same_name_is_not_mixed_with(
    link: Link, server: LangfuseServer, run: RunFolder, tmp_path: Path
) -> None:
    data = run.snapshot()
    mine = await audit(data, tmp_path / "runs", "baseline")
    theirs = await audit(data, tmp_path / "colleague", "baseline")
    whole(publish(link(), mine, NAME))
    with pytest.raises(UsageError, match="another run named 'baseline'"):
        publish(link(), theirs, NAME)
    assert len(roots(server)) == CASES


async def test_a_new_version_of_the_dataset_does_not_move_a_published_run(
    link: Link, server: LangfuseServer, run: RunFolder, tmp_path: Path
) -> None:
    first = publish(link(), run, NAME)
    push(link(), snapshot(tmp_path / "b", [case(n, f"Autre {n}.") for n in range(CASES)]), NAME)
    again = publish(link(), run)
    whole(again)
    assert again.target.version == first.target.version
    assert again.sent_items == 0


async def test_the_address_opens_the_comparison_and_what_fails_the_worst_mode(
    link: Link, server: LangfuseServer, run: RunFolder, tmp_path: Path
) -> None:
    first = publish(link(), run, NAME)
    later = await audit(run.snapshot(), tmp_path / "runs", "later")
    receipt = publish(link(), later, NAME)
    assert receipt.url.endswith(
        f"?baseline={first.target.experiment_id}&c={receipt.target.experiment_id}"
    )
    # Four answers have a score of shy, three of wrong.
    assert receipt.worst == "shy"
    assert str(receipt.failing_url).endswith(
        "&filter=obs_scores_avg%3BnumberObject%3Bshy%3B%3E%3B0"
    )
    assert str(receipt.failing_url) in str(receipt)


async def test_a_new_address_of_the_server_is_used_and_the_old_one_told(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    old = publish(link(), run, NAME)
    stored = old.model_copy(
        update={"target": old.target.model_copy(update={"base_url": "http://old.example"})}
    )
    write_receipt(run, stored)
    receipt = publish(link(), run)
    whole(receipt)
    assert (receipt.sent_items, receipt.sent_scores) == (0, 0)
    assert receipt.url.startswith(server.url)
    assert "before at http://old.example/project" in str(receipt)


async def test_failing_answers_alone_with_the_scores_of_the_whole_run(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    data = snapshot(tmp_path / "s", [case(0), case(1), case(3), case(4, **MISSING)])
    push(link(), data, NAME)
    run = await audit(data, tmp_path / "runs", evaluators=[Wrong()])
    receipt = publish(link(), run, NAME, only="failing")
    assert receipt.complete, str(receipt)
    assert "3 items (of 4 cases)" in str(receipt)
    assert len(roots(server)) == 3
    assert scores(server, "cases") == [4]
    assert scores(server, "wrong.rate") == [pytest.approx(2 / 3)]
    assert publish(link(), run, only="failing").sent_scores == 0
    everything = publish(link(), run)
    assert everything.complete
    assert everything.sent_items == 1


async def test_a_run_is_published_while_it_grows(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    data = snapshot(tmp_path / "s", CASES)
    push(link(), data, NAME)
    folder = create_run(data, kind="audit", root=tmp_path / "runs")
    seen: list[Receipt] = []

    async def produce(case: Any) -> Any:
        if case.id == "c0003":
            seen.append(await asyncio.to_thread(publish, link(), folder, NAME))
        return await recorded(case)

    await run_experiment(folder, data.cases(), produce, [Wrong(), Shy()], Studies(data))
    assert seen[0].complete, str(seen[0])
    assert seen[0].items_seen == 3
    whole(publish(link(), folder))
    assert len(roots(server)) == CASES


async def test_columns_explain_themselves_where_the_keys_allow_it(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    server.faults.refuse_configs = True
    whole(publish(link(), run, NAME))
    assert not server.store.configs
    server.faults.refuse_configs = False
    server.store.scores.clear()
    whole(publish(link(), run))
    made = {row["name"]: row for row in server.store.configs.values()}
    assert set(made) == {"wrong", "shy", "anchored"}
    assert made["wrong"]["description"] == "Wrong: Says FAUX."
    assert made["wrong"]["minValue"] == 0
    used = {row["configId"] for row in server.store.scores.values() if row["name"] == "wrong"}
    assert used == {made["wrong"]["id"]}
    publish(link(), run)
    assert len(server.store.configs) == 3


async def test_an_annotation_queue_holds_the_answers_once(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    publish(link(), run, NAME)
    view = RunView(run)
    places = [TracePlace(trace_id="t", observation_id=f"o{n}") for n in range(3)]
    assert make_queue(link(), "à relire", view.modes, places[:2]) == 2
    assert make_queue(link(), "à relire", view.modes, places) == 1
    (queue,) = server.store.queues.values()
    assert len(queue["scoreConfigIds"]) == 2
    held = server.store.queue_items[queue["id"]]
    assert {row["objectType"] for row in held} == {"OBSERVATION"}
    assert sorted(row["objectId"] for row in held) == ["o0", "o1", "o2"]


async def test_a_mode_that_is_no_longer_looked_for_is_unscored_not_deleted(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    publish(link(), run, NAME)

    class Renamed(Wrong):
        version = "2"
        modes = (FailureMode(name="false", title="False", definition="Says FAUX."),)

        async def evaluate(self, subject: Any) -> Any:
            raise RuntimeError("nothing to say")

    await score_run(run, [Renamed(), Shy()], Studies(run.snapshot()))
    receipt = publish(link(), run)
    assert receipt.complete, str(receipt)
    assert scores(server, "wrong") == ["unscored"] * CASES
    assert comments(server, "wrong") == {"wrong is no longer looked for"}
    assert server.store.deletions == []
    assert publish(link(), run).sent_scores == 0


async def test_answers_to_label_go_to_a_queue_once_the_run_is_there(
    link: Link, server: LangfuseServer, run: RunFolder
) -> None:
    modes, outputs = RunView(run).modes, list(run.outputs())[:2]
    with pytest.raises(UsageError, match="publish it first"):
        queue_answers(run, "à relire", modes, outputs)
    publish(link(), run, NAME)
    assert queue_answers(run, "à relire", modes, outputs) == 2
    tasks = {row["id"] for row in roots(server)}
    (held,) = server.store.queue_items.values()
    assert {row["objectId"] for row in held} <= tasks
