"""Which texts have these words: a full-text index on disk. A quote is never cut inside a word.

SQLite's FTS5 holds the words of every text, without the texts: memory stays the size of its page
cache, and processes that are given the same path share one file.
"""

import re
import sqlite3
import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from pathlib import Path

from ancrage.quotes.normalise import RESPELT, canonical

_SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without spaces between words: each character counts as one."""
_WORD = re.compile(f"[{_SINGLE}]|[^\\W_{_SINGLE}]+")
_GROUPED = re.compile(r"\d\s+\d\d\d")
"""Digits that the canonical form may draw together."""
_COMMON = 1000
_FEW = 8


def words(text: str) -> list[str]:
    """The words of ``text`` in lower case, in order."""
    return _WORD.findall(text.lower())


def canonical_words(text: str) -> list[str]:
    """``words(canonical(text))``, sooner where nothing in ``text`` is spelt otherwise there."""
    plain = text.isascii() or (not RESPELT.search(text) and unicodedata.is_normalized("NFC", text))
    return words(text if plain and not _GROUPED.search(text) else canonical(text))


class WordIndex:
    """The numbers of the texts that have a word."""

    def __init__(self, texts: Collection[str], path: Path | None = None) -> None:
        """Index the canonical form of ``texts``.

        With ``path`` the index is that file, made by the first process that needs it; without,
        a temporary one of this process.
        """
        self._size = len(texts)
        self._database = _shared(path, texts) if path else _build("", texts)
        self._frequency = lru_cache(maxsize=100_000)(self._count)

    def having(self, wanted: Iterable[str]) -> Iterator[int]:
        """The texts that may have all of ``wanted``, ascending; all texts where none is wanted.

        The rarest words decide: the last few candidates are not narrowed further.
        """
        rarest = [f'"{word}"' for word in self._rarest_first(wanted)]
        for count in range(1, len(rarest)):
            query = " AND ".join(rarest[:count])
            first = list(islice(self._matching(query), _FEW + 1))
            if len(first) <= _FEW:
                return iter(first)
        return self._matching(" AND ".join(rarest)) if rarest else iter(range(self._size))

    def sharing(self, wanted: Iterable[str], limit: int) -> Sequence[int]:
        """The ``limit`` texts that share the most of ``wanted``, rare words weighing more."""
        votes: dict[int, float] = defaultdict(float)
        for word in self._rarest_first(wanted)[:_FEW]:
            frequency = self._frequency(word)
            if 0 < frequency <= _COMMON:
                for number in self._matching(f'"{word}"'):
                    votes[number] += 1 / (1 + frequency)
        return sorted(votes, key=lambda number: (-votes[number], number))[:limit]

    def _matching(self, query: str) -> Iterator[int]:
        found = self._database.execute("select rowid from texts where texts match ?", (query,))
        return (number for (number,) in found)

    def _rarest_first(self, wanted: Iterable[str]) -> list[str]:
        return sorted(set(wanted), key=lambda word: (self._frequency(word), word))

    def _count(self, word: str) -> int:
        """How many texts have ``word``."""
        found = self._database.execute("select doc from frequencies where term = ?", (word,))
        return next(found, (0,))[0]


def _build(place: str, texts: Iterable[str]) -> sqlite3.Connection:
    """A new index in the file ``place``; in a temporary one where that is empty."""
    database = sqlite3.connect(place, check_same_thread=False)
    # The tokens come ready made: ``ascii`` splits at spaces and keeps every other letter.
    database.executescript(
        """
        pragma journal_mode = off;
        pragma synchronous = off;
        pragma cache_size = -16000;
        create virtual table texts using fts5(
            words, tokenize = 'ascii', content = '', detail = none, columnsize = 0
        );
        insert into texts(texts, rank) values('hashsize', 8000000);
        """
    )
    rows = ((number, " ".join(canonical_words(text))) for number, text in enumerate(texts))
    database.executemany("insert into texts(rowid, words) values(?, ?)", rows)
    database.commit()
    return _with_frequencies(database)


def _with_frequencies(database: sqlite3.Connection) -> sqlite3.Connection:
    database.execute("create virtual table temp.frequencies using fts5vocab(main, texts, row)")
    return database


def _shared(path: Path, texts: Iterable[str]) -> sqlite3.Connection:
    """The index in the file ``path``, built first where it is not there."""
    from filelock import FileLock

    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with FileLock(path.with_suffix(".lock")):
        if not path.exists():
            draft = path.with_suffix(".draft")
            draft.unlink(missing_ok=True)
            _build(str(draft), texts).close()
            draft.rename(path)
    database = sqlite3.connect(
        f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    return _with_frequencies(database)
