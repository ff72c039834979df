"""Runs of every state, over the demonstration."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import pytest

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import Case, Output, OutputState, RunState
from ancrage.evaluator import Evaluator
from ancrage.runs import RunFolder, create_run, recorded, run_experiment, score_run
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies

DEMO = Path(__file__).parents[2] / "snapshots" / "demo"


def audit(root: Path, name: str, checks: Sequence[Evaluator], cases: int = 40) -> RunFolder:
    """An audit of the first cases of the demonstration."""
    snapshot = open_snapshot(DEMO, verify=False)
    studies = Studies(snapshot, Config(None, {}))
    folder = create_run(snapshot, kind="audit", name=name, root=root)
    chosen = list(snapshot.cases())[:cases]
    asyncio.run(run_experiment(folder, chosen, recorded, checks, studies))
    return folder


async def _fails(case: Case) -> Output:
    return Output(case_id=case.id, state=OutputState.FAILED, reason="the server was away")


@pytest.fixture(scope="session")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three runs: one whole but for cases not run, one resumed, one scored again in part."""
    place = tmp_path_factory.mktemp("scale") / "runs"
    checks = load_checks(Config(None, {}))
    audit(place, "whole", checks)

    snapshot = open_snapshot(DEMO, verify=False)
    studies = Studies(snapshot, Config(None, {}))
    resumed = create_run(snapshot, kind="audit", name="resumed", root=place)
    cases = list(snapshot.cases())[:30]
    asyncio.run(run_experiment(resumed, cases[:10], _fails, checks, studies))
    asyncio.run(run_experiment(resumed, cases, recorded, checks, studies))

    again = audit(place, "again", checks[:3])
    asyncio.run(score_run(again, checks[1:5], studies))
    asyncio.run(score_run(again, checks, studies))
    scores = again.scorings()[-1].path / "scores.jsonl"
    lines = scores.read_bytes().splitlines(keepends=True)
    scores.write_bytes(b"".join(lines[:20]))  # a scoring that was killed after 20 answers
    manifest = again.scorings()[-1]
    manifest.save(manifest.scoring.model_copy(update={"state": RunState.RUNNING, "finished": None}))
    return place
