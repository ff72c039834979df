"""Brackets that mean to cite and cannot be read."""

from collections.abc import Iterator

from ancrage.checks.base import check, finding
from ancrage.domain import Finding
from ancrage.evaluator import Subject


@check(
    title="Malformed citation",
    definition="A bracket means to cite and cannot be read: empty, unclosed, an id in pieces, "
    "a quote given to a respondent without its message.",
)
def malformed_citation(subject: Subject) -> Iterator[Finding]:
    """One finding for each citation at fault; the ids that can be read are still looked up."""
    for citation in subject.citations.citations:
        if citation.fault:
            yield finding(
                "malformed_citation",
                subject,
                citation.start,
                citation.end,
                f"This citation cannot be read: {citation.fault}.",
            )
    told: set[int] = set()
    for quote in subject.citations.quotes:
        if not quote.citations or any(cited.fault or cited.messages for cited in quote.citations):
            continue
        respondents = [pair for cited in quote.citations for pair in cited.pairs if pair.respondent]
        first = quote.citations[0]
        if respondents and first.start not in told:
            told.add(first.start)
            yield finding(
                "malformed_citation",
                subject,
                first.start,
                first.end,
                "The quote is given to a respondent without the message that it comes from.",
            )
