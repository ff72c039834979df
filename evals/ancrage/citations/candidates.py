"""What quotes in an answer: by marks, by elements, by blocks, by marks that nothing closes."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ancrage.citations.answer import AnswerText, line_spans
from ancrage.citations.elements import Element
from ancrage.citations.model import Citation
from ancrage.citations.pairing import Candidate
from ancrage.quotes.block import Block
from ancrage.quotes.extract import Quote, quotes_in, trimmed
from ancrage.quotes.surface import PAD

ATTRIBUTION = re.compile(r"[*_\u2060]{0,6}(?:[—–]|--|-(?=[ \t*_]{0,4}[\[【(]))")
"""How a line begins that says whose the words above are."""
_VERBATIM_COLUMN = re.compile(
    r"\b(?:verbatims?|quotes?|quotations?|citations?|extraits?|excerpts?|own words|propos"
    r"|paroles?|mots exacts|wording)\b",
    re.IGNORECASE,
)
_OPENING = '«“„‟「『‹"‘'
_LONGEST_UNCLOSED = 2_000


def candidates(answer: AnswerText) -> tuple[list[Candidate], list[int]]:
    """The quotes of an answer in order, those that hold their own citations with them, and the
    offsets of marks without a partner."""
    pairs = quotes_in(answer.surface, answer.blocks)
    marked, unpaired = list(pairs.quotes), list(pairs.unpaired)
    if answer.json:
        marked = [quote for quote in marked if not answer.in_json(quote.start, quote.family)]
        unpaired = [at for at in unpaired if not answer.in_json(at)]
    found = [
        _candidate(answer, quote.start, quote.end, (quote.inner_start, quote.inner_end),
                   quote.family)
        for quote in _outermost(answer, marked)
    ]  # fmt: skip
    if answer.elements:
        found = _with_elements(answer, found)
    found = _with_blocks(answer, found)
    if unpaired:
        unclosed = _unclosed(answer, unpaired, found)
        read = {quote.start for quote in unclosed}
        unpaired = [at for at in unpaired if at not in read]
        found += unclosed
    found.sort(key=lambda quote: quote.start)
    for quote in found:
        if not quote.citations and quote.family not in (">", "—", "|"):
            _take_inner(answer, quote)
    return found, unpaired


def _candidate(
    answer: AnswerText,
    start: int,
    end: int,
    inner: tuple[int, int],
    family: str,
    own: Citation | None = None,
) -> Candidate:
    words = len(answer.surface[inner[0] : inner[1]].split())
    made = Candidate(start, end, *inner, family, answer.block_at(inner[0]), words=words)
    if own:
        made.citations, made.rule = (own,), "element around it"
    return made


def _outermost(answer: AnswerText, quotes: Sequence[Quote]) -> list[Quote]:
    """The quotes to consider: nested ones only where they carry a bracket of their own."""
    kept: list[Quote] = []
    for quote in quotes:
        last = kept[-1] if kept else None
        if last is None or quote.end > last.end:
            kept.append(quote)
        elif (quote.start, quote.end) == (last.inner_start, last.inner_end):
            kept[-1] = last._replace(inner_start=quote.inner_start, inner_end=quote.inner_end)
        elif answer.citation_after(quote.end, last.inner_end):
            whole = answer.citation_ending(last.inner_start, last.inner_end)
            if last.start < quote.start and not whole:
                kept[-1] = quote
            else:
                kept.append(quote)
    return kept


def _with_elements(answer: AnswerText, found: Sequence[Candidate]) -> list[Candidate]:
    """Elements that hold words, ``<cite id=…>…</cite>``, ``<q>…</q>``, but for their marks."""
    result = list(found)
    known = [quote.start for quote in found]
    for element in answer.elements:
        start, end = trimmed(answer.surface, element.inner_start, element.inner_end)
        if start >= end or not (element.citation or element.quotes):
            continue
        first, last = bisect_left(known, start), bisect_left(known, end)
        own = (element.citation,) if element.citation else ()
        marked = [quote for quote in found[first:last] if quote.end <= end]
        around = [quote for quote in found[max(0, first - 1) : first] if quote.end > end]
        if not marked and around and around[0].inner_start <= element.start:
            marked = around
        if marked:
            for quote in marked if own else ():
                quote.citations, quote.rule = own, "element around it"
        elif not around and element.quotes and not _holds_blocks(answer, element):
            result.append(
                _candidate(answer, element.start, element.end, (start, end), "<", element.citation)
            )
    return sorted(result, key=lambda quote: quote.start)


def _holds_blocks(answer: AnswerText, element: Element) -> bool:
    """Whether an element holds several blocks; their quotes are read one by one."""
    first, last = element.inner_start, max(0, element.inner_end - 1)
    return answer.block_at(first) < answer.block_at(last) - 1


def _with_blocks(answer: AnswerText, found: Sequence[Candidate]) -> list[Candidate]:
    """With quotes that a block makes: block quotes, lines of dialogue, cells for verbatims."""
    dialogue = "—" in answer.surface
    plain = ("paragraph", "heading")
    if not dialogue and all(block.kind in plain and not block.quote for block in answer.blocks):
        return list(found)
    held: dict[int, list[Candidate]] = {}
    for quote in found:
        held.setdefault(quote.block, []).append(quote)
    result: list[Candidate] = []
    for index, block in enumerate(answer.blocks):
        own = held.pop(index, [])
        if block.kind == "code":
            continue
        if block.quote and block.kind == "paragraph":
            made = list(_block_quotes(answer, block, own))
            result += [
                quote
                for quote in own
                if not any(one.start <= quote.start and quote.end <= one.end for one in made)
            ]
            result += made
        elif own:
            result += own
        elif block.kind == "cell" and _VERBATIM_COLUMN.search(block.header):
            inner = trimmed(
                answer.surface, block.start, answer.before_citations(block.start, block.end)
            )
            made = [_candidate(answer, *inner, inner, "|")]
            result += [quote for quote in made if quote.words > 1]
        elif dialogue:
            result += _dialogue(answer, block)
    return [*(quote for quotes in held.values() for quote in quotes), *result]


def _block_quotes(
    answer: AnswerText, block: Block, own: Sequence[Candidate]
) -> Iterator[Candidate]:
    """The unmarked words of a block quote, up to the bracket that ends a line or to a line
    that says who speaks."""
    surface = answer.surface
    marked = sum(quote.end - quote.start for quote in own)
    first, last = bisect_left(answer.starts, block.start), bisect_left(answer.starts, block.end)
    cited = sum(citation.end - citation.start for citation in answer.found[first:last])
    opens = surface[block.start : block.start + 4].strip("*_ " + PAD)[:1] in _OPENING
    if own and (opens or marked >= 0.5 * (block.end - block.start - cited)):
        return
    if answer.text.startswith("[!", block.start):
        return

    def run_of(lines: list[tuple[int, int]]) -> Iterator[Candidate]:
        if lines:
            start, end = lines[0][0], lines[-1][1]
            inner = trimmed(surface, start, end)
            if inner[0] < inner[1]:
                yield _candidate(answer, start, end, inner, ">")

    run: list[tuple[int, int]] = []
    for start, end in line_spans(surface, block):
        words = surface[start:end].strip()
        stop = answer.before_citations(start, end)
        named = ATTRIBUTION.match(words) and (
            not ATTRIBUTION.match(surface[run[0][0] : end])
            if run
            else block is not _first_of(answer, block)
        )
        if not words or named or stop <= start:
            yield from run_of(run)
            run = []
            continue
        run.append((start, stop))
        if stop < end:
            yield from run_of(run)
            run = []
    yield from run_of(run)


def _first_of(answer: AnswerText, block: Block) -> Block:
    """The first block of the block quote that a block lies in."""
    index = answer.block_at(block.start)
    while index and answer.blocks[index - 1].quote == block.quote:
        index -= 1
    return answer.blocks[index]


def _dialogue(answer: AnswerText, block: Block) -> Iterator[Candidate]:
    """Lines that begin with a dash and end with a citation of a message."""
    for start, end in line_spans(answer.surface, block):
        if not answer.surface.startswith("—", start):
            continue
        stop = answer.before_citations(start, end)
        if stop < end:
            inner = trimmed(answer.surface, start + 1, stop)
            made = _candidate(answer, start, stop, inner, "—")
            if made.words > 1:
                yield made


def _unclosed(
    answer: AnswerText, unpaired: Sequence[int], found: Sequence[Candidate]
) -> list[Candidate]:
    """Marks without a partner whose words end at a citation: ``« on attend [R-1, M-1]``."""
    surface = answer.surface
    starts = sorted(quote.start for quote in found)
    ends = {quote.start: quote.end for quote in found}
    made: list[Candidate] = []
    for at in unpaired:
        index = answer.block_at(at)
        cite = bisect_left(answer.starts, at)
        if surface[at] not in _OPENING or index < 0 or cite == len(answer.found):
            continue
        stop = answer.starts[cite]
        before = bisect_left(starts, at)
        enclosed = before and ends[starts[before - 1]] > at
        crossed = before < len(starts) and starts[before] < stop
        far = stop > answer.blocks[index].end or stop - at > _LONGEST_UNCLOSED
        if enclosed or crossed or far or (made and made[-1].end > at):
            continue
        while stop > at + 1 and surface[stop - 1] in " \t\n([*_" + PAD:
            stop -= 1
        quote = _candidate(answer, at, stop, trimmed(surface, at + 1, stop), surface[at])
        if quote.words > 1:
            made.append(quote)
    return made


def _take_inner(answer: AnswerText, quote: Candidate) -> None:
    """A bracket that ends the words within the marks is theirs."""
    own: list[Citation] = []
    while last := answer.citation_ending(quote.inner_start, quote.inner_end):
        own.insert(0, last)
        stop = last.start
        while stop > quote.inner_start and answer.surface[stop - 1] in " \t\n(—–" + PAD:
            stop -= 1
        quote.inner_end = stop
    if own:
        quote.citations, quote.rule = tuple(own), "within its marks"
