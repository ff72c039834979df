"""What others' code raises is the state of its item; what concerns the run ends it whole."""

import asyncio
import subprocess
import sys
import textwrap
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
    Output,
    OutputState,
    RunState,
    Score,
)
from ancrage.errors import IncompleteError, UsageError
from ancrage.evaluator import Subject
from ancrage.runs import (
    RunFolder,
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
CASES = [case(f"mot {i} de plus", id=f"c{i}") for i in range(6)]


def _count(subject: Subject) -> float:
    return float(len(subject.text.split()))


@dataclass(frozen=True)
class Counts:
    name: str = "long"
    version: str = "1"
    modes: tuple[FailureMode, ...] = (LONG,)
    count: Callable[[Subject], float] = _count

    async def evaluate(self, subject: Subject) -> Evaluation:
        score = Score(name="long", value=self.count(subject))
        return Evaluation(evaluator=self.name, version=self.version, scores=(score,))


@pytest.fixture
def studies(tmp_path: Path) -> Studies:
    return Studies(snapshot(tmp_path / "snap", CASES), Config(None, {}))


@pytest.fixture
def folder(tmp_path: Path, studies: Studies) -> RunFolder:
    return create_run(studies.snapshot, kind="replay", name="r", root=tmp_path / "runs")


class SilentError(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


FAULTS: dict[str, Callable[[], BaseException]] = {
    "SystemExit": lambda: SystemExit(0),
    "RecursionError": lambda: RecursionError("too deep"),
    "MemoryError": MemoryError,
    "SilentError": SilentError,
    "GeneratorExit": GeneratorExit,
    "CancelledError": lambda: asyncio.CancelledError("by itself"),
    "RuntimeError": lambda: RuntimeError("half \ud800 a pair"),
    "ExceptionGroup": lambda: ExceptionGroup("many", [OSError("no route"), ValueError("other")]),
}


@pytest.mark.parametrize("fault", FAULTS)
async def test_whatever_an_assistant_raises_is_its_cases_state(
    fault: str, studies: Studies, folder: RunFolder
) -> None:
    async def produce(one: Case) -> Output:
        if one.id == "c2":
            raise FAULTS[fault]()
        return await recorded(one)

    run = await run_experiment(folder, CASES, produce, [Counts()], studies)
    assert run.counts == {"cases": 6, "ok": 5, "failed": 1}
    (failed,) = [output for output in folder.outputs() if output.state is OutputState.FAILED]
    shown = "OSError: no route" if fault == "ExceptionGroup" else fault
    assert failed.reason
    assert failed.reason.startswith(shown)


@pytest.mark.parametrize("fault", FAULTS)
async def test_whatever_a_check_raises_leaves_its_case_unscored(
    fault: str, studies: Studies, folder: RunFolder
) -> None:
    def count(subject: Subject) -> float:
        if subject.case.id == "c2":
            raise FAULTS[fault]()
        return 0.0

    run = await run_experiment(folder, CASES, recorded, [Counts(count=count)], studies)
    assert run.state is RunState.COMPLETE
    (row,) = RunView(folder).summaries()
    assert (row.cases, row.scored, row.unscored) == (6, 5, 1)
    assert "long raised" in next(iter(row.reasons))


async def test_an_output_that_no_file_can_hold_is_failed(
    studies: Studies, folder: RunFolder
) -> None:
    async def produce(one: Case) -> Output:
        details = {"note": "\udfff"} if one.id == "c1" else {}
        return Output(
            case_id=one.id, state=OutputState.OK, answer=Answer(text="a"), details=details
        )

    run = await run_experiment(folder, CASES, produce, [Counts()], studies)
    assert run.counts == {"cases": 6, "ok": 5, "failed": 1}


@pytest.mark.parametrize("given", [None, "text", Output(case_id="x", state=OutputState.OK)])
async def test_an_assistant_that_gives_something_else_has_failed(
    given: object, studies: Studies, folder: RunFolder
) -> None:
    async def produce(one: Case) -> Output:
        return given  # type: ignore[return-value]

    run = await run_experiment(folder, CASES, produce, [Counts()], studies)
    assert run.counts == {"cases": 6, "failed": 6}


async def test_a_case_that_never_ends_is_given_up(studies: Studies, folder: RunFolder) -> None:
    async def produce(one: Case) -> Output:
        if one.id == "c0":
            await asyncio.Event().wait()
        return await recorded(one)

    run = await run_experiment(folder, CASES, produce, [Counts()], studies, case_seconds=0.05)
    assert run.counts == {"cases": 6, "ok": 5, "failed": 1}
    (failed,) = [output for output in folder.outputs() if output.state is OutputState.FAILED]
    assert failed.reason == "TimeoutError: no end within 0.05 s"


def test_a_second_process_on_a_run_is_refused(studies: Studies, folder: RunFolder) -> None:
    program = textwrap.dedent(
        f"""
        import sys
        from pathlib import Path
        from ancrage.runs import RunFolder
        with RunFolder(Path({str(folder.path)!r})).lock():
            print("held", flush=True)
            sys.stdin.read()
        """
    )
    command = [sys.executable, "-c", program]
    other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert other.stdout
    assert other.stdout.readline() == "held\n"
    with pytest.raises(UsageError, match="another process is filling run r"):
        asyncio.run(run_experiment(folder, CASES, recorded, [Counts()], studies))
    other.communicate("")
    run = asyncio.run(run_experiment(folder, CASES, recorded, [Counts()], studies))
    assert run.counts == {"cases": 6, "ok": 6}


async def test_a_record_that_cannot_be_written_ends_the_run(
    studies: Studies, folder: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import os

    write, written = os.write, 0

    def full(file: int, content: bytes) -> int:
        nonlocal written
        written += 1
        if written > 5:
            raise OSError(28, "No space left on device")
        return write(file, content)

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        with pytest.raises(IncompleteError, match="No space left on device; what was done is kept"):
            await run_experiment(folder, CASES, recorded, [Counts()], studies)
    assert folder.run.state is RunState.INCOMPLETE
    run = await run_experiment(folder, CASES, recorded, [Counts()], studies)
    assert run.counts == {"cases": 6, "ok": 6}


def test_an_interrupted_scoring_hides_nothing_and_is_resumed(
    studies: Studies, folder: RunFolder
) -> None:
    asyncio.run(run_experiment(folder, CASES, recorded, [Counts()], studies))
    seen: list[str] = []

    def stop(subject: Subject) -> float:
        seen.append(subject.case.id)
        if len(seen) == 3:
            raise KeyboardInterrupt
        return 0.0

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(score_run(folder, [Counts(version="2", count=stop)], studies))
    view = RunView(folder)
    assert [row.version for row in view.summaries()] == ["1"]
    assert [scoring.path.name for scoring in view.unfinished] == ["002"]
    (row,) = RunView(folder, "002").summaries()
    assert (row.scored, row.unscored) == (2, 4)
    assert row.reasons == {"scoring 002 did not come to it": 4}

    seen.clear()
    done = asyncio.run(score_run(folder, [Counts(version="2", count=_count)], studies, resume=True))
    assert (done.id, done.state, done.counts["cases"]) == ("002", RunState.COMPLETE, 6)
    assert [row.version for row in RunView(folder).summaries()] == ["2"]
    with pytest.raises(UsageError, match="no interrupted scoring by these evaluators"):
        asyncio.run(score_run(folder, [Counts(version="2")], studies, resume=True))


def test_a_damaged_manifest_stands_in_nobodys_way(
    studies: Studies, folder: RunFolder, tmp_path: Path
) -> None:
    (tmp_path / "runs" / "torn").mkdir()
    (tmp_path / "runs" / "torn" / "manifest.json").write_text('{"id": "to')
    assert [found.path.name for found in list_runs(tmp_path / "runs")] == ["r"]
    assert find_run(None, tmp_path / "runs").path == folder.path
    with pytest.raises(UsageError, match=r"torn/manifest\.json"):
        _ = find_run(tmp_path / "runs" / "torn").run


def test_a_run_folder_without_manifest_is_taken_over(studies: Studies, tmp_path: Path) -> None:
    (tmp_path / "runs" / "killed").mkdir(parents=True)
    made = create_run(studies.snapshot, kind="audit", name="killed", root=tmp_path / "runs")
    assert made.run.id == "killed"
    with pytest.raises(UsageError, match="exists already"):
        create_run(studies.snapshot, kind="audit", name="killed", root=tmp_path / "runs")


def test_the_newest_runs_are_found_by_counting_back(studies: Studies, tmp_path: Path) -> None:
    for name in ("first", "second", "third"):
        create_run(studies.snapshot, kind="audit", name=name, root=tmp_path / "runs")
    assert find_run("latest", tmp_path / "runs").path.name == "third"
    assert find_run("latest~2", tmp_path / "runs").path.name == "first"
    with pytest.raises(UsageError, match="only 3 runs"):
        find_run("latest~3", tmp_path / "runs")
    with pytest.raises(UsageError, match="always means the newest run"):
        create_run(studies.snapshot, kind="audit", name="latest", root=tmp_path / "runs")


async def test_a_record_can_be_read_by_its_owner_alone(studies: Studies, folder: RunFolder) -> None:
    await run_experiment(folder, CASES, recorded, [Counts()], studies)
    assert folder.path.stat().st_mode & 0o077 == 0
    for path in folder.path.rglob("*.json*"):
        assert path.stat().st_mode & 0o077 == 0, path
