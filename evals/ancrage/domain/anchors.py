"""How an answer was read: what it cites and quotes, and what became of each quote."""

from pydantic import Field

from ancrage.domain.base import Frozen
from ancrage.domain.finding import Passage


class QuoteRecord(Frozen):
    """One quote of an answer, and what it was held against."""

    evidence: Passage
    """The quoted words, in the answer."""
    cited: tuple[str, ...] = ()
    """Ids of the messages given to it, those that exist."""
    rule: str | None = None
    """The rule by which the citation was given to the quote; None when it has none."""
    tier: str | None = None
    """The verification tier, such as ``T5``; None when it was held against nothing."""
    diagnosis: str | None = None
    """Why it fails: ``translated``, ``altered``, ``elsewhere``, ``absent``, ``distorted``."""
    source_id: str | None = None
    """The message that it was found in, or comes nearest to."""
    source_passage: Passage | None = None
    language: str | None = None
    source_language: str | None = None


class Anchors(Frozen):
    """What anchors an answer: how much was looked at, whether or not it was right."""

    citations: int = Field(default=0, ge=0)
    references: int = Field(default=0, ge=0)
    """References to questions."""
    messages: int = Field(default=0, ge=0)
    """References to messages."""
    quotes: tuple[QuoteRecord, ...] = ()
    unrecognised: dict[str, int] = {}
    """Marks that look like citations or quotes and were not read as such, by shape."""

    @property
    def held(self) -> int:
        """Quotes that were held against a message."""
        return sum(quote.tier is not None for quote in self.quotes)
