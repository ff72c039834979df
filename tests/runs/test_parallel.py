"""Several processes make the record of one, byte for byte."""

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import RunState
from ancrage.errors import UsageError
from ancrage.runs import RunFolder, create_run, recorded, run_experiment, score_run
from ancrage.runs.parallel import (
    FEWEST,
    Job,
    Lines,
    count_workers,
    job_of,
    processes,
    score_lines,
)
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies

DEMO = Path(__file__).parents[2] / "snapshots" / "demo"


@pytest.fixture
def studies() -> Studies:
    return Studies(open_snapshot(DEMO), Config(None, {}))


async def audit(studies: Studies, root: Path, name: str, workers: int = 1) -> RunFolder:
    folder = create_run(studies.snapshot, kind="audit", name=name, root=root)
    checks = load_checks(studies.config)
    cases = studies.snapshot.cases()
    await run_experiment(folder, cases, recorded, checks, studies, pool=processes(workers))
    return folder


def journals(folder: RunFolder) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder.path)): path.read_bytes()
        for path in folder.path.rglob("*.jsonl")
    }


async def test_the_record_is_the_same_byte_for_byte(studies: Studies, tmp_path: Path) -> None:
    one = await audit(studies, tmp_path, "one")
    two = await audit(studies, tmp_path, "two", workers=2)
    assert journals(one) == journals(two)
    assert two.run.state is RunState.COMPLETE
    await score_run(two, load_checks(studies.config), studies, pool=processes(2))
    again = journals(two)
    assert again["scorings/001/scores.jsonl"] == again["scorings/002/scores.jsonl"]


async def test_an_interrupted_run_goes_on_over_processes(studies: Studies, tmp_path: Path) -> None:
    one = await audit(studies, tmp_path, "one")
    two = await audit(studies, tmp_path, "two")
    scores = two.scorings()[0].path / "scores.jsonl"
    outputs = two.path / "outputs.jsonl"
    scores.write_bytes(b"".join(scores.read_bytes().splitlines(keepends=True)[:50]) + b'{"case_')
    outputs.write_bytes(b"".join(outputs.read_bytes().splitlines(keepends=True)[:60]))
    checks = load_checks(studies.config)
    await run_experiment(
        two, studies.snapshot.cases(), recorded, checks, studies, pool=processes(2)
    )
    assert journals(one) == journals(two)


def test_how_many_processes() -> None:
    assert count_workers("auto", FEWEST - 1) == 1
    assert count_workers("auto", FEWEST) >= 1
    assert count_workers("3", 10) == 3
    for wrong in ("0", "-1", "many", ""):
        with pytest.raises(UsageError, match="--workers"):
            count_workers(wrong, 10)


async def scored(job: Job, studies: Studies, deaths: int) -> list[bytes]:
    """The lines that two workers give, all of them killed so many times."""

    def lines() -> Iterator[Lines]:
        for number, case in enumerate(studies.snapshot.cases()):
            if number and number % 64 == 0 and number <= 64 * deaths:
                for worker in multiprocessing.active_children():
                    worker.kill()
            yield Lines(case.model_dump_json().encode(), None)

    return [done.scored async for done in score_lines(job, lines(), 2)]


async def test_workers_that_die_are_replaced(studies: Studies, tmp_path: Path) -> None:
    pool = processes(2)
    assert pool
    job = job_of(studies, load_checks(studies.config), 60.0, pool, tmp_path)
    assert job
    assert await scored(job, studies, deaths=1) == await scored(job, studies, deaths=0)


async def test_code_that_changed_under_a_run_is_named(studies: Studies, tmp_path: Path) -> None:
    changed = (("unknown_ref", "0"),)
    job = Job(studies.snapshot.path, studies.config, load_checks, changed, 60.0, tmp_path)
    with pytest.raises(UsageError, match="the code of unknown_ref changed"):
        await scored(job, studies, deaths=0)
