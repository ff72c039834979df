"""What quotes and what cites in an answer, before anything says which is whose."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from ancrage.citations import brackets, notes
from ancrage.citations.elements import Element, elements, links
from ancrage.citations.fields import Json, read_json
from ancrage.citations.grammar import Grammar
from ancrage.citations.mentions import mention
from ancrage.citations.model import Citation
from ancrage.citations.pairing import Candidate
from ancrage.quotes.block import Block
from ancrage.quotes.extract import Quote, trimmed
from ancrage.quotes.layout import blocks
from ancrage.quotes.surface import BLANK, PAD, fold, surface

_TIGHT = BLANK + ">*_~`.,;:!?…()|[]\\—–-"
_EDGE = BLANK + ">*_~`.,;:!?…()\\—–-"
_SENTENCE_END = re.compile(r"[.!?…][\"»”’)]?\s|\n")
_ATTRIBUTION = re.compile(r"[*_\u2060]{0,6}(?:[—–]|--|-(?=[ \t*_]{0,4}[\[【(]))")
_VERBATIM_COLUMN = re.compile(
    r"\b(?:verbatims?|quotes?|quotations?|citations?|extraits?|excerpts?|own words|propos"
    r"|paroles?|mots exacts|wording)\b",
    re.IGNORECASE,
)
_OPENING = '«“„‟「『‹"‘'


class Reader:
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

    # What cites

    def _citations(self) -> list[Citation]:
        found = [
            citation
            for citation in brackets.find(self.text, self.folded, self.grammar)
            if not self.in_json(citation.start) or self._in_string(citation.start)
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

    def in_json(self, at: int, family: str = "") -> bool:
        return family in ("", '""', "''") and any(doc.start <= at < doc.end for doc in self.json)

    def _in_string(self, at: int) -> bool:
        """Whether a bracket of a JSON document stands within one of its strings, as prose does."""
        if any(start <= at < end for document in self.json for start, end in document.ids):
            return False
        line = self.text.rfind("\n", 0, at) + 1
        before = self.text[line:at].replace('\\"', "")
        return before.count('"') % 2 == 1

    # What quotes

    def candidate(self, quote: Quote) -> Candidate:
        inner = quote.inner_start, quote.inner_end
        return self._made(quote.start, quote.end, inner, quote.family, self._block(quote.start))

    def _made(
        self, start: int, end: int, inner: tuple[int, int], family: str, block: int
    ) -> Candidate:
        words = len(self.surface[inner[0] : inner[1]].split())
        return Candidate(start, end, *inner, family, block, words=words)

    def outermost(self, quotes: Sequence[Quote]) -> list[Quote]:
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

    def with_elements(self, candidates: list[Candidate]) -> list[Candidate]:
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
                block = self._block(start)
                result.append(self._made(element.start, element.end, (start, end), "<", block))
                if own:
                    result[-1].citations, result[-1].rule = own, "element around it"
        return sorted(result, key=lambda quote: quote.start)

    def _holds_block(self, element: Element) -> bool:
        """Whether an element holds several blocks; their quotes are read one by one."""
        return self._block(element.inner_start) < self._block(max(0, element.inner_end - 1)) - 1

    def with_blocks(self, candidates: list[Candidate]) -> list[Candidate]:
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
            yield self._made(run[0][0], run[-1][1], inner, ">", index)

    def _cell(self, block: Block, index: int) -> Iterator[Candidate]:
        """The words of a cell in a column of verbatims, without marks of their own."""
        stop, _ = self._before_trailing(block.start, block.end)
        inner = trimmed(self.surface, block.start, stop)
        made = self._made(*inner, inner, "|", index)
        if made.words > 1:
            yield made

    def _dialogue(self, block: Block, index: int) -> Iterator[Candidate]:
        """Lines that begin with a dash and end with a citation of a message."""
        for start, end in self._lines(block):
            stop, trailing = self._before_trailing(start, end)
            if not trailing or not self.surface.startswith("—", start):
                continue
            inner = trimmed(self.surface, start + 1, stop)
            made = self._made(start, stop, inner, "—", index)
            if made.words > 1:
                yield made

    def unclosed(
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
            quote = self._made(at, stop, inner, self.surface[at], index)
            if quote.words > 1 and not (made and made[-1].end > at):
                made.append(quote)
                read.add(at)
        return made, read

    def inside(self, candidates: Sequence[Candidate]) -> None:
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

    def mentions(self, candidates: Sequence[Candidate]) -> None:
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
