"""A Ray cluster of two nodes makes the record of one process, byte for byte, whoever dies."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import Evaluation, FailureMode, RunState, Score
from ancrage.evaluator import Evaluator, Subject
from ancrage.runs import RunFolder, create_run, parallel, recorded, run_experiment
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies
from tests.cli.test_commands import run
from tests.scale.conftest import DEMO

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'ancrage[scale]'")


@pytest.fixture(scope="module")
def nodes() -> Iterator[None]:
    """A head and a second node, one processor each."""
    from ray.cluster_utils import Cluster

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    made = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    made.add_node(num_cpus=1)
    ray.init(address=made.address, log_to_driver=False, logging_level="ERROR")
    yield
    ray.shutdown()
    made.shutdown()  # type: ignore[no-untyped-call]


def journals(folder: RunFolder) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder.path)): path.read_bytes()
        for path in folder.path.rglob("*.jsonl")
    }


class Asked:
    """An evaluator that stays with the run, as one that calls a model does."""

    name, version = "asked", "1"
    modes = (FailureMode(name="asked", title="Asked", definition="Said by a model."),)

    async def evaluate(self, subject: Subject) -> Evaluation:
        await asyncio.sleep(0)
        score = Score(name="asked", value=len(subject.text) % 3)
        return Evaluation(evaluator="asked", version="1", scores=(score,))


def filled(root: Path, name: str, *, engine: str, kill: bool = False) -> RunFolder:
    """An audit of the demonstration, the model's evaluator between the checks."""
    from ancrage.scale.cluster import cluster

    snapshot = open_snapshot(DEMO, verify=False)
    studies = Studies(snapshot, Config(None, {}))
    folder = create_run(snapshot, kind="audit", name=name, root=root)
    checks = load_checks(studies.config)
    evaluators: list[Evaluator] = [checks[0], Asked(), *checks[1:]]
    killed: list[int] = []

    def progress() -> None:
        if kill and not killed:
            killed.extend(workers_of_ray())
            for process in killed:
                os.kill(process, signal.SIGKILL)

    asyncio.run(
        run_experiment(
            folder, snapshot.cases(), recorded, evaluators, studies,
            pool=cluster(load_checks) if engine == "ray" else None, progress=progress,
        )
    )  # fmt: skip
    assert bool(killed) == kill
    return folder


def workers_of_ray() -> list[int]:
    """The processes that hold tasks of the cluster which this process started."""
    import ray._private.services  # noqa: F401  puts Ray's own psutil on the path
    from psutil import Process

    children = Process().children(recursive=True)
    return [child.pid for child in children if child.name() in ("ray::_work", "ray::IDLE")]


def test_two_nodes_make_the_record_of_one_process(nodes: None, tmp_path: Path) -> None:
    here = filled(tmp_path, "here", engine="local")
    there = filled(tmp_path, "there", engine="ray")
    assert journals(here) == journals(there)
    assert there.run.state is RunState.COMPLETE


def test_workers_killed_in_mid_run_change_nothing(
    nodes: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parallel, "CHUNK", 4)
    here = filled(tmp_path, "here", engine="local")
    there = filled(tmp_path, "there", engine="ray", kill=True)
    assert journals(here) == journals(there)


def test_a_run_whose_head_was_killed_is_resumed(tmp_path: Path) -> None:
    program = str(Path(sys.executable).parent / "ancrage")
    given = [program, "experiment", "--snapshot", str(DEMO), "--run-name", "killed"]
    given += ["--engine", "ray"]
    running = subprocess.Popen(given, cwd=tmp_path, start_new_session=True)
    scores = tmp_path / "runs/killed/scorings/001/scores.jsonl"
    while not (scores.exists() and scores.stat().st_size) and running.poll() is None:
        time.sleep(0.02)
    running.kill()  # the head that it started ends with it
    running.wait()
    again = run("experiment", "--resume", "killed", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    whole = run("experiment", "--snapshot", str(DEMO), "--run-name", "whole", cwd=tmp_path)
    assert whole.returncode == 0, whole.stderr
    runs = [RunFolder(tmp_path / "runs" / name) for name in ("killed", "whole")]
    assert journals(runs[0]) == journals(runs[1])
