"""Take an answer apart at the quotes that cite one message each."""

from collections import Counter
from collections.abc import Mapping

from ancrage.citations import QuotedPassage
from ancrage.domain import Case, Output, Study
from ancrage.ids import IdPolicy
from ancrage.prove.model import Draft, Unit, UnitPlace
from ancrage.quotes.language import detect
from ancrage.studies import IndexedStudy, Studies


def read_draft(studies: Studies, case: Case, output: Output) -> Draft:
    """The draft of an answer.

    A unit is a quote in marks of one line with one bracket of its own that cites one message, as
    its respondent's; without a study there is none.
    """
    subject = studies.subject(case, output)
    source = subject.source or IndexedStudy(Study(id=case.study_id or "none"), IdPolicy())
    quotes = subject.citations.quotes
    users = Counter((own.start, own.end) for quote in quotes for own in quote.citations)
    units, places = [], []
    for quote in quotes:
        owner = _owner(subject.text, quote, users)
        if owner is None or "\n" in quote.text:
            continue
        citation, message_id = owner
        message = source.message(message_id)
        opening, found, closing = subject.text[quote.start : quote.end].partition(quote.text)
        if message is None or not found or not opening.strip():
            continue
        units.append(
            Unit(quote.text, message.id, message.respondent_id, citation[2], (opening, closing))
        )
        places.append(UnitPlace((quote.start, quote.end), citation[:2]))
    language = detect(subject.text, ("fr", "en")) or source.study.language or "en"
    return Draft(case, source, subject.text, tuple(units), tuple(places), language)


def _owner(
    text: str, quote: QuotedPassage, users: Mapping[tuple[int, int], int]
) -> tuple[tuple[int, int, str], str] | None:
    """The bracket that belongs to ``quote`` alone, and the message it cites.

    ``users`` counts the quotes that each bracket belongs to.
    """
    if len(quote.citations) != 1:
        return None
    (citation,) = quote.citations
    if users[citation.start, citation.end] != 1 or len(citation.messages) != 1:
        return None
    if text[citation.start : citation.end] != citation.text:
        return None
    return (citation.start, citation.end, citation.text), citation.messages[0].text
