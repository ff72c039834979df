"""Quotes that do not stand, word for word, in the message they cite."""

from collections.abc import Iterator

from ancrage.checks.base import check, finding
from ancrage.checks.shared import absent, source_of
from ancrage.domain import Finding
from ancrage.evaluator import Subject


@check(
    title="Non-verbatim quote",
    definition="A quoted passage does not stand word for word in the message that it cites: "
    "translated, altered, taken from another message, or written by nobody.",
)
def non_verbatim_quote(subject: Subject) -> Iterator[Finding]:
    """One finding for each quote that fails; it passes if it stands in a message of each bracket.

    A quote all of whose message ids are unknown cannot be verified: the defect is the ids'.
    """
    source = source_of(subject)
    for reading in subject.readings:
        quote, verdict = reading.quote, reading.verdict
        if not reading.cited:
            for citation in quote.citations:
                for token in citation.messages:
                    absent(source, "messages", f"message {token.text}")
        if verdict is None or verdict.passed:
            continue
        yield finding(
            "non_verbatim_quote",
            subject,
            quote.inner_start,
            quote.inner_end,
            verdict.explanation,
            source_id=verdict.source_id or reading.cited[0],
            source_passage=source.passage(verdict),
            tier=verdict.tier,
            diagnosis=verdict.diagnosis,
            cited=", ".join(reading.cited),
            rule=quote.rule,
        )
