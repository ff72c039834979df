"""The commands as a CI meets them: real processes and their exit codes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from invoke.program import Program

from ancrage import __version__
from ancrage.cli import namespace
from ancrage.config import load
from tests.compare.runs import world, write_run


def run(*arguments: str, cwd: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    """``ancrage`` in ``cwd``."""
    environment = {k: v for k, v in os.environ.items() if k != "GITHUB_ACTIONS"}
    return subprocess.run(
        [str(Path(sys.executable).parent / "ancrage"), *arguments],
        cwd=cwd, capture_output=True, text=True, timeout=60, check=False,
        env={**environment, "COLUMNS": "100", **variables},
    )  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a good run, a worse one, and a policy."""
    folder = tmp_path_factory.mktemp("place")
    data = world(folder / "snap", 60, studies=30)
    root = folder / "runs"
    write_run(root, data, "good", {"x": [0.0] * 60})
    write_run(root, data, "worse", {"x": [1.0] * 20 + [0.0] * 40})
    for repeat in range(2):
        values: list[float | str | None] = [float(repeat), *[0.0] * 59]
        write_run(root, data, f"r{repeat}", {"x": values}, group="twice", repeat=repeat)
    (folder / "evals.toml").write_text('[gate]\nbaseline = "main"\n', encoding="utf-8")
    return folder


def test_gate_goes_from_inconclusive_to_ship_to_dont_ship(place: Path) -> None:
    absent = run("gate", "good", cwd=place)
    assert absent.returncode == 3
    assert "INCONCLUSIVE" in absent.stdout
    assert "no baseline 'main'" in absent.stdout
    recorded = run("gate", "good", "--save", "main", cwd=place)
    assert recorded.returncode == 0, recorded.stderr
    assert (place / "baselines" / "main.json").is_file()
    good = run("gate", "good", cwd=place)
    assert (good.returncode, good.stdout.split()[0]) == (0, "SHIP")
    files = ("--markdown", "m.md", "--junit", "j.xml", "--json", "d.json")
    worse = run("gate", "worse", *files, cwd=place, GITHUB_ACTIONS="true")
    assert worse.returncode == 1
    assert "DON'T SHIP" in worse.stdout
    assert "::error title=regression x::" in worse.stdout
    assert json.loads((place / "d.json").read_text())["outcome"] == "fail"
    assert (place / "m.md").read_text(encoding="utf-8").startswith("## ❌ Don't ship")
    assert "<failure" in (place / "j.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("gate", "nothing"), "no run answers to 'nothing'"),
        (("gate", "good", "--policy", "absent.toml"), "absent.toml"),
        (("compare", "good", "nothing"), "no run answers to 'nothing'"),
        (("compare", "good", "worse", "--cluster", "person"), "--cluster person"),
        (("compare", "good", "worse", "--alpha", "7"), "--alpha 7"),
        (("compare", "good", "worse", "--html", "no/such/c.html"), "does not exist"),
        (("compare", "good", "worse", "--case", "nobody"), "no run has a case 'nobody'"),
        (("compare", "baseline:other", "good"), "no baseline 'other'"),
        (("gate", "good", "--save", "../up"), "cannot name a baseline"),
        (("plan", "--rate", ".5", "--detect", ".6"), "--detect 0.6"),
        (("plan", "--rate", ".05", "--detect", ".05", "--studies", "4"), "--studies 4"),
        (("history", "--mode", "typo"), "no run was scored for 'typo'; known: x"),
        (("history", "--plot", "h.xyz"), "h.xyz"),
    ],
)
def test_wrong_use_exits_2_with_one_line(
    arguments: tuple[str, ...],
    words: str,
    place: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(place)
    load.cache_clear()
    with pytest.raises(SystemExit) as end:
        Program(namespace=namespace, version=__version__).run(["invoke", *arguments])
    load.cache_clear()
    assert end.value.code == 2
    said = capfd.readouterr().err
    assert words in said
    assert len(said.strip().splitlines()) == 1


def test_compare_groups_baselines_and_further_runs(place: Path) -> None:
    run("gate", "good", "--save", "old", cwd=place)
    found = run("compare", "baseline:old", "twice", "worse", "--json", "c.json",
                "--html", "c.html", cwd=place)  # fmt: skip
    assert found.returncode == 0, found.stderr
    assert "twice (2 runs)" in found.stdout
    assert "Flaky, most undecided first: c000" in found.stdout
    figures = json.loads((place / "c.json").read_text())
    assert [each["modes"][0]["difference"] for each in figures] == [
        pytest.approx(0.5 / 60),
        pytest.approx(20 / 60),
    ]
    assert (place / "c.html").stat().st_size > 10_000
    one = run("compare", "good", "worse", "--case", "c001", cwd=place)
    assert "{+worse+}" in one.stdout


def test_history_in_the_terminal_and_as_a_plot(place: Path) -> None:
    found = run("history", "--mode", "x", "--plot", "h.png", cwd=place)
    assert found.returncode == 0, found.stderr
    assert "20/60 = 33.3 %" in found.stdout
    assert (place / "h.png").read_bytes().startswith(b"\x89PNG")
    assert run("history", cwd=place).returncode == 0


def test_no_run_at_all(tmp_path: Path) -> None:
    for arguments in (("gate", "latest"), ("history",), ("compare", "a", "b")):
        found = run(*arguments, cwd=tmp_path)
        assert found.returncode == 2
        assert "make one with" in found.stderr or "make one:" in found.stderr


def test_plan_says_cases_repeats_and_labels(tmp_path: Path) -> None:
    found = run("plan", "--rate", ".05", "--detect", ".05", "--studies", "40", cwd=tmp_path)
    assert found.returncode == 0, found.stderr
    assert "To see a rate of 5.0% rise by 5 points in 40 studies, 80% of the time" in found.stdout
    assert "Labels: 73 cases" in found.stdout
    rows = [line.split() for line in found.stdout.splitlines() if line.strip()[:1].isdigit()]
    assert [row[0] for row in rows] == ["1", "2", "3", "5"]


def test_runs_without_a_common_case_are_not_compared(tmp_path: Path) -> None:
    for name, size, first in (("old", 5, 0), ("new", 5, 50)):
        data = world(tmp_path / f"snap-{name}", size, first=first)
        write_run(tmp_path / "runs", data, name, {"x": [0.0] * size})
    found = run("compare", "old", "new", cwd=tmp_path)
    assert found.returncode == 3
    assert "no case in common: nothing could be compared" in found.stdout
    assert run("compare", "old", "old", cwd=tmp_path).returncode == 0
