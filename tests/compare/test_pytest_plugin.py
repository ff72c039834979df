"""The plugin inside a pytest of its own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ancrage.pytest_plugin import cases_of
from tests.compare.runs import results, world, write_run

SUITE = """
from ancrage.pytest_plugin import assert_no_regression

def test_case(ancrage_case):
    ancrage_case.assert_passes("x")

def test_gate(assert_ships):
    assert assert_ships().words == "SHIP"

def test_by_hand(ancrage_run):
    assert_no_regression(ancrage_run, "main")
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with three runs, a baseline and a suite."""
    folder = tmp_path_factory.mktemp("place")
    data = world(folder / "snap", 40, studies=40)
    write_run(folder / "runs", data, "good", {"x": [0.0] * 40})
    write_run(folder / "runs", data, "worse", {"x": [1.0] * 9 + [None] + [0.0] * 30})
    (folder / "test_suite.py").write_text(SUITE, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\n", encoding="utf-8")
    return folder


def run(place: Path, *arguments: str, alone: bool = False) -> subprocess.CompletedProcess[str]:
    """Pytest on the suite; ``alone`` leaves out every other plugin, which takes half the time."""
    command = [sys.executable, "-m", "pytest", "-q", "--tb=line"]
    environment = dict(os.environ)
    if alone:
        command += ["-p", "ancrage.pytest_plugin"]
        environment["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return subprocess.run(
        [*command, "-p", "no:cacheprovider", *arguments],
        cwd=place, capture_output=True, text=True, timeout=60, check=False, env=environment,
    )  # fmt: skip


def test_a_missing_baseline_fails(place: Path) -> None:
    found = run(place, "--ancrage-run", "good", "-k", "gate", alone=True)
    assert found.returncode == 1
    assert "INCONCLUSIVE" in found.stdout


def test_a_test_a_case_and_the_gate(place: Path) -> None:
    from ancrage.compare.baseline import write_baseline
    from ancrage.compare.results import find_group

    write_baseline("main", find_group("good", place / "runs"), place)
    good = run(place, "--ancrage-run", "good")
    assert good.returncode == 0, good.stdout
    assert "42 passed" in good.stdout
    worse = run(place, "--ancrage-run", "worse", alone=True)
    assert worse.returncode == 1
    assert "12 failed, 30 passed" in worse.stdout
    assert "x is unscored: no verdict" in worse.stdout
    assert "x fails (score 1)" in worse.stdout


def test_a_run_that_does_not_exist_is_wrong_use(place: Path) -> None:
    found = run(place, "--ancrage-run", "nothing", alone=True)
    assert found.returncode != 0
    assert "no run answers to 'nothing'" in found.stdout + found.stderr


def test_over_repeats_a_case_is_taken_at_its_worst() -> None:
    first = results({"x": [0.0, 0.0, 1.0, 0.0], "y": [0.0] * 4}, name="r0")
    second = results({"x": [0.0, 1.0, None, None]}, name="r1")
    cases = cases_of((first, second))
    assert [case.scores["x"] for case in cases] == [0.0, 1.0, 1.0, None]
    assert cases[0].scores["y"] is None
    cases[0].assert_passes("x")
    with pytest.raises(AssertionError, match="x fails"):
        cases[1].assert_passes("x")
    with pytest.raises(AssertionError, match="not looked for in r1"):
        cases[0].assert_passes("y")
    shorter = cases_of((first, results({"x": [0.0] * 3, "y": [0.0] * 3}, name="r2")))
    assert shorter[3].scores == {"x": None, "y": None}
