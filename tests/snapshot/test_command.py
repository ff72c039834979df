"""``invoke snapshot`` from end to end, as typed."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ancrage.domain import Answer
from ancrage.snapshot import open_snapshot
from tests.conftest import ROOT

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def invoke(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run ``invoke snapshot`` in the test's folder."""

    def run(*options: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-m", "invoke", "-r", str(ROOT), "snapshot", *options],
            cwd=tmp_path,
            env={**os.environ, "COLUMNS": "200"},
            capture_output=True,
            text=True,
            check=False,
        )

    return run


Invoke = Callable[..., subprocess.CompletedProcess[str]]


def row(rank: int, days: float = 0, **fields: object) -> str:
    time = datetime.now(UTC) - timedelta(days=days)
    values = {
        "id": f"case-{rank}",
        "study_id": "S",
        "question": "q",
        "answer": "« bon » [R12, M1]",
        "time": time.isoformat(),
        **fields,
    }
    return json.dumps(values) + "\n"


MESSAGES = "study_id,id,respondent_id,text\nS,M1,R-012,c'est bon\n"


def test_a_file_needs_no_configuration(write: Write, tmp_path: Path, invoke: Invoke) -> None:
    write("answers.jsonl", row(1) + "{oops\n" + row(2, study_id="gone") + row(3, answer=None))
    write("messages.csv", MESSAGES)
    done = invoke("--source", "answers.jsonl", "--studies", "messages.csv", "--out", "out/one")
    assert (done.returncode, done.stderr) == (0, "")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert "│ read │ 4 │" in lines
    assert "│ kept │ 3 │" in lines
    assert "│ rejected │ 1 │" in lines
    assert "│ kept: source missing │ 1 │" in lines
    assert "│ kept: no usable answer │ 1 │" in lines
    assert "1 rows set aside:" not in lines
    assert "1 row set aside:" in lines
    assert any(line.startswith("answers.jsonl:2 not JSON") for line in lines)
    assert "Next: invoke experiment --snapshot out/one --judges none" in lines
    snapshot = open_snapshot(tmp_path / "out" / "one")
    study = snapshot.study("S")
    assert study is not None
    hidden = study.messages[0].respondent_id
    assert hidden != "R-012"
    output = snapshot.case("case-1").output
    assert output is not None
    assert output.text == f"« bon » [{hidden}, M1]"
    assert next(snapshot.rejects()).raw is None


def test_without_pseudonyms_nothing_changes(write: Write, tmp_path: Path, invoke: Invoke) -> None:
    write("answers.jsonl", row(1) + "{oops\n")
    done = invoke("--source", "answers.jsonl", "--out", "one", "--pseudonymise", "none")
    assert done.returncode == 0
    snapshot = open_snapshot(tmp_path / "one")
    output = snapshot.case("case-1").output
    assert output is not None
    assert output.text == "« bon » [R12, M1]"
    assert next(snapshot.rejects()).raw == "{oops"


def test_limit_days_and_seed(write: Write, tmp_path: Path, invoke: Invoke) -> None:
    rows = [row(rank, days=rank * 0.5) for rank in range(100)] + [row(100, time=None)]
    write("one.jsonl", "".join(rows))
    write("two.jsonl", "".join(reversed(rows)))
    options = ("--limit", "20", "--days", "30", "--seed", "7")
    assert invoke("--source", "one.jsonl", "--out", "one", *options).returncode == 0
    assert invoke("--source", "two.jsonl", "--out", "two", *options).returncode == 0
    one, two = open_snapshot(tmp_path / "one"), open_snapshot(tmp_path / "two")
    assert [case.id for case in one.cases()] == [case.id for case in two.cases()]
    counts = one.manifest.counts
    assert (counts.read, counts.kept, counts.sampled_out) == (101, 20, 40)
    assert (counts.outside_window, counts.undated) == (40, 1)
    assert (one.manifest.filters.limit, one.manifest.filters.seed) == (20, 7)
    assert one.manifest.filters.days == 30


def test_default_folder_is_named_for_source_and_day(
    write: Write, tmp_path: Path, invoke: Invoke
) -> None:
    write("data/a.jsonl", row(1))
    write("evals.toml", '[sources.prod]\ntype = "jsonl"\nanswers = "data/*.jsonl"\n')
    assert invoke().returncode == 0
    (folder,) = (tmp_path / "snapshots").iterdir()
    assert folder.name.startswith("prod-20")
    assert invoke().returncode == 0
    assert (tmp_path / "snapshots" / f"{folder.name}-2" / "manifest.json").is_file()
    again = invoke("--out", str(folder))
    assert again.returncode == 2
    assert "exists already" in again.stderr


