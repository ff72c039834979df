"""How an answer was read: its quotes, what each was held against, and what came of it.

Computed once for an answer (``Subject.readings``) and shared by all checks, the report and the
record.
"""

import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from ancrage.citations.model import QuotedPassage
from ancrage.citations.unrecognised import unrecognised
from ancrage.domain import Anchors, Passage, QuoteRecord
from ancrage.quotes import QuoteIndex, QuoteVerdict
from ancrage.quotes.distortion import Distortion
from ancrage.quotes.verify import SourceText, find, needle_of, plain_option

if TYPE_CHECKING:
    from ancrage.evaluator import Subject
    from ancrage.studies import IndexedStudy

_SENTENCE_END = re.compile(r"[.!?…][\"»”’)]?\s|\n")
_AROUND = 200


class QuoteReading(NamedTuple):
    """A quote of an answer and what it was held against."""

    quote: QuotedPassage
    cited: tuple[str, ...] = ()
    """The messages given to it, those that exist."""
    verdict: QuoteVerdict | None = None
    """None where it was held against nothing."""
    distortion: Distortion | None = None
    """What its cut left out or changed, where its words are verbatim."""

    @property
    def diagnosis(self) -> str | None:
        """Why the quote fails, or None."""
        if self.distortion:
            return "distorted"
        return self.verdict.diagnosis if self.verdict else None


def read(subject: "Subject") -> tuple[QuoteReading, ...]:
    """Each quote of the answer, in order, held against what it cites."""
    quotes = subject.citations.quotes
    source = subject.source
    if source is None:
        return tuple(QuoteReading(quote) for quote in quotes if quote.mention is None)
    readings = (
        _read(subject, source, index) for index, quote in enumerate(quotes) if quote.mention is None
    )
    return tuple(reading for reading in readings if reading)


def _read(subject: "Subject", source: "IndexedStudy", index: int) -> QuoteReading | None:
    quotes = subject.citations.quotes
    quote, words, texts = quotes[index], quotes[index].text, source.quotes
    brackets = [
        [message.id for token in citation.messages if (message := source.message(token.text))]
        for citation in quote.citations
    ]
    cited = tuple([message_id for ids in brackets for message_id in ids])
    if not cited:
        return QuoteReading(quote)
    if quote.rule == "shared":
        brackets = [list(cited)]
    verdict = _in_every(texts, words, [ids for ids in brackets if ids])
    if verdict.passed:
        distortion = texts.distorted(words, verdict)
        if distortion:  # unless the sentence gives back what the cut left out
            around = sentence_around(subject.text, quotes, index)
            distortion = texts.distorted(words, verdict, around)
        return QuoteReading(quote, cited, verdict, distortion)
    if verdict.diagnosis != "elsewhere" and (
        loose := texts.loosely(words, cited, sentence_around(subject.text, quotes, index))
    ):
        return QuoteReading(quote, cited, *loose)
    if stands_in_questionnaire(subject, words):
        return None
    if quote.family == "—" and verdict.diagnosis in ("absent", "translated"):
        return None  # a line that begins with a dash and says what the message says
    return QuoteReading(quote, cited, verdict)


def _in_every(texts: QuoteIndex, words: str, brackets: Sequence[Sequence[str]]) -> QuoteVerdict:
    """The verdict on a quote: it stands in one of the messages of each bracket that is its own."""
    verdict = texts.verify(words, brackets[0])
    for ids in brackets[1:] if verdict.passed else ():
        other = texts.verify(words, ids)
        if not other.passed:
            return other
    return verdict


def stands_in_questionnaire(subject: "Subject", words: str) -> bool:
    """Whether ``words`` repeat a question, an option, the study's title or the conversation."""
    given = subject.case.input
    needle = needle_of(words)
    if subject.source:
        options, texts = subject.source.questionnaire
        if plain_option(words) in options or any(find(needle, text) for text in texts):
            return True
    turns = (turn.content for turn in given.history if turn.role != "tool")
    return any(find(needle, SourceText(text)) for text in (given.question, *turns) if text)


def sentence_around(text: str, quotes: Sequence[QuotedPassage], index: int) -> str:
    """The rest of the sentence, and of the line, in which the quote ``quotes[index]`` stands, up
    to the quotes beside it and without its citations."""
    quote = quotes[index]
    start = max(quote.start - _AROUND, quotes[index - 1].end if index else 0)
    end = quote.end + _AROUND
    if index + 1 < len(quotes):
        end = min(end, quotes[index + 1].start)
    before, after = text[start : quote.start], text[quote.end : end]
    for citation in quote.citations:
        if quote.end <= citation.start:
            after = after.replace(citation.text, " ")
    before = re.sub(r"\[[^\[\]]{1,80}\]", " ", _SENTENCE_END.split(before)[-1])
    return before + " " + _SENTENCE_END.split(after)[0]


def anchors(subject: "Subject") -> Anchors:
    """What anchors the answer: counts, and one record a quote."""
    found = subject.citations
    source = subject.source
    is_id = partial(_names_message, source) if source else None
    return Anchors(
        citations=len(found.citations),
        references=sum(len(citation.questions) for citation in found.citations),
        messages=sum(len(citation.messages) for citation in found.citations),
        quotes=tuple(_record(subject, source, reading) for reading in subject.readings),
        unrecognised=unrecognised(subject.text, subject.grammar, found, is_id).shapes,
    )


def _names_message(source: "IndexedStudy", written: str) -> bool:
    """Whether ``written`` is the id of a message, its letters included."""
    message = source.message(written)
    return message is not None and _letters(message.id) == _letters(written)


def _letters(message_id: str) -> str:
    return re.split(r"[\W\d_]", message_id, maxsplit=1)[0].casefold()


def _record(
    subject: "Subject", source: "IndexedStudy | None", reading: QuoteReading
) -> QuoteRecord:
    quote, verdict = reading.quote, reading.verdict
    passage = None
    if reading.distortion and source and verdict and verdict.source_id:
        held = source.message(verdict.source_id)
        if held:
            span = reading.distortion
            passage = Passage.of(held.text, span.start, span.end)
    elif verdict and source:
        passage = source.passage(verdict)
    language = source_language = None
    if verdict and verdict.diagnosis and source and verdict.source_id:
        from ancrage.quotes.language import detect

        held = source.message(verdict.source_id)
        language = detect(quote.text)
        source_language = (held.language or detect(held.text)) if held else None
    return QuoteRecord(
        evidence=Passage.of(subject.text, quote.inner_start, quote.inner_end),
        cited=reading.cited,
        rule=quote.rule,
        tier=str(verdict.tier) if verdict else None,
        diagnosis=reading.diagnosis,
        source_id=verdict.source_id if verdict else None,
        source_passage=passage,
        language=language,
        source_language=source_language,
    )
