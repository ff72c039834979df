"""Passages of the user's documents looked up for claims."""

import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Protocol

from ancrage.errors import UsageError

_WORD = re.compile(r"\w+")


class Retriever(Protocol):
    """Finds passages that may settle a claim, best first."""

    def search(self, claim: str, count: int) -> Sequence[str]: ...


class BM25:
    """Okapi BM25 over the paragraphs of some documents (Robertson & Zaragoza, 2009)."""

    def __init__(self, documents: Iterable[str]) -> None:
        """Raises UsageError when the documents hold no paragraph, or rank-bm25 is not there."""
        try:
            from rank_bm25 import BM25Okapi
        except ModuleNotFoundError:
            raise UsageError(
                "looking passages up needs rank-bm25: pip install 'ancrage[nli]'"
            ) from None
        self.passages = [
            paragraph.strip()
            for document in documents
            for paragraph in re.split(r"\n\s*\n", document)
            if _WORD.search(paragraph)
        ]
        if not self.passages:
            raise UsageError("there is nothing to search: the documents hold no text")
        self._index = BM25Okapi([_tokens(passage) for passage in self.passages])

    @classmethod
    def folder(cls, path: str | Path) -> "BM25":
        """The ``.txt`` and ``.md`` files under ``path``.

        Raises:
            UsageError: there is no such folder, or no text in it.
        """
        files = sorted(f for f in Path(path).rglob("*") if f.suffix in (".txt", ".md"))
        if not files:
            raise UsageError(f"{path}: no .txt or .md file to search")
        return cls(file.read_text(encoding="utf-8-sig", errors="replace") for file in files)

    def search(self, claim: str, count: int) -> Sequence[str]:
        """At most ``count`` passages that share a word with ``claim``, best first."""
        words = _tokens(claim)
        scores = self._index.get_scores(words)
        wanted = set(words)
        ranked = sorted(range(len(self.passages)), key=lambda i: (-scores[i], i))
        return [self.passages[i] for i in ranked[:count] if wanted & set(_tokens(self.passages[i]))]


def _tokens(text: str) -> list[str]:
    return _WORD.findall(text.lower())
