"""The quotes and citations of an answer, each quote with the citations that are its own."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from ancrage.citations import brackets, notes
from ancrage.citations.attribute import attribute
from ancrage.citations.candidates import Reader
from ancrage.citations.grammar import CitationsConfig, Grammar, compile_grammar
from ancrage.citations.model import (
    Citation,
    Citations,
    Pair,
    QuotedPassage,
    Token,
    UnreadableAnswer,
)
from ancrage.citations.pairing import GLOSS, SPEECH, Candidate
from ancrage.quotes.extract import quotes_in
from ancrage.quotes.surface import BLANK, PAD

MAXIMUM_LENGTH, MAXIMUM_MARKS = 1_000_000, 10_000
"""Characters of an answer; quotation marks, brackets, bars and points of entry in it."""
_MARKS = "«»“”„‟‘’‹›「」『』\"'[]()【】{}<>&|`\\—"
_DEFAULT = compile_grammar(CitationsConfig())
_TIGHT = BLANK + ">*_~`.,;:!?…()|[]\\—–-"
_EMPTY = re.compile(rf"[\s*_.,{PAD}]*(\[\s*(?:[-–—?]|[RMQ]\s*,?\s*)*\])(?!\()", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…][\"»”’)]?\s|\n")
_ATTRIBUTION = re.compile(r"[*_\u2060]{0,6}(?:[—–]|--|-(?=[ \t*_]{0,4}[\[【(]))")


def parse(text: str, grammar: Grammar | None = None) -> Citations:
    """The quotes and citations of an answer; time is linear in its length.

    A user's own parser, when the grammar names one, is called instead.

    Raises:
        UnreadableAnswer: more marks stand in the text than any answer has.
    """
    grammar = grammar or _DEFAULT
    if grammar.parser:
        return grammar.parser(text)
    if len(text) > MAXIMUM_MARKS:
        count = sum(map(text.count, _MARKS))
        if count > MAXIMUM_MARKS or len(text) > MAXIMUM_LENGTH:
            raise UnreadableAnswer(
                f"the answer has {len(text):,} characters and {count:,} quotation marks, brackets "
                f"and bars; at most {MAXIMUM_LENGTH:,} and {MAXIMUM_MARKS:,} are read"
            )
    return _Parser(text, grammar).read()


class _Parser(Reader):
    """Reads an answer to the end: its quotes, each with what is its own."""

    def read(self) -> Citations:
        pairs = quotes_in(self.surface, self.blocks)
        unpaired = [at for at in pairs.unpaired if not self.in_json(at)]
        marked = [quote for quote in pairs.quotes if not self.in_json(quote.start, quote.family)]
        candidates = [self.candidate(quote) for quote in self.outermost(marked)]
        candidates = self.with_elements(candidates)
        candidates = self.with_blocks(candidates)
        unclosed, read = self.unclosed(unpaired, candidates)
        candidates = sorted([*candidates, *unclosed], key=lambda quote: quote.start)
        self.inside(candidates)
        self.mentions(candidates)
        found = [*self.found, *self._weak_links(candidates)]
        attribute(self.surface, self.blocks, candidates, sorted(found, key=_start))
        self._by_note(candidates)
        self._at_fault(candidates)
        passages = [self._passage(quote) for quote in self._without_glosses(candidates)]
        passages += [quote for document in self.json for quote in document.quotes]
        passages.sort(key=lambda quote: quote.start)
        attached = [citation for quote in passages for citation in quote.citations]
        noted = [citation for note in self.notes.values() for citation in note]
        everything = {citation.start: citation for citation in (*self.found, *noted, *attached)}
        left = tuple(at for at in unpaired if at not in read)
        return Citations(
            tuple(everything[key] for key in sorted(everything)), tuple(passages), left
        )

    # What is left after the structure has spoken

    def _weak_links(self, candidates: Sequence[Candidate]) -> Iterator[Citation]:
        """Addresses that end in an id, right after a quote or around one."""
        ends = sorted(quote.end for quote in candidates)
        starts = [quote.start for quote in candidates]
        for link in self.links:
            if link.near:
                continue
            first = bisect_left(starts, link.label_start)
            last = bisect_right(ends, link.start) - 1
            if first < len(starts) and candidates[first].end <= link.label_end:
                candidates[first].citations = (link.citation,)
                candidates[first].rule = "link around it"
            elif last >= 0 and not self.surface[ends[last] : link.start].strip(_TIGHT):
                yield link.citation

    def _by_note(self, candidates: Sequence[Candidate]) -> None:
        for quote in candidates if self.notes else ():
            if quote.citations or quote.mention:
                continue
            labels = notes.called(self.surface, quote.end) or notes.called(
                self.surface, quote.inner_end
            )
            if quote.family in (">", "—", "|"):
                tail = notes.trailing(self.surface, quote.inner_start, quote.inner_end)
                if tail:
                    labels, quote.inner_end = [tail[0]], tail[1]
            own = [citation for label in labels for citation in self.notes.get(label, ())]
            if own:
                quote.citations, quote.rule = tuple(own), "footnote"

    def _at_fault(self, candidates: Sequence[Candidate]) -> None:
        """Empty brackets and ids without brackets beside quotes that are still without."""
        for index, quote in enumerate(candidates):
            if quote.citations or quote.mention:
                continue
            block = self.blocks[quote.block] if quote.block >= 0 else None
            stop = candidates[index + 1].start if index + 1 < len(candidates) else len(self.text)
            stop = min(stop, block.end if block else stop)
            empty = _EMPTY.match(self.surface, quote.end, min(quote.end + 40, len(self.text)))
            if empty:
                start, end = empty.span(1)
                fault = "the bracket is empty"
                cited = Citation(start, end, self.text[start:end], fault=fault)
                quote.citations, quote.rule = (cited,), "right after"
                continue
            at = quote.end
            while (
                at < stop
                and at < quote.end + 24
                and self.surface[at] in " \t*_~`.,;:!?…()|—–-" + PAD
            ):
                at += 1
            ids = brackets.bare(self.text, self.folded, at, stop, self.grammar)
            rule = "right after"
            if ids is None and block:
                start = candidates[index - 1].end if index else 0
                last = bisect_left(self.starts, quote.start) - 1
                start = max(block.start, start, self.found[last].end if last >= 0 else 0)
                ids = brackets.bare_before(self.text, self.folded, start, quote.start, self.grammar)
                rule = "leads to it"
            if ids is None and quote.family == ">":
                line = self.surface.find("\n", quote.end) + 1
                end = self.surface.find("\n", line)
                end = len(self.text) if end < 0 else end
                if line and _ATTRIBUTION.match(self.surface[line:end].lstrip(" \t>")):
                    at = (
                        line
                        + len(self.surface[line:end])
                        - len(self.surface[line:end].lstrip(" \t>*_—–-" + PAD))
                    )
                    ids = brackets.bare(self.text, self.folded, at, end, self.grammar)
                    rule = "line below"
            if ids:
                quote.citations, quote.rule = (ids,), rule

    def _without_glosses(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The quotes but for those announced as the translation of the quote before them."""
        kept: list[Candidate] = []
        for quote in candidates:
            if kept:
                ends = (cited.end for cited in kept[-1].citations if cited.end <= quote.start)
                end = max([kept[-1].end, *ends])
                near = 0 < quote.start - end <= 60
                if near and GLOSS.fullmatch(self.surface, end, quote.start):
                    continue
            kept.append(quote)
        return kept

    def _passage(self, quote: Candidate) -> QuotedPassage:
        own = tuple(self._owned(quote))
        end = self._whole(quote.inner_end)
        return QuotedPassage(
            quote.start,
            max(quote.end, end),
            quote.inner_start,
            end,
            self.text[quote.inner_start : end],
            quote.family,
            own,
            quote.rule if own else None,
            quote.mention,
        )

    def _whole(self, end: int) -> int:
        """``end``, or the end of the entity whose sign stands right before it."""
        within = self.text[end - 1 : end] == "&" and self.surface[end : end + 1] == PAD
        return self.text.index(";", end) + 1 if within else end

    def _owned(self, quote: Candidate) -> Iterator[Citation]:
        """The citations of a quote, with the respondent its sentence or another bracket names."""
        own = quote.citations
        alone = [
            pair.respondent
            for citation in own
            for pair in citation.pairs
            if pair.respondent and not pair.message
        ]
        orphans = [
            pair
            for citation in own
            for pair in citation.pairs
            if pair.message and not pair.respondent
        ]
        if not orphans:
            yield from own
            return
        owner = alone[0] if len(alone) == 1 else None
        if owner is None and not alone:
            owner = self._speaker(quote)
        for citation in own:
            pairs = tuple(
                Pair(owner, pair.message) if pair.message and not pair.respondent else pair
                for pair in citation.pairs
                if not (owner and owner in alone and pair.respondent is owner and not pair.message)
            )
            if pairs or not citation.pairs:
                yield _with_pairs(citation, pairs)

    def _speaker(self, quote: Candidate) -> Token | None:
        """The one respondent that the sentence names before the quote: ``Selon R-003, « … »``."""
        block = self.blocks[quote.block] if quote.block >= 0 else None
        start = max(block.start if block else 0, quote.start - 160)
        before = _SENTENCE_END.split(self.surface[start : quote.start])[-1]
        begin = quote.start - len(before)
        held = [
            token
            for token, _ in brackets.tokens_of(self.folded, begin, quote.start, self.grammar)
            if token
        ]
        if len(held) != 1 or held[0].kind != "respondent":
            return None
        gap = self.surface[held[0].end : quote.start]
        says = not gap.strip(_TIGHT) or SPEECH.search(before)
        return held[0] if says else None


def _start(citation: Citation) -> int:
    return citation.start


def _with_pairs(citation: Citation, pairs: tuple[Pair, ...]) -> Citation:
    return Citation(
        citation.start,
        citation.end,
        citation.text,
        citation.questions,
        pairs,
        citation.fault,
        citation.others,
    )
