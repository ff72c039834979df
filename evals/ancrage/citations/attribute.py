"""Which citation is whose: decided by the structure of the answer, and by which rule.

Within a block (a paragraph, an item, a cell) quotes and citations stand in a row; each citation
goes to the quote before it, to the one after it, or to none, so that the whole row reads best
(a Viterbi pass). What is ambiguous alone is settled by the shape of its siblings: the other items
of the list, the other lines, the other blocks. What a block leaves open is looked up around it:
the other cells of its row, the line that attributes a block quote, the line above or below.
"""

import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from ancrage.citations.model import Citation
from ancrage.citations.pairing import GLOSS, NONE, TIGHT, Candidate, Choice, Group, Pairing
from ancrage.quotes.block import Block
from ancrage.quotes.surface import BLANK, PAD

_WORD = r"(?:et|and|puis|then|ou|or|y|und|e|mais|but|&|plus)"
_SHARED = re.compile(
    rf"[ \t,;*_{PAD}]*(?:[\[(]?(?:…|\.\.\.)[\])]?|{_WORD}(?:[ \t]+(?:aussi|encore|also|then))?)?"
    rf"[ \t,;:*_({PAD}]*",
    re.IGNORECASE,
)
"""What joins two quotes that share a citation."""
_LISTED = re.compile(rf"[\s,;*_/&+\]){PAD}]*{_WORD}?[\s*_\[({PAD}]*", re.IGNORECASE)
"""What joins two citations of one quote."""
_BONUS = 2.5


def attribute(
    text: str,
    blocks: Sequence[Block],
    quotes: Sequence[Candidate],
    citations: Sequence[Citation],
) -> None:
    """Give each citation to its quotes, with the rule; ``text`` is the surface of the answer.

    Quotes that are mentions, and citations that cite questions alone, take no part.
    """
    _Attribution(text, blocks, quotes, citations).run()


