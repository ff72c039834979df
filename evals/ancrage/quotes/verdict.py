"""What is said of a quote."""

from typing import Literal, NamedTuple

from ancrage.quotes.diagnose import Edit
from ancrage.quotes.verify import Match, QuoteTier

Diagnosis = Literal["translated", "altered", "elsewhere", "absent"]

HOLDERS = 20
"""Messages named, at most, for a quote that stands elsewhere."""


class QuoteVerdict(NamedTuple):
    """How a quote stands to the messages cited for it."""

    tier: QuoteTier
    passed: bool
    source_id: str | None
    """The message that the verdict is about: the one that has the words, or is closest."""
    source_start: int | None
    source_end: int | None
    """The passage of that message, in code points of its original text."""
    explanation: str
    """One sentence for an analyst."""
    diagnosis: Diagnosis | None = None
    difference: tuple[Edit, ...] = ()
    """For an altered quote: (operation, the quote's words, the message's words)."""
    warnings: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    """For a quote found elsewhere: the messages that have it, at most ``HOLDERS``."""


PASSED = {
    QuoteTier.EXACT: "The quote is verbatim.",
    QuoteTier.TYPOGRAPHIC: (
        "The quote is verbatim up to typography (spaces, quotation marks, dashes)."
    ),
    QuoteTier.EDGES: "The quote is verbatim up to its first capital or its final punctuation.",
    QuoteTier.ELIDED: "The quote is verbatim, with its cuts marked.",
}


def absent(explanation: str) -> QuoteVerdict:
    return QuoteVerdict(QuoteTier.ABSENT, False, None, None, None, explanation, "absent")


def found_elsewhere(holders: list[tuple[str, Match]], cited: bool) -> QuoteVerdict | None:
    if not holders:
        return None
    source_id, match = holders[0]
    others = len(holders) - 1
    more = f" and {others}{'+' if len(holders) == HOLDERS else ''} more" if others else ""
    explanation = (
        f"The words are verbatim in {source_id}{more}, not in what is cited."
        if cited
        else f"The words are verbatim in {source_id}{more}; no such message is cited."
    )
    return QuoteVerdict(
        QuoteTier.ELSEWHERE,
        False,
        source_id,
        match.start,
        match.end,
        explanation,
        "elsewhere",
        warnings=match.warnings,
        holders=tuple(i for i, _ in holders),
    )
