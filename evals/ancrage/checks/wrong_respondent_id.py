"""Messages cited as another respondent's, and respondents that do not exist."""

from collections.abc import Iterator

from ancrage.checks.base import Unscorable, check, finding
from ancrage.checks.shared import absent, source_of
from ancrage.domain import Finding
from ancrage.evaluator import Subject
from ancrage.studies import IndexedStudy


@check(
    title="Wrong respondent",
    definition="The answer gives a message to a respondent who did not write it, "
    "or names a respondent who is not in the study.",
)
def wrong_respondent_id(subject: Subject) -> Iterator[Finding]:
    """One finding for each respondent id that is not the author's.

    Nothing is said of a respondent cited with an unknown message, nor of one who did write the
    words, in another message: that is one defect, the message's.
    """
    source = source_of(subject)
    misplaced = set(_misplaced(subject, source))
    for citation in subject.citations.citations:
        for pair in citation.pairs:
            token = pair.respondent
            if token is None:
                continue
            known = source.respondent(token.text)
            message = source.message(pair.message.text) if pair.message else None
            if pair.message and message is None:
                continue
            if message and (message.id, known) in misplaced:
                continue
            if message and known != message.respondent_id:
                if not message.respondent_id:
                    reason = source.study.missing.get("respondents", "the study names no author")
                    raise Unscorable(f"message {message.id} has no author: {reason}")
                who = "" if known else ", and the study has no such respondent"
                explanation = (
                    f"Message {message.id} was written by {message.respondent_id}, "
                    f"not by {token.text}{who}."
                )
            elif message is None and known is None:
                explanation = absent(source, "respondents", f"respondent {token.text}")
            else:
                continue
            yield finding(
                "wrong_respondent_id",
                subject,
                token.start,
                token.end,
                explanation,
                source_id=message.id if message else None,
            )


def _misplaced(subject: Subject, source: IndexedStudy) -> Iterator[tuple[str, str | None]]:
    """The messages cited for words that their respondent wrote in another one."""
    for reading in subject.readings:
        verdict = reading.verdict
        if verdict is None or verdict.diagnosis != "elsewhere":
            continue
        writers = {
            message.respondent_id for held in verdict.holders if (message := source.message(held))
        }
        for message_id in reading.cited:
            yield from ((message_id, writer) for writer in writers)
