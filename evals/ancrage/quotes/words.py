"""An inverted index: which texts have these words. A quote is never cut inside a word."""

import re
from array import array
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

_SINGLE = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff"
)
"""Scripts without spaces between words: each character counts as one."""
_WORD = re.compile(f"[{_SINGLE}]|[^\\W_{_SINGLE}]+")
_COMMON = 1000
_FEW = 8


def words(text: str) -> list[str]:
    """The words of ``text`` in lower case, in order."""
    return _WORD.findall(text.lower())


def _has(numbers: "array[int]", number: int) -> bool:
    at = bisect_left(numbers, number)
    return at < len(numbers) and numbers[at] == number


class WordIndex:
    """The numbers of the texts that have a word."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._postings: dict[str, array[int]] = {}
        self._size = 0
        for number, text in enumerate(texts):
            self._size += 1
            for word in set(words(text)):
                self._postings.setdefault(word, array("I")).append(number)

    def having(self, wanted: Iterable[str]) -> Iterator[int]:
        """The texts that may have all of ``wanted``, ascending; all texts where none is wanted.

        The rarest words decide: the last few candidates are not narrowed further.
        """
        lists = self._rarest_first(wanted)
        if not lists:
            return iter(range(self._size))
        common = set(lists[0])
        for numbers in lists[1:]:
            if len(common) <= _FEW:
                break
            common = {number for number in common if _has(numbers, number)}
        return iter(sorted(common))

    def sharing(self, wanted: Iterable[str], limit: int) -> Sequence[int]:
        """The ``limit`` texts that share the most of ``wanted``, rare words weighing more."""
        votes: dict[int, float] = defaultdict(float)
        for numbers in self._rarest_first(wanted)[:_FEW]:
            if len(numbers) <= _COMMON:
                for number in numbers:
                    votes[number] += 1 / (1 + len(numbers))
        return sorted(votes, key=lambda number: -votes[number])[:limit]

    def _rarest_first(self, wanted: Iterable[str]) -> list["array[int]"]:
        return sorted((self._postings.get(word, array("I")) for word in set(wanted)), key=len)
