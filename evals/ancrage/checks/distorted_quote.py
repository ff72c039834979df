"""Verbatim quotes whose cut or bracket says something else than the message did."""

from collections.abc import Iterator

from ancrage.checks.base import check, finding
from ancrage.checks.shared import source_of
from ancrage.domain import Finding, Passage
from ancrage.evaluator import Subject


@check(
    title="Distorted quote",
    definition="The words are the respondent's, and the cut or the bracket drops or changes a "
    "negation, a hedge, a condition, a quantity, a name, another word or a question.",
)
def distorted_quote(subject: Subject) -> Iterator[Finding]:
    """One finding for each such quote; none where the sentence gives back what the cut dropped."""
    source = source_of(subject)
    for reading in subject.readings:
        verdict, found = reading.verdict, reading.distortion
        message = source.message(verdict.source_id) if verdict and verdict.source_id else None
        if found is None or verdict is None or message is None:
            continue
        yield finding(
            "distorted_quote",
            subject,
            reading.quote.inner_start,
            reading.quote.inner_end,
            found.explanation,
            source_id=message.id,
            source_passage=Passage.of(message.text, found.start, found.end),
            tier=verdict.tier,
            diagnosis="distorted",
            changes=found.kind,
            cited=", ".join(reading.cited),
            rule=reading.quote.rule,
        )
