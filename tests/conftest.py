"""Fixtures that several concerns share."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A shared machine is no stopwatch, and CI must give the same verdict twice.
settings.register_profile("default", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") == "true" else "default")

# Workers of pytest-xdist set a width of their own.
os.environ.pop("COLUMNS", None)

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; a user's machine does not have it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("real data (../shared) is not on this machine")
    return folder
