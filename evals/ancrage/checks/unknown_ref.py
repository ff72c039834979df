"""References to questions, documents and other parts that the study does not have."""

from collections.abc import Iterator

from ancrage.checks.base import check, finding
from ancrage.checks.shared import absent, source_of
from ancrage.citations import Grammar, Token
from ancrage.domain import Finding
from ancrage.evaluator import Subject


@check(
    title="Unknown reference",
    definition="The answer refers to a question that is not in the study's questionnaire, or to a "
    "document, a page or another thing of the configuration that is not known.",
)
def unknown_ref(subject: Subject) -> Iterator[Finding]:
    """One finding for each reference that leads nowhere.

    Kinds of the configuration with neither ``known`` ids nor a ``lookup`` are looked up nowhere.
    """
    source = source_of(subject)
    for citation in subject.citations.citations:
        for token in citation.questions:
            if source.question(token.text) is None:
                yield _unknown(
                    subject, token, absent(source, "questions", f"question {token.text}")
                )
        for token in citation.others:
            if subject.grammar and not _exists(subject, subject.grammar, token):
                yield _unknown(subject, token, f"There is no {token.kind} {token.text}.")


def _exists(subject: Subject, grammar: Grammar, token: Token) -> bool:
    kind = grammar.config.kinds[token.kind]
    if kind.known and token.text.casefold() in {known.casefold() for known in kind.known}:
        return True
    if lookup := grammar.lookups.get(token.kind):
        return bool(lookup(token.text, subject.source and subject.source.study))
    return not kind.known


def _unknown(subject: Subject, token: Token, explanation: str) -> Finding:
    return finding("unknown_ref", subject, token.start, token.end, explanation)
