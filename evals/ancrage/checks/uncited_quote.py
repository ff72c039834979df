"""Passages presented as a respondent's words, with no id to look them up."""

import re
from collections.abc import Iterator, Sequence

from ancrage.anchors import stands_in_questionnaire
from ancrage.checks.base import check, finding
from ancrage.checks.shared import absent, source_of
from ancrage.citations import QuotedPassage
from ancrage.domain import Finding
from ancrage.evaluator import Subject

_LONG = 5
"""Words from which a quoted passage passes for somebody's words, not for a term."""
_HELD = 3
"""Words from which words that a message has are no coincidence."""
_NOBODY = ("question", "option", "said by nobody")
"""What words within marks can be although a message has them; a label of a sentence's length
that a message has word for word is the respondent's sentence."""
_CONTEXT = 120

_SPEAKER = (
    r"(?:répondant|répondante|participant|participante|client|cliente|utilisat(?:eur|rice)"
    r"|voyageu(?:r|se)|salarié|salariée|collaborat(?:eur|rice)|collègue|usager|usagère|personne"
    r"|respondent|participant|customer|user|passenger|employee|traveller|person|people|one"
    r"|un autre|une autre|d['’]autres|another|others|certain|certaine)s?"
)
_VERB = (
    r"(?:di(?:t|sent|sait)|écri(?:t|vent|vait)|expli(?:que|quent)|résum(?:e|ent)|raconte(?:nt)?"
    r"|confie(?:nt)?|témoigne(?:nt)?|affirme(?:nt)?|déclare(?:nt)?|souligne(?:nt)?|ajoute(?:nt)?"
    r"|précise(?:nt)?|regrette(?:nt)?|déplore(?:nt)?|note(?:nt)?|indique(?:nt)?|réclame(?:nt)?"
    r"|says|said|(?<!not )(?<!cannot )(?<!to )say|writes?|wrote|explains?|puts? it"
    r"|sums? (?:it )?up|tells? us|told us|adds?"
    r"|complains?|notes?|states?|reports?|admits?|asks?|comments?|put it)"
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

    A passage counts when a respondent wrote it, when it is introduced as one's words, or when it
    stands where the answer's other quotes stand. A title, a theme, the questionnaire's words, a
    scare quote or a proposed question does not.
    """
    source = source_of(subject)
    quotes = subject.citations.quotes
    for quote in quotes:
        if any(cited.pairs or cited.fault or cited.others for cited in quote.citations):
            continue
        count = len(quote.text.split())
        mention = quote.mention and (quote.mention in _NOBODY or count < _LONG)
        if mention or stands_in_questionnaire(subject, quote.text):
            continue
        if count >= _HELD and not source.study.messages:
            absent(source, "messages", "a message with the quoted words")
        held = source.quotes.holder(quote.text)
        if quote.mention and not held:
            continue
        if not (held and count >= _HELD):
            if quote.family == ">" or _in_heading(subject.text, quote.start):
                continue
            alike = count >= _LONG and _led_alike(subject.text, quote, quotes)
            if not (alike or _claims(subject, quote, count)):
                continue
        where = f" The words stand in message {held}." if held else ""
        if source.study.from_tools and not held:
            where = " No tool returned these words."
        yield finding(
            "uncited_quote",
            subject,
            quote.inner_start,
            quote.inner_end,
            f"Presented as a respondent's words, with no id.{where}",
            source_id=held,
        )


def _in_heading(text: str, at: int) -> bool:
    return text[text.rfind("\n", 0, at) + 1 : at].lstrip().startswith("#")


def _led_alike(text: str, quote: QuotedPassage, quotes: Sequence[QuotedPassage]) -> bool:
    """Whether a quote stands where quotes of the answer stand that cite."""
    shape = _shape(text, quote)
    return shape is not None and any(
        _shape(text, other) == shape for other in quotes if other.citations
    )


def _shape(text: str, quote: QuotedPassage) -> str | None:
    """What leads to a quote on its line, its words apart: the answer's form for quotes."""
    line = text[max(text.rfind("\n", 0, quote.start), quote.start - _CONTEXT) + 1 : quote.start]
    if line and line.strip() and not line.rstrip().endswith((":", "-", "*", "•", ".", ")")):
        return None
    return re.sub(r"\w+", "w", line[:3]) + line.rstrip()[-1:]


def _claims(subject: Subject, quote: QuotedPassage, count: int) -> bool:
    """Whether the sentence says that somebody said the words."""
    text = subject.text
    before = re.split(r"[.!?…]\s|\n", text[max(0, quote.start - _CONTEXT) : quote.start])[-1]
    after = re.split(r"[.!?…]\s|\n", text[quote.end : quote.end + _CONTEXT])[0]
    if count >= _LONG and before.rstrip(" *_\u00a0\u202f").endswith(":") and " " in before.strip():
        return True
    if count < 2 or not (_SPOKEN.search(before) or _SPOKEN.search(after[:40])):
        return False
    around = before + " " + after
    return bool(_SPEAKS.search(around)) or any(
        subject.source is not None and subject.source.respondent(word.strip("*_,.:;()[]"))
        for word in around.split()
        if any(character.isdigit() for character in word)
    )
