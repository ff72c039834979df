import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from ancrage.config import Config
from ancrage.domain import (
    Answer,
    Case,
    Evaluation,
    FailureMode,
    Finding,
    Output,
    OutputState,
    Passage,
    RunState,
    Score,
    ScoreState,
)
from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.runs import (
    RunView,
    create_run,
    find_run,
    list_runs,
    recorded,
    run_experiment,
    score_run,
)
from ancrage.studies import Studies
from tests.builders import case, snapshot

LONG = FailureMode(name="long", title="Long", definition="More than three words.")


def _evaluation(subject: Subject) -> Evaluation:
    count = max(0, len(subject.text.split()) - 3)
    return Evaluation(evaluator="long", version="1", scores=(Score(name="long", value=count),))


@dataclass(frozen=True)
class Long:
    name: str = "long"
    version: str = "1"
    modes: tuple[FailureMode, ...] = (LONG,)
    function: Callable[[Subject], Evaluation] = _evaluation

    async def evaluate(self, subject: Subject) -> Evaluation:
        return self.function(subject)


CASES = [case(f"mot {i} " + "de plus " * (i % 3), id=f"c{i}") for i in range(12)]


def _sources(tmp_path: Path, cases: list[Case] | None = None) -> Studies:
    return Studies(snapshot(tmp_path / "snap", CASES if cases is None else cases), Config(None, {}))


async def test_an_audit_scores_the_recorded_answers(tmp_path: Path) -> None:
    sources = _sources(tmp_path, [*CASES, case(None, id="none"), case(" \n", id="blank")])
    folder = create_run(sources.snapshot, kind="audit", root=tmp_path / "runs")
    run = await run_experiment(folder, sources.snapshot.cases(), recorded, [Long()], sources)
    assert run.state is RunState.COMPLETE
    assert run.counts == {"cases": 14, "ok": 12, "missing": 1, "empty": 1}
    (row,) = RunView(folder).summaries()
    assert (row.cases, row.scored, row.unscored, row.failing) == (14, 12, 2, 8)
    assert row.total == 4 * 1 + 4 * 3
    assert row.rate == 8 / 12
    assert sorted(row.reasons.values()) == [1, 1]


@pytest.mark.parametrize("concurrency", [1, 4, 50])
async def test_concurrency_is_bounded_and_every_case_is_answered(
    tmp_path: Path, concurrency: int
) -> None:
    sources = _sources(tmp_path)
    folder = create_run(sources.snapshot, kind="replay", root=tmp_path / "runs")
    running, most = 0, 0

    async def produce(one: Case) -> Output:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1
        return Output(case_id=one.id, state=OutputState.OK, answer=Answer(text="a b c d"))

    run = await run_experiment(
        folder, sources.snapshot.cases(), produce, [Long()], sources, concurrency=concurrency
    )
    assert run.counts == {"cases": 12, "ok": 12}
    assert most == min(concurrency, 12)


async def test_a_producer_that_raises_is_a_failed_output_and_unscored(tmp_path: Path) -> None:
    sources = _sources(tmp_path)
    folder = create_run(sources.snapshot, kind="replay", root=tmp_path / "runs")

    async def produce(one: Case) -> Output:
        if one.id == "c3":
            raise RuntimeError("no route")
        return Output(case_id=one.id, state=OutputState.OK, answer=Answer(text="a b c d"))

    run = await run_experiment(folder, sources.snapshot.cases(), produce, [Long()], sources)
    assert run.counts == {"cases": 12, "failed": 1, "ok": 11}
    (row,) = RunView(folder).summaries()
    assert (row.scored, row.unscored, row.failing) == (11, 1, 11)
    assert row.reasons == {"output failed: RuntimeError: no route": 1}


async def test_resume_repeats_only_what_failed_and_scores_what_was_not(tmp_path: Path) -> None:
    sources = _sources(tmp_path)
    folder = create_run(sources.snapshot, kind="replay", root=tmp_path / "runs")
    calls: list[str] = []
    broken = {"c2", "c5"}

    async def produce(one: Case) -> Output:
        calls.append(one.id)
        if one.id == "c8":
            running.cancel()
            await asyncio.sleep(1)
        if one.id in broken:
            raise RuntimeError("down")
        return Output(case_id=one.id, state=OutputState.OK, answer=Answer(text="a b c d"))

    running = asyncio.create_task(
        run_experiment(folder, sources.snapshot.cases(), produce, [Long()], sources)
    )
    with pytest.raises(asyncio.CancelledError):
        await running
    assert folder.run.state is RunState.INCOMPLETE
    assert folder.run.counts == {"cases": 12, "failed": 2, "ok": 6, "not_run": 4}
    with folder.journal() as journal:  # as if killed between the two journals
        journal.append(
            Output(case_id="c8", state=OutputState.OK, answer=Answer(text="one two three four"))
        )
    calls.clear()
    broken.clear()
    run = await run_experiment(folder, sources.snapshot.cases(), produce, [Long()], sources)
    assert calls == ["c2", "c5", "c9", "c10", "c11"]
    assert run.counts == {"cases": 12, "ok": 12}
    (row,) = RunView(folder).summaries()
    assert (row.scored, row.unscored, row.total) == (12, 0, 12)
    assert len(folder.scorings()) == 1


