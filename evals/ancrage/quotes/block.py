"""A block of an answer, and where in its lists, quotes and tables it stands."""

from typing import NamedTuple


class Block(NamedTuple):
    """A paragraph, heading or table cell: ``text[start:end]``, without the marks of its margin."""

    start: int
    end: int
    kind: str
    """``paragraph``, ``heading``, ``cell`` or ``code``."""
    items: tuple[int, ...] = ()
    """The list items that it lies in, outermost first, each numbered over the answer."""
    lists: tuple[int, ...] = ()
    """The lists of those items."""
    quote: int = 0
    """The outermost block quote that it lies in, numbered from 1; 0 for none."""
    row: int = 0
    """For a cell, the number of its row, one of its own in the answer; 0 for none."""
    column: int = 0
    header: str = ""
    """For a cell, what the head of its column says."""
