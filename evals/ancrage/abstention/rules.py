"""The rules: the tutorial's own, by words, and the default one, by meaning."""

from dataclasses import dataclass
from typing import NamedTuple

from ancrage.abstention.cases import QACase
from ancrage.abstention.detect import DETECTOR_VERSION, detect
from ancrage.abstention.sense import SENSE_VERSION, gives_expected, statements, supported
from ancrage.abstention.verdict import Cause, Rule, Verdict
from ancrage.abstention.verifier import Verifier
from ancrage.claims import comparison_version, extractor_version
from ancrage.errors import UsageError

_REFUSES = "The answer says that it does not know, or that the text does not tell."
RULES = ("meaning", "lexical")


class _Open(NamedTuple):
    """What the rules could not tell, and what it means when it does not hold."""

    premise: str
    hypothesis: str
    why: str
    cause: Cause


def find_rule(name: str, verifier: Verifier | None = None) -> Rule:
    """The rule ``name``.

    Raises:
        UsageError: there is none, or it takes no verifier.
    """
    if name == "meaning":
        return MeaningRule(verifier)
    if name != "lexical":
        raise UsageError(f"--rule {name!r}: known rules are {', '.join(RULES)}")
    if verifier:
        raise UsageError("--rule lexical compares words only: leave out --verifier")
    return LexicalRule()


@dataclass(frozen=True)
class LexicalRule:
    """Abstaining is the word "abstention" in the answer, being faithful the expected answer in
    it, upper and lower case alike. Kept for comparison: it misses every abstention in other words
    and every paraphrase."""

    name: str = "lexical"
    version: str = "1.0.0"
    verifier_name: str | None = None

    async def judge(self, case: QACase, answer: str) -> Verdict:
        """Decides always."""
        said = answer.casefold()
        abstained = "abstention" in said
        if case.must_abstain:
            return _abstention(
                case, abstained, "the word is there" if abstained else "no such word"
            )
        if case.expected.casefold() in said:
            return Verdict(
                abstained=abstained, faithful=True, reason="the expected answer is in it"
            )
        cause = Cause.FALSE_REFUSAL if abstained else Cause.NOT_GIVEN
        return Verdict(
            abstained=abstained,
            faithful=False,
            cause=cause,
            reason="the expected answer is not in it",
        )


@dataclass(frozen=True)
class MeaningRule:
    """Abstention by meaning; faithful when the answer says what was expected and adds nothing
    that the support does not hold."""

    verifier: Verifier | None = None
    name: str = "meaning"

    @property
    def version(self) -> str:
        """Changes with any of the readers that the rule is made of."""
        return "/".join(
            (DETECTOR_VERSION, SENSE_VERSION, extractor_version(), comparison_version())
        )

    @property
    def verifier_name(self) -> str | None:
        return self.verifier.name if self.verifier else None

    async def judge(self, case: QACase, answer: str) -> Verdict:
        """Unscored where the rules cannot tell and no verifier can."""
        expected = "" if case.must_abstain else case.expected
        read = detect(answer, case.question, expected)
        evidence = read.evidence.text if read.evidence else None
        if read.abstained is None and read.content and self.verifier:
            checked = await self.verifier.check(f"{case.question}\n{answer}", _REFUSES)
            if checked.verdict is None:
                return _unscored(Cause.UNVERIFIED, checked.reason, evidence, abstained=None)
            refuses = checked.verdict == "supported"
            read = read.model_copy(update={"abstained": refuses, "reason": checked.reason})
        if read.abstained is None:
            return _unscored(Cause.UNDECIDED, read.reason, evidence, abstained=None)
        if case.must_abstain:
            return _abstention(case, read.abstained, read.reason, evidence)
        if read.abstained:
            return Verdict(
                abstained=True,
                faithful=False,
                cause=Cause.FALSE_REFUSAL,
                reason=read.reason,
                evidence=evidence,
            )
        return await self._faithful(case, answer, [passage.text for passage in read.content])

    async def _faithful(self, case: QACase, answer: str, content: list[str]) -> Verdict:
        unsettled: list[_Open] = []
        given = gives_expected("; ".join(content), case.expected, case.question)
        if given.holds is None:
            given = gives_expected(answer, case.expected, case.question)
        if given.holds is False:
            cause = Cause.CONTRADICTED if given.contradicted else Cause.NOT_GIVEN
            return _failed(cause, given.reason, answer)
        if given.holds is None:
            premise, hypothesis = (f"{case.question} {text}" for text in (answer, case.expected))
            unsettled.append(_Open(premise, hypothesis, given.reason, Cause.NOT_GIVEN))
        known = f"{case.question}\n{case.expected}"
        for claim in statements(content):
            if _merely(claim.text, case):
                continue
            found = supported(claim.statement, case.support, known, added=given.holds is True)
            if found.holds is False:
                cause = Cause.CONTRADICTED if found.contradicted else Cause.UNSUPPORTED
                return _failed(cause, found.reason, claim.text)
            if found.holds is None:
                unsettled.append(
                    _Open(case.support, claim.statement, found.reason, Cause.UNSUPPORTED)
                )
        return await self._settle(unsettled, given.reason)

    async def _settle(self, unsettled: list[_Open], reason: str) -> Verdict:
        """Ask the verifier all that the rules left open."""
        for each in unsettled:
            if self.verifier is None:
                why = f"{each.why}; a verifier could tell"
                return _unscored(Cause.UNDECIDED, why, each.hypothesis)
            checked = await self.verifier.check(each.premise, each.hypothesis)
            if checked.verdict is None:
                return _unscored(Cause.UNVERIFIED, checked.reason, each.hypothesis)
            if checked.verdict != "supported":
                contradicted = checked.verdict == "contradicted"
                cause = Cause.CONTRADICTED if contradicted else each.cause
                return _failed(cause, checked.reason, each.hypothesis)
            reason = checked.reason
        return Verdict(abstained=False, faithful=True, reason=reason)


def _merely(claim: str, case: QACase) -> bool:
    """Whether a claim is the expected answer and hardly a word more."""
    return (
        len(claim.split()) <= len(case.expected.split()) + 2
        and gives_expected(claim, case.expected, case.question).holds is True
    )


def _abstention(case: QACase, abstained: bool, reason: str, evidence: str | None = None) -> Verdict:
    return Verdict(
        abstained=abstained,
        faithful=abstained,
        cause=None if abstained else Cause.FALSE_ANSWER,
        reason=reason,
        evidence=evidence,
    )


def _failed(cause: Cause, reason: str, evidence: str) -> Verdict:
    return Verdict(abstained=False, faithful=False, cause=cause, reason=reason, evidence=evidence)


def _unscored(
    cause: Cause, reason: str, evidence: str | None, *, abstained: bool | None = False
) -> Verdict:
    return Verdict(
        abstained=abstained, faithful=None, cause=cause, reason=reason, evidence=evidence
    )
