"""What the report shows of the quotes that passed."""

from dataclasses import dataclass

from ancrage.domain import Passage
from ancrage.runs import Item

PASSING = frozenset({"T0", "T1", "T2", "T3"})


@dataclass(frozen=True)
class PassedQuote:
    """A quote of an answer that stands in a message it cites."""

    passage: Passage
    tier: str
    source_id: str
    source_passage: Passage | None
    warnings: tuple[str, ...] = ()


def passed_quotes(item: Item) -> list[PassedQuote]:
    """The quotes of an answer that stand in a message they cite, as the record holds them."""
    return [
        PassedQuote(quote.evidence, quote.tier, quote.source_id, quote.source_passage)
        for quote in (item.anchors.quotes if item.anchors else ())
        if quote.tier in PASSING and quote.source_id is not None and quote.diagnosis is None
    ]
