"""SQL over runs says what every other reader of a run says, and reaches nothing else."""

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ancrage.errors import UsageError
from ancrage.report.export import rows_of
from ancrage.runs import RunView, list_runs
from ancrage.scale.query import RunQueries, connected, write_tables
from ancrage.scale.tables import TABLES
from tests.cli.test_commands import run
from tests.scale.conftest import DEMO

pytest.importorskip("duckdb")


@pytest.fixture(scope="module")
def runs(root: Path) -> Iterator[RunQueries]:
    with connected(list_runs(root)) as found:
        yield found


@pytest.fixture
def project(root: Path, tmp_path: Path) -> Path:
    """A project of its own with the runs copied."""
    shutil.copytree(root, tmp_path / "runs")
    for folder in list_runs(tmp_path / "runs"):
        moved = folder.run.snapshot.model_copy(update={"path": str(DEMO)})
        folder.save(folder.run.model_copy(update={"snapshot": moved}))
    return tmp_path


def comparable(rows: Any) -> list[str]:
    """Rows in one order, as text; times alike."""
    found = []
    for row in rows:
        plain = dict(row)
        if time := plain.get("time"):
            moment = datetime.fromisoformat(time) if isinstance(time, str) else time
            plain["time"] = moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
        found.append(json.dumps(plain, default=str, sort_keys=True))
    return sorted(found)


@pytest.mark.parametrize("copied", [False, True])
@pytest.mark.parametrize("what", TABLES)
def test_the_views_are_the_rows_of_the_export(what: Any, copied: bool, project: Path) -> None:
    folders = list_runs(project / "runs")
    for folder in folders[: 2 * copied]:  # the third is read as lines
        write_tables(folder)
    with connected(folders) as runs:
        found = list(runs.rows(f"from {what}"))
        assert runs.notes == []
    expected = [row for folder in folders for row in rows_of(RunView(folder), what)]
    kept = set(found[0])
    assert set(expected[0]) - kept <= {mode.name for mode in RunView(folders[0]).modes}
    assert comparable(found) == comparable(
        {name: value for name, value in row.items() if name in kept} for row in expected
    )


def test_the_views_have_these_columns_without_any_run() -> None:
    with connected([]) as runs:
        for name in ("runs", *TABLES):
            assert list(runs.rows(f"from {name}")) == []


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("selec 1", "syntax error"),
        ("select * from answerz", "does not exist"),
        ("select 1; select 2", "give one query"),
        ("drop view answers", "give one query"),
        ("copy (select 1) to 'x.csv'", "give one query"),
        ("attach 'x.db'", "give one query"),
        ("", "give one query"),
        ("select * from read_text('/etc/passwd')", "disabled by configuration"),
        ("select * from read_csv('https://example.org/x.csv')", "disabled by configuration"),
        ("select * from glob('/*')", "disabled by configuration"),
        ("select * from sql", "does not exist"),
    ],
)
def test_what_is_no_query_of_the_runs_is_refused(
    sql: str, words: str, runs: RunQueries, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError, match=words) as error:
        list(runs.rows(sql))
    assert "\n" not in str(error.value)
    assert not list(tmp_path.iterdir())


def test_damaged_lines_are_counted_and_said_and_a_torn_one_is_passed_over(project: Path) -> None:
    journal = project / "runs" / "whole" / "outputs.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    lines[3] = b'{"case_id": nothing\n'
    journal.write_bytes(b"".join(lines) + b'{"case_id":"to')
    done = run("query", "select count(*) as n from answers where state = 'ok'", cwd=project)
    assert done.returncode == 3
    assert f"{journal}: 1 damaged line left out" in done.stderr
    whole = run("query", "select count(*) as n from runs", "--json", cwd=project)
    assert (whole.returncode, json.loads(whole.stdout)) == (0, {"n": 3})


def test_a_copy_that_is_out_of_date_is_not_read(project: Path) -> None:
    folder = next(each for each in list_runs(project / "runs") if each.path.name == "whole")
    sql = "select count(*) as n from answers where run = 'whole' and state <> 'not_run'"
    done = run("export", "whole", "--parquet", cwd=project)
    assert done.returncode == 0, done.stderr
    journal = folder.path / "outputs.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join(lines[:-1]))
    with connected([folder]) as runs:
        assert list(runs.rows(sql)) == [{"n": len(lines) - 1}]
    journal.write_bytes(b"".join(lines))
    with connected([folder]) as runs:
        assert list(runs.rows(sql)) == [{"n": len(lines)}]
        assert (folder.path / "tables").stat().st_mode & 0o077 == 0


def test_without_its_snapshot_a_run_has_answers_and_says_what_it_lacks(project: Path) -> None:
    for folder in list_runs(project / "runs"):
        gone = folder.run.snapshot.model_copy(update={"path": "/nowhere"})
        folder.save(folder.run.model_copy(update={"snapshot": gone}))
    done = run("query", "select count(answer) a, count(question) q from answers", cwd=project)
    assert done.returncode == 3
    assert "which is gone" in done.stderr
    answers, questions = done.stdout.splitlines()[3].split()
    assert int(answers) > 100
    assert int(questions) == 0


def test_the_terminal_shows_a_hundred_rows_and_other_programs_get_all(project: Path) -> None:
    shown = run("query", "select run, case_id from answers order by all", cwd=project)
    assert shown.returncode == 0, shown.stderr
    assert "100 rows of 3 runs, the first of more" in shown.stdout
    printed = run("query", "select run, case_id from answers", "--csv", cwd=project)
    assert len(printed.stdout.splitlines()) == 1 + 3 * 132
    wide = run("query", "select * from findings limit 1", cwd=project)
    assert "explanation" in wide.stdout
    assert run("query", "select 1", "--csv", "--json", cwd=project).returncode == 2
