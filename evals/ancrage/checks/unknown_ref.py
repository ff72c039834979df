"""References to questions that the study does not have."""

from collections.abc import Iterator

from ancrage.checks.base import check, finding
from ancrage.checks.shared import absent, source_of
from ancrage.domain import Finding
from ancrage.evaluator import Subject


@check(
    title="Unknown question reference",
    definition="The answer refers to a question that is not in the study's questionnaire.",
)
def unknown_ref(subject: Subject) -> Iterator[Finding]:
    """One finding for each question reference that leads nowhere."""
    source = source_of(subject)
    for citation in subject.citations.citations:
        for token in citation.questions:
            if source.question(token.text) is None:
                yield finding(
                    "unknown_ref",
                    subject,
                    token.start,
                    token.end,
                    absent(source, "questions", f"question {token.text}"),
                )
