"""The quotes and citations of an answer, each quote with the citations that are its own."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from ancrage.citations import brackets, notes
from ancrage.citations.attribute import GLOSS, SPEECH, Candidate, attribute
from ancrage.citations.elements import Element, elements, links
from ancrage.citations.fields import Json, read_json
from ancrage.citations.grammar import CitationsConfig, Grammar, compile_grammar
from ancrage.citations.mentions import mention
from ancrage.citations.model import (
    Citation,
    Citations,
    Pair,
    QuotedPassage,
    Token,
    UnreadableAnswer,
)
from ancrage.quotes.extract import Quote, quotes_in, trimmed
from ancrage.quotes.layout import Block, blocks
from ancrage.quotes.surface import BLANK, PAD, fold, surface

MAXIMUM_LENGTH, MAXIMUM_MARKS = 1_000_000, 10_000
"""Characters of an answer; quotation marks, brackets, bars and points of entry in it."""
_MARKS = "«»“”„‟‘’‹›「」『』\"'[]()【】{}<>&|`\\—"
_DEFAULT = compile_grammar(CitationsConfig())
_TIGHT = BLANK + ">*_~`.,;:!?…()|[]\\—–-"
_EDGE = BLANK + ">*_~`.,;:!?…()\\—–-"
_EMPTY = re.compile(rf"[\s*_.,{PAD}]*(\[\s*(?:[-–—?]|[RMQ]\s*,?\s*)*\])(?!\()", re.IGNORECASE)
_SENTENCE_END = re.compile(r"[.!?…][\"»”’)]?\s|\n")
_ATTRIBUTION = re.compile(r"[*_\u2060]{0,6}(?:[—–]|--|-(?=[ \t*_]{0,4}[\[【(]))")
_VERBATIM_COLUMN = re.compile(
    r"\b(?:verbatims?|quotes?|quotations?|citations?|extraits?|excerpts?|own words|propos"
    r"|paroles?|mots exacts|wording)\b",
    re.IGNORECASE,
)
_OPENING = '«“„‟「『‹"‘'


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
    return _Reader(text, grammar).read()


class _Reader:
    """One answer, its blocks, and the citations found in it, in order."""

    def __init__(self, text: str, grammar: Grammar) -> None:
        self.text = text
        self.grammar = grammar
        self.surface = surface(text)
        self.folded = fold(self.surface)
        self.blocks = blocks(text)
        self.block_starts = [block.start for block in self.blocks]
        self.json: list[Json] = list(read_json(text, fold(text), grammar))
        self.elements = elements(text, fold(text), grammar)
        self.links = list(links(text, grammar))
        self.found = self._citations()
        self.starts = [citation.start for citation in self.found]
        self.notes = notes.definitions(self.surface, self.folded, self.found, grammar)

    def read(self) -> Citations:
        pairs = quotes_in(self.surface, self.blocks)
        unpaired = [at for at in pairs.unpaired if not self._in_json(at)]
        marked = [quote for quote in pairs.quotes if not self._in_json(quote.start, quote.family)]
        candidates = [self._candidate(quote) for quote in self._outermost(marked)]
        candidates = self._with_elements(candidates)
        candidates = self._with_blocks(candidates)
        unclosed, read = self._unclosed(unpaired, candidates)
        candidates = sorted([*candidates, *unclosed], key=lambda quote: quote.start)
        self._inside(candidates)
        self._mentions(candidates)
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

    # What cites

    def _citations(self) -> list[Citation]:
        found = [
            citation
            for citation in brackets.find(self.text, self.folded, self.grammar)
            if not self._in_json(citation.start) or self._in_string(citation.start)
        ]
        found += [element.citation for element in self.elements if element.citation]
        found += [link.citation for link in self.links if link.near]
        found += [citation for document in self.json for citation in document.citations]
        found.sort(key=lambda citation: (citation.start, -citation.end))
        rows = {
            self.blocks[index].row
            for citation in found
            if (index := self._block(citation.start)) >= 0
        }
        found += self._bare_cells(rows)
        apart: list[Citation] = []
        for citation in sorted(found, key=lambda citation: (citation.start, -citation.end)):
            index = self._block(citation.start)
            coded = index >= 0 and self.blocks[index].kind == "code"
            if not coded and (not apart or citation.start >= apart[-1].end):
                apart.append(citation)
        return apart

    def _bare_cells(self, known: set[int]) -> Iterator[Citation]:
        """Rows of tables whose cells hold bare ids: one citation a row."""
        spans: dict[int, tuple[int, int]] = {}
        for block in self.blocks:
            if block.row and block.row not in known:
                start, _ = spans.get(block.row, (block.start, 0))
                spans[block.row] = start, block.end
        for start, end in spans.values():
            row = brackets.listed(self.text, self.folded, start, end, self.grammar)
            if row:
                yield row

    def _block(self, at: int) -> int:
        return bisect_right(self.block_starts, at) - 1

    def _in_json(self, at: int, family: str = "") -> bool:
        return family in ("", '""', "''") and any(doc.start <= at < doc.end for doc in self.json)

    def _in_string(self, at: int) -> bool:
        """Whether a bracket of a JSON document stands within one of its strings, as prose does."""
        if any(start <= at < end for document in self.json for start, end in document.ids):
            return False
        line = self.text.rfind("\n", 0, at) + 1
        before = self.text[line:at].replace('\\"', "")
        return before.count('"') % 2 == 1

    # What quotes

    def _candidate(self, quote: Quote) -> Candidate:
        words = len(self.surface[quote.inner_start : quote.inner_end].split())
        return Candidate(
            quote.start,
            quote.end,
            quote.inner_start,
            quote.inner_end,
            quote.family,
            self._block(quote.start),
            words=words,
        )

    def _outermost(self, quotes: Sequence[Quote]) -> list[Quote]:
        """The quotes to consider: nested ones only where they carry a bracket of their own."""
        kept: list[Quote] = []
        for quote in sorted(quotes, key=lambda quote: (quote.start, -quote.end)):
            nested = bool(kept) and quote.end <= kept[-1].end
            if not nested:
                kept.append(quote)
            elif (quote.start, quote.end) == (kept[-1].inner_start, kept[-1].inner_end):
                kept[-1] = kept[-1]._replace(
                    inner_start=quote.inner_start, inner_end=quote.inner_end
                )
            elif self._next(quote.end, kept[-1].inner_end) is not None:
                if kept[-1].start < quote.start and not self._ends_with_citation(
                    kept[-1].inner_start, kept[-1].inner_end
                ):
                    kept[-1] = quote
                else:
                    kept.append(quote)
        return kept

    def _next(self, start: int, limit: int) -> int | None:
        """The index of the citation that stands right after ``start``, before ``limit``."""
        index = bisect_left(self.starts, start)
        if index == len(self.found) or self.found[index].start >= limit:
            return None
        return index if not self.surface[start : self.found[index].start].strip(_TIGHT) else None

    def _ends_with_citation(self, start: int, end: int) -> bool:
        last = bisect_left(self.starts, end) - 1
        return last >= 0 and self.found[last].start > start and self.found[last].end >= end - 2

    def _with_elements(self, candidates: list[Candidate]) -> list[Candidate]:
        """Elements that hold words, ``<cite id=…>…</cite>``, ``<q>…</q>``, but for their marks."""
        result = list(candidates)
        known = [quote.start for quote in candidates]
        for element in self.elements:
            if element.citation is None and not element.quotes:
                continue
            start, end = trimmed(self.surface, element.inner_start, element.inner_end)
            if start >= end:
                continue
            first, last = bisect_left(known, start), bisect_left(known, end)
            within = [quote for quote in candidates[first:last] if quote.end <= end]
            outside = [quote for quote in candidates[max(0, first - 1) : first] if quote.end > end]
            own = (element.citation,) if element.citation else ()
            if within:
                for quote in within if own else ():
                    quote.citations, quote.rule = own, "element around it"
            elif outside and outside[0].inner_start <= element.start and own:
                outside[0].citations, outside[0].rule = own, "element around it"
            elif not outside and element.quotes and not self._holds_block(element):
                words = len(self.surface[start:end].split())
                block = self._block(start)
                result.append(
                    Candidate(element.start, element.end, start, end, "<", block, words=words)
                )
                if own:
                    result[-1].citations, result[-1].rule = own, "element around it"
        return sorted(result, key=lambda quote: quote.start)

    def _holds_block(self, element: Element) -> bool:
        """Whether an element holds several blocks; their quotes are read one by one."""
        return self._block(element.inner_start) < self._block(max(0, element.inner_end - 1)) - 1

    def _with_blocks(self, candidates: list[Candidate]) -> list[Candidate]:
        """With quotes that a block makes: block quotes, lines of dialogue, cells for verbatims."""
        held: dict[int, list[Candidate]] = {}
        for quote in candidates:
            held.setdefault(quote.block, []).append(quote)
        result: list[Candidate] = []
        for index, block in enumerate(self.blocks):
            own = held.pop(index, [])
            if block.kind == "code":
                continue
            if block.quote and block.kind == "paragraph":
                made = list(self._block_quotes(block, index, own))
                kept = [
                    quote
                    for quote in own
                    if not any(b.start <= quote.start and quote.end <= b.end for b in made)
                ]
                result += [*kept, *made]
            elif own:
                result += own
            elif block.kind == "cell" and _VERBATIM_COLUMN.search(block.header):
                result += self._cell(block, index)
            elif (
                self.surface.startswith("—", block.start)
                or "\n—" in self.surface[block.start : block.end]
            ):
                result += self._dialogue(block, index)
        return [*(quote for quotes in held.values() for quote in quotes), *result]

    def _lines(self, block: Block) -> Iterator[tuple[int, int]]:
        """The span of each line of a block, without the margin of a block quote."""
        start = block.start
        while start < block.end:
            end = self.surface.find("\n", start, block.end)
            end = block.end if end < 0 else end
            at = start
            while at < end and self.surface[at] in " \t>":
                at += 1
            yield at, end
            start = end + 1

    def _block_quotes(
        self, block: Block, index: int, own: Sequence[Candidate]
    ) -> Iterator[Candidate]:
        """The unmarked words of a block quote, up to the bracket that ends a line or to a line
        that says who speaks."""
        marked = sum(quote.end - quote.start for quote in own)
        first, last = bisect_left(self.starts, block.start), bisect_left(self.starts, block.end)
        cited = sum(self.found[i].end - self.found[i].start for i in range(first, last))
        size = block.end - block.start - cited
        opens = self.surface[block.start : block.start + 4].strip("*_ " + PAD)[:1] in _OPENING
        if own and (opens or marked >= 0.5 * size):
            return
        if self.text.startswith("[!", block.start):
            return
        run: list[tuple[int, int]] = []
        for start, end in self._lines(block):
            words = self.surface[start:end].strip()
            stop, trailing = self._before_trailing(start, end)
            spoken = self.surface[run[0][0] : end] if run else ""
            named = bool(_ATTRIBUTION.match(words)) and (
                not _ATTRIBUTION.match(spoken) if run else block is not self._first_of(block)
            )
            if not words or named or stop <= start:
                yield from self._run(run, index)
                run = []
                continue
            run.append((start, stop))
            if trailing:
                yield from self._run(run, index)
                run = []
        yield from self._run(run, index)

    def _first_of(self, block: Block) -> Block:
        index = self._block(block.start)
        while index and self.blocks[index - 1].quote == block.quote:
            index -= 1
        return self.blocks[index]

    def _before_trailing(self, start: int, end: int) -> tuple[int, bool]:
        """Where the citations that end a line begin, and whether there are any."""
        stop = end
        index = bisect_left(self.starts, end) - 1
        while (
            index >= 0
            and self.starts[index] >= start
            and not self.surface[self.found[index].end : stop].strip(_EDGE + "[]/&")
        ):
            stop = self.found[index].start
            index -= 1
        while start < stop < end and self.surface[stop - 1] in " \t([*_—–" + PAD:
            if self.surface[stop - 1] in "*_" and self.surface[stop - 2].isalnum():
                break  # the end of what was emphasised
            stop -= 1
        return stop, stop < end

    def _run(self, run: Sequence[tuple[int, int]], index: int) -> Iterator[Candidate]:
        if not run:
            return
        inner = trimmed(self.surface, run[0][0], run[-1][1])
        if inner[0] < inner[1]:
            words = len(self.surface[inner[0] : inner[1]].split())
            yield Candidate(run[0][0], run[-1][1], *inner, ">", index, words=words)

    def _cell(self, block: Block, index: int) -> Iterator[Candidate]:
        """The words of a cell in a column of verbatims, without marks of their own."""
        stop, _ = self._before_trailing(block.start, block.end)
        inner = trimmed(self.surface, block.start, stop)
        words = len(self.surface[inner[0] : inner[1]].split())
        if inner[0] < inner[1] and words > 1:
            yield Candidate(*inner, *inner, "|", index, words=words)

    def _dialogue(self, block: Block, index: int) -> Iterator[Candidate]:
        """Lines that begin with a dash and end with a citation of a message."""
        for start, end in self._lines(block):
            stop, trailing = self._before_trailing(start, end)
            if not trailing or not self.surface.startswith("—", start):
                continue
            inner = trimmed(self.surface, start + 1, stop)
            words = len(self.surface[inner[0] : inner[1]].split())
            if inner[0] < inner[1] and words > 1:
                yield Candidate(start, stop, *inner, "—", index, words=words)

    def _unclosed(
        self, unpaired: Sequence[int], candidates: Sequence[Candidate]
    ) -> tuple[list[Candidate], set[int]]:
        """Marks without a partner whose words end at a citation: ``« on attend [R-1, M-1]``."""
        starts = sorted(quote.start for quote in candidates)
        spans = {quote.start: quote.end for quote in candidates}
        made: list[Candidate] = []
        read: set[int] = set()
        for at in unpaired:
            index = self._block(at)
            cite = bisect_left(self.starts, at)
            if self.surface[at] not in _OPENING or index < 0 or cite == len(self.found):
                continue
            stop = self.found[cite].start
            before = bisect_left(starts, at)
            enclosed = before and spans[starts[before - 1]] > at
            crossed = before < len(starts) and starts[before] < stop
            if stop > self.blocks[index].end or enclosed or crossed or stop - at > 2_000:
                continue
            while stop > at + 1 and self.surface[stop - 1] in " \t\n([*_" + PAD:
                stop -= 1
            inner = trimmed(self.surface, at + 1, stop)
            words = len(self.surface[inner[0] : inner[1]].split())
            if words > 1 and not (made and made[-1].end > at):
                mark = self.surface[at]
                made.append(Candidate(at, stop, *inner, mark, index, words=words))
                read.add(at)
        return made, read

    def _inside(self, candidates: Sequence[Candidate]) -> None:
        """A bracket that ends the words within the marks is theirs, as is one that begins them."""
        for quote in candidates:
            if quote.citations or quote.family in (">", "—", "|"):
                continue
            own: list[Citation] = []
            while self._ends_with_citation(quote.inner_start, quote.inner_end):
                last = self.found[bisect_left(self.starts, quote.inner_end) - 1]
                own.insert(0, last)
                stop = last.start
                while stop > quote.inner_start and self.surface[stop - 1] in " \t\n(—–" + PAD:
                    stop -= 1
                quote.inner_end = stop
            if own:
                quote.citations, quote.rule = tuple(own), "within its marks"

    def _mentions(self, candidates: Sequence[Candidate]) -> None:
        for index, quote in enumerate(candidates):
            if quote.family in (">", "—", "|", "{") or quote.citations:
                continue
            block = self.blocks[quote.block] if quote.block >= 0 else None
            start = max(block.start if block else 0, quote.start - 160)
            end = min(block.end if block else len(self.text), quote.end + 120)
            if index:
                start = max(start, candidates[index - 1].end)
            if index + 1 < len(candidates):
                end = max(quote.end, min(end, candidates[index + 1].start))
            before = _SENTENCE_END.split(self.surface[start : quote.start])[-1]
            after = _SENTENCE_END.split(self.surface[quote.end : end])[0]
            words = self.surface[quote.inner_start : quote.inner_end]
            beside = self._next(quote.end, end) is not None or (
                bool(self.notes) and any(map(self.notes.get, notes.called(self.surface, quote.end)))
            )
            quote.mention = mention(before, after, words, beside)

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
        return QuotedPassage(
            quote.start,
            quote.end,
            quote.inner_start,
            quote.inner_end,
            self.text[quote.inner_start : quote.inner_end],
            quote.family,
            own,
            quote.rule if own else None,
            quote.mention,
        )

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
