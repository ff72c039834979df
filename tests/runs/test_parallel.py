"""Several processes make the record of one, byte for byte."""

from pathlib import Path

import pytest

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import RunState
from ancrage.errors import UsageError
from ancrage.runs import RunFolder, create_run, recorded, run_experiment, score_run
from ancrage.runs.parallel import FEWEST, count_workers
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies

DEMO = Path(__file__).parents[2] / "snapshots" / "demo"


@pytest.fixture
def studies() -> Studies:
    return Studies(open_snapshot(DEMO), Config(None, {}))


async def audit(studies: Studies, root: Path, name: str, workers: int) -> RunFolder:
    folder = create_run(studies.snapshot, kind="audit", name=name, root=root)
    checks = load_checks(studies.config)
    cases = studies.snapshot.cases()
    await run_experiment(folder, cases, recorded, checks, studies, workers=workers)
    return folder


def journals(folder: RunFolder) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder.path)): path.read_bytes()
        for path in folder.path.rglob("*.jsonl")
    }


async def test_the_record_is_the_same_byte_for_byte(studies: Studies, tmp_path: Path) -> None:
    one = await audit(studies, tmp_path, "one", workers=1)
    two = await audit(studies, tmp_path, "two", workers=2)
    assert journals(one) == journals(two)
    assert two.run.state is RunState.COMPLETE
    await score_run(two, load_checks(studies.config), studies, workers=2)
    again = journals(two)
    assert again["scorings/001/scores.jsonl"] == again["scorings/002/scores.jsonl"]


async def test_an_interrupted_run_goes_on_over_processes(studies: Studies, tmp_path: Path) -> None:
    one = await audit(studies, tmp_path, "one", workers=1)
    two = await audit(studies, tmp_path, "two", workers=1)
    scores = two.scorings()[0].path / "scores.jsonl"
    outputs = two.path / "outputs.jsonl"
    scores.write_bytes(b"".join(scores.read_bytes().splitlines(keepends=True)[:50]) + b'{"case_')
    outputs.write_bytes(b"".join(outputs.read_bytes().splitlines(keepends=True)[:60]))
    checks = load_checks(studies.config)
    await run_experiment(two, studies.snapshot.cases(), recorded, checks, studies, workers=2)
    assert journals(one) == journals(two)


def test_how_many_processes() -> None:
    assert count_workers("auto", FEWEST - 1) == 1
    assert count_workers("auto", FEWEST) >= 1
    assert count_workers("3", 10) == 3
    for wrong in ("0", "-1", "many", ""):
        with pytest.raises(UsageError, match="--workers"):
            count_workers(wrong, 10)
