"""The columnar copy of a run: its rows as Parquet, in the run's folder.

The journals stay JSON Lines, which can be appended to and resumed; the copy is made again at will,
and holds only as long as the journals are what they were when it was made.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.files import read_model

if TYPE_CHECKING:
    from ancrage.runs import RunFolder

TABLES = ("answers", "scores", "findings", "quotes")
FOLDER = "tables"
MANIFEST = "manifest.json"


class Made(Frozen):
    """What a copy was made of: the size of each journal and each manifest of a scoring."""

    of: dict[str, int]


def fresh_tables(folder: "RunFolder") -> dict[str, Path] | None:
    """The files of a run's columnar copy, by table; None without one, or when it is out of date."""
    place = folder.path / FOLDER
    try:
        made = read_model(place / MANIFEST, Made)
    except UsageError:
        return None
    if made.of != sizes(folder):
        return None
    return {table: (place / f"{table}.parquet").resolve() for table in TABLES}


def sizes(folder: "RunFolder") -> dict[str, int]:
    """What a copy holds for: journals only grow, manifests of scorings change with their state."""
    paths = [folder.path / "outputs.jsonl", *folder.path.glob("scorings/*/*.json*")]
    return {
        str(path.relative_to(folder.path)): path.stat().st_size
        for path in sorted(paths)
        if path.exists()
    }
