"""A row of a file, and what is kept of one that is none."""

from typing import Any, NamedTuple

RAW_KEPT = 2_000
"""Characters of a rejected line that are kept, where any may be."""


class Record(NamedTuple):
    """A row and where it stands."""

    where: str
    line: int
    row: dict[str, Any]


def raw(text: str) -> str:
    """A rejected line, legible and cut."""
    return text[: RAW_KEPT * 4].strip()[:RAW_KEPT].encode("utf-8", "backslashreplace").decode()
