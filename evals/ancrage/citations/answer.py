"""An answer with its structure, the citations found in it, and where they stand."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from ancrage.citations import brackets, notes
from ancrage.citations.elements import elements, links
from ancrage.citations.fields import read_json
from ancrage.citations.grammar import Grammar
from ancrage.citations.model import Citation
from ancrage.citations.reader import IdReader
from ancrage.quotes.block import Block
from ancrage.quotes.layout import blocks
from ancrage.quotes.surface import BLANK, PAD, surface

TIGHT = BLANK + ">*_~`.,;:!?…()|[]\\—–-"
"""What may stand between a quote and the citation right beside it."""
_EDGE = BLANK + ">*_~`.,;:!?…()\\—–-[]/&"


class AnswerText:
    """One answer, its blocks, and the citations found in it, in order."""

    def __init__(self, text: str, grammar: Grammar) -> None:
        self.text = text
        self.surface = surface(text)
        self.blocks = blocks(text)
        self.block_starts = [block.start for block in self.blocks]
        self.ids = IdReader(text, self.surface, grammar)
        written = self.ids if self.surface == text else IdReader(text, text, grammar)
        self.json = list(read_json(written))
        self.elements = elements(written)
        self.links = list(links(written))
        self.found = self._citations()
        self.starts = [citation.start for citation in self.found]
        self.notes = notes.definitions(self.surface, self.ids, self.found)

    def block_at(self, at: int) -> int:
        """The index of the block that ``at`` lies in or after; -1 before the first."""
        return bisect_right(self.block_starts, at) - 1

    def in_json(self, at: int, family: str = "") -> bool:
        """Whether ``at`` lies in a JSON document, whose straight marks quote nothing."""
        return family in ("", '""', "''") and any(doc.start <= at < doc.end for doc in self.json)

    def citation_after(self, start: int, limit: int) -> Citation | None:
        """The citation that stands right after ``start``, before ``limit``."""
        index = bisect_left(self.starts, start)
        if index == len(self.found) or self.starts[index] >= limit:
            return None
        gap = self.surface[start : self.starts[index]]
        return None if gap.strip(TIGHT) else self.found[index]

    def citation_ending(self, start: int, end: int) -> Citation | None:
        """The citation with which ``[start, end)`` ends."""
        last = bisect_left(self.starts, end) - 1
        ends = last >= 0 and self.starts[last] > start and self.found[last].end >= end - 2
        return self.found[last] if ends else None

    def before_citations(self, start: int, end: int) -> int:
        """Where the citations that end the line ``[start, end)`` begin; ``end`` without any."""
        stop = end
        index = bisect_left(self.starts, end) - 1
        while index >= 0 and self.starts[index] >= start:
            if self.surface[self.found[index].end : stop].strip(_EDGE):
                break
            stop = self.starts[index]
            index -= 1
        while start < stop < end and self.surface[stop - 1] in " \t([*_—–" + PAD:
            if self.surface[stop - 1] in "*_" and self.surface[stop - 2].isalnum():
                break  # the end of what was emphasised
            stop -= 1
        return stop

    def _citations(self) -> list[Citation]:
        found = [
            citation
            for citation in brackets.find(self.ids)
            if not self.json or not self.in_json(citation.start) or self._in_string(citation.start)
        ]
        found += [element.citation for element in self.elements if element.citation]
        found += [link.citation for link in self.links if link.near]
        found += [citation for document in self.json for citation in document.citations]
        found += self._bare_rows(found)
        found.sort(key=lambda citation: (citation.start, -citation.end))
        coded = any(block.kind == "code" for block in self.blocks)
        apart: list[Citation] = []
        for citation in found:
            if apart and citation.start < apart[-1].end:
                continue
            index = self.block_at(citation.start) if coded else -1
            if index < 0 or self.blocks[index].kind != "code":
                apart.append(citation)
        return apart

    def _bare_rows(self, found: list[Citation]) -> Iterator[Citation]:
        """Rows of tables whose cells hold bare ids: one citation a row."""
        rows: dict[int, tuple[int, int]] = {}
        for block in self.blocks:
            if block.row:
                rows[block.row] = rows.get(block.row, (block.start, 0))[0], block.end
        for citation in found if rows else ():
            index = self.block_at(citation.start)
            rows.pop(self.blocks[index].row if index >= 0 else 0, None)
        for start, end in rows.values():
            if row := self.ids.listed(start, end):
                yield row

    def _in_string(self, at: int) -> bool:
        """Whether a bracket of a JSON document stands within one of its strings, as prose does."""
        if any(start <= at < end for document in self.json for start, end in document.ids):
            return False
        line = self.text.rfind("\n", 0, at) + 1
        before = self.text[line:at].replace('\\"', "")
        return before.count('"') % 2 == 1


def line_spans(text: str, block: Block) -> Iterator[tuple[int, int]]:
    """The span of each line of a block, without the margin of a block quote."""
    start = block.start
    while start < block.end:
        end = text.find("\n", start, block.end)
        end = block.end if end < 0 else end
        at = start
        while at < end and text[at] in " \t>":
            at += 1
        yield at, end
        start = end + 1
