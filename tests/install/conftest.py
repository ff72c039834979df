"""The project as a wheel, built once, and environments that it is installed in."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def pip(*arguments: str | Path) -> None:
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout; skips where the build backend cannot be had."""
    folder = tmp_path_factory.mktemp("dist")
    command: list[str | Path] = [sys.executable, "-m", "pip", "wheel", "--no-deps"]
    command += ["--wheel-dir", folder, ROOT]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode and "hatchling" in done.stderr:
        pytest.skip("the build backend (hatchling) cannot be installed here")
    assert done.returncode == 0, done.stderr
    (built,) = folder.glob("ancrage-*.whl")
    return built


@pytest.fixture
def environment(tmp_path: Path, wheel: Path) -> Path:
    """The ``bin`` of a new environment with the wheel in it; dependencies are borrowed from ours.

    A borrowed folder is on the path but not a site of its own, so the editable install of this
    checkout is not seen.
    """
    home = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", home], check=True)
    pip("--python", home / "bin" / "python", "install", "--no-deps", "--no-compile", wheel)
    (site,) = home.glob("lib/python*/site-packages")
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return home / "bin"
