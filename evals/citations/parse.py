"""Attach citations to the passages they stand with."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import replace

from evals.citations import brackets
from evals.citations.grammar import CitationsConfig, Grammar, compile_grammar
from evals.citations.model import Citation, Citations, QuotedPassage
from evals.quotes import Quote, extract_quotes

_DEFAULT = compile_grammar(CitationsConfig())

_TIGHT = re.compile(r"[\s*_~`.,;:!?…()|—–-]*")
"""What may stand between a quote and its bracket whatever the quote."""
_INLINE = re.compile(r"(?:[^\S\n]|[*_~`.,;:!?…()|—–-])*")
_LOOSE = 90
"""Characters of attribution allowed between a longer quote and its bracket: «…», dit-elle […]."""
_LOOSE_WORDS = 4
_SENTENCE_END = re.compile(r"[.!?…]\s|\n")
_SHARED = re.compile(r"[\s,;*_]*(?:et|and|puis|then|ou|or|y|und|e)?[\s,;*_]*", re.IGNORECASE)
_BEFORE = re.compile(r"[\s*_:>—–-]*")
_EMPTY = re.compile(r"[\s*_.,]*(\[\s*(?:[-–—?…]|[RMQ]\s*,?\s*)*\])(?!\()", re.IGNORECASE)


def parse(text: str, grammar: Grammar | None = None) -> Citations:
    """The quotes and citations of an answer; time is linear in its length.

    A user's own parser, when the grammar names one, is called instead.
    """
    grammar = grammar or _DEFAULT
    if grammar.parser:
        return grammar.parser(text)
    folded = brackets.fold(text)
    found = brackets.find(text, folded, grammar)
    attached = _attach(text, folded, found, grammar)
    extra = [each for quote in attached for each in quote.citations]
    everything = {(each.start, each.end): each for each in (*found, *extra)}
    return Citations(tuple(everything[key] for key in sorted(everything)), tuple(attached))


def _attach(
    text: str, folded: str, found: Sequence[Citation], grammar: Grammar
) -> list[QuotedPassage]:
    starts = [each.start for each in found]
    quotes = _outermost(text, extract_quotes(text), found, starts)
    passages: list[QuotedPassage] = []
    for index, quote in enumerate(quotes):
        limit = quotes[index + 1].start if index + 1 < len(quotes) else len(text)
        passages.append(_passage(text, quote, limit, folded, found, starts, grammar))
    for index in range(len(passages) - 2, -1, -1):
        here, after = passages[index], passages[index + 1]
        gap = text[here.end : after.start] if after.start - here.end <= 20 else None
        if not here.citations and after.citations and gap is not None and _SHARED.fullmatch(gap):
            passages[index] = replace(here, citations=after.citations)
    return _from_before(text, passages, found, starts)


def _outermost(
    text: str, quotes: Sequence[Quote], found: Sequence[Citation], starts: Sequence[int]
) -> list[Quote]:
    """The quotes to consider: nested ones only where they carry a bracket of their own."""
    kept: list[Quote] = []
    for quote in sorted(quotes, key=lambda each: (each.start, -each.end)):
        nested = bool(kept) and quote.end <= kept[-1].end
        if not nested:
            kept.append(quote)
        elif _next(text, quote.end, kept[-1].inner_end, found, starts) is not None:
            if kept[-1].start < quote.start and not _ends_with_citation(kept[-1], found, starts):
                kept[-1] = quote
            else:
                kept.append(quote)
    return kept


def _ends_with_citation(quote: Quote, found: Sequence[Citation], starts: Sequence[int]) -> bool:
    last = bisect_left(starts, quote.inner_end) - 1
    return (
        last >= 0
        and found[last].start > quote.inner_start
        and found[last].end >= quote.inner_end - 2
    )


def _next(
    text: str, start: int, limit: int, found: Sequence[Citation], starts: Sequence[int]
) -> int | None:
    """The index of the citation that stands right after ``start``, before ``limit``."""
    index = bisect_left(starts, start)
    if index == len(found) or found[index].start >= limit:
        return None
    match = _TIGHT.match(text, start, found[index].start)
    tight = match is not None and match.end() == found[index].start
    return index if tight and "\n\n" not in text[start : found[index].start] else None


def _passage(
    text: str,
    quote: Quote,
    limit: int,
    folded: str,
    found: Sequence[Citation],
    starts: Sequence[int],
    grammar: Grammar,
) -> QuotedPassage:
    inner_end = quote.inner_end
    own: list[Citation] = []
    if _ends_with_citation(quote, found, starts):
        last = found[bisect_left(starts, quote.inner_end) - 1]
        own = [last]
        inner_end = quote.inner_start + len(text[quote.inner_start : last.start].rstrip())
    words = text[quote.inner_start : inner_end]
    index = _next(text, quote.end, limit, found, starts)
    if index is None and len(words.split()) >= _LOOSE_WORDS:
        candidate = bisect_left(starts, quote.end)
        if candidate < len(found) and found[candidate].start < min(limit, quote.end + _LOOSE):
            gap = text[quote.end : found[candidate].start]
            index = None if _SENTENCE_END.search(gap) else candidate
    while index is not None:
        own.append(found[index])
        index = _next(text, found[index].end, limit, found, starts)
    passage = QuotedPassage(
        quote.start, quote.end, quote.inner_start, inner_end, words, quote.family, tuple(own)
    )
    if own:
        return passage
    empty = _EMPTY.match(text, quote.end, min(quote.end + 40, len(text)))
    if empty:
        start, end = empty.span(1)
        return replace(
            passage,
            citations=(Citation(start, end, text[start:end], fault="the bracket is empty"),),
        )
    inline = _INLINE.match(text, quote.end, min(quote.end + 12, limit))
    ids = brackets.bare(text, folded, inline.end() if inline else quote.end, grammar)
    return replace(passage, citations=(ids,)) if ids and ids.start < limit else passage


def _from_before(
    text: str,
    passages: list[QuotedPassage],
    found: Sequence[Citation],
    starts: Sequence[int],
) -> list[QuotedPassage]:
    """Attach ``[R-1, M-1] : « … »``, and the ids of a table row, to quotes still without."""
    taken = {each.start for passage in passages for each in passage.citations}
    result = []
    for passage in passages:
        if passage.citations:
            result.append(passage)
            continue
        own = _before(text, passage, found, starts)
        if own and own.start in taken:
            own = None
        own = own or _row(text, passage, found, starts)
        result.append(replace(passage, citations=(own,) if own else ()))
    return result


def _before(
    text: str, passage: QuotedPassage, found: Sequence[Citation], starts: Sequence[int]
) -> Citation | None:
    """The citation that stands right before the passage, on its line."""
    index = bisect_right(starts, passage.start) - 1
    if index < 0 or "\n" in text[found[index].end : passage.start]:
        return None
    match = _BEFORE.match(text, found[index].end, passage.start)
    return found[index] if match and match.end() == passage.start else None


def _row(
    text: str, passage: QuotedPassage, found: Sequence[Citation], starts: Sequence[int]
) -> Citation | None:
    """The one citation of the table row that the passage stands in."""
    start = text.rfind("\n", 0, passage.start) + 1
    if not text[start : passage.start].lstrip(" \t").startswith("|"):
        return None
    newline = text.find("\n", passage.end)
    end = newline if newline >= 0 else len(text)
    inside = found[bisect_left(starts, start) : bisect_left(starts, end)]
    return inside[0] if len(inside) == 1 else None
