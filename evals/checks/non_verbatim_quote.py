"""Quotes that do not stand, word for word, in the message they cite."""

from collections.abc import Iterator

from evals.checks.base import check, finding
from evals.checks.shared import source_of
from evals.domain import Finding, Passage
from evals.evaluator import Subject


@check(
    title="Non-verbatim quote",
    definition="A quoted passage does not stand word for word in the message that it cites: "
    "translated, altered, taken from another message, or written by nobody.",
)
def non_verbatim_quote(subject: Subject) -> Iterator[Finding]:
    """One finding for each quote that fails; it passes if it stands in one message it cites.

    A quote all of whose message ids are unknown cannot be verified: the defect is the ids'.
    """
    source = source_of(subject)
    for quote in subject.citations.quotes:
        cited = [
            message.id
            for citation in quote.citations
            for token in citation.messages
            if (message := source.message(token.text))
        ]
        if not cited:
            continue
        verdict = source.quotes.verify(quote.text, cited)
        if verdict.passed:
            continue
        passage = None
        held = source.message(verdict.source_id) if verdict.source_id else None
        if held and verdict.source_start is not None and verdict.source_end is not None:
            passage = Passage.of(held.text, verdict.source_start, verdict.source_end)
        yield finding(
            "non_verbatim_quote",
            subject,
            quote.inner_start,
            quote.inner_end,
            verdict.explanation,
            source_id=verdict.source_id or cited[0],
            source_passage=passage,
            tier=verdict.tier,
            diagnosis=verdict.diagnosis,
            cited=", ".join(cited),
        )
