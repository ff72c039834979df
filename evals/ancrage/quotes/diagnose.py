"""Why a quote fails: the closest passage and the edits to it."""

import re
from collections.abc import Collection
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, NamedTuple

from ancrage.quotes.negation import is_negation

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Operation = Literal["replaced", "added", "omitted"]
Edit = tuple[Operation, str, str]
"""What happened, the quote's words, the source's words."""

MAXIMUM_QUOTE_TOKENS = 400
MAXIMUM_SOURCE_TOKENS = 2_000
"""Of longer texts the part is aligned that shares the most words with the quote: a bound on time
and memory, not a judgement."""
_STEP = MAXIMUM_SOURCE_TOKENS // 2

TOKEN = re.compile(
    r"[\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]|\d+(?:[.,]\d+)*[²³¹⁰-₉½¼¾]*|[^\W\d_]+|[^\w\s]"
)
_ADDED, _OMITTED, _UNLIKE = 0.9, 0.5, 0.85
"""Cost of a word that only the quote has, that only the source has, of a pair that is unlike."""
_CLOSE = 60


class Token(NamedTuple):
    text: str
    start: int
    end: int

    @property
    def weight(self) -> float:
        """How much the token says: its length, at least 3 for a number, little for a mark."""
        if self.text[0].isdecimal():
            return max(3.0, len(self.text))
        return float(len(self.text)) if self.text[0].isalnum() else 0.3


def tokenise(text: str) -> list[Token]:
    """The words, numbers and marks of ``text`` with their offsets."""
    return [Token(found[0], *found.span()) for found in TOKEN.finditer(text)]


_source_tokens = lru_cache(maxsize=8)(tokenise)
"""A message is aligned with one failing quote after another."""


class Closest(NamedTuple):
    """The passage ``source[start:end]`` that is closest to a quote."""

    similarity: float
    """Between 0 and 1: twice the weight in common over the weight of both."""
    start: int
    end: int
    edits: tuple[Edit, ...]


def closest(quote: str, source: str) -> Closest | None:
    """The closest passage to ``quote`` in ``source``, both canonical; None if one has no word.

    A semi-global alignment of words (Sellers 1980): the whole quote against any passage, which
    can be longer or shorter than the quote.
    """
    needle = tokenise(quote)[:MAXIMUM_QUOTE_TOKENS]
    text = _likeliest(source, needle)
    if not needle or not text:
        return None
    costs = _costs(needle, text)
    pairs = _trace(_table(costs), costs)
    aligned = [j for _, j in pairs if j is not None]
    if not aligned:
        return None
    total = common = 0.0
    for i, j in pairs:
        weights = [side[k].weight for side, k in ((needle, i), (text, j)) if k is not None]
        total += sum(weights)
        if i is not None and j is not None:
            common += sum(weights) * (1.0 - float(costs[i, j]))
    edits = _edits(quote, needle, source, text, pairs)
    start, end = text[aligned[0]].start, text[aligned[-1]].end
    return Closest(common / total if total else 0.0, start, end, edits)


def _likeliest(source: str, needle: list[Token]) -> list[Token]:
    """The part of a long text, half of it before the next, that shares the most with the quote."""
    text = _source_tokens(source)
    if len(text) <= MAXIMUM_SOURCE_TOKENS:
        return text
    wanted = {token.text.casefold() for token in needle if len(token.text) > 2}
    shared = [sum(map(len, met & wanted)) for met in _vocabularies(source)] + [0]
    best = max(range(len(shared) - 1), key=lambda at: (shared[at] + shared[at + 1], -at))
    return text[best * _STEP : best * _STEP + MAXIMUM_SOURCE_TOKENS]


@lru_cache(maxsize=8)
def _vocabularies(source: str) -> tuple[frozenset[str], ...]:
    """The words of each ``_STEP`` tokens of a long text."""
    text = _source_tokens(source)
    return tuple(
        frozenset(token.text.casefold() for token in text[start : start + _STEP])
        for start in range(0, len(text), _STEP)
    )


def _costs(needle: list[Token], text: list[Token]) -> "NDArray[np.float32]":
    """For each pair of tokens 0 if equal, ``_UNLIKE`` if unlike, between for near spellings."""
    import numpy as np
    from rapidfuzz import fuzz, process

    rows = [token.text for token in needle]
    columns = [token.text for token in text]
    likeness = process.cdist(
        [row.casefold() for row in rows],
        [column.casefold() for column in columns],
        scorer=fuzz.ratio,
        score_cutoff=_CLOSE,
        dtype=np.float32,
    )
    costs: NDArray[np.float32] = (1.0 - likeness / 100.0).astype(np.float32)
    different = np.array(rows)[:, None] != np.array(columns)[None, :]
    costs[different & (costs == 0.0)] = 0.05
    costs[likeness == 0.0] = _UNLIKE
    return costs


