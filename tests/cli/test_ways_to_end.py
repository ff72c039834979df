"""Every command, however it is called and whatever becomes of it: the right status, in words."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from ancrage.cli import MODULES, find_command
from tests.builders import case, snapshot
from tests.cli.test_commands import BIN, run

COMMANDS = sorted(MODULES)
HOSTILE = "« d’où l’œuvre ≥ 3 » ▸ 日本\x1b[2J::error::x [R-003, M-0003] 🙂"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project with a snapshot and a run over hostile answers, and no configuration."""
    folder = tmp_path_factory.mktemp("place")
    snapshot(folder / "snapshots" / "s", [case(HOSTILE, id=f"c{n}") for n in range(3)])
    made = run("experiment", "--run-name", "r", cwd=folder)
    assert made.returncode in (0, 3), made.stderr
    return folder


def required(name: str) -> list[str]:
    """Something to give for each positional that the command cannot do without."""
    return ["r" for each in find_command(name).parameters if each.required]


def clean(ended: subprocess.CompletedProcess[str], *codes: int) -> None:
    assert ended.returncode in codes, ended.stderr
    assert "Traceback" not in ended.stderr
    assert "unforeseen" not in ended.stderr
    assert "\x1b" not in ended.stdout + ended.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_help_says_how_the_command_is_called(name: str, tmp_path: Path) -> None:
    ended = run(name, "--help", cwd=tmp_path, COLUMNS="40")
    clean(ended, 0)
    assert ended.stdout.startswith(f"Usage: ancrage {name}")
    assert "Example:" in ended.stdout
    assert max(map(len, ended.stdout.splitlines())) <= 50
    assert ended.stderr == ""


@pytest.mark.parametrize("name", COMMANDS)
def test_a_wrong_argument_is_wrong_use(name: str, tmp_path: Path) -> None:
    ended = run(name, *required(name), "--wrong-option", "x", cwd=tmp_path)
    clean(ended, 2)
    assert f"ancrage {name} --help" in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("name", COMMANDS)
