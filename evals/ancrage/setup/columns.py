"""What the columns of a file hold, nested fields included."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ancrage.snapshot.sources.shapes import tokens

DEPTH = 5
_CITES = re.compile(r"[\[({<【][^\[\](){}<>【】\n]{0,60}\d[^\[\](){}<>【】\n]{0,60}[\])}>】]|[«“]")
_TIME = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d\S*)?")
_WORD = re.compile(r"\w(?:[\w.#-]*\w)?")


@dataclass
class Column:
    """The values at one path, of those rows that have any there."""

    path: str
    rows: int
    """Of the whole file."""
    values: list[Any] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [str(value) for value in self.values if isinstance(value, str | int)]

    @property
    def words(self) -> float:
        """Mean words of a value."""
        return self.share(lambda text: float(len(text.split())))

    @property
    def asks(self) -> float:
        """Share that are questions by their mark."""
        return self.share(lambda text: text.rstrip(" »\"')")[-1:] in ("?", "？"))

    @property
    def cites(self) -> float:
        """Share with a number in brackets, or a quotation mark that opens."""
        return self.share(lambda text: _CITES.search(text) is not None)

    @property
    def times(self) -> float:
        return self.share(lambda text: _TIME.fullmatch(text.strip()) is not None)

    @property
    def distinct(self) -> float:
        """Different values, of those that there are."""
        return len(set(self.texts)) / len(self.texts) if self.texts else 0.0

    @property
    def full(self) -> bool:
        """Whether every row has a plain value here."""
        return len(self.texts) == self.rows

    @property
    def code(self) -> bool:
        """Whether the values are single words, as ids are."""
        return bool(self.texts) and self.words <= 1.0 and max(map(len, self.texts)) <= 80

    def cited(self, words: frozenset[str]) -> float:
        """Share of the values that are among the words; bare small numbers tell nothing."""
        return self.share(lambda text: len(text) > 1 and text.casefold() in words)

    def share(self, of: Any) -> float:
        return sum(map(of, self.texts)) / len(self.texts) if self.texts else 0.0

    @property
    def tokens(self) -> list[str]:
        """The words of the name, outermost first: accents and case folded."""
        return [word for part in self.path.split(".") for word in tokens(part)]


def columns(rows: Sequence[Mapping[str, Any]]) -> dict[str, Column]:
    """The columns of the rows by path, in the order in which they come."""
    found: dict[str, Column] = {}
    for row in rows:
        for path, value in _walk(row):
            if value not in (None, ""):
                found.setdefault(path, Column(path, len(rows))).values.append(value)
    return found


def words_of(texts: Sequence[str]) -> frozenset[str]:
    """The words of texts that hold a digit, case folded: what can be an id that is cited."""
    return frozenset(
        word.casefold() for text in texts for word in _WORD.findall(text) if re.search(r"\d", word)
    )


def _walk(row: Mapping[str, Any], prefix: str = "", depth: int = 0) -> Iterator[tuple[str, Any]]:
    for name, value in row.items():
        if isinstance(value, dict) and depth < DEPTH:
            yield from _walk(value, f"{prefix}{name}.", depth + 1)
        else:
            yield f"{prefix}{name}", value