def _table(costs: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Least cost of aligning the first i tokens of the quote with a passage that ends at j."""
    import numpy as np

    rows, columns = costs.shape
    steps = np.arange(columns + 1, dtype=np.float32) * np.float32(_OMITTED)
    table = np.zeros((rows + 1, columns + 1), dtype=np.float32)
    for i in range(rows):
        best = table[i] + np.float32(_ADDED)
        best[1:] = np.minimum(best[1:], table[i, :-1] + costs[i])
        table[i + 1] = np.minimum.accumulate(best - steps) + steps
    return table


Pair = tuple[int | None, int | None]


def _trace(table: "NDArray[np.float32]", costs: "NDArray[np.float32]") -> list[Pair]:
    i, j = costs.shape[0], int(table[-1].argmin())
    pairs: list[Pair] = []
    while i > 0:
        here = float(table[i, j])
        if j > 0 and abs(here - float(table[i - 1, j - 1] + costs[i - 1, j - 1])) < 1e-3:
            i, j = i - 1, j - 1
            unlike = float(costs[i, j]) > 1.0 - _CLOSE / 100.0
            pairs += ((i, None), (None, j)) if unlike else ((i, j),)
        elif abs(here - float(table[i - 1, j]) - _ADDED) < 1e-3:
            i -= 1
            pairs.append((i, None))
        elif j > 0:
            j -= 1
            pairs.append((None, j))
        else:
            break
    return pairs[::-1]


def _edits(
    quote: str, needle: list[Token], source: str, text: list[Token], pairs: list[Pair]
) -> tuple[Edit, ...]:
    """The runs of the alignment where the two sides differ, as passages of each side."""
    edits: list[Edit] = []
    mine: list[Token] = []
    theirs: list[Token] = []
    for i, j in [*pairs, (-1, -1)]:
        if i is not None and j is not None and (i < 0 or needle[i].text == text[j].text):
            if mine or theirs:
                operation: Operation = (
                    "replaced" if mine and theirs else "added" if mine else "omitted"
                )
                edits.append((operation, _span(quote, mine), _span(source, theirs)))
            mine, theirs = [], []
            continue
        if i is not None:
            mine.append(needle[i])
        if j is not None:
            theirs.append(text[j])
    return tuple(edits)


def _span(text: str, tokens: list[Token]) -> str:
    return text[tokens[0].start : tokens[-1].end] if tokens else ""


def names(text: str) -> set[str]:
    """Capitalised words inside the sentences of ``text``; none where most words are so."""
    words = [token for token in tokenise(text) if not token.text.isspace()]
    found = [
        word.text
        for before, word in pairwise(words)
        if word.text[0].isupper() and word.text != "I" and before.text not in _SENTENCE_ENDS
    ]
    return set(found) if len(found) <= max(1, 0.3 * len(words)) else set()


_SENTENCE_ENDS = frozenset('.!?…"—(:')


def kind(edit: Edit, known_names: Collection[str] = ()) -> str | None:
    """What the edit touches, when that changes the sense by itself: number, negation, name."""
    _, mine, theirs = edit
    both = [token.text for side in (mine, theirs) for token in tokenise(side)]
    if any(character.isnumeric() for token in both for character in token):
        return "a number"
    if any(is_negation(token) for token in both):
        return "a negation"
    return "a name" if any(token in known_names for token in both) else None


def describe(edits: tuple[Edit, ...], quote: str, source: str, limit: int = 3) -> str:
    """The first edits in plain words, those that change the sense first."""
    known_names = names(quote) | names(source)
    ordered = sorted(edits, key=lambda edit: kind(edit, known_names) is None)
    parts = []
    for edit in ordered[:limit]:
        operation, mine, theirs = edit
        note = f" ({named})" if (named := kind(edit, known_names)) else ""
        if operation == "replaced":
            parts.append(f"“{_short(mine)}” for “{_short(theirs)}”{note}")
        elif operation == "added":
            parts.append(f"“{_short(mine)}” added{note}")
        else:
            parts.append(f"“{_short(theirs)}” left out{note}")
    more = len(ordered) - limit
    return ", ".join(parts) + (f" and {more} more" if more > 0 else "")


def _short(text: str, limit: int = 60) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