def _raises(subject: Subject) -> Evaluation:
    raise ValueError("bad day")


def _forgets(subject: Subject) -> Evaluation:
    return Evaluation(evaluator="long", version="1", scores=())


def _lies(subject: Subject) -> Evaluation:
    evidence = Passage(start=0, end=4, text="nope")
    return _evaluation(subject).model_copy(
        update={"findings": (Finding(mode="long", evidence=evidence, explanation="?"),)}
    )


def _trespasses(subject: Subject) -> Evaluation:
    finding = Finding(mode="other", evidence=Passage.of(subject.text, 0, 3), explanation="?")
    return _evaluation(subject).model_copy(update={"findings": (finding,)})


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (_raises, "long raised ValueError: bad day"),
        (_forgets, "long gave scores [] where its modes are ['long']"),
        (_lies, "long cited a passage that is not at [0, 4)"),
        (_trespasses, "long reported other, which it does not own"),
    ],
)
async def test_a_faulty_evaluator_is_unscored_never_zero(
    tmp_path: Path, function: Callable[[Subject], Evaluation], reason: str
) -> None:
    sources = _sources(tmp_path)
    folder = create_run(sources.snapshot, kind="audit", root=tmp_path / "runs")
    evaluator = Long(function=function)
    run = await run_experiment(folder, sources.snapshot.cases(), recorded, [evaluator], sources)
    assert run.counts["ok"] == 12
    (row,) = RunView(folder).summaries()
    assert (row.scored, row.unscored, row.rate) == (0, 12, None)
    assert row.reasons == {reason: 12}


async def test_a_new_scoring_stands_beside_the_old_and_is_the_one_shown(tmp_path: Path) -> None:
    sources = _sources(tmp_path)
    folder = create_run(sources.snapshot, kind="audit", root=tmp_path / "runs")
    await run_experiment(folder, sources.snapshot.cases(), recorded, [Long()], sources)
    outputs = (folder.path / "outputs.jsonl").read_bytes()
    before = (folder.path / "scorings/001/scores.jsonl").read_bytes()

    def strict(subject: Subject) -> Evaluation:
        return _evaluation(subject).model_copy(
            update={"version": "2", "scores": (Score(name="long", value=7),)}
        )

    await score_run(folder, [Long(version="2", function=strict)], sources)
    assert (folder.path / "outputs.jsonl").read_bytes() == outputs
    assert (folder.path / "scorings/001/scores.jsonl").read_bytes() == before
    (row,) = RunView(folder).summaries()
    assert (row.version, row.total) == ("2", 84)
    (old,) = RunView(folder, scoring="001").summaries()
    assert (old.version, old.total) == ("1", 16)
    item = next(RunView(folder).items())
    assert item.scores["long"].state is ScoreState.SCORED


async def test_a_changed_snapshot_is_noticed(tmp_path: Path) -> None:
    sources = _sources(tmp_path)
    folder = create_run(sources.snapshot, kind="audit", root=tmp_path / "runs")
    path = tmp_path / "snap" / "cases.jsonl"
    path.write_text(path.read_text().replace("mot 1", "mot 9"))
    with pytest.raises(UsageError, match="changed"):
        folder.snapshot()


async def test_runs_are_found_by_id_beginning_path_or_none(tmp_path: Path) -> None:
    sources = _sources(tmp_path)
    root = tmp_path / "runs"
    with pytest.raises(UsageError, match="no run"):
        find_run(root=root)
    first = create_run(sources.snapshot, kind="audit", name="first", root=root)
    second = create_run(sources.snapshot, kind="audit", name="final", root=root)
    assert [each.path for each in list_runs(root)] == [first.path, second.path]
    assert find_run(root=root) == find_run("fin", root) == find_run(second.path) == second
    with pytest.raises(UsageError, match="several"):
        find_run("fi", root)
    for name in ("??", "..", " / "):
        with pytest.raises(UsageError, match="no letter"):
            create_run(sources.snapshot, kind="audit", name=name, root=root)
    with pytest.raises(UsageError, match="exists already"):
        create_run(sources.snapshot, kind="audit", name="first", root=root)
