"""What means to cite a quote and cannot be read: empty brackets, ids without brackets."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from ancrage.citations.answer import AnswerText
from ancrage.citations.brackets import bare, bare_before
from ancrage.citations.candidates import ATTRIBUTION
from ancrage.citations.model import Citation
from ancrage.citations.pairing import Candidate
from ancrage.quotes.surface import PAD

_EMPTY = re.compile(rf"[\s*_.,{PAD}]*(\[\s*(?:[-–—?]|[RMQ]\s*,?\s*)*\])(?!\()", re.IGNORECASE)
_GAP = re.compile(rf"[ \t*_~`.,;:!?…()|—–{PAD}-]{{0,24}}")


def cite_faults(answer: AnswerText, found: Sequence[Candidate]) -> None:
    """Give quotes that are still without what stands beside them and cannot be read."""
    for index, quote in enumerate(found):
        if quote.citations or quote.mention:
            continue
        if cited := _empty(answer, quote):
            quote.citations, quote.rule = (cited,), "right after"
        elif ids := _bare(answer, found, index):
            quote.citations, quote.rule = (ids[0],), ids[1]


def _empty(answer: AnswerText, quote: Candidate) -> Citation | None:
    empty = _EMPTY.match(answer.surface, quote.end, quote.end + 40)
    if empty is None:
        return None
    start, end = empty.span(1)
    return Citation(start, end, answer.text[start:end], fault="the bracket is empty")


def _bare(
    answer: AnswerText, found: Sequence[Candidate], index: int
) -> tuple[Citation, str] | None:
    """The ids without brackets right after a quote, or before it, or on the line below."""
    quote = found[index]
    block = answer.blocks[quote.block] if quote.block >= 0 else None
    stop = found[index + 1].start if index + 1 < len(found) else len(answer.text)
    stop = min(stop, block.end) if block else stop
    gap = _GAP.match(answer.surface, quote.end, max(quote.end, stop))
    if gap and (ids := bare(answer.ids, gap.end(), stop)):
        return ids, "right after"
    if block:
        last = bisect_left(answer.starts, quote.start) - 1
        cited = answer.found[last].end if last >= 0 else 0
        start = max(block.start, found[index - 1].end if index else 0, cited)
        if ids := bare_before(answer.ids, start, quote.start):
            return ids, "leads to it"
    if quote.family == ">" and (at := answer.surface.find("\n", quote.end) + 1):
        end = answer.surface.find("\n", at)
        line = answer.surface[at : end if end >= 0 else None]
        if ATTRIBUTION.match(line.lstrip(" \t>")):
            at += len(line) - len(line.lstrip(" \t>*_—–-" + PAD))
            if ids := bare(answer.ids, at, end if end >= 0 else len(answer.text)):
                return ids, "line below"
    return None
