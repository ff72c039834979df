"""From nothing to a first report: init, doctor, demo."""

import json
import os
import tomllib
from pathlib import Path

import pytest

from tests.cli.test_commands import run

ANSWERS = [
    {
        "uuid": "a1",
        "survey": "s1",
        "prompt": "Que disent-ils du bus ?",
        "result": {"response": "« Le bus est plein le matin » [R-001, M-0001]."},
        "created_at": "2026-01-01",
    },
    {
        "uuid": "a2",
        "survey": "s1",
        "prompt": "Et le vélo ?",
        "result": {"response": "« J'aime le vélo » [R-002, M-0002]"},
        "created_at": "2026-01-02",
    },
]
MESSAGES = """survey,msg_id,participant,verbatim
s1,M-0001,R-001,Le bus est plein le matin
s1,M-0002,R-002,J'adore le vélo
"""


def files(place: Path) -> None:
    (place / "prod.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ANSWERS))
    (place / "messages.csv").write_text(MESSAGES, encoding="utf-8")


def test_from_two_files_to_a_first_true_report(tmp_path: Path) -> None:
    files(tmp_path)
    done = run("init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "prod.jsonl: answers, 2 of the first 2 rows" in done.stdout
    assert "answer ← result.response" in done.stdout
    assert "2 of 2 rows are answers; 1 of 1 studies found, with 2 messages." in done.stdout
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
    assert ".env" in (tmp_path / ".gitignore").read_text().splitlines()
    json.loads((tmp_path / ".ancrage" / "evals.schema.json").read_text())
    assert run("snapshot", "--source", "production", cwd=tmp_path).returncode == 0
    audit = run("experiment", "--judges", "none", cwd=tmp_path)
    assert audit.returncode == 0, audit.stderr
    assert "Perfectly anchored answers  1/2" in audit.stdout
    assert "T4 altered" in audit.stdout


def test_nothing_that_exists_is_overwritten(tmp_path: Path) -> None:
    files(tmp_path)
    own = "from invoke import task\n\n\n@task\ndef mine(c):\n    'Own.'\n    print('mine')\n"
    (tmp_path / "tasks.py").write_text(own)
    (tmp_path / ".env").write_text("A=b\n")
    done = run("init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / ".env").read_text() == "A=b\n"
    assert (tmp_path / "tasks.py").read_text() == own
    to_add = done.stdout.split("at its end:\n\n")[1].split("\n.gitignore")[0]
    (tmp_path / "tasks.py").write_text(own + "\n\n" + to_add)
    listed = run("--list", cwd=tmp_path, program="invoke").stdout
    assert "  mine" in listed
    assert "  evals.report" in listed
    before = (tmp_path / "evals.toml").read_text()
    again = run("init", "--name", "other", cwd=tmp_path)
    assert "left as it is" in again.stdout
    assert (tmp_path / "evals.toml").read_text() == before


def test_a_grammar_is_proposed_from_the_answers(tmp_path: Path) -> None:
    rows = [
        {"id": n, "question": "?", "answer": f'« oui » <cite id="V{n:03}">a</cite>'}
        for n in range(5)
    ]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    done = run("init", "a.jsonl", "--dry-run", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "read in 5 of 5 sampled answers with the lines below, in 0 by default" in done.stdout
    assert "\n[citations]\n" in done.stdout
    written = done.stdout[done.stdout.index("#:schema") :]
    assert "V" in tomllib.loads(written)["citations"]["message"]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.jsonl"]


@pytest.mark.parametrize("name", ["absent.jsonl", "tasks.py"])
def test_what_cannot_be_looked_at_is_said(name: str, tmp_path: Path) -> None:
    done = run("init", name, cwd=tmp_path)
    assert done.returncode == 2
    assert name in done.stderr
    assert not list(tmp_path.iterdir())


def test_doctor_names_what_is_wrong_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "evals.toml").write_text(
        '[tiers.standard]\nmodel = "m"\nkey = "NO_SUCH_KEY"\n\n[gate]\nnonsense = 1\n'
    )
    done = run("doctor", "--offline", cwd=tmp_path)
    assert done.returncode == 2
    assert "[gate] nonsense: is no field of it" in " ".join(done.stdout.split())
    (tmp_path / "evals.toml").write_text('[tiers.standard]\nmodel = "m"\nkey = "NO_SUCH_KEY"\n')
    done = run("doctor", "--offline", cwd=tmp_path)
    assert done.returncode == 2
    assert "NO_SUCH_KEY is not set" in done.stdout
    assert run("doctor", "--offline", cwd=tmp_path, NO_SUCH_KEY="x").returncode == 0


def test_the_demonstration_needs_no_checkout(tmp_path: Path) -> None:
    done = run("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "132 cases = 130 ok + 1 missing + 1 refused" in done.stdout
    assert (tmp_path / "snapshots" / "demo" / "cases.jsonl").is_file()
    assert run("show", "bank-024", cwd=tmp_path).returncode == 0


def test_the_reference_and_the_schema_are_those_of_the_models() -> None:
    from ancrage.cli.reference import commands
    from ancrage.setup.reference import TABLES, markdown, schema
    from tests.conftest import ROOT

    assert set(schema()["properties"]) == set(TABLES)
    docs = ROOT / "docs"
    assert (docs / "commands.md").read_text(encoding="utf-8") == commands()
    assert (docs / "configuration.md").read_text(encoding="utf-8") == markdown(), (
        "write it anew: python -m ancrage.cli.reference docs"
    )
    assert json.loads((docs / "evals.schema.json").read_text(encoding="utf-8")) == schema()


def test_the_project_above_is_found(tmp_path: Path) -> None:
    files(tmp_path)
    assert run("init", cwd=tmp_path).returncode == 0
    below = tmp_path / "notes" / "deep"
    below.mkdir(parents=True)
    assert run("snapshot", cwd=below).returncode == 0
    (snapshot,) = (tmp_path / "snapshots").iterdir()
    given = os.path.relpath(snapshot, below)
    assert run("experiment", "--snapshot", given, "--run-name", "x", cwd=below).returncode == 0
    assert run("export", "x", "--out", "here.csv", cwd=below).returncode == 0
    assert (below / "here.csv").is_file()
    assert (tmp_path / "runs" / "x").is_dir()


def test_files_that_hold_no_answers_leave_a_skeleton(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text("one;two\n1;2\n3;4\n")
    done = run("init", cwd=tmp_path)
    assert done.returncode == 3
    assert "columns: one, two" in done.stdout
    assert "--map id=COLUMN" in done.stdout
    written = tomllib.loads((tmp_path / "evals.toml").read_text(encoding="utf-8"))
    assert written["sources"]["production"]["fields"].keys() == {"id", "question", "answer"}


def test_a_configuration_that_is_there_is_what_init_looks_at(tmp_path: Path) -> None:
    files(tmp_path)
    assert run("init", cwd=tmp_path).returncode == 0
    before = (tmp_path / "evals.toml").read_bytes()
    (tmp_path / "x-answers.csv").write_text("run,case,study,state\nr,c,s,ok\n")
    done = run("init", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "[sources.production]: 2 of 2 rows are answers" in done.stdout
    assert "x-answers" not in done.stdout
    assert (tmp_path / "evals.toml").read_bytes() == before


@pytest.mark.parametrize(
    ("configuration", "said"),
    [
        ('[citations]\nmessage = "ver(batim"', "evals.toml:2: [citations] message: not a pattern"),
        (
            '[sources.p]\ntype = "jsonl"\nanswers = "no.csv"',
            "evals.toml:3: [sources.p] answers: no",
        ),
        ('[citations]\nmesage = "x"', "is no field of it; known: message, respondent"),
    ],
)
def test_doctor_names_file_line_and_field(configuration: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "evals.toml").write_text(configuration + "\n")
    done = run("doctor", "--offline", cwd=tmp_path)
    assert done.returncode == 2
    assert said in " ".join(done.stdout.split())
    assert "absl" not in done.stderr


def test_the_demonstration_leaves_a_configured_project_alone(tmp_path: Path) -> None:
    (tmp_path / "evals.toml").write_text('[citations]\nmessage = "verbatim_\\\\d+"\n')
    ended = run("demo", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "36/128" in ended.stdout
    assert not (tmp_path / "runs").exists()
    assert not (tmp_path / "snapshots").exists()
