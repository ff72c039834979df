"""Fixtures that several concerns share."""

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of real data beside the checkout; a user's machine does not have it."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("real data (../shared) is not on this machine")
    return folder
