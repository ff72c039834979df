"""Quotes made of parts of messages, joined without a mark."""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

from ancrage.quotes.boundary import find_whole
from ancrage.quotes.diagnose import MAXIMUM_QUOTE_TOKENS, Token, tokenise

_RUN_TOKENS, _RUN_LENGTH = 3, 12
"""The least that counts as words taken over: tokens, characters."""
_FAR_APART = 40
"""Characters between two parts of one message from which they count as joined, not as edited."""


class Part(NamedTuple):
    """A run of the quote's words that stands verbatim in a message."""

    text: str
    source_id: str
    at: int


Lookup = Callable[[str], tuple[str, int] | None]
"""From words in canonical form to the message that has them and the place, or None."""


def joined_parts(quote: str, lookup: Lookup) -> tuple[Part, ...]:
    """The far parts that make up ``quote`` (canonical), or none where it is not such a seam.

    The quote is cut greedily into its longest verbatim runs. It is a seam when the runs cover
    most of it and two neighbours come from two messages, from far places of one, or from
    another order.
    """
    words = tokenise(quote)[:MAXIMUM_QUOTE_TOKENS]
    parts: list[Part] = []
    position = 0
    while position < len(words) and len(parts) < 6:
        part, length = _longest(quote, words, position, lookup)
        if part:
            parts.append(part)
        position += max(1, length)
    covered = sum(len(part.text) for part in parts)
    if len(parts) < 2 or covered < 0.75 * len(quote) or position < len(words):
        return ()
    apart = any(
        left.source_id != right.source_id
        or not 0 <= right.at - left.at - len(left.text) <= _FAR_APART
        for left, right in pairwise(parts)
    )
    return tuple(parts) if apart else ()


def _longest(
    quote: str, words: list[Token], position: int, lookup: Lookup
) -> tuple[Part | None, int]:
    """The longest run from ``position`` that some message has, and its number of tokens."""
    low, high = _RUN_TOKENS, len(words) - position
    best: tuple[Part | None, int] = (None, 0)
    while low <= high:
        middle = (low + high) // 2 if best[0] else low
        run = quote[words[position].start : words[position + middle - 1].end]
        if found := lookup(run):
            if len(run) >= _RUN_LENGTH:
                best = (Part(run, *found), middle)
            elif middle == high:
                break
            low = middle + 1
        else:
            if best[0] is None:
                break
            high = middle - 1
    return best


def lookup_in(texts: dict[str, str]) -> Lookup:
    """A lookup over a few canonical texts by id."""

    def lookup(run: str) -> tuple[str, int] | None:
        for source_id, text in texts.items():
            at = find_whole(run, text)
            if at >= 0:
                return source_id, at
        return None

    return lookup


def shares_a_run(quote: str, texts: dict[str, str]) -> bool:
    """Whether a run of words of ``quote`` stands verbatim in one of the canonical ``texts``."""
    tokens = tokenise(quote)[:MAXIMUM_QUOTE_TOKENS]
    lookup = lookup_in(texts)
    return any(
        len(run) >= _RUN_LENGTH and lookup(run) is not None
        for first, last in zip(tokens, tokens[_RUN_TOKENS - 1 :], strict=False)
        for run in (quote[first.start : last.end],)
    )