def test_a_closed_pipe_is_no_fault(name: str, tmp_path: Path) -> None:
    command = f"{BIN / 'ancrage'} {name} -h | true; exit ${{PIPESTATUS[0]}}"
    ended = subprocess.run(
        ["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    clean(ended, 0)
    assert ended.stderr == ""


@pytest.mark.parametrize("encoding", ["cp1252", "cp850", "latin-1", "ascii"])
@pytest.mark.parametrize("name", ["report", "show", "experiment", "compare", "history"])
def test_any_encoding_shows_any_text(name: str, encoding: str, place: Path) -> None:
    arguments = {"show": ["c0"], "compare": ["r", "r"]}.get(name, [])
    ended = subprocess.run(
        [BIN / "ancrage", name, *arguments],
        cwd=place,
        capture_output=True,
        check=False,
        env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "40"},
    )
    shown = ended.stdout.decode(encoding)
    assert ended.returncode in (0, 3), ended.stderr
    assert b"Traceback" not in ended.stderr
    assert "\x1b" not in shown
    assert shown


@pytest.mark.parametrize("name", COMMANDS)
def test_without_configuration_or_data_it_says_what_is_missing(name: str, tmp_path: Path) -> None:
    ended = subprocess.run(
        [BIN / "ancrage", name, *required(name)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        stdin=subprocess.DEVNULL,
        env={key: value for key, value in os.environ.items() if not key.startswith("LANGFUSE")},
    )
    clean(ended, *ALONE.get(name, (2,)))
    if ended.returncode == 2:
        assert len(ended.stderr.splitlines()) == 1
        assert ended.stderr.startswith(f"{name}: ")


ALONE: dict[str, tuple[int, ...]] = {
    "demo": (0,),
    "doctor": (0,),
    "init": (3,),
    "plan": (0,),
    "prove": (0, 2),
}
"""Commands that have something to say of an empty folder, with their exit statuses."""


@pytest.mark.parametrize("content", ["", "\n", "nonsense", "checks = 1\n", "[gate\n", "\x00"])
def test_a_useless_configuration_is_refused_in_words_or_is_none(
    content: str, tmp_path: Path
) -> None:
    (tmp_path / "evals.toml").write_text(content)
    ended = run("report", cwd=tmp_path)
    clean(ended, 2)
    assert "pydantic" not in ended.stderr
    assert len(ended.stderr.splitlines()) == 1


@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_ends_a_run_within_a_second_and_says_how_to_go_on(
    times: int, tmp_path: Path
) -> None:
    snapshot(tmp_path / "snap", [case(HOSTILE, id=f"c{n}") for n in range(20_000)])
    started = subprocess.Popen(
        [BIN / "ancrage", "experiment", "--snapshot", "snap", "--run-name", "k"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    journal = tmp_path / "runs/k/scorings/001/scores.jsonl"
    while started.poll() is None and not (journal.exists() and journal.stat().st_size > 5_000):
        time.sleep(0.01)
    asked = time.monotonic()
    for _ in range(times):
        started.send_signal(signal.SIGINT)
        time.sleep(0.05)
    _, words = started.communicate(timeout=30)
    assert time.monotonic() - asked < 5
    assert started.returncode == 3
    assert "Traceback" not in words
    assert "experiment --resume k" in words


def test_a_fault_of_ours_is_one_line_and_a_private_log(tmp_path: Path) -> None:
    (tmp_path / "evals.toml").write_text('[checks]\nmodules = ["mine"]\n')
    (tmp_path / "mine.py").write_text("raise SystemExit(0)\n")
    snapshot(tmp_path / "snap", [case("a")])
    ended = run("experiment", "--snapshot", "snap", cwd=tmp_path)
    assert ended.returncode in (2, 70)
    assert len(ended.stderr.splitlines()) == 1


def test_an_unforeseen_error_is_70_with_a_log(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from ancrage.cli.shield import perform

    def broken() -> None:
        raise OverflowError("too \x1b[31m large")

    monkeypatch.chdir(tmp_path)
    assert perform("gate", broken) == 70
    words = capsys.readouterr().err
    assert "\x1b" not in words
    assert words.startswith("gate: unforeseen error, OverflowError: too")
    (log,) = (tmp_path / ".ancrage" / "errors").iterdir()
    assert "OverflowError" in log.read_text(encoding="utf-8")
    assert log.stat().st_mode & 0o077 == 0


def test_a_full_disk_is_one_line(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no device that is always full")
    with Path("/dev/full").open("wb", buffering=0) as full:
        ended = subprocess.run(
            [BIN / "ancrage", "--help"],
            cwd=tmp_path,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.returncode == 3
    assert len(ended.stderr.splitlines()) == 1
    assert "No space left" in ended.stderr


@pytest.mark.parametrize(
    ("words", "limit", "place"),
    [
        (("snapshot", "--source", "a.jsonl", "--studies", "m.jsonl", "--out", "t"), 4, "t"),
        (("experiment", "--snapshot", "s", "--run-name", "new"), 4, "scores.jsonl"),
        (("experiment", "--snapshot", "s", "--run-name", "new"), 0, "runs/new/manifest.json"),
        (("export", "r", "--out", "r.csv"), 0, "r.csv"),
        (("compare", "r", "r", "--html", "c.html"), 4, "c.html"),
    ],
)
def test_a_disk_that_fills_loses_nothing(
    words: tuple[str, ...], limit: int, place: str, tmp_path: Path
) -> None:
    snapshot(
        tmp_path / "s", [case("« rien à dire » [R-003, M-0003]", id=f"c{n}") for n in range(99)]
    )
    rows = [
        {"id": f"c{n}", "study_id": "S", "question": "?", "answer": "a" * 99} for n in range(99)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "m.jsonl").write_text('{"id": "M-1", "respondent_id": "R-1", "text": "Oui."}\n')
    assert run("experiment", "--snapshot", "s", "--run-name", "r", cwd=tmp_path).returncode == 0
    (tmp_path / "runs/r/report.html").unlink()
    ended = subprocess.run(
        ["bash", "-c", f'ulimit -f {limit}; exec "$@"', "-", BIN / "ancrage", *words],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    clean(ended, 3)
    assert len(ended.stderr.splitlines()) == 1
    assert f"{place}: File too large" in ended.stderr
    assert not list(tmp_path.glob(".*")), "what was begun is left behind"
    again = run(*words, cwd=tmp_path)
    if "go on with" in ended.stderr:
        again = run(*ended.stderr.split("go on with: ancrage ")[1].split(), cwd=tmp_path)
    clean(again, 0)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("experimnt",), "did you mean experiment"),
        (("--lits",), "no option '--lits'"),
        (("experiment", "--snapshto", "x"), "--snapshot"),
        (("experiment", "--limit", "0"), "--limit"),
        (("snapshot", "--limit", "0"), "--limit 0: give a whole number of at least 1"),
        (("experiment", "--concurrency", "-1"), "--concurrency -1: give a whole number"),
        (("label", "r", "--port", "99999"), "--port 99999: give a whole number from 0 to 65535"),
        (("label", "r", "--port", "1e5"), "--port 1e5"),
    ],
)
def test_what_was_mistyped_is_said(arguments: tuple[str, ...], words: str, tmp_path: Path) -> None:
    ended = run(*arguments, cwd=tmp_path)
    clean(ended, 2)
    assert words in ended.stderr


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",), ("--list",), ("help",)])
def test_alone_it_shows_what_people_do_in_the_order_they_do_it(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    ended = run(*arguments, cwd=tmp_path)
    clean(ended, 0)
    places = [ended.stdout.index(f"\n  {name} ") for name in COMMANDS]
    assert len(set(places)) == len(COMMANDS)
    day = [
        ended.stdout.index(f"\n  {n} ")
        for n in ("init", "snapshot", "experiment", "report", "show")
    ]
    assert day == sorted(day)
    assert day[-1] <= min(place for place in places if place not in day[:-1] and place >= day[-1])


@pytest.mark.parametrize(
    ("program", "words"), [("ancrage", "ancrage snapshot"), ("invoke", "invoke snapshot")]
)
def test_messages_name_the_command_as_it_was_called(
    program: str, words: str, tmp_path: Path
) -> None:
    (tmp_path / "tasks.py").write_text("from ancrage.cli import namespace\n")
    ended = run("experiment", cwd=tmp_path, program=program)
    assert ended.returncode == 2
    assert words in ended.stderr
