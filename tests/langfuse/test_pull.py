"""Runs come back from Langfuse as they were published, and those of other tools as they are."""

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from langfuse import Evaluation, Langfuse

from ancrage.domain import OutputState
from ancrage.errors import ExitCode, UsageError
from ancrage.files import built_aside
from ancrage.langfuse.connection import LangfuseError
from ancrage.langfuse.publish import publish
from ancrage.langfuse.pull import pull
from ancrage.langfuse.push import push
from ancrage.runs import RunFolder, RunView, find_run, score_run
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies
from tests.langfuse.conftest import Link
from tests.langfuse.worlds import MISSING, Shy, Wrong, audit, case, experiment, snapshot
from tests.servers.langfuse_server import LangfuseServer

NAME = "études/démo"
CASES = 6


@pytest.fixture(params=["4.16.0", "4.59.0"])
def profile(request: pytest.FixtureRequest, server: LangfuseServer) -> LangfuseServer:
    """The server as an older and as a present one."""
    server.version = request.param
    return server


@pytest.fixture
def _pushed(link: Link, tmp_path: Path) -> None:
    cases = [case(n) for n in range(CASES - 1)] + [case(CASES - 1, **MISSING)]
    push(link(), snapshot(tmp_path / "snapshots" / "s", cases), NAME)


async def audited(tmp_path: Path, name: str = "mine") -> RunFolder:
    return await audit(open_snapshot(tmp_path / "snapshots" / "s"), tmp_path / "runs", name)


def told(folder: RunFolder) -> dict[str, Any]:
    """All that a run's record says, but for where its snapshot lies and where it was sent."""
    view = RunView(folder)
    run = folder.run.model_dump(exclude={"details": {"langfuse"}, "snapshot": {"path"}})
    return {
        "run": run,
        "evaluators": [
            (info, home.scoring.created, home.scoring.state)
            for info, home in view.evaluators.values()
        ],
        "items": [(item.output, item.evaluations, item.anchors) for item in view.items()],
        "summaries": view.summaries(),
    }


@pytest.mark.usefixtures("_pushed")
async def test_a_pulled_run_is_the_run_and_publishing_it_again_writes_nothing(
    link: Link, profile: LangfuseServer, tmp_path: Path
) -> None:
    original = await audited(tmp_path)
    await score_run(original, [Shy()], Studies(original.snapshot()))
    receipt = publish(link(), original, NAME)
    assert receipt.complete, str(receipt)
    pulled = pull(link(), "mine", NAME, tmp_path / "colleague")
    copy = find_run(pulled.run_id, tmp_path / "colleague")
    assert (pulled.items, pulled.left_out, pulled.lacking) == (CASES, {}, 0)
    assert told(copy) == told(original)
    writes = profile.count("POST", "/")
    for folder in (copy, original):
        again = publish(link(), folder)
        assert again.complete, str(again)
        assert (again.sent_items, again.sent_scores) == (0, 0)
    assert profile.count("POST", "/") == writes
    with pytest.raises(UsageError, match="exists already"):
        pull(link(), receipt.target.experiment_id, root=tmp_path / "colleague")


@pytest.mark.usefixtures("_pushed")
async def test_a_poorer_record_never_overwrites_a_richer_one(
    link: Link, profile: LangfuseServer, tmp_path: Path
) -> None:
    original = await audited(tmp_path)
    publish(link(), original, NAME)
    pull(link(), "mine", NAME, tmp_path / "colleague")
    copy = find_run("mine", tmp_path / "colleague")
    await score_run(original, [Wrong(), Shy()], Studies(original.snapshot()))
    assert publish(link(), original).complete
    before = dict(profile.store.scores)
    with pytest.raises(UsageError, match=r"holds more of this run.*--force"):
        publish(link(), copy)
    assert profile.store.scores == before
    assert publish(link(), copy, force=True).complete


@pytest.mark.usefixtures("_pushed")
async def test_rescoring_and_back_loses_nothing_to_queued_deletions(
    link: Link, profile: LangfuseServer, tmp_path: Path
) -> None:
    class Broken(Wrong):
        version = "2"

        async def evaluate(self, subject: Any) -> Any:
            raise RuntimeError("gone")

    original = await audited(tmp_path)
    publish(link(), original, NAME)
    for evaluator in (Broken(), Wrong()):
        await score_run(original, [evaluator, Shy()], Studies(original.snapshot()))
        assert publish(link(), original).complete
    profile.store.work_off_deletions()
    assert publish(link(), original).sent_scores == 0
    values = [row["value"] for row in profile.store.scores.values() if row["name"] == "wrong"]
    assert sorted(map(str, values)) == ["0.0", "0.0", "0.0", "1.0", "1.0", "unscored"]


