"""The quoted passages of a text; none crosses a block of it: a paragraph, an item, a cell."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from ancrage.quotes.block import Block
from ancrage.quotes.layout import blocks
from ancrage.quotes.normalise import INVISIBLE
from ancrage.quotes.pairs import pair_marks
from ancrage.quotes.surface import surface


class Quote(NamedTuple):
    """One quoted passage: ``text[start:end]`` with its marks, ``text[inner_start:inner_end]`` its
    words without marks, spaces and surrounding emphasis. Offsets are code points.
    """

    start: int
    end: int
    inner_start: int
    inner_end: int
    family: str
    """The pair of marks, such as ``«»``."""


class Parsed(NamedTuple):
    """The quotes of a text in order of their start, and the marks left without a partner."""

    quotes: tuple[Quote, ...]
    unpaired: tuple[int, ...]
    """Offsets of opening or closing marks; apostrophes and inches are not among them."""


_MARKS = re.compile("[«»‹›“”„‟「」『』〝〞‘’‚\"']")
_BY_TURNS = re.compile("(?:«»|“”)+")


def extract_quotes(text: str) -> tuple[Quote, ...]:
    """The quotes of ``text``, nested ones included, in order of their start."""
    return parse_quotes(text).quotes


def parse_quotes(text: str) -> Parsed:
    """The quotes of ``text`` and the quotation marks that belong to none."""
    return quotes_in(surface(text), blocks(text))


def quotes_in(text: str, spans: Sequence[Block]) -> Parsed:
    """The same where the surface and the blocks of the text are known."""
    found = list(_MARKS.finditer(text))
    signs = "".join([match.group() for match in found])
    places = [match.start() for match in found]
    quotes: list[Quote] = []
    unpaired: list[int] = []
    for block in spans if found else ():
        first, stop = bisect_left(places, block.start), bisect_left(places, block.end)
        if first == stop or block.kind == "code":
            continue
        plain = _plain_pairs(text, signs[first:stop], places[first:stop])
        if plain is None:
            pairs, left = pair_marks(text, places[first:stop])
            quotes += (_quote(text, start, end) for start, end in pairs.items())
            unpaired += left
        else:
            quotes += (_quote(text, start, end) for start, end in plain)
    quotes.sort(key=lambda quote: (quote.start, -quote.end))
    return Parsed(tuple(quotes), tuple(sorted(unpaired)))


def _plain_pairs(text: str, signs: str, places: list[int]) -> list[tuple[int, int]] | None:
    """The pairs of a block whose marks are « » or “ ” by turns, and apostrophes; None for others.

    ``’`` and a mark right after a letter open nothing, so that nothing is left for them to close.
    """
    if "'" in signs or "’" in signs:
        kept = [
            at
            for at in places
            if text[at] not in "'’" or (text[at] == "'" and _opens_word(text, at))
        ]
        signs, places = "".join([text[at] for at in kept]), kept
    if signs and not _BY_TURNS.fullmatch(signs):
        return None
    return list(zip(places[::2], places[1::2], strict=True))


def _opens_word(text: str, at: int) -> bool:
    return at == 0 or not text[at - 1].isalnum()


def _quote(text: str, start: int, closing: int) -> Quote:
    inner = trimmed(text, start + 1, closing)
    return Quote(start, closing + 1, *inner, text[start] + text[closing])


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """``[start, end)`` without outer spaces and without emphasis marks that face each other."""
    while start < end:
        if text[start].isspace() or text[start] in INVISIBLE:
            start += 1
        elif text[end - 1].isspace() or text[end - 1] in INVISIBLE:
            end -= 1
        elif end - start > 2 and text[start] in "*_" and text[start] == text[end - 1]:
            start, end = start + 1, end - 1
        else:
            break
    return start, end
