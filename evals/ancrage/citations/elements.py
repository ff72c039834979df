"""Citations written as markup: ``<cite id="M-0034">…</cite>`` and ``[…](#M-0034)``."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from ancrage.citations import brackets
from ancrage.citations.grammar import Grammar
from ancrage.citations.model import Citation, Token
from ancrage.quotes.surface import TAG, quoting

_TAG = re.compile(TAG)
_VALUE = re.compile(r"=\s?(?:\"([^\"<>]{0,300})\"|'([^'<>]{0,300})'|([^\s\"'<>=]{1,300}))")
_LINK = re.compile(r"\[([^\[\]\n]{0,1000})\]\(([^()\s]{1,400})(?:\s\"[^\"\n]{0,200}\")?\)")
_MARKS = '«“”„‟「『‹‘"'
_LAST = re.compile(r"[#/=:]?([^#/=:?&]+)/?\Z")


class Element(NamedTuple):
    """An element of the answer that cites, quotes, or both."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    quotes: bool
    citation: Citation | None


def elements(text: str, folded: str, grammar: Grammar) -> list[Element]:
    """The elements of ``text`` that cite or hold words; each with what its attributes cite."""
    names = {name.lower() for name in grammar.config.tags}
    found: list[Element] = []
    opened: list[tuple[re.Match[str], Citation | None]] = []
    for match in _TAG.finditer(text) if "<" in text else ():
        name = match["tag"].lower()
        if name not in names:
            continue
        if match["close"]:
            at = next((i for i in range(len(opened)) if _name(opened[-1 - i]) == name), None)
            if at is None or at > 3:
                continue
            del opened[len(opened) - at :]
            begin, cited = opened.pop()
            found.append(_element(text, folded, begin, match, cited, grammar))
            continue
        cited = _attributes(text, match, grammar)
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
    text: str,
    folded: str,
    begin: re.Match[str],
    close: re.Match[str],
    cited: Citation | None,
    grammar: Grammar,
) -> Element:
    """One with a closing tag; where it holds ids alone they are the citation."""
    span = begin.start(), close.end(), begin.end(), close.start()
    if span[3] - span[2] <= 120:
        tokens, attempts, words = brackets.read(folded, span[2], span[3], grammar)
        if tokens and not words and not attempts:
            inner = brackets.citation(text, span[0], span[1], tokens)
            return Element(*span, False, cited or inner)
    return Element(*span, quoting(begin["tag"]), cited)


def _attributes(text: str, tag: re.Match[str], grammar: Grammar) -> Citation | None:
    tokens: list[Token] = []
    offset = tag.start("attributes")
    for value in _VALUE.finditer(tag["attributes"]):
        group = next((number for number in (1, 2, 3) if value[number] is not None), 3)
        start, end = (offset + at for at in value.span(group))
        tokens += _ids(text, start, end, grammar)
    return brackets.citation(text, *tag.span(), tokens) if tokens else None


def _ids(text: str, start: int, end: int, grammar: Grammar) -> list[Token]:
    """The ids of an attribute's value or a link's target: a list, or the last part of a path."""
    folded = brackets.fold(text[start:end])
    if found := grammar.read(folded):
        return [Token(*found, start, end)]
    tokens, attempts, words = brackets.read(folded, 0, len(folded), grammar)
    if tokens and not words and not attempts and "/" not in folded:
        return [Token(t.kind, t.text, start + t.start, start + t.end) for t in tokens]
    last = _LAST.search(folded)
    if last and (found := grammar.read(last[1])):
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


def links(text: str, grammar: Grammar) -> Iterator[Link]:
    """The links of ``text`` whose target names an id, but for those whose label does."""
    for match in _LINK.finditer(text) if grammar.config.links and "](" in text else ():
        start, end = match.span(2)
        tokens = _ids(text, start, end, grammar)
        if not tokens:
            continue
        label = brackets.fold(match[1])
        if any(token for token, _ in brackets.tokens_of(label, 0, len(label), grammar)):
            continue
        quotes = any(mark in label for mark in _MARKS)
        start = match.end(1) if quotes else match.start()
        cited = brackets.citation(text, start, match.end(), tokens)
        yield Link(
            match.start(), *match.span(1), cited, not match[2].startswith(("http", "www", "/"))
        )
