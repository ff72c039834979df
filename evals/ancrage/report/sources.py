"""What the report shows of the source: a message, its neighbours, and the quotes that passed."""

from dataclasses import dataclass
from functools import cached_property

from ancrage.anchors import anchors
from ancrage.citations import Grammar
from ancrage.domain import Message, OutputState, Passage
from ancrage.evaluator import Subject
from ancrage.runs import Item
from ancrage.studies import IndexedStudy, Studies

PASSING = frozenset({"T0", "T1", "T2", "T3"})


@dataclass(frozen=True)
class PassedQuote:
    """A quote of an answer that stands in a message it cites."""

    passage: Passage
    tier: str
    source_id: str
    source_passage: Passage | None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Shelf:
    """A study with each respondent's messages in order."""

    source: IndexedStudy
    grammar: Grammar | None = None
    """How the answers cite."""

    @cached_property
    def _neighbours(self) -> dict[str, tuple[Message | None, Message | None]]:
        threads: dict[str, list[Message]] = {}
        for message in self.source.study.messages:
            threads.setdefault(message.respondent_id or message.id, []).append(message)
        return {
            message.id: (before, after)
            for thread in threads.values()
            for before, message, after in zip(
                [None, *thread[:-1]], thread, [*thread[1:], None], strict=True
            )
        }

    def neighbours(self, message: Message) -> tuple[Message | None, Message | None]:
        """What the same respondent wrote just before and just after, in the study's order."""
        return self._neighbours[message.id]


class Shelves:
    """The studies behind a run's answers."""

    def __init__(self, sources: Studies) -> None:
        self._sources = sources
        self._last: Shelf | None = None

    def of(self, item: Item) -> Shelf | None:
        """The shelf of an item's study; None when it cannot be consulted."""
        source = self._sources.of(item.case)
        if source is None:
            return None
        if self._last is None or self._last.source is not source:
            self._last = Shelf(source, self._sources.grammar)
        return self._last


def passed_quotes(item: Item, shelf: Shelf | None) -> list[PassedQuote]:
    """The quotes of an answer that stand in a message they cite, in the answer's order.

    The record holds them; where it does not, the answer is read anew.
    """
    read = item.anchors
    if read is None and shelf is not None and item.output.state is OutputState.OK:
        read = anchors(Subject(item.case, item.output, shelf.source, shelf.grammar))
    return [
        PassedQuote(quote.evidence, quote.tier, quote.source_id, quote.source_passage)
        for quote in (read.quotes if read else ())
        if quote.tier in PASSING and quote.source_id is not None and quote.diagnosis is None
    ]
