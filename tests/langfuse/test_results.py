"""Results back: experiments listed with their scores, runs rebuilt to be compared locally."""

from pathlib import Path
from typing import Any

import pytest
from langfuse import Evaluation, Langfuse

from ancrage.domain import OutputState
from ancrage.errors import UsageError
from ancrage.langfuse.dataset import find_dataset
from ancrage.langfuse.publish import publish
from ancrage.langfuse.pull import pull
from ancrage.langfuse.push import push
from ancrage.langfuse.results import list_experiments
from ancrage.runs import RunFolder, RunView, find_run
from tests.langfuse.conftest import Link
from tests.langfuse.worlds import MISSING, audit, case, experiment, snapshot
from tests.servers.langfuse_server import LangfuseServer

NAME = "études/démo"


@pytest.fixture
def _pushed(link: Link, tmp_path: Path) -> None:
    cases = [case(n) for n in range(5)] + [case(5, **MISSING)]
    push(link(), snapshot(tmp_path / "snapshots" / "s", cases), NAME)


def shown(folder: RunFolder) -> list[Any]:
    """What a comparison or a report reads of a run."""
    view = RunView(folder)
    items = [
        (
            item.case.id,
            item.output.state,
            item.output.answer.text if item.output.answer else None,
            sorted((name, score.value, score.state) for name, score in item.scores.items()),
            [(each.mode, each.evidence, each.explanation) for each in item.findings],
        )
        for item in view.items()
    ]
    rows = [
        (row.mode.name, row.evaluator, row.version, row.scored, row.failing)
        for row in view.summaries()
    ]
    return [items, sorted(rows), folder.run.counts]


@pytest.mark.usefixtures("_pushed")
async def test_results_list_experiments_with_their_scores(
    link: Link, server: LangfuseServer, tmp_path: Path
) -> None:
    for name in ("a", "b"):
        (await experiment(link(), NAME, tmp_path / "runs", name=name)).finish()
    dataset = find_dataset(link(), NAME).id
    rows, older = list_experiments(link(), dataset)
    assert older == 0
    assert [row.name for row in rows] == ["b", "a"]
    assert {row.items for row in rows} == {6}
    assert rows[0].scores["wrong.rate"] == pytest.approx(2 / 5)
    assert rows[0].scores["cases.missing"] == 1
    later = rows[0].started.replace(year=2090)
    assert list_experiments(link(), dataset, later) == ([], 0)
    before = len(server.requests)
    assert list_experiments(link(), dataset, last=1) == (rows[:1], 1)
    assert len(server.requests) - before == 4


@pytest.mark.usefixtures("_pushed")
@pytest.mark.parametrize("through", ["sdk", "publish"])
async def test_a_pulled_run_is_the_run(
    link: Link, server: LangfuseServer, tmp_path: Path, through: str
) -> None:
    if through == "sdk":
        tracing = await experiment(link(), NAME, tmp_path / "runs", name="mine")
        original, receipt = tracing.folder, tracing.finish()
    else:
        data = read_snapshot(tmp_path)
        original = await audit(data, tmp_path / "runs", "mine")
        receipt = publish(link(), original, NAME)
    assert receipt.complete
    pulled = pull(link(), "mine", NAME, tmp_path / "colleague")
    copy = find_run(pulled.run_id, tmp_path / "colleague")
    assert (pulled.items, pulled.left_out) == (6, {})
    assert shown(copy) == shown(original)
    assert copy.run.snapshot.hash == original.run.snapshot.hash
    assert copy.run.created == original.run.created
    again = publish(link(), copy)
    assert again.complete, str(again)
    assert (again.sent_items, again.sent_scores) == (0, 0)
    with pytest.raises(UsageError, match="exists already"):
        pull(link(), receipt.target.experiment_id, root=tmp_path / "colleague")


def read_snapshot(tmp_path: Path) -> Any:
    from ancrage.snapshot import open_snapshot

    return open_snapshot(tmp_path / "snapshots" / "s")


@pytest.mark.usefixtures("_pushed")
async def test_runs_of_other_tools_can_be_pulled(
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
    (row,), _ = list_experiments(link(), find_dataset(link(), NAME).id)
    assert (row.own, row.scores["Correct-ness"]) == (False, 0.5)
    pulled = pull(link(), "theirs", root=tmp_path / "runs")
    assert pulled.left_out == {"tone": 5, "1st": 5}
    folder = find_run(pulled.run_id, tmp_path / "runs")
    states = {output.case_id: output.state for output in folder.outputs()}
    assert states["c0002"] is OutputState.FAILED
    assert sum(state is OutputState.OK for state in states.values()) == 5
    (summary,) = RunView(folder).summaries()
    assert (summary.mode.name, summary.scored, summary.total) == ("correct_ness", 5, 2.5)


@pytest.mark.usefixtures("_pushed")
@pytest.mark.parametrize(
    "metadata",
    [
        {"group": ["a"], "repeat": "first"},
        {"created": "yesterday", "versions": "v1"},
        {"run": 5, "kind": None, "parameters": "x"},
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
    assert len(list(folder.outputs())) == 6


@pytest.mark.usefixtures("_pushed")
@pytest.mark.parametrize(
    "score",
    [
        {"name": "theirs", "metadata": {"shown": "yes"}},
        {"name": "theirs", "metadata": {"evaluator": "e", "version": "1", "shown": [{"end": 2}]}},
        {
            "name": "theirs",
            "metadata": {
                "evaluator": "e",
                "version": "1",
                "shown": [{"start": 2, "end": 1, "explanation": ""}],
            },
        },
        {"name": "unscored", "metadata": {"modes": "x"}},
        {"name": "unscored", "metadata": {"modes": {"a": "b"}}},
    ],
)
async def test_scores_of_any_shape_can_be_pulled(
    link: Link, server: LangfuseServer, tmp_path: Path, score: dict[str, Any]
) -> None:
    tracing = await experiment(link(), NAME, tmp_path / "runs")
    tracing.finish()
    server.store.put_score({**subject(tracing.folder), "value": 0.5, **score})
    pulled = pull(link(), "essai", root=tmp_path / "colleague")
    copy = find_run(pulled.run_id, tmp_path / "colleague")
    rows = {row.mode.name: (row.scored, row.total) for row in RunView(copy).summaries()}
    assert rows[score["name"]] == (1, 0.5)
    assert rows["wrong"] == (5, 2)


@pytest.mark.usefixtures("_pushed")
@pytest.mark.parametrize("name", ["wrong", "Wrong"])
async def test_what_others_say_of_a_mode_does_not_count_twice(
    link: Link, server: LangfuseServer, tmp_path: Path, name: str
) -> None:
    tracing = await experiment(link(), NAME, tmp_path / "runs")
    tracing.finish()
    note = {"name": name, "value": 1, "source": "ANNOTATION"}
    server.store.put_score({**subject(tracing.folder), **note})
    pulled = pull(link(), "essai", root=tmp_path / "colleague")
    copy = find_run(pulled.run_id, tmp_path / "colleague")
    assert pulled.left_out == {name: 1}
    assert shown(copy) == shown(tracing.folder)


def subject(folder: RunFolder) -> dict[str, Any]:
    """Where a score of the first output goes."""
    mark: Any = next(iter(folder.outputs())).details["langfuse"]
    return {"traceId": mark["trace_id"], "observationId": mark["observation_id"]}


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
