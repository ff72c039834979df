"""Citations for quotes that their own block leaves without: from their row, their block quote,
the lines above and below."""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence

from ancrage.citations.answer import TIGHT
from ancrage.citations.model import Citation
from ancrage.citations.pairing import Candidate
from ancrage.citations.placing import Placing
from ancrage.quotes.block import Block
from ancrage.quotes.surface import PAD

_BY_TURNS = re.compile(r"(?:QC)+|(?:CQ)+|Q+C|CQ+")
_LED, _ALONE, _LEADING = 8, 3, 25
"""Words beside quotes that a colon leads to, beside citations, and before a leading citation."""


def look_around(placing: Placing) -> None:
    """Give the citations that no quote has to quotes without, from block to block."""
    if not any(map(placing.open_quotes, placing.quotes)):
        return
    _along_rows(placing)
    _along_block_quotes(placing)
    if not any(map(placing.free, placing.citations)):
        return
    kinds = [_kind(placing, index) for index in range(len(placing.blocks))]
    by_turns = _lists_by_turns(placing.blocks, kinds)
    index = 0
    while index < len(kinds):
        stop = index + 1
        while stop < len(kinds) and kinds[stop] and kinds[index]:
            if not _near(placing.blocks[stop - 1], placing.blocks[stop], by_turns):
                break
            stop += 1
        run = kinds[index:stop]
        if "C" in run and "Q" in run:
            _settle_run(placing, index, run)
        index = stop


def _along_rows(placing: Placing) -> None:
    """In a row of a table: one citation is every quote's, as many as quotes go in order."""
    rows: dict[int, list[int]] = defaultdict(list)
    for index, block in enumerate(placing.blocks):
        if block.row:
            rows[block.row].append(index)
    for cells in rows.values():
        quotes = [quote for index in cells for quote in placing.open_quotes(index)]
        free = [citation for index in cells for citation in placing.free(index)]
        if not quotes or not free:
            continue
        if len(free) == len(quotes) > 1:
            for quote, citation in zip(quotes, free, strict=True):
                placing.give([quote], [citation], "in the same row, in order")
        elif len(free) == 1 or len(quotes) == 1:
            placing.give(quotes, free, "in the same row")


def _along_block_quotes(placing: Placing) -> None:
    """What the last paragraph of a block quote cites is of those before it too."""
    for index in range(len(placing.blocks) - 2, -1, -1):
        here, after = placing.blocks[index], placing.blocks[index + 1]
        if not here.quote or here.quote != after.quote or here.items != after.items:
            continue
        own, following = placing.open_quotes(index), placing.quotes.get(index + 1, ())
        if own and len(own) == len(placing.quotes[index]) and following:
            cited = following[0]
            if cited.citations and cited.family == own[-1].family == ">":
                placing.give(own, cited.citations, "end of the block quote")


def _kind(placing: Placing, index: int) -> str:
    """``Q`` for a block of quotes alone, ``C`` for one of citations that leads or closes."""
    block = placing.blocks[index]
    if block.kind in ("cell", "code"):
        return ""
    quotes, free = placing.open_quotes(index), placing.free(index)
    if quotes and not free and len(quotes) == len(placing.quotes[index]):
        before = placing.surface[block.start : quotes[0].start].rstrip(" *_" + PAD)
        rest = _words_beside(placing, block, quotes)
        led = rest <= _LED and before.endswith(":")
        after = placing.blocks[index + 1] if index + 1 < len(placing.blocks) else None
        attributed = block.quote and after is not None and after.quote == block.quote
        return "Q" if led or attributed or not rest else ""
    if free and not placing.quotes.get(index):
        rest = _words_beside(placing, block, free)
        leads = placing.surface[block.start : block.end].rstrip(" *_" + PAD).endswith(":")
        return "C" if rest <= _ALONE or (leads and rest <= _LEADING) else ""
    return ""


def _words_beside(placing: Placing, block: Block, spans: Iterable[Candidate | Citation]) -> int:
    """The words of a block outside ``spans``."""
    at, count = block.start, 0
    for span in spans:
        count += len(placing.gaps[at : max(at, span.start)].strip(TIGHT).split())
        at = max(at, span.end)
    return count + len(placing.gaps[at : max(at, block.end)].strip(TIGHT).split())


def _lists_by_turns(blocks: Sequence[Block], kinds: Sequence[str]) -> set[int]:
    """The lists whose items are quotes and citations by turns."""
    shapes: dict[int, str] = defaultdict(str)
    last: Block | None = None
    for block, kind in zip(blocks, kinds, strict=True):
        if block.lists:
            shapes[block.lists[-1]] += kind or "x"
        elif kind == "C" and last and last.lists and block.quote == last.quote > 0:
            shapes[last.lists[-1]] += kind  # the line below that says whose the quote is
        last = block
    return {number for number, shape in shapes.items() if _BY_TURNS.fullmatch(shape)}


def _near(here: Block, there: Block, by_turns: set[int]) -> bool:
    """Whether two blocks in a row may belong together: not two items of one list."""
    if here.items and there.items and here.items != there.items:
        if len(here.items) == len(there.items):
            if not here.lists or not there.lists:
                return False
            return here.lists[-1] == there.lists[-1] and here.lists[-1] in by_turns
        shorter = min(len(here.items), len(there.items))
        return here.items[:shorter] == there.items[:shorter]
    return not here.items or bool(there.items) or here.quote == there.quote > 0


def _settle_run(placing: Placing, start: int, run: Sequence[str]) -> None:
    """Blocks in a row, of quotes alone and citations alone: the first says which side leads."""
    held: list[Candidate] = []
    lead: list[Citation] = []
    last: Block | None = None  # that took the citations that lead
    for index, kind in enumerate(run, start):
        block = placing.blocks[index]
        if kind == "Q" and run[0] == "C" and lead:
            if last and (last.lists, last.quote) != (block.lists, block.quote):
                break
            placing.give(placing.open_quotes(index), lead, "line above")
            last = block
        elif kind == "Q":
            held += placing.open_quotes(index)
        elif run[0] == "C":
            lead, last = placing.free(index), None
        else:
            placing.give(held, placing.free(index), "line below")
            held = []