def test_nothing_kept_is_not_a_success(write: Write, invoke: Invoke) -> None:
    write("a.jsonl", "{oops\n[1]\n")
    done = invoke("--source", "a.jsonl", "--out", "one")
    assert done.returncode == 3
    assert "Nothing was kept" in done.stdout
    assert "a.jsonl:1 not JSON" in done.stdout
    assert "[sources.NAME.fields]" in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--source", "absent.jsonl"), "absent.jsonl: no such file"),
        (("--source", "nowhere"), "no source 'nowhere'"),
        ((), "name a source or a file with --source"),
        (("--source", "a.jsonl", "--limit", "many"), "--limit many: give a whole number"),
        (("--source", "a.jsonl", "--limit", "-1"), "--limit -1: give a whole number of at least 1"),
        (("--source", "a.jsonl", "--pseudonymise", "all"), "none, respondents, text"),
        (("--source", "a.jsonl", "--since", "monday"), "'monday' is not an ISO date"),
        (("--source", "a.jsonl", "--days", "3", "--since", "2026-01-01"), "give one"),
        (("--source", "a.jsonl", "--studies", "absent.json"), "absent.json: no such file"),
        (("--source", "a.jsonl", "--days", "nan"), "--days nan: give a number"),
        (("--source", "a.jsonl", "--days", "inf"), "--days inf: give a number"),
        (("--source", "a.jsonl", "--days", "1e12"), "--days 1e+12: goes back before any date"),
        (("--source", "a.jsonl", "--days", "1e6"), "--days 1e+06: goes back before any date"),
        (("--source", "a.jsonl", "--limit", "1", "--seed", "9" * 60), "at most 38 digits"),
        (
            ("--source", "a.jsonl", "--since", "2026-02-01", "--until", "2026-01-01"),
            "the window is empty",
        ),
    ],
)
def test_wrong_use_is_one_line(
    options: tuple[str, ...], message: str, write: Write, tmp_path: Path, invoke: Invoke
) -> None:
    write("a.jsonl", row(1))
    done = invoke(*options)
    assert done.returncode == 2
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == ["a.jsonl"]


@pytest.mark.parametrize("name", ["a.csv", "a.jsonl"])
def test_utf_16_is_read(name: str, write: Write, tmp_path: Path, invoke: Invoke) -> None:
    content = row(1, answer="é") if name.endswith("l") else "id,question,answer\ncase-1,q,é\n"
    write(name, content.encode("utf-16"))
    done = invoke("--source", name, "--out", "one")
    assert done.returncode == 0, done.stderr
    assert open_snapshot(tmp_path / "one").case("case-1").output == Answer(text="é")


def test_messages_set_aside_are_a_warning(write: Write, invoke: Invoke) -> None:
    write("a.jsonl", row(1))
    write("m.csv", MESSAGES + "S,M2,,nobody's\n")
    done = invoke("--source", "a.jsonl", "--studies", "m.csv", "--out", "one")
    assert done.returncode == 0
    assert "m.csv:3 respondent_id: missing" in done.stdout
    assert "1 row of studies rejected: unscored where looked for" in done.stdout


def test_rows_set_aside_name_nobody(write: Write, tmp_path: Path, invoke: Invoke) -> None:
    write("a.jsonl", row(1))
    write("m.csv", "study_id,id,respondent_id,text\n" + "S,R-012-1,R-012,c'est bon\n" * 2)
    done = invoke("--source", "a.jsonl", "--studies", "m.csv", "--out", "one")
    assert done.returncode == 0
    for path in (tmp_path / "one").rglob("*.json*"):
        assert "R-012" not in path.read_text(), path.name
    assert "R-012" not in done.stdout


SNAPSHOT_AND_PEAK = """
import re, sys
from pathlib import Path
from ancrage.cli import namespace
namespace["snapshot"].body(None, source=sys.argv[1], studies="messages.csv", out=sys.argv[2])
print("peak", re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads Linux's own figure")
def test_fifty_thousand_lines_take_no_more_memory_than_a_thousand(
    write: Write, tmp_path: Path
) -> None:
    line = row(0, answer="x" * 600 + " [R12, M1]")
    write("messages.csv", MESSAGES)

    def peak(count: int) -> int:
        """Most memory the process held, in kB."""
        with write(f"{count}.jsonl", "").open("w") as file:
            file.writelines(line.replace("case-0", f"case-{rank}") for rank in range(count))
        done = subprocess.run(
            [sys.executable, "-c", SNAPSHOT_AND_PEAK, f"{count}.jsonl", f"out-{count}"],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            capture_output=True,
            text=True,
            check=True,
        )
        assert open_snapshot(tmp_path / f"out-{count}").manifest.counts.kept == count
        return int(done.stdout.split()[-1])

    assert peak(50_000) < peak(1_000) + 6_000, "40 MB of answers went through"
