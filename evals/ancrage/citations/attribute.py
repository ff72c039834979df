"""Which citation is whose: decided by the structure of the answer, and by which rule.

Within a block (a paragraph, an item, a cell) quotes and citations stand in a row; each citation
goes to the quote before it, to the one after it, or to none, so that the whole row reads best
(a Viterbi pass). What is ambiguous alone is settled by the shape of its siblings: the other items
of the list, the other lines, the other blocks. What a block leaves open is looked up around it
(``around.py``): the other cells of its row, the lines above and below.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import TypeAlias

from ancrage.citations.answer import TIGHT
from ancrage.citations.around import look_around
from ancrage.citations.model import Citation
from ancrage.citations.pairing import GLOSS, NONE, Candidate, Choice, Group, Pairing
from ancrage.citations.placing import Placing
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
"""What it counts for that the siblings and the row itself agree on a side."""
Scope = tuple[str, int]
Path: TypeAlias = "tuple[()] | tuple[Path, int, Choice]"
"""The choices of a row so far, the last one outermost, each with the index of its citations."""


def attribute(
    surface: str,
    blocks: Sequence[Block],
    quotes: Sequence[Candidate],
    citations: Sequence[Citation],
) -> None:
    """Give each citation to its quotes, with the rule.

    Quotes that are mentions, and citations that cite questions alone, take no part.
    """
    placing = Placing(surface, blocks, quotes, citations)
    rows = {
        index: _groups(placing, index)
        for index in sorted({*placing.quotes, *placing.citations})
        if index >= 0
    }
    pairing = Pairing(surface, placing.gaps)
    votes: dict[Scope, float] | None = None
    for index, groups in rows.items():
        if len(groups) < 2 or not any(group.quotes for group in groups):
            continue
        if len(groups) == 2:
            _settle_two(placing, pairing, groups)
        elif any(group.citations for group in groups):
            votes = _votes(blocks, rows) if votes is None else votes
            lean = _BONUS * (votes[_scope(blocks[index])] + _side(groups)) / 2
            _settle_row(placing, pairing, groups, lean)
    look_around(placing)


def _groups(placing: Placing, index: int) -> list[Group]:
    """The quotes and citations of a block in order, joined where they belong together."""
    gaps = placing.gaps
    in_cell = placing.blocks[index].kind == "cell"
    events: list[Candidate | Citation] = [
        *placing.quotes.get(index, ()),
        *placing.citations.get(index, ()),
    ]
    events.sort(key=lambda event: event.start)
    groups: list[Group] = []
    for event in events:
        last = groups[-1] if groups else None
        if isinstance(event, Candidate):
            joins = last and last.quotes and not event.citations and not last.quotes[-1].citations
            if last and joins and _joined(gaps[last.end : event.start], in_cell):
                last.quotes.append(event)
            else:
                groups.append(Group([event], []))
        elif last and last.citations and _listed(gaps[last.end : event.start]):
            last.citations.append(event)
        else:
            groups.append(Group([], [event]))
    return groups


def _joined(gap: str, in_cell: bool) -> bool:
    """Whether what stands between two quotes joins them."""
    if len(gap) > 60 or (in_cell and not gap.strip(BLANK + "/;,")):
        return False
    return bool(_SHARED.fullmatch(gap) or GLOSS.fullmatch(gap))


def _listed(gap: str) -> bool:
    """Whether what stands between two citations makes one list of them."""
    if len(gap) > 40 or ("\n" in gap.strip(" \t") and gap.strip()):
        return False
    return not gap.strip(TIGHT) or _LISTED.fullmatch(gap) is not None


def _side(groups: Sequence[Group]) -> float:
    """1 for a row that ends with a citation, -1 for one that begins with one, 0 for neither."""
    first, last = groups[0], groups[-1]
    if first.citations and last.quotes:
        return -1.0
    return 1.0 if first.quotes and last.citations else 0.0


def _scope(block: Block) -> Scope:
    """What the siblings of a block share."""
    if block.lists:
        return "list", block.lists[-1]
    return ("column", block.column) if block.kind == "cell" else ("text", 0)


def _votes(blocks: Sequence[Block], rows: dict[int, list[Group]]) -> dict[Scope, float]:
    """For each set of siblings the mean of their sides: above 0 where citations follow their
    quotes, below 0 where they lead to them."""
    counts: dict[Scope, Counter[float]] = defaultdict(Counter)
    for index, groups in rows.items():
        if side := _side(groups):
            counts[_scope(blocks[index])][side] += 1
    votes: dict[Scope, float] = defaultdict(float)
    for scope, count in counts.items():
        votes[scope] = (count[1.0] - count[-1.0]) / count.total()
    return votes


def _settle_two(placing: Placing, pairing: Pairing, groups: Sequence[Group]) -> None:
    """A row of one quote and one citation: no side has a rival, so nobody need vote."""
    first, second = groups
    if first.quotes and second.citations:
        choice = pairing.after(first, second, 0.0)
        own, quotes = second.citations, first.quotes
    elif first.citations and second.quotes:
        choice = pairing.before(first, second, 0.0)
        own, quotes = first.citations, second.quotes
    else:
        return
    if choice:
        _share(placing, quotes, own, choice.rule)


def _settle_row(placing: Placing, pairing: Pairing, groups: Sequence[Group], lean: float) -> None:
    """Choose for each citation of a row: the quote before it, the one after it, or none."""
    # best[taken]: score and choices so far, where the quote before is taken by a citation
    # that leads to it (True) or not (False).
    best: dict[bool, tuple[float, Path]] = {False: (0.0, ())}
    for index, group in enumerate(groups):
        if not group.citations:
            continue
        before = groups[index - 1] if index and groups[index - 1].quotes else None
        following = groups[index + 1] if index + 1 < len(groups) else None
        after = following if following and following.quotes else None
        options = [
            NONE,
            pairing.after(before, group, lean),
            pairing.before(group, after, -lean),
            pairing.split(before, group, after),
        ]
        reached: dict[bool, tuple[float, Path]] = {}
        for taken, (score, path) in best.items():
            for option in options:
                if option is None or (taken and option.where in ("after", "split")):
                    continue
                leads = option.where in ("before", "split")
                total = score + option.score
                if leads not in reached or total > reached[leads][0]:
                    reached[leads] = total, (path, index, option)
        best = reached
    _, path = max(best.values(), key=lambda found: found[0])
    while path:
        path, index, choice = path
        own = groups[index].citations
        if choice.where == "after":
            _share(placing, groups[index - 1].quotes, own, choice.rule)
        elif choice.where == "before":
            _share(placing, groups[index + 1].quotes, own, choice.rule)
        elif choice.where == "split":
            _share(placing, groups[index - 1].quotes, own[:-1], "right after")
            _share(placing, groups[index + 1].quotes, own[-1:], choice.rule)


def _share(placing: Placing, quotes: list[Candidate], own: Sequence[Citation], rule: str) -> None:
    """To quotes joined by a comma or “and”: each its own where there are as many, else all."""
    if 1 < len(quotes) == len(own) and all(citation.messages for citation in own):
        for quote, citation in zip(quotes, own, strict=True):
            placing.give([quote], [citation], "in order")
    else:
        placing.give(quotes, own, rule)
