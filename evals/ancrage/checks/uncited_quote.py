"""Passages presented as a respondent's words, with no id to look them up."""

import re
from collections.abc import Iterator

from ancrage.checks.base import check, finding
from ancrage.checks.shared import source_of
from ancrage.citations import QuotedPassage
from ancrage.domain import Finding
from ancrage.evaluator import Subject
from ancrage.quotes import find_passage
from ancrage.studies import IndexedStudy

_LONG = 5
"""Words from which a quoted passage passes for somebody's words, not for a term."""
_CONTEXT = 90

_SPEAKER = (
    r"(?:répondant|répondante|participant|participante|client|cliente|utilisat(?:eur|rice)"
    r"|voyageu(?:r|se)|salarié|salariée|collaborat(?:eur|rice)|collègue|usager|usagère|personne"
    r"|respondent|participant|customer|user|passenger|employee|traveller|person|people|one)s?"
)
_VERB = (
    r"(?:di(?:t|sent|sait)|écri(?:t|vent|vait)|expli(?:que|quent)|résum(?:e|ent)|raconte(?:nt)?"
    r"|confie(?:nt)?|témoigne(?:nt)?|affirme(?:nt)?|déclare(?:nt)?|souligne(?:nt)?|ajoute(?:nt)?"
    r"|précise(?:nt)?|regrette(?:nt)?|déplore(?:nt)?|note(?:nt)?|indique(?:nt)?"
    r"|says?|said|writes?|wrote|explains?|puts? it|sums? (?:it )?up|tells? us|told us|adds?"
    r"|complains?|notes?|states?|reports?|admits?|asks?|comments?)"
)
_SPOKEN = re.compile(rf"\b{_VERB}\b|\bselon\b|\baccording to\b|\bin the words of\b", re.IGNORECASE)
_SPEAKS = re.compile(rf"\b{_SPEAKER}\b", re.IGNORECASE)


@check(
    title="Uncited quote",
    definition="A passage in quotation marks is presented as a respondent's words "
    "and carries no message id.",
)
def uncited_quote(subject: Subject) -> Iterator[Finding]:
    """One finding for each such passage; a reference to a question alone is no citation of it.

    A passage counts when it is long enough to be somebody's words or is introduced as such,
    unless it repeats the questionnaire or the conversation. A scare quote, a title or a theme
    does not; a Markdown block quote does only if a respondent wrote it.
    """
    source = source_of(subject)
    for quote in subject.citations.quotes:
        cited = any(each.pairs or each.fault for each in quote.citations)
        if cited or not _claims(subject.text, quote) or _known(subject, source, quote):
            continue
        verdict = source.quotes.verify(quote.text, ())
        held = verdict.source_id if verdict.diagnosis == "elsewhere" else None
        if quote.family == ">" and not held:
            continue
        where = f" The words stand in message {held}." if held else ""
        yield finding(
            "uncited_quote",
            subject,
            quote.inner_start,
            quote.inner_end,
            f"Presented as a respondent's words, with no id.{where}",
            source_id=held,
        )


def _claims(text: str, quote: QuotedPassage) -> bool:
    words = len(quote.text.split())
    if words >= _LONG:
        return True
    before = re.split(r"[.!?…]\s|\n", text[max(0, quote.start - _CONTEXT) : quote.start])[-1]
    after = re.split(r"[.!?…]\s|\n", text[quote.end : quote.end + _CONTEXT])[0]
    introduced = _SPOKEN.search(before) or _SPOKEN.search(after[:40])
    return words > 1 and bool(introduced and _SPEAKS.search(before + " " + after))


def _known(subject: Subject, source: IndexedStudy, quote: QuotedPassage) -> bool:
    """Whether the passage repeats a question, the study's title or the conversation."""
    given = subject.case.input
    texts = (
        source.study.title,
        *(question.text for question in source.study.questions),
        given.question,
        *(turn.content for turn in given.history if turn.role != "tool"),
    )
    return any(find_passage(quote.text, text) for text in texts)
