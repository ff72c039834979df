"""Whether an answer is right: it says what was expected, and adds only what its text holds."""

from enum import StrEnum
from typing import NamedTuple

from ancrage.abstention.detect import detect
from ancrage.abstention.expected import gives_expected
from ancrage.abstention.sense import names, statements, supported
from ancrage.abstention.verifier import Verifier
from ancrage.claims.figures import figures
from ancrage.wrapping import bare

_SHORT = 12
"""Words of a claim that may be the expected answer and nothing else."""


class Cause(StrEnum):
    """Why an answer is not right."""

    NOT_GIVEN = "expected answer not given"
    CONTRADICTED = "contradicted"
    """By the expected answer or by the support."""
    ADDED = "added statement not supported"
    UNDECIDED = "undecided"
    """The rules cannot tell, and there is no verifier to ask."""
    UNVERIFIED = "verifier failed"


class AnswerVerdict(NamedTuple):
    """``right`` is None where it cannot be told; ``cause`` is set whenever it is not true."""

    right: bool | None
    reason: str
    cause: Cause | None = None
    evidence: str = ""
    """The words that decided."""


class _Open(NamedTuple):
    """What the rules could not tell, and what it means when it does not hold."""

    premise: str
    hypothesis: str
    why: str
    cause: Cause


async def judge(
    answer: str, question: str, expected: str, support: str, verifier: Verifier | None = None
) -> AnswerVerdict:
    """Whether ``answer`` says ``expected``, and nothing that ``support`` does not hold.

    Rules first; ``verifier`` is asked what they leave open, and never overrules them. An empty
    ``support`` says nothing of what an answer adds: then only ``expected`` counts.
    """
    said = bare(answer)
    unsettled: list[_Open] = []
    given = gives_expected(said, expected, question)
    if given.holds is False:
        cause = Cause.CONTRADICTED if given.contradicted else Cause.NOT_GIVEN
        return AnswerVerdict(False, given.reason, cause, answer)
    if given.holds is None:
        premise, hypothesis = (f"{question} {text}" for text in (said, expected))
        unsettled.append(_Open(premise, hypothesis, given.reason, Cause.NOT_GIVEN))
    if support.strip():
        content = [passage.text for passage in detect(answer, question).content]
        known = f"{question}\n{expected}"
        for claim in statements(content):
            if _merely(claim.text, expected, question):
                continue
            found = supported(claim.statement, support, known, added=given.holds is True)
            if found.holds is False:
                cause = Cause.CONTRADICTED if found.contradicted else Cause.ADDED
                return AnswerVerdict(False, found.reason, cause, claim.text)
            if found.holds is None:
                unsettled.append(_Open(support, claim.statement, found.reason, Cause.ADDED))
    return await _settled(unsettled, given.reason, verifier)


async def _settled(unsettled: list[_Open], reason: str, verifier: Verifier | None) -> AnswerVerdict:
    for question in unsettled:
        if verifier is None:
            why = f"{question.why}; a verifier could tell"
            return AnswerVerdict(None, why, Cause.UNDECIDED, question.hypothesis)
        checked = await verifier.check(question.premise, question.hypothesis)
        if checked.verdict is None:
            return AnswerVerdict(None, checked.reason, Cause.UNVERIFIED, question.hypothesis)
        if checked.verdict != "supported":
            contradicted = checked.verdict == "contradicted"
            cause = Cause.CONTRADICTED if contradicted else question.cause
            return AnswerVerdict(False, checked.reason, cause, question.hypothesis)
        reason = checked.reason
    return AnswerVerdict(True, reason)


def _merely(claim: str, expected: str, question: str) -> bool:
    """Whether a claim is the expected answer and hardly more: no other figure and no other name."""
    if gives_expected(claim, expected, question).holds is not True:
        return False
    words = len(claim.split())
    more = names(claim) - names(f"{question} {expected}")
    return words <= len(expected.split()) + 2 or (
        words <= _SHORT and not more and len(figures(claim)) <= len(figures(expected))
    )
