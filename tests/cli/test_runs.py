"""Runs for other tools: listed, named shortly, exported flat."""

import csv
import io
import json
from pathlib import Path

import pytest

from tests.builders import case, snapshot
from tests.cli.test_commands import run

FORMULA = '=HYPERLINK("http://x","y") « rien » [R-003, M-0003]'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    snapshot(folder / "snapshots" / "s", [case(FORMULA, id="-1+1"), case("Æ ≥ 日本", id="b")])
    for name in ("first", "second"):
        assert run("experiment", "--run-name", name, cwd=folder).returncode in (0, 3)
    return folder


def test_runs_are_listed_newest_first_with_their_names(place: Path) -> None:
    listed = run("runs", cwd=place)
    assert listed.returncode == 0, listed.stderr
    rows = [line.split() for line in listed.stdout.splitlines() if "latest" in line]
    assert [(row[0], row[1]) for row in rows] == [("latest", "second"), ("latest~1", "first")]
    assert "first" in run("report", "latest~1", cwd=place).stdout
    assert run("report", "latest~2", cwd=place).returncode == 2


@pytest.mark.parametrize("rows", ["answers", "scores", "findings", "quotes"])
@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_a_run_is_exported_flat(rows: str, ending: str, place: Path) -> None:
    path = place / f"{rows}.{ending}"
    done = run("export", "first", "--rows", rows, "--out", str(path), cwd=place)
    assert done.returncode == 0, done.stderr
    count = int(done.stdout.rsplit(" ", 2)[-2])
    if ending == "csv":
        found = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8-sig"))))
    elif ending == "jsonl":
        found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    else:
        found = pytest.importorskip("pyarrow.parquet").read_table(path).to_pylist()
    assert len(found) == count
    assert path.stat().st_mode & 0o077 == 0
    if rows == "answers":
        assert [row["question"] for row in found] == [found[0]["question"]] * 2
        assert found[1]["answer"] == "Æ ≥ 日本"


def test_no_cell_of_the_csv_is_a_formula(place: Path) -> None:
    done = run("export", "first", "--out", "-", cwd=place, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    found = list(csv.DictReader(io.StringIO(done.stdout.removeprefix("\ufeff"))))
    assert found[0]["answer"] == "'" + FORMULA
    assert found[0]["case_id"] == "'-1+1"
    assert found[1]["answer"] == "Æ ≥ 日本"


def test_figures_and_page_can_be_printed(place: Path) -> None:
    figures = json.loads(run("report", "--json", "-", cwd=place).stdout)
    assert figures["run"] == "second"
    assert figures["cases"] == 2
    page = run("report", "--html", "-", cwd=place).stdout
    assert page.startswith("<!doctype html>")
    assert page.rstrip().endswith("</html>")
