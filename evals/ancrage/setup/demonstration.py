"""The demonstration: answers of an invented assistant over three bilingual surveys."""

from importlib.resources import files
from pathlib import Path

from ancrage.errors import UsageError


def demonstration() -> Path:
    """The folder of the snapshot; it is part of the package.

    Raises:
        UsageError: this installation lacks it.
    """
    inside = Path(str(files("ancrage"))) / "demonstration"
    checkout = Path(__file__).resolve().parents[3] / "snapshots" / "demo"
    for folder in (inside, checkout):
        if (folder / "manifest.json").is_file():
            return folder
    raise UsageError("this installation has no demonstration: install ancrage again")