@pytest.mark.usefixtures("_pushed")
async def test_pages_that_repeat_end_a_pull_with_exit_3(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    publish(link(), await audited(tmp_path), NAME)
    for path in ("/experiment-items", "/v3/scores"):
        server.faults.stuck_cursors = {path}
        with pytest.raises(LangfuseError, match="repeats a page") as failure:
            pull(link(), "mine", root=tmp_path / "colleague")
        assert failure.value.exit_code == ExitCode.INCOMPLETE
    assert not (tmp_path / "colleague").exists()


@pytest.mark.usefixtures("_pushed")
async def test_an_item_whose_record_is_missing_is_said_and_never_clean(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    publish(link(), await audited(tmp_path), NAME)
    gone = next(key for key, row in server.store.scores.items() if row["name"] == "anchored")
    del server.store.scores[gone]
    pulled = pull(link(), "mine", root=tmp_path / "colleague")
    assert pulled.lacking == 1
    rows = RunView(find_run("mine", tmp_path / "colleague")).summaries()
    assert {row.mode.name: row.unscored for row in rows} == {"wrong": 2, "shy": 3}


@pytest.mark.usefixtures("_pushed")
async def test_runs_of_other_tools_can_be_pulled_and_stay_apart(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    sdk = Langfuse(public_key=server.public_key, secret_key=server.secret_key, base_url=server.url)

    def task(*, item: Any, **_: Any) -> str:
        if item.id.endswith("c0002"):
            raise RuntimeError("no")
        return f"Texte {item.id}"

    def judge(**_: Any) -> list[Evaluation]:
        return [
            Evaluation(name="Correct-ness", value=0.5),
            Evaluation(name="tone", value="warm"),
            Evaluation(name="1st", value=1.0),
        ]

    sdk.get_dataset(NAME).run_experiment(
        name="theirs", run_name="theirs", task=task, evaluators=[judge]
    )
    sdk.flush()
    sdk.shutdown()
    pulled = pull(link(), "theirs", root=tmp_path / "runs")
    assert pulled.left_out == {"tone": 5, "1st": 5}
    folder = find_run(pulled.run_id, tmp_path / "runs")
    states = {output.case_id: output.state for output in folder.outputs()}
    assert states["c0002"] is OutputState.FAILED
    assert sum(state is OutputState.OK for state in states.values()) == 5
    (summary,) = RunView(folder).summaries()
    assert (summary.mode.name, summary.scored, summary.total) == ("correct_ness", 5, 2.5)
    assert summary.kind == "external"


@pytest.mark.usefixtures("_pushed")
@pytest.mark.parametrize(
    "metadata",
    [
        {"group": ["a"], "repeat": "first"},
        {"run": "../../x", "uid": "u", "created": "2026-01-01T00:00:00Z", "kind": "audit"},
    ],
)
def test_what_other_tools_note_on_a_run_is_not_taken_for_ours(
    link: Link, server: LangfuseServer, tmp_path: Path, metadata: dict[str, Any]
) -> None:
    sdk = Langfuse(public_key=server.public_key, secret_key=server.secret_key, base_url=server.url)
    sdk.get_dataset(NAME).run_experiment(
        name="??", run_name="??", task=lambda **_: "Texte", metadata=metadata
    )
    sdk.flush()
    sdk.shutdown()
    pulled = pull(link(), "??", root=tmp_path / "runs")
    folder = find_run(pulled.run_id, tmp_path / "runs")
    assert folder.path.parent == tmp_path / "runs"
    assert (folder.run.name, folder.run.kind, folder.run.group) == ("??", "langfuse", None)
    assert len(list(folder.outputs())) == CASES


@pytest.mark.usefixtures("_pushed")
@pytest.mark.parametrize(
    "score",
    [
        {"name": "theirs", "metadata": {"evaluator": "e", "version": "1"}},
        {"name": "theirs", "metadata": {"record": "{}"}},
        {"name": "anchored2", "metadata": {"evaluator": ["e"], "made": 4}},
    ],
)
async def test_scores_of_any_shape_can_be_pulled(
    link: Link, server: LangfuseServer, tmp_path: Path, score: dict[str, Any]
) -> None:
    folder = await audited(tmp_path)
    publish(link(), folder, NAME)
    server.store.put_score({**subject(server), "value": 0.5, **score})
    pulled = pull(link(), "mine", root=tmp_path / "colleague")
    copy = find_run(pulled.run_id, tmp_path / "colleague")
    rows = {row.mode.name: (row.scored, row.total) for row in RunView(copy).summaries()}
    assert rows[score["name"]] == (1, 0.5)
    assert rows["wrong"] == (5, 2)


@pytest.mark.usefixtures("_pushed")
@pytest.mark.parametrize("name", ["wrong", "Wrong"])
async def test_what_others_say_of_a_mode_does_not_count_twice(
    link: Link, server: LangfuseServer, tmp_path: Path, name: str
) -> None:
    folder = await audited(tmp_path)
    publish(link(), folder, NAME)
    note = {"name": name, "value": 1, "source": "ANNOTATION"}
    server.store.put_score({**subject(server), **note})
    pulled = pull(link(), "mine", root=tmp_path / "colleague")
    copy = find_run(pulled.run_id, tmp_path / "colleague")
    assert pulled.left_out == {name: 1}
    assert told(copy) == told(folder)


def subject(server: LangfuseServer) -> dict[str, Any]:
    """Where a score of some answer goes."""
    task = next(
        row for row in server.store.observations.values() if row["name"] == "experiment-item-task"
    )
    return {"traceId": task["traceId"], "observationId": task["id"]}


@pytest.mark.usefixtures("_pushed")
async def test_what_cannot_be_found_is_said(link: Link, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no run 'none'"):
        pull(link(), "none", root=tmp_path / "runs")
    push(link(), snapshot(tmp_path / "other", 2), "other")
    for name in (NAME, "other"):
        (await experiment(link(), name, tmp_path / name.replace("/", "-"), name="same")).finish()
    with pytest.raises(UsageError, match="2 runs named 'same'"):
        pull(link(), "same", root=tmp_path / "runs")
    assert pull(link(), "same", "other", tmp_path / "runs").items == 2


def harmed(harm: str) -> subprocess.CompletedProcess[str]:
    """``ancrage pull mine`` in a process of its own, once ``harm`` is done to it."""
    script = (
        "import os, resource, signal, sys, ancrage.langfuse.pull as module\n"
        f"from ancrage.cli.app import main\n{harm}\nsys.argv = ['ancrage', 'pull', 'mine']\nmain()"
    )
    command = [sys.executable, "-B", "-c", script]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.usefixtures("_pushed")
async def test_a_pull_is_whole_or_absent_and_the_same_command_does_it_again(
    link: Link, tmp_path: Path
) -> None:
    original = await audited(tmp_path)
    publish(link(), original, NAME)
    whole = told(original)
    (tmp_path / "runs").rename(tmp_path / "away")
    killed = harmed("module.close_run = lambda *_: os.kill(os.getpid(), signal.SIGKILL)")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    assert [path.name for path in (tmp_path / "runs").iterdir()] == [".mine.making"]
    limit = "resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))"
    fill = f"fill = module._fill\nmodule._fill = lambda *rest: {limit} or fill(*rest)"
    for harm in (limit, fill):  # at the manifest, then in the journal of outputs
        full = harmed(harm)
        assert full.returncode == ExitCode.INCOMPLETE, full.stderr
        assert full.stderr == "pull: runs/mine: File too large\n"
        assert list((tmp_path / "runs").iterdir()) == []
    done = harmed("")
    assert done.returncode == ExitCode.OK, done.stderr
    assert [path.name for path in (tmp_path / "runs").iterdir()] == ["mine"]
    copy = find_run("mine")
    assert told(copy) == whole
    assert copy.snapshot().path == (tmp_path / "snapshots" / "s").resolve()


@pytest.mark.usefixtures("_pushed")
async def test_a_second_pull_of_a_run_at_once_is_told_to_wait(link: Link, tmp_path: Path) -> None:
    publish(link(), await audited(tmp_path), NAME)
    (tmp_path / "runs").rename(tmp_path / "away")
    with built_aside(tmp_path / "runs" / "mine", "taken") as new:
        new.mkdir()
        with pytest.raises(UsageError, match="mine: another process is making it; wait for it"):
            pull(link(), "mine")
