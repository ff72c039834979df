"""Installed in a project that has ``evals/`` of its own, or beside a distribution so named."""

import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from tests.install.conftest import ROOT, pip

TASKS = """
from invoke import Collection, task
from evals import OWN
import ancrage.cli


@task
def mine(context):
    print(OWN)


namespace = Collection(mine, ancrage=ancrage.cli.namespace)
"""
TEST = """
import ancrage
import evals


def test_both_are_themselves(ancrage_run):
    assert evals.OWN == "theirs"
    assert ancrage.__name__ == "ancrage"
"""


def run(*command: str | Path, cwd: Path) -> str:
    outside = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    done = subprocess.run(
        command, cwd=cwd, env=outside, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with a package ``evals`` and tasks of its own, and a test of both packages."""
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    (folder / "evals").mkdir()
    (folder / "evals" / "__init__.py").write_text('OWN = "theirs"\n')
    (folder / "tasks.py").write_text(TASKS)
    (folder / "tests" / "test_both.py").write_text(TEST)
    return folder


def audit(environment: Path, folder: Path) -> None:
    """The demonstration is audited, with our command and through the project's own tasks."""
    demo = ROOT / "snapshots" / "demo"
    told = run(environment / "ancrage", "experiment", "--snapshot", demo, cwd=folder)
    assert "36/128" in told


def test_beside_a_project_with_a_package_named_evals(environment: Path, project: Path) -> None:
    audit(environment, project)
    python = environment / "python"
    assert "1 passed" in run(python, "-m", "pytest", cwd=project)
    assert run(python, "-m", "invoke", "mine", cwd=project) == "theirs\n"
    assert "ancrage.experiment" in run(python, "-m", "invoke", "--list", cwd=project)
    shown = run(python, "-m", "invoke", "ancrage.show", "bank-024", cwd=project)
    assert "bank-024" in shown


def test_beside_a_distribution_named_evals(
    environment: Path, project: Path, tmp_path: Path
) -> None:
    (project / "evals" / "__init__.py").unlink()
    (project / "evals").rmdir()
    python = environment / "python"
    pip("--python", python, "install", "--no-deps", stand_in(tmp_path))
    audit(environment, project)
    assert "1 passed" in run(python, "-m", "pytest", cwd=project)
    assert run(python, "-m", "invoke", "mine", cwd=project) == "theirs\n"
    pip("--python", python, "uninstall", "--yes", "evals")
    (project / "tasks.py").unlink()
    assert "bank-024" in run(environment / "ancrage", "show", "bank-024", cwd=project)


def test_nothing_else_is_importable_from_the_wheel(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        tops = {name.split("/")[0] for name in archive.namelist()}
    assert tops == {"ancrage", next(top for top in tops if top.endswith(".dist-info"))}


def stand_in(folder: Path) -> Path:
    """A distribution named ``evals`` with a package of that name."""
    path = folder / "evals-1.0-py3-none-any.whl"
    files = {
        "evals/__init__.py": 'OWN = "theirs"\n',
        "evals-1.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: evals\nVersion: 1.0\n",
        "evals-1.0.dist-info/WHEEL": (
            "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        ),
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        record = "".join(f"{name},,\n" for name in [*files, "evals-1.0.dist-info/RECORD"])
        archive.writestr("evals-1.0.dist-info/RECORD", record)
    return path
