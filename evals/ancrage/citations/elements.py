"""Citations written as markup: ``<cite id="M-0034">…</cite>`` and ``[…](#M-0034)``."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ancrage.citations.model import Citation, Token
from ancrage.citations.reader import IdReader
from ancrage.quotes.surface import TAG, quoting

_TAG = re.compile(TAG)
_VALUE = re.compile(r"=\s?(?:\"([^\"<>]{0,300})\"|'([^'<>]{0,300})'|([^\s\"'<>=]{1,300}))")
_LINK = re.compile(r"\[([^\[\]\n]{0,1000})\]\(([^()\s]{1,400})(?:\s\"[^\"\n]{0,200}\")?\)")
_MARKS = '«“”„‟「『‹‘"'
_LONGEST_IDS = 120
_LAST = re.compile(r"[#/=:]?([^#/=:?&]+)/?\Z")


class Element(NamedTuple):
    """An element of the answer that cites, quotes, or both."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    quotes: bool
    citation: Citation | None


def elements(ids: IdReader) -> list[Element]:
    """The elements of a text that cite or hold words; each with what its attributes cite."""
    if "<" not in ids.text:
        return []
    found: list[Element] = []
    opened: list[tuple[re.Match[str], Citation | None]] = []
    for match in _TAG.finditer(ids.text):
        name = match["tag"].lower()
        if name not in ids.grammar.tags:
            continue
        if match["close"]:
            at = next((i for i in range(len(opened)) if _name(opened[-1 - i]) == name), None)
            if at is None or at > 3:
                continue
            del opened[len(opened) - at :]
            begin, cited = opened.pop()
            found.append(_element(ids, begin, match, cited))
            continue
        cited = _attributes(ids, match)
        if match[0].endswith("/>"):
            if cited:
                found.append(Element(*match.span(), match.end(), match.end(), False, cited))
        else:
            opened.append((match, cited))
    alone = (
        Element(*begin.span(), begin.end(), begin.end(), False, cited)
        for begin, cited in opened
        if cited
    )
    return sorted([*found, *alone])


def _name(opened: tuple[re.Match[str], Citation | None]) -> str:
    return opened[0]["tag"].lower()


def _element(
    ids: IdReader, begin: re.Match[str], close: re.Match[str], cited: Citation | None
) -> Element:
    """One with a closing tag; where it holds ids alone they are the citation, and where it cites
    and holds no letter, ``<cite id="M-0034">1</cite>``, that is its label."""
    start, end, inner_start, inner_end = begin.start(), close.end(), begin.end(), close.start()
    quotes = quoting(begin["tag"])
    if inner_end - inner_start <= _LONGEST_IDS:
        held = ids.held(inner_start, inner_end)
        if held.only_ids:
            quotes, cited = False, cited or ids.citation(start, end, held.tokens)
        elif cited and not any(map(str.isalpha, ids.text[inner_start:inner_end])):
            quotes = False
    return Element(start, end, inner_start, inner_end, quotes, cited)


def _attributes(ids: IdReader, tag: re.Match[str]) -> Citation | None:
    tokens: list[Token] = []
    offset = tag.start("attributes")
    for value in _VALUE.finditer(tag["attributes"]):
        start, end = value.span(value.lastindex or 0)
        tokens += _named(ids, offset + start, offset + end)
    return ids.citation(*tag.span(), tokens) if tokens else None


def _named(ids: IdReader, start: int, end: int) -> list[Token]:
    """The ids of an attribute's value or a link's target: a list, or the last part of a path."""
    read = ids.grammar.read
    written = ids.folded[start:end]
    if found := read(written):
        return [Token(*found, start, end)]
    held = ids.held(start, end)
    if held.only_ids and "/" not in written:
        return held.tokens
    last = _LAST.search(written)
    if last and (found := read(last[1])):
        return [Token(*found, start + last.start(1), start + last.end(1))]
    return []


class Link(NamedTuple):
    """A link whose target cites."""

    start: int
    label_start: int
    label_end: int
    citation: Citation
    near: bool
    """Whether the target is an id and nothing else; an address that ends in one may be any page."""


def links(ids: IdReader) -> Iterator[Link]:
    """The links of a text whose target names an id, but for those whose label does."""
    cites = ids.grammar.config.links and "](" in ids.text
    for match in _LINK.finditer(ids.text) if cites else ():
        tokens = _named(ids, *match.span(2))
        if not tokens or ids.tokens(*match.span(1)):
            continue
        quotes = any(mark in match[1] for mark in _MARKS)
        start = match.end(1) if quotes else match.start()
        cited = ids.citation(start, match.end(), tokens)
        near = not match[2].startswith(("http", "www", "/"))
        yield Link(match.start(), *match.span(1), cited, near)
