"""Whose the messages are that a quote cites without a respondent."""

import re
from collections.abc import Iterator

from ancrage.citations.answer import TIGHT, AnswerText
from ancrage.citations.model import Citation, Pair, Token
from ancrage.citations.pairing import SPEECH, Candidate

SENTENCE_END = re.compile(r"[.!?…][\"»”’)]?\s|\n")
_BEFORE = 160


def with_owner(answer: AnswerText, quote: Candidate) -> tuple[Citation, ...]:
    """The citations of a quote, with the respondent its sentence or another bracket names."""
    pairs = [pair for citation in quote.citations for pair in citation.pairs]
    if not any(pair.message and not pair.respondent for pair in pairs):
        return quote.citations
    alone = [pair.respondent for pair in pairs if pair.respondent and not pair.message]
    owner = _speaker(answer, quote) if not alone else alone[0] if len(alone) == 1 else None
    return tuple(_owned(quote.citations, owner, alone))


def _owned(
    citations: tuple[Citation, ...], owner: Token | None, alone: list[Token]
) -> Iterator[Citation]:
    """The citations with ``owner`` for messages without one, and no longer cited alone."""
    for citation in citations:
        pairs = tuple(
            Pair(owner, pair.message) if pair.message and not pair.respondent else pair
            for pair in citation.pairs
            if pair.message or not owner or pair.respondent is not owner or owner not in alone
        )
        if pairs or not citation.pairs:
            yield citation._replace(pairs=pairs)


def _speaker(answer: AnswerText, quote: Candidate) -> Token | None:
    """The one respondent that the sentence names before the quote: ``Selon R-003, « … »``."""
    block = answer.blocks[quote.block] if quote.block >= 0 else None
    start = max(block.start if block else 0, quote.start - _BEFORE)
    before = SENTENCE_END.split(answer.surface[start : quote.start])[-1]
    held = answer.ids.tokens(quote.start - len(before), quote.start)
    if len(held) != 1 or held[0].kind != "respondent":
        return None
    gap = answer.surface[held[0].end : quote.start]
    return held[0] if not gap.strip(TIGHT) or SPEECH.search(before) else None