class _Attribution:
    def __init__(
        self,
        text: str,
        blocks: Sequence[Block],
        quotes: Sequence[Candidate],
        citations: Sequence[Citation],
    ) -> None:
        self.text = text
        self.blocks = blocks
        starts = [block.start for block in blocks]
        self.quotes: dict[int, list[Candidate]] = defaultdict(list)
        for quote in quotes:
            if quote.mention is None:
                self.quotes[quote.block].append(quote)
        self.citations: dict[int, list[Citation]] = defaultdict(list)
        blanked: list[str] | None = None
        inside = sorted((quote.start, quote.end) for quote in quotes if quote.mention is None)
        inside_starts = [start for start, _ in inside]
        for citation in citations:
            if not (citation.pairs or citation.others or citation.fault):
                blanked = blanked or list(text)
                blanked[citation.start : citation.end] = PAD * (citation.end - citation.start)
                continue
            at = bisect_right(inside_starts, citation.start) - 1
            if at >= 0 and citation.end <= inside[at][1]:
                continue
            index = bisect_right(starts, citation.start) - 1
            if index >= 0:
                self.citations[index].append(citation)
        self.gaps = "".join(blanked) if blanked else text
        self.pairing = Pairing(text, self.gaps)
        self.taken: set[int] = set()

    def run(self) -> None:
        rows = {
            index: self._groups(index)
            for index in sorted({*self.quotes, *self.citations})
            if self.blocks and index >= 0
        }
        votes = self._votes(rows)
        for index, groups in rows.items():
            if any(group.quotes for group in groups) and any(group.citations for group in groups):
                self._row(groups, votes[self._scope(index)], self._own_vote(groups))
        self._table_rows()
        self._around()

    def _give(self, quotes: Iterable[Candidate], own: Sequence[Citation], rule: str) -> None:
        for quote in quotes:
            quote.citations = (*quote.citations, *own)
            quote.rule = quote.rule or rule
        self.taken.update(citation.start for citation in own)

    # Within a block

    def _groups(self, index: int) -> list[Group]:
        """The quotes and citations of a block in order, joined where they belong together."""
        events: list[Candidate | Citation] = sorted(
            [*self.quotes.get(index, ()), *self.citations.get(index, ())],
            key=lambda event: event.start,
        )
        groups: list[Group] = []
        for event in events:
            last = groups[-1] if groups else None
            if isinstance(event, Candidate):
                if event.citations:  # one that holds its own
                    groups.append(Group([event], []))
                elif (
                    last
                    and last.quotes
                    and not last.quotes[-1].citations
                    and self._joined(last, event)
                ):
                    last.quotes.append(event)
                else:
                    groups.append(Group([event], []))
            elif last and last.citations and self._listed(last, event):
                last.citations.append(event)
            else:
                groups.append(Group([], [event]))
        return groups

    def _joined(self, group: Group, quote: Candidate) -> bool:
        gap = self.gaps[group.end : quote.start]
        if self.blocks[quote.block].kind == "cell" and not gap.strip(BLANK + "/;,"):
            return False
        return len(gap) <= 60 and bool(_SHARED.fullmatch(gap) or GLOSS.fullmatch(gap))

    def _listed(self, group: Group, citation: Citation) -> bool:
        gap = self.gaps[group.end : citation.start]
        if len(gap) > 40 or ("\n" in gap.strip(" \t") and gap.strip()):
            return False
        return not gap.strip(TIGHT) or _LISTED.fullmatch(gap) is not None

    def _own_vote(self, groups: Sequence[Group]) -> float:
        first, last = groups[0], groups[-1]
        if first.citations and last.quotes:
            return -1.0
        return 1.0 if first.quotes and last.citations else 0.0

    def _scope(self, index: int) -> tuple[str, int]:
        """What the siblings of a block share."""
        block = self.blocks[index]
        if block.lists:
            return "list", block.lists[-1]
        return ("column", block.column) if block.kind == "cell" else ("text", 0)

    def _votes(self, rows: dict[int, list[Group]]) -> dict[tuple[str, int], float]:
        """For each set of siblings: above 0 where citations follow their quotes, below 0 where
        they lead to them; as many as agree."""
        counts: dict[tuple[str, int], Counter[float]] = defaultdict(Counter)
        for index, groups in rows.items():
            vote = self._own_vote(groups)
            if vote:
                counts[self._scope(index)][vote] += 1
        votes: dict[tuple[str, int], float] = defaultdict(float)
        for scope, count in counts.items():
            votes[scope] = (count[1.0] - count[-1.0]) / count.total()
        return votes

    def _row(self, groups: Sequence[Group], siblings: float, own: float) -> None:
        """Choose for each citation of a row: the quote before it, the one after it, or none."""
        # best[taken]: score and choices so far, where the quote before is taken by a citation
        # that leads to it (True) or not (False).
        lean = _BONUS * (siblings + own) / 2
        best: dict[bool, tuple[float, tuple[object, ...]]] = {False: (0.0, ())}
        for index, group in enumerate(groups):
            if not group.citations:
                continue
            before = groups[index - 1] if index and groups[index - 1].quotes else None
            after = (
                groups[index + 1] if index + 1 < len(groups) and groups[index + 1].quotes else None
            )
            options = [
                NONE,
                self.pairing.after(before, group, lean),
                self.pairing.before(group, after, -lean),
                self.pairing.split(before, group, after),
            ]
            follow: dict[bool, tuple[float, tuple[object, ...]]] = {}
            for taken, (score, path) in best.items():
                for option in options:
                    if option is None or (taken and option.where in ("after", "split")):
                        continue
                    leads = option.where in ("before", "split")
                    total = score + option.score
                    if leads not in follow or total > follow[leads][0]:
                        follow[leads] = total, (path, index, option)
            best = follow
        _, path = max(best.values(), key=lambda found: found[0])
        while path:
            path, index, option = path  # type: ignore[assignment]
            self._settle(groups, index, option)  # type: ignore[arg-type]

    def _settle(self, groups: Sequence[Group], index: int, option: Choice) -> None:
        own = groups[index].citations
        if option.where == "after":
            self._share(groups[index - 1].quotes, own, option.rule)
        elif option.where == "before":
            self._share(groups[index + 1].quotes, own, option.rule)
        elif option.where == "split":
            self._share(groups[index - 1].quotes, own[:-1], "right after")
            self._share(groups[index + 1].quotes, own[-1:], option.rule)

    def _share(self, quotes: list[Candidate], own: Sequence[Citation], rule: str) -> None:
        """To quotes joined by a comma or “and”: each its own where there are as many, else all."""
        if 1 < len(quotes) == len(own) and all(citation.messages for citation in own):
            for quote, citation in zip(quotes, own, strict=True):
                self._give([quote], [citation], "in order")
        else:
            self._give(quotes, own, rule)

    # Around a block

    def _open_quotes(self, index: int) -> list[Candidate]:
        return [quote for quote in self.quotes.get(index, ()) if not quote.citations]

    def _free(self, index: int) -> list[Citation]:
        return [
            citation
            for citation in self.citations.get(index, ())
            if citation.start not in self.taken
        ]

    def _table_rows(self) -> None:
        """In a row of a table: one citation is every quote's, as many as quotes go in order."""
        rows: dict[int, list[int]] = defaultdict(list)
        for index, block in enumerate(self.blocks):
            if block.row:
                rows[block.row].append(index)
        for cells in rows.values():
            quotes = [quote for index in cells for quote in self._open_quotes(index)]
            free = [citation for index in cells for citation in self._free(index)]
            if not quotes or not free:
                continue
            if len(free) == len(quotes) > 1:
                for quote, citation in zip(quotes, free, strict=True):
                    self._give([quote], [citation], "in the same row, in order")
            elif len(free) == 1 or len(quotes) == 1:
                self._give(quotes, free, "in the same row")

    def _around(self) -> None:
        """Quotes alone in their blocks, and citations alone in those around them."""
        self._along_block_quotes()
        kinds = [self._kind(index) for index in range(len(self.blocks))]
        alternating = self._alternating(kinds)
        index = 0
        while index < len(kinds):
            stop = index + 1
            while stop < len(kinds) and kinds[stop] and kinds[index]:
                if not self._near(stop - 1, stop, alternating):
                    break
                stop += 1
            run = kinds[index:stop]
            if "C" in run and "Q" in run:
                self._run(index, stop, kinds, above=run[0] == "C")
            index = stop

    def _along_block_quotes(self) -> None:
        """What the last paragraph of a block quote cites is of those before it too."""
        for index in range(len(self.blocks) - 2, -1, -1):
            here, after = self.blocks[index], self.blocks[index + 1]
            if not here.quote or here.quote != after.quote or here.items != after.items:
                continue
            own = [quote for quote in self.quotes.get(index, ()) if not quote.citations]
            following = self.quotes.get(index + 1, ())
            if own and len(own) == len(self.quotes[index]) and following:
                cited = following[0]
                if cited.citations and cited.family == own[-1].family == ">":
                    self._give(own, cited.citations, "end of the block quote")

    def _alternating(self, kinds: Sequence[str]) -> set[int]:
        """The lists whose items are quotes and citations by turns."""
        shapes: dict[int, str] = defaultdict(str)
        last: Block | None = None
        for block, kind in zip(self.blocks, kinds, strict=True):
            if block.lists:
                shapes[block.lists[-1]] += kind or "x"
            elif kind == "C" and last and last.lists and block.quote == last.quote > 0:
                shapes[last.lists[-1]] += kind  # the line below that says whose the quote is
            last = block
        return {
            number
            for number, shape in shapes.items()
            if re.fullmatch(r"(?:QC)+|(?:CQ)+|Q+C|CQ+", shape)
        }

    def _run(self, start: int, stop: int, kinds: Sequence[str], *, above: bool) -> None:
        held: list[Candidate] = []
        lead: list[Citation] = []
        place: Block | None = None
        for index in range(start, stop):
            block = self.blocks[index]
            if kinds[index] == "Q" and above and lead:
                if place and (place.lists, place.quote) != (block.lists, block.quote):
                    break
                self._give(self._open_quotes(index), lead, "line above")
                place = block
            elif kinds[index] == "Q":
                held += self._open_quotes(index)
            elif above:
                lead, place = self._free(index), None
            else:
                self._give(held, self._free(index), "line below")
                held = []

    def _kind(self, index: int) -> str:
        """``Q`` for a block of quotes alone, ``C`` for one of citations that leads or closes."""
        block = self.blocks[index]
        if block.kind in ("cell", "code"):
            return ""
        quotes, free = self._open_quotes(index), self._free(index)
        if quotes and not free and len(quotes) == len(self.quotes[index]):
            before = self.text[block.start : quotes[0].start].rstrip(" *_" + PAD)
            rest = self._rest(index, quotes)
            led = rest <= 8 and before.endswith(":")
            attributed = block.quote and self._goes_on(index)
            return "Q" if led or attributed or not rest else ""
        if free and not self.quotes.get(index):
            rest = self._rest(index, free)
            leads = self.text[block.start : block.end].rstrip(" *_" + PAD).endswith(":")
            return "C" if rest <= 3 or (leads and rest <= 25) else ""
        return ""

    def _goes_on(self, index: int) -> bool:
        """Whether the block quote of a block has another block, which can say whose it is."""
        after = self.blocks[index + 1] if index + 1 < len(self.blocks) else None
        return after is not None and after.quote == self.blocks[index].quote

    def _rest(self, index: int, spans: Iterable[Candidate | Citation]) -> int:
        """The words of a block outside ``spans``."""
        block = self.blocks[index]
        at, count = block.start, 0
        for span in spans:
            count += len(self.gaps[at : max(at, span.start)].strip(TIGHT).split())
            at = max(at, span.end)
        return count + len(self.gaps[at : max(at, block.end)].strip(TIGHT).split())

    def _near(self, left: int, right: int, alternating: set[int]) -> bool:
        """Whether two blocks in a row may belong together: not two items of one list."""
        here, there = self.blocks[left], self.blocks[right]
        if here.items and there.items and here.items != there.items:
            if len(here.items) == len(there.items):
                if not here.lists or not there.lists:
                    return False
                return here.lists[-1] == there.lists[-1] and here.lists[-1] in alternating
            shorter = min(len(here.items), len(there.items))
            return here.items[:shorter] == there.items[:shorter]
        return not here.items or bool(there.items) or here.quote == there.quote > 0
