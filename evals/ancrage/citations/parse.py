"""Attach citations to the passages they stand with."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import replace

from ancrage.citations import brackets, notes
from ancrage.citations.grammar import CitationsConfig, Grammar, compile_grammar
from ancrage.citations.model import Citation, Citations, QuotedPassage
from ancrage.quotes import Quote, extract_quotes

_DEFAULT = compile_grammar(CitationsConfig())

_TAG = r"</?(?:sup|sub|small|cite|br|em|i|b) ?/?>"
_TIGHT = re.compile(rf"(?:[\s*_~`.,;:!?…()|>\[\\—–-]|{_TAG})*")
"""What may stand between a quote and its bracket whatever the quote."""
_INLINE = re.compile(r"(?:\r?\n[ \t]*>[ \t>]*)*(?:[^\S\n]|[*_~`.,;:!?…()|—–-])*")
_LOOSE = 90
"""Characters of attribution allowed between a longer quote and its bracket: «…», dit-elle […]."""
_LOOSE_WORDS = 4
_SENTENCE_END = re.compile(r"[.!?…]\s|\n")
_BLANK_LINE = re.compile(r"\n[ \t]*\r?\n")
_WORD = r"(?:et|and|puis|then|ou|or|y|und|e)"
_SHARED = re.compile(rf"[\s,;*_]*{_WORD}?[\s,;*_(]*", re.IGNORECASE)
"""What joins two quotes that share a bracket."""
_LISTED = re.compile(rf"(?:[\s,;*_/&+\])]|{_TAG})*{_WORD}?(?:[\s*_\[(]|{_TAG})*", re.IGNORECASE)
"""What joins two brackets of one quote."""
_BEFORE = re.compile(r"[\s*_:>\]\\—–-]*")
_MARGIN = re.compile(r"[\s*_>#\[\\•—–-]*")
_MARKS = re.compile('[«»“”„"]')
_GLOSS = re.compile(
    r"[\s*_,;]*[(\[—–-][\s*_]*(?:trad(?:uction|uit)?\b|translat(?:ion|ed)\b|in English\b"
    r"|en français\b|en anglais\b|in French\b)[^()\n]{0,30}",
    re.IGNORECASE,
)
"""What announces the translation of the quote before: « … » (traduction : “…”)."""
_EMPTY = re.compile(r"[\s*_.,]*(\[\s*(?:[-–—?…]|[RMQ]\s*,?\s*)*\])(?!\()", re.IGNORECASE)


def parse(text: str, grammar: Grammar | None = None) -> Citations:
    """The quotes and citations of an answer; time is linear in its length.

    A user's own parser, when the grammar names one, is called instead.
    """
    grammar = grammar or _DEFAULT
    if grammar.parser:
        return grammar.parser(text)
    return _Reader(text, grammar).read()


class _Reader:
    """One answer with the brackets found in it, in order."""

    def __init__(self, text: str, grammar: Grammar) -> None:
        self.text = text
        self.grammar = grammar
        self.folded = brackets.fold(text)
        self.found: Sequence[Citation] = brackets.find(text, self.folded, grammar)
        self.starts = [each.start for each in self.found]
        self.notes: Mapping[str, tuple[Citation, ...]] = notes.definitions(
            text, self.folded, self.found, grammar
        )
        self.rows = brackets.rows(text)

    def read(self) -> Citations:
        quotes = self._outermost(extract_quotes(self.text))
        passages = [
            self._passage(quote, self._limit(quote, quotes[index + 1 : index + 2]))
            for index, quote in enumerate(quotes)
        ]
        passages = _without_glosses(self.text, self._shared(passages))
        passages = self._in_rows(self._from_before(passages))
        attached = [each for quote in passages for each in quote.citations]
        noted = [each for note in self.notes.values() for each in note]
        everything = {(each.start, each.end): each for each in (*self.found, *noted, *attached)}
        return Citations(tuple(everything[key] for key in sorted(everything)), tuple(passages))

    def _limit(self, quote: Quote, following: Sequence[Quote]) -> int:
        """Where the brackets of a quote must have begun: before the next one, in its table row."""
        limit = following[0].start if following else len(self.text)
        row = bisect_right(self.rows, (quote.start, len(self.text))) - 1
        if row >= 0 and quote.start < self.rows[row][1]:
            limit = min(limit, self.rows[row][1])
        return limit

    def _outermost(self, quotes: Sequence[Quote]) -> list[Quote]:
        """The quotes to consider: nested ones only where they carry a bracket of their own."""
        kept: list[Quote] = []
        for quote in sorted(quotes, key=lambda each: (each.start, -each.end)):
            nested = bool(kept) and quote.end <= kept[-1].end
            if not nested:
                kept.append(quote)
            elif (quote.start, quote.end) == (kept[-1].inner_start, kept[-1].inner_end):
                kept[-1] = replace(
                    kept[-1], inner_start=quote.inner_start, inner_end=quote.inner_end
                )
            elif self._next(quote.end, kept[-1].inner_end) is not None:
                if kept[-1].start < quote.start and not self._ends_with_citation(kept[-1]):
                    kept[-1] = quote
                else:
                    kept.append(quote)
        return kept

    def _ends_with_citation(self, quote: Quote) -> bool:
        last = bisect_left(self.starts, quote.inner_end) - 1
        return (
            last >= 0
            and self.found[last].start > quote.inner_start
            and self.found[last].end >= quote.inner_end - 2
        )

    def _next(
        self, start: int, limit: int, between: re.Pattern[str] = _TIGHT, *, block: bool = False
    ) -> int | None:
        """The index of the citation that stands right after ``start``, before ``limit``.

        Only after a block quote may there be a blank line before it.
        """
        index = bisect_left(self.starts, start)
        if index == len(self.found) or self.found[index].start >= limit:
            return None
        stop = self.found[index].start
        match = between.match(self.text, start, stop)
        if match is None or match.end() != stop:
            return None
        return index if block or not _BLANK_LINE.search(self.text, start, stop) else None

    def _passage(self, quote: Quote, limit: int) -> QuotedPassage:
        text, found = self.text, self.found
        inner_end = quote.inner_end
        own: list[Citation] = []
        if self._ends_with_citation(quote):
            last = found[bisect_left(self.starts, quote.inner_end) - 1]
            own = [last]
            inner_end = quote.inner_start + len(text[quote.inner_start : last.start].rstrip())
        words = text[quote.inner_start : inner_end]
        block = quote.family == ">" or self._in_block(quote)
        index = self._next(quote.end, limit, block=block)
        if index is None and len(words.split()) >= _LOOSE_WORDS:
            candidate = bisect_left(self.starts, quote.end)
            if candidate < len(found) and found[candidate].start < min(limit, quote.end + _LOOSE):
                gap = text[quote.end : found[candidate].start]
                gap = gap.lstrip("\r\n\t >") if block else gap
                index = None if _SENTENCE_END.search(gap) else candidate
        while index is not None:
            own.append(found[index])
            index = self._listed(found[index].end, limit)
        passage = QuotedPassage(
            quote.start, quote.end, quote.inner_start, inner_end, words, quote.family, tuple(own)
        )
        if own:
            return passage
        if note := self.notes.get(notes.called(text, quote.end) or ""):
            return replace(passage, citations=note)
        empty = _EMPTY.match(text, quote.end, min(quote.end + 40, len(text)))
        if empty:
            start, end = empty.span(1)
            return replace(
                passage,
                citations=(Citation(start, end, text[start:end], fault="the bracket is empty"),),
            )
        inline = _INLINE.match(text, quote.end, min(quote.end + 12, limit))
        ids = brackets.bare(text, self.folded, inline.end() if inline else quote.end, self.grammar)
        return replace(passage, citations=(ids,)) if ids and ids.start < limit else passage

    def _listed(self, start: int, limit: int) -> int | None:
        """The next bracket of the same quote; one that leads to the next quote is that one's."""
        index = self._next(start, limit)
        if index is not None:
            return index
        index = self._next(start, limit, _LISTED)
        if index is None:
            return None
        rest = self.text[self.found[index].end : min(limit, self.found[index].end + _LOOSE)]
        return None if limit < len(self.text) and _BEFORE.fullmatch(rest) else index

    def _in_block(self, quote: Quote) -> bool:
        begin = max(0, quote.start - 40)
        line = self.text[self.text.rfind("\n", begin, quote.start) + 1 : quote.start]
        return len(line) <= 40 and line.lstrip().startswith(">")

    def _shared(self, passages: list[QuotedPassage]) -> list[QuotedPassage]:
        """« … » and « … » […]: quotes joined to one with a bracket have it too."""
        for index in range(len(passages) - 2, -1, -1):
            here, after = passages[index], passages[index + 1]
            near = after.start - here.end <= 40
            if here.citations or not after.citations or not near:
                continue
            gap = self.text[here.end : after.start]
            if _SHARED.fullmatch(gap) or _GLOSS.fullmatch(gap):
                passages[index] = replace(here, citations=after.citations)
        return passages

    def _from_before(self, passages: Sequence[QuotedPassage]) -> list[QuotedPassage]:
        """Attach ``[R-1, M-1] : « … »`` and ``R-1 [M-1] says: “…”`` to quotes still without."""
        taken = {each.start for passage in passages for each in passage.citations}
        result: list[QuotedPassage] = []
        joins = False
        for passage in passages:
            own = None if passage.citations else self._before(passage)
            if own and own.start not in taken:
                joins = True
                passage = replace(passage, citations=(own,))
            elif joins and not passage.citations and self._joined(result[-1], passage):
                passage = replace(passage, citations=result[-1].citations)
            else:
                joins = False
            result.append(passage)
        return result

    def _joined(self, here: QuotedPassage, after: QuotedPassage) -> bool:
        gap = self.text[here.end : after.start] if after.start - here.end <= 20 else None
        return gap is not None and _SHARED.fullmatch(gap) is not None

    def _before(self, passage: QuotedPassage) -> Citation | None:
        """The citation that stands before the passage and leads to it."""
        index = bisect_right(self.starts, passage.start) - 1
        if index < 0 or passage.start - self.found[index].end > _LOOSE:
            return brackets.bare_before(self.text, self.folded, passage.start, self.grammar)
        citation = self.found[index]
        gap = self.text[citation.end : passage.start]
        if _BEFORE.fullmatch(gap):
            leads = "\n" not in gap or ":" in gap or self._begins_line(citation)
            return citation if leads else None
        attributed = (
            citation.messages
            and len(passage.text.split()) >= _LOOSE_WORDS
            and not _SENTENCE_END.search(gap)
            and not _MARKS.search(gap)
        )
        return citation if attributed else None

    def _begins_line(self, citation: Citation) -> bool:
        begin = max(0, citation.start - 40)
        margin = self.text[self.text.rfind("\n", begin, citation.start) + 1 : citation.start]
        return len(margin) < 40 and _MARGIN.fullmatch(margin) is not None

    def _in_rows(self, passages: list[QuotedPassage]) -> list[QuotedPassage]:
        """In a row of a table: one bracket is every quote's, as many as quotes go in order."""
        at = [each.start for each in passages]
        for start, end in self.rows:
            first, stop = bisect_left(at, start), bisect_left(at, end)
            quotes = passages[first:stop]
            own = self.found[bisect_left(self.starts, start) : bisect_left(self.starts, end)]
            own = [each for each in own if each.pairs or each.fault]
            if not quotes or not own:
                continue
            apart = own[0].start >= quotes[-1].end or own[-1].end <= quotes[0].start
            for rank, quote in enumerate(quotes):
                if apart and 1 < len(own) == len(quotes):
                    passages[first + rank] = replace(quote, citations=(own[rank],))
                elif len(own) == 1 and not quote.citations:
                    passages[first + rank] = replace(quote, citations=(own[0],))
        return passages


def _without_glosses(text: str, passages: Sequence[QuotedPassage]) -> list[QuotedPassage]:
    """The passages but for those announced as the translation of the quote before them."""
    kept: list[QuotedPassage] = []
    for passage in passages:
        if kept:
            ends = (each.end for each in kept[-1].citations if each.end <= passage.start)
            end = max([kept[-1].end, *ends])
            near = 0 < passage.start - end <= 60
            if near and _GLOSS.fullmatch(text, end, passage.start):
                continue
        kept.append(passage)
    return kept
