"""The commands as a user types them: real processes against the server, exit codes, one line."""

import json
import os
import subprocess
import sys
import time
from collections import Counter
from itertools import islice
from pathlib import Path

import pytest

from ancrage.cli.app import main
from ancrage.cli.langfuse import Lines
from ancrage.config import load
from ancrage.snapshot import open_snapshot, write_snapshot
from tests.conftest import ROOT
from tests.servers.langfuse_server import LangfuseServer

BIN = Path(sys.executable).parent
DEMO = ROOT / "snapshots" / "demo"


CASES = 10


@pytest.fixture
def demo(tmp_path: Path) -> str:
    """A snapshot of a few cases of the demonstration."""
    whole = open_snapshot(DEMO)
    path = tmp_path / "demo"
    write_snapshot(path, islice(whole.cases(), CASES), whole.study, source="demo")
    return str(path)


def run(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run ``ancrage`` in ``cwd``."""
    return subprocess.run(
        [BIN / "ancrage", *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "110"},
    )


def run_here(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *arguments: str
) -> tuple[int, str]:
    """Run ``ancrage`` in this very process, which starts faster; returns exit code and errors."""
    monkeypatch.setattr(sys, "argv", ["ancrage", *arguments])
    monkeypatch.setattr(sys, "path", list(sys.path))
    with pytest.raises(SystemExit) as ended:
        main()
    code = ended.value.code
    assert isinstance(code, int)
    return code, capsys.readouterr().err


def test_a_whole_day_with_langfuse(server: LangfuseServer, demo: str, tmp_path: Path) -> None:
    (tmp_path / "evals.toml").write_text("[langfuse]\npoll = 0.05\n", encoding="utf-8")
    pushed = run("push", demo, "--dataset", "équipe/démo", cwd=tmp_path)
    assert pushed.returncode == 0, pushed.stderr
    assert f"{CASES} cases = {CASES} created" in pushed.stdout
    made = run(
        "experiment",
        "--dataset",
        "équipe/démo",
        "--run-name",
        "lundi",
        "--repeat",
        "2",
        cwd=tmp_path,
    )
    assert made.returncode == 0, made.stderr + made.stdout
    assert made.stdout.count(f"seen in Langfuse: {CASES} items") == 2
    assert "experiments/results?baseline=" in made.stdout
    receipt = json.loads((tmp_path / "runs/lundi-2/langfuse.json").read_text(encoding="utf-8"))
    assert receipt["missing"] == {
        "items": [],
        "levels": [],
        "versions": [],
        "foreign": [],
        "scores": [],
    }

    elsewhere = tmp_path / "colleague"
    elsewhere.mkdir()
    (elsewhere / "evals.toml").write_text("", encoding="utf-8")
    pulled = run("pull", "lundi-1", cwd=elsewhere)
    assert pulled.returncode == 0, pulled.stderr
    assert (elsewhere / "runs/lundi-1/outputs.jsonl").exists()

    published = run("publish", "lundi-1", cwd=tmp_path)
    assert published.returncode == 0, published.stderr
    scored = run("publish", "lundi-1", "--traces", cwd=tmp_path)
    assert scored.returncode == 0, scored.stdout + scored.stderr
    assert "0 cases come from no trace" in scored.stdout

    local = run("experiment", "--snapshot", demo, "--run-name", "local", cwd=tmp_path)
    assert local.returncode == 0, local.stderr
    sent = run("publish", "local", "--dataset", "équipe/démo", cwd=tmp_path)
    assert sent.returncode == 0, sent.stdout + sent.stderr
    everything = "".join(
        path.read_text(encoding="utf-8", errors="replace")
        for path in tmp_path.rglob("*")
        if path.is_file()
    )
    for process in (pushed, made, pulled, published, scored, local, sent):
        everything += process.stdout + process.stderr
    assert server.secret_key not in everything


def test_production_is_checked_and_scored_in_place(
    server: LangfuseServer, tmp_path: Path, shared: Path
) -> None:
    for path in sorted((shared / "data" / "langfuse-traces").glob("*.json")):
        server.add_trace(json.loads(path.read_text(encoding="utf-8")))
    taken = run("snapshot", "--source", "langfuse", "--out", "s", cwd=tmp_path)
    assert taken.returncode == 0, taken.stderr
    assert (tmp_path / "s" / "cases.jsonl").read_text(encoding="utf-8").count("\n") == 4
    made = run("experiment", "--snapshot", "s", "--run-name", "prod", cwd=tmp_path)
    assert "Traceback" not in made.stderr
    done = run("publish", "prod", "--traces", cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "scores seen on 4 traces" in done.stdout
    assert {row["subject"]["kind"] for row in server.store.scores.values()} == {"trace"}


def test_a_killed_experiment_is_published_as_far_as_it_went(
    server: LangfuseServer, demo: str, tmp_path: Path
) -> None:
    (tmp_path / "evals.toml").write_text("[langfuse]\npoll = 0.05\n", encoding="utf-8")
    assert run("push", demo, "--dataset", "d", cwd=tmp_path).returncode == 0
    server.faults.slow["/otel"] = 1.0
    arguments = ("experiment", "--dataset", "d", "--run-name", "tué")
    process = subprocess.Popen(
        [BIN / "ancrage", *arguments, "--concurrency", "1"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    journal = tmp_path / "runs" / "tué" / "outputs.jsonl"
    end = time.monotonic() + 60
    while not (journal.exists() and journal.read_bytes().count(b"\n") >= 3):
        assert process.poll() is None
        assert time.monotonic() < end
        time.sleep(0.005)
    process.kill()
    process.wait()
    server.faults.slow.clear()
    for _ in range(2):
        published = run("publish", "tué", cwd=tmp_path)
        assert published.returncode == 0, published.stdout + published.stderr
    outputs = journal.read_bytes().count(b"\n")
    assert f"seen in Langfuse: {outputs} items" in published.stdout
    tasks = Counter(
        row["experiment"]["item.id"]
        for row in server.store.observations.values()
        if row["name"] == "experiment-item-task"
    )
    assert len(tasks) >= outputs
    assert set(tasks.values()) == {1}


def test_langfuse_down_after_the_run_exits_3_and_publish_repairs(
    server: LangfuseServer, demo: str, tmp_path: Path
) -> None:
    (tmp_path / "evals.toml").write_text(
        "[langfuse]\npoll = 0.05\nattempts = 1\ndeadline = 0.3\ntimeout = 2\n", encoding="utf-8"
    )
    assert run("push", demo, "--dataset", "d", cwd=tmp_path).returncode == 0
    for path in ("/otel", "/scores"):
        server.fail(path, 500)
    made = run("experiment", "--dataset", "d", "--run-name", "un", cwd=tmp_path)
    assert made.returncode == 3
    assert "ancrage publish un" in made.stdout
    assert "Traceback" not in made.stderr
    assert json.loads((tmp_path / "runs/un/manifest.json").read_text())["state"] == "complete"
    server.faults.answers.clear()
    repaired = run("publish", "un", cwd=tmp_path)
    assert repaired.returncode == 0, repaired.stdout + repaired.stderr


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("push", str(DEMO)), "would push"),
        (("experiment", "--dataset", "d"), "would run on the dataset 'd'"),
        (("pull", "r"), "would rebuild"),
        (("snapshot", "--source", "langfuse"), "LANGFUSE_PUBLIC_KEY"),
    ],
)
def test_without_keys_each_command_says_what_it_would_do(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    load.cache_clear()
    for name in ("LANGFUSE_PUBLIC_KEY", "LANGFUSE_SECRET_KEY", "LANGFUSE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    code, errors = run_here(monkeypatch, capsys, *arguments)
    assert code == 2
    assert said in errors
    assert "LANGFUSE_SECRET_KEY" in errors
    assert len(errors.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("experiment", "--dataset", "d", "--snapshot", "s"), "give one"),
        (("experiment", "--repeat", "2"), "go with --dataset"),
        (("experiment", "--dataset", "none"), "ancrage push"),
        (("experiment", "--dataset", "none", "--version", "monday"), "not an ISO date"),
        (("publish", "nothing"), "no run"),
    ],
)
def test_wrong_use_is_one_line(
    server: LangfuseServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    said: str,
) -> None:
    code, errors = run_here(monkeypatch, capsys, *arguments)
    assert code == 2
    assert said in errors
    assert "Traceback" not in errors


def test_without_the_package_the_line_says_what_to_install(tmp_path: Path) -> None:
    program = (
        "import sys; sys.modules['langfuse'] = None\n"
        "from ancrage.cli.app import main\n"
        f"sys.argv = ['ancrage', 'push', {str(DEMO)!r}]\n"
        "main()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert "pip install 'ancrage[langfuse]'" in done.stderr


def test_a_wait_is_one_line_in_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    lines = Lines()
    for said in ("sending 3 items", *(f"waiting for {n}" for n in range(50)), "sending 2 scores"):
        lines.say(said)
    assert capsys.readouterr().err.splitlines() == [
        "sending 3 items",
        "waiting for 0",
        "sending 2 scores",
    ]


def test_a_replay_of_a_dataset_is_published(
    server: LangfuseServer, demo: str, tmp_path: Path
) -> None:
    (tmp_path / "evals.toml").write_text(
        '[langfuse]\npoll = 0.05\n[assistant]\nuse = "ancrage.replay.demo:assistant"\n',
        encoding="utf-8",
    )
    assert run("push", demo, "--dataset", "d", cwd=tmp_path).returncode == 0
    answers = [{"id": one.id, "answer": "Rien à citer."} for one in open_snapshot(demo).cases()]
    (tmp_path / "known.json").write_text(json.dumps(answers), encoding="utf-8")
    made = run("replay", "--dataset", "d", "--mock", "known.json", "--run-name", "r", cwd=tmp_path)
    assert f"seen in Langfuse: {CASES} items" in made.stdout, made.stdout + made.stderr
    assert made.returncode == 0, made.stderr
    described = {
        row["experiment"].get("description")
        for row in server.store.observations.values()
        if row["name"] == "experiment-item-task"
    }
    assert len(described) == 1
    assert "Ancrage replay r" in described.pop()
