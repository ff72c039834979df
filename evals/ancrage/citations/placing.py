"""The quotes and citations of an answer by block, while citations are given to quotes."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ancrage.citations.model import Citation
from ancrage.citations.pairing import Candidate
from ancrage.quotes.block import Block
from ancrage.quotes.surface import PAD


class Placing:
    """Quotes that are no mention, citations that cite more than questions and stand in no quote.

    ``gaps`` is the surface of the answer with citations of questions alone blanked.
    """

    def __init__(
        self,
        surface: str,
        blocks: Sequence[Block],
        quotes: Sequence[Candidate],
        citations: Sequence[Citation],
    ) -> None:
        self.surface = surface
        self.blocks = blocks
        self.quotes: dict[int, list[Candidate]] = defaultdict(list)
        self.citations: dict[int, list[Citation]] = defaultdict(list)
        self.taken: set[int] = set()
        quoting = [quote for quote in quotes if quote.mention is None]
        for quote in quoting:
            self.quotes[quote.block].append(quote)
        starts = [quote.start for quote in quoting]
        block_starts = [block.start for block in blocks]
        blanked: list[str] = []
        for citation in citations:
            if not (citation.pairs or citation.others or citation.fault):
                blanked = blanked or list(surface)
                blanked[citation.start : citation.end] = PAD * (citation.end - citation.start)
                continue
            before = bisect_right(starts, citation.start) - 1
            if before >= 0 and citation.end <= quoting[before].end:
                continue
            index = bisect_right(block_starts, citation.start) - 1
            if index >= 0:
                self.citations[index].append(citation)
        self.gaps = "".join(blanked) if blanked else surface

    def give(self, quotes: Iterable[Candidate], own: Sequence[Citation], rule: str) -> None:
        """Citations to quotes, by a rule."""
        for quote in quotes:
            quote.citations = (*quote.citations, *own)
            quote.rule = quote.rule or rule
        self.taken.update(citation.start for citation in own)

    def open_quotes(self, index: int) -> list[Candidate]:
        """The quotes of a block that have no citation yet."""
        return [quote for quote in self.quotes.get(index, ()) if not quote.citations]

    def free(self, index: int) -> list[Citation]:
        """The citations of a block that no quote has."""
        own = self.citations.get(index, ())
        return [citation for citation in own if citation.start not in self.taken]
