"""The command line as a user meets it: real processes, exit codes, one-line errors."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.builders import case, snapshot
from tests.conftest import ROOT

BIN = Path(sys.executable).parent
DEMO = ROOT / "snapshots" / "demo"


def run(
    *arguments: str, cwd: Path, program: str = "ancrage", **variables: str
) -> subprocess.CompletedProcess[str]:
    """Run the program in ``cwd``; its output is decoded text."""
    return subprocess.run(
        [BIN / program, *arguments],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env={**os.environ, "COLUMNS": "110", **variables},
    )


def test_the_list_reads_like_a_table_of_contents() -> None:
    listed = run("--list", cwd=ROOT, program="invoke")
    assert listed.returncode == 0
    for name in ("snapshot", "experiment", "score", "report", "show"):
        assert f"  {name} " in listed.stdout


def test_every_option_of_every_command_has_a_help_text() -> None:
    from ancrage.cli import MODULES, find_command

    for name in MODULES:
        command = find_command(name)
        assert command.summary, name
        assert len(command.summary) < 72, name
        declared = {str(each.name).replace("_", "-") for each in command.parameters}
        assert set(command.help) == declared, name


def test_every_declared_command_is_listed() -> None:
    from importlib import import_module

    from ancrage.cli import MODULES

    declared = {
        command.name: module
        for module in set(MODULES.values())
        for command in import_module(f"ancrage.cli.{module}").tasks
    }
    assert declared == MODULES


def test_audit_of_the_demonstration_then_show_then_score(tmp_path: Path) -> None:
    audit = run("experiment", "--snapshot", str(DEMO), "--run-name", "one", cwd=tmp_path)
    assert audit.returncode == 0, audit.stderr
    cases = len((DEMO / "cases.jsonl").read_text(encoding="utf-8").splitlines())
    assert f"{cases} cases = {cases - 2} ok + 1 missing + 1 refused" in audit.stdout
    assert f"Checking: {cases}/{cases}" in audit.stderr
    assert "\x1b" not in audit.stdout
    assert (tmp_path / "runs/one/report.html").stat().st_size > 10_000
    manifest = json.loads((tmp_path / "runs/one/manifest.json").read_text())
    assert manifest["counts"] == {
        "cases": cases,
        "missing": 1,
        "ok": cases - 2,
        "refused": 1,
    }

    shown = run("show", "bank-024", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    assert "one minute after I dialled" in shown.stdout
    assert "T5 translated" in shown.stdout
    assert "décroché à 9h03. Étonnée !" in shown.stdout

    scored = run("score", "one", cwd=tmp_path)
    assert scored.returncode == 0, scored.stderr
    assert sorted(path.name for path in (tmp_path / "runs/one/scorings").iterdir()) == [
        "001",
        "002",
    ]
    again = run("report", "one", cwd=tmp_path)
    assert again.returncode == 0
    table = audit.stdout.split("Failure mode")[1].split("Worst")[0]
    assert table in again.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("experiment", "--snapshot", "nowhere"), "ancrage snapshot"),
        (("experiment", "--resume", "latest"), "ancrage experiment"),
        (("experiment", "--concurrency", "many"), "--concurrency many: give a whole number"),
        (("experiment", "--resume", "x", "--run-name", "y"), "leave out"),
        (("report", "nope"), "no run"),
        (("show", "nope"), "no run"),
        (("show",), "CASE"),
        (("experimnt",), "experimnt"),
        (("experiment", "--snapshto", "x"), "snapshto"),
    ],
)
def test_wrong_use_is_one_line_that_says_what_to_do(
    arguments: tuple[str, ...], words: str, tmp_path: Path
) -> None:
    ended = run(*arguments, cwd=tmp_path)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1
    assert ended.stdout == ""


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("[citatoins]\n", "unknown table [citatoins]"),
        ("[citations]\nmesage = 'M'\n", "mesage"),
        ("[ids]\nignore_case = 'perhaps'\n", "[ids] ignore_case"),
        ("[checks\n", "not valid TOML"),
    ],
)
def test_a_fault_in_the_configuration_names_file_and_field(
    content: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "evals.toml").write_text(content)
    ended = run("experiment", "--snapshot", str(DEMO), cwd=tmp_path)
    assert ended.returncode == 2
    assert "evals.toml" in ended.stderr
    assert words in ended.stderr
    assert len(ended.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize("program", ["ancrage", "invoke"])
def test_a_check_in_the_project_s_folder_is_found(program: str, tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text("from ancrage.cli import namespace\n")
    (tmp_path / "evals.toml").write_text('[checks]\nmodules = ["mychecks"]\n')
    (tmp_path / "mychecks.py").write_text(
        "from ancrage.checks import check, finding\n\n\n"
        '@check(title="Shouting", definition="An exclamation mark.")\n'
        "def shouting(subject):\n"
        '    yield finding("shouting", subject, 0, 1, "Do not shout.")\n'
    )
    snapshot(tmp_path / "snap", [case("a !")])
    ended = run("experiment", "--snapshot", "snap", cwd=tmp_path, program=program)
    assert ended.returncode == 0, ended.stderr
    assert "shouting" in ended.stdout


def test_the_namespace_serves_in_another_project(tmp_path: Path) -> None:
    (tmp_path / "tasks.py").write_text(
        "from invoke import Collection, task\n"
        "from ancrage.cli import namespace as evals\n\n"
        "@task\ndef mine(c):\n    'A task of the project.'\n    print('mine')\n\n"
        "namespace = Collection(mine, evals=evals)\n"
    )
    listed = run("--list", cwd=tmp_path, program="invoke")
    assert "evals.experiment" in listed.stdout
    assert "mine" in listed.stdout
    audit = run("evals.experiment", "--snapshot", str(DEMO), cwd=tmp_path, program="invoke")
    assert audit.returncode == 0, audit.stderr


def test_a_killed_audit_resumes_and_loses_nothing(tmp_path: Path) -> None:
    cases = [case(f"« rien à dire » [R-003, M-0003] {i}", id=f"c{i:05d}") for i in range(4000)]
    snapshot(tmp_path / "snap", cases)
    command = [str(BIN / "ancrage"), "experiment", "--snapshot", "snap", "--run-name", "k"]
    journal = tmp_path / "runs/k/scorings/001/scores.jsonl"
    for attempt in range(3):
        started = subprocess.Popen(
            command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        goal = 500 * (attempt + 1)
        while started.poll() is None and _lines(journal) < goal:
            time.sleep(0.005)
        started.send_signal(signal.SIGKILL)
        started.wait()
        command = [str(BIN / "ancrage"), "experiment", "--resume", "k"]
    assert 1500 <= _lines(journal) < 4000
    ended = run("experiment", "--resume", "k", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    manifest = json.loads((tmp_path / "runs/k/manifest.json").read_text())
    assert manifest["state"] == "complete"
    assert manifest["counts"] == {"cases": 4000, "ok": 4000}
    for path in (tmp_path / "runs/k/outputs.jsonl", journal):
        ids = [json.loads(line)["case_id"] for line in path.read_text().splitlines()]
        assert sorted(ids) == [one.id for one in cases]


def test_an_interrupted_run_says_so_and_exits_3(tmp_path: Path) -> None:
    snapshot(tmp_path / "snap", [case("a", id=f"c{i}") for i in range(10)])
    assert run("experiment", "--snapshot", "snap", "--run-name", "i", cwd=tmp_path).returncode == 0
    path = tmp_path / "runs/i/outputs.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:4]))
    scores = tmp_path / "runs/i/scorings/001/scores.jsonl"
    scores.write_text("".join(scores.read_text().splitlines(keepends=True)[:4]))
    manifest = tmp_path / "runs/i/manifest.json"
    manifest.write_text(manifest.read_text().replace('"complete"', '"running"'))
    ended = run("report", "i", cwd=tmp_path)
    assert ended.returncode == 3
    assert "--resume" in ended.stdout + ended.stderr


def test_nothing_evaluated_is_not_a_success(tmp_path: Path) -> None:
    snapshot(tmp_path / "snap", [])
    for arguments in (("experiment", "--snapshot", "snap"), ("score", "latest"), ("report",)):
        ended = run(*arguments, cwd=tmp_path)
        assert ended.returncode == 3
        assert "There is no case to evaluate." in ended.stdout


def test_scoring_an_incomplete_run_exits_3(tmp_path: Path) -> None:
    snapshot(tmp_path / "snap", [case("a", id=f"c{i}") for i in range(10)])
    assert run("experiment", "--snapshot", "snap", "--run-name", "i", cwd=tmp_path).returncode == 0
    path = tmp_path / "runs/i/outputs.jsonl"
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:4]))
    manifest = tmp_path / "runs/i/manifest.json"
    manifest.write_text(manifest.read_text().replace('"complete"', '"incomplete"'))
    ended = run("score", "i", cwd=tmp_path)
    assert ended.returncode == 3
    assert "the run is incomplete" in ended.stdout.lower()


def test_an_audit_does_not_take_up_a_replay(tmp_path: Path) -> None:
    snapshot(tmp_path / "snap", [case("a")])
    assert run("experiment", "--snapshot", "snap", "--run-name", "r", cwd=tmp_path).returncode == 0
    manifest = tmp_path / "runs/r/manifest.json"
    manifest.write_text(manifest.read_text().replace('"kind": "audit"', '"kind": "replay"'))
    ended = run("experiment", "--resume", "r", cwd=tmp_path)
    assert ended.returncode == 2
    assert "ancrage replay --resume r" in ended.stderr


def test_a_reader_that_goes_away_changes_no_exit_status(tmp_path: Path) -> None:
    snapshot(tmp_path / "snap", [case("« mots que personne n'a dits » [M-1]" * 400)])
    command = f"{BIN / 'ancrage'} experiment --snapshot snap | true; echo ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert ended.stdout == "0\n"
    assert "Traceback" not in ended.stderr


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    snapshot(tmp_path / "snap", [case("a")])
    (tmp_path / "runs").write_text("a file where the folder should be")
    ended = run("experiment", "--snapshot", "snap", cwd=tmp_path)
    assert ended.returncode == 2
    assert ended.stderr.startswith("experiment: runs/")
    assert len(ended.stderr.strip().splitlines()) == 1


def test_a_run_whose_snapshot_is_gone_says_so(tmp_path: Path) -> None:
    snapshot(tmp_path / "snap", [case("a")])
    assert run("experiment", "--snapshot", "snap", cwd=tmp_path).returncode == 0
    shutil.rmtree(tmp_path / "snap")
    ended = run("report", cwd=tmp_path)
    assert ended.returncode == 2
    assert "gone" in ended.stderr


def _lines(path: Path) -> int:
    return path.read_bytes().count(b"\n") if path.exists() else 0
