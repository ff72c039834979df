"""The columnar copy of a run: its rows as Parquet, in the run's folder.

The journals stay JSON Lines, which can be appended to and resumed; the copy is made again at will,
and holds only as long as the journals are what they were when it was made.
"""

import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.files import read_model, save_model

if TYPE_CHECKING:
    from ancrage.runs import RunFolder

TABLES = ("answers", "scores", "findings", "quotes")
FOLDER = "tables"
_MANIFEST = "manifest.json"


class _Made(Frozen):
    """What a copy was made of: the size of each journal and each manifest of a scoring."""

    of: dict[str, int]


def write_tables(folder: "RunFolder") -> tuple[Path, list[str]]:
    """Write the columnar copy of a run, in the place of the one before.

    Returns:
        Its folder, and what it lacks, one sentence each.

    Raises:
        UsageError: DuckDB is not installed, or the run cannot be read.
    """
    from ancrage.scale.query import connected

    made = _Made(of=_sizes(folder))
    draft = Path(tempfile.mkdtemp(prefix=f".{FOLDER}-", dir=folder.path))
    try:
        with connected([folder], copying=True) as queries:
            for table in TABLES:
                queries.copy(table, draft / f"{table}.parquet")
            notes = queries.notes
        save_model(draft / _MANIFEST, made, private=True)
        target = folder.path / FOLDER
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target, notes


def fresh_tables(folder: "RunFolder") -> dict[str, Path] | None:
    """The files of a run's columnar copy, by table; None without one, or when it is out of date."""
    place = folder.path / FOLDER
    try:
        made = read_model(place / _MANIFEST, _Made)
    except UsageError:
        return None
    if made.of != _sizes(folder):
        return None
    return {table: (place / f"{table}.parquet").resolve() for table in TABLES}


def _sizes(folder: "RunFolder") -> dict[str, int]:
    """Journals only grow, and manifests of scorings change with their state."""
    paths = [folder.path / "outputs.jsonl", *folder.path.glob("scorings/*/*.json*")]
    return {
        str(path.relative_to(folder.path)): path.stat().st_size
        for path in sorted(paths)
        if path.exists()
    }
