"""Citations of messages that the study does not have."""

from collections.abc import Iterator

from ancrage.checks.base import check, finding
from ancrage.checks.shared import absent, source_of
from ancrage.domain import Finding
from ancrage.evaluator import Subject


@check(
    title="Unknown message id",
    definition="The answer cites a message id that is not in the study.",
)
def unknown_message_id(subject: Subject) -> Iterator[Finding]:
    """One finding for each message id that leads nowhere."""
    source = source_of(subject)
    for citation in subject.citations.citations:
        for token in citation.messages:
            if source.message(token.text) is None:
                yield finding(
                    "unknown_message_id",
                    subject,
                    token.start,
                    token.end,
                    absent(source, "messages", f"message {token.text}"),
                )
