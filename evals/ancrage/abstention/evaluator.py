"""Abstention and support as evaluators, for cases that say whether they can be answered.

``abstention`` reads ``must_abstain`` in the metadata of a case, ``support`` also ``expected`` and
``support``; a file of questions (source type ``qa``) gives all three.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from ancrage.abstention.detect import detect
from ancrage.abstention.support import Cause, judge
from ancrage.abstention.verifier import JudgeVerifier, NLIVerifier, Verifier
from ancrage.config import Config
from ancrage.domain import Evaluation, FailureMode, Finding, Frozen, Passage, Score
from ancrage.evaluator import Evaluator, Subject
from ancrage.fingerprint import code_version, content_version

if TYPE_CHECKING:
    from ancrage.llm import Models

FALSE_ANSWER = FailureMode(
    name="false_answer",
    title="False answer",
    definition="An answer to a question that the sources cannot answer, where the assistant should "
    "have said so and given none.",
)
FALSE_REFUSAL = FailureMode(
    name="false_refusal",
    title="False refusal",
    definition="No answer to a question that the sources can answer.",
)
WRONG_ANSWER = FailureMode(
    name="wrong_answer",
    title="Wrong answer",
    definition="An answer that does not say what a right answer says, or says the contrary.",
)
UNSUPPORTED = FailureMode(
    name="unsupported_addition",
    title="Unsupported addition",
    definition="A statement beside the answer that the text to answer from does not hold.",
)
LEXICAL = FailureMode(
    name="lexical_mismatch",
    title="Lexical mismatch",
    definition='The word "abstention" where the case must abstain, the expected answer elsewhere, '
    "is not in the answer, upper and lower case alike.",
)


class _Known(NamedTuple):
    must_abstain: bool
    expected: str
    support: str


def _known(subject: Subject) -> _Known | None:
    given = subject.case.metadata
    must_abstain = given.get("must_abstain")
    if not isinstance(must_abstain, bool):
        return None
    expected, support = given.get("expected"), given.get("support")
    return _Known(
        must_abstain,
        expected if isinstance(expected, str) else "",
        support if isinstance(support, str) else "",
    )


_UNKNOWN = "the case has no must_abstain (true or false) in its metadata"


@dataclass(frozen=True)
class AbstentionEvaluator:
    """Whether an answer abstains where it must, and only there."""

    name: str = "abstention"
    modes: tuple[FailureMode, ...] = (FALSE_ANSWER, FALSE_REFUSAL)

    @cached_property
    def version(self) -> str:
        return code_version(detect)

    async def evaluate(self, subject: Subject) -> Evaluation:
        """1 for the fault that the answer has, 0 otherwise; unscored where the case does not say
        whether it can be answered, or the answer cannot be read either way."""
        known = _known(subject)
        if known is None:
            return _unscored(self, _UNKNOWN)
        read = detect(subject.text, subject.case.input.question)
        if read.abstained is None:
            return _unscored(self, read.reason)
        fault = None
        if read.abstained != known.must_abstain:
            fault = FALSE_REFUSAL if read.abstained else FALSE_ANSWER
        details = {"outcome": read.outcome, "kind": read.kind}
        return _scored(self, fault, read.evidence, read.reason, subject.text, details)


@dataclass(frozen=True)
class SupportEvaluator:
    """Whether an answer says what was expected and adds nothing that its text does not hold."""

    verifier: Verifier | None = None
    name: str = "support"
    modes: tuple[FailureMode, ...] = (WRONG_ANSWER, UNSUPPORTED)

    @cached_property
    def version(self) -> str:
        return content_version(code_version(judge), self.verifier and self.verifier.name)

    async def evaluate(self, subject: Subject) -> Evaluation:
        """0 on both where there is nothing to be right about: the case must abstain, or the answer
        does, which is the matter of ``abstention``. Unscored where the rules cannot tell and no
        verifier can."""
        known = _known(subject)
        if known is None:
            return _unscored(self, _UNKNOWN)
        question = subject.case.input.question
        if known.must_abstain or detect(subject.text, question).abstained:
            return _scored(self, None, None, "", subject.text)
        if not known.expected.strip():
            return _unscored(self, "the case has no expected answer in its metadata")
        found = await judge(subject.text, question, known.expected, known.support, self.verifier)
        if found.right is None:
            return _unscored(self, found.reason)
        mode = UNSUPPORTED if found.cause is Cause.ADDED else WRONG_ANSWER
        where = subject.text.find(found.evidence) if found.evidence else -1
        passage = (
            Passage.of(subject.text, where, where + len(found.evidence)) if where >= 0 else None
        )
        details = {"cause": found.cause}
        return _scored(
            self, None if found.right else mode, passage, found.reason, subject.text, details
        )


@dataclass(frozen=True)
class LexicalEvaluator:
    """The word itself: kept for comparison, it misses every paraphrase of answer and refusal. It
    suits a prompt that asks for exactly ABSTENTION."""

    name: str = "lexical"
    version: str = "1.0.0"
    modes: tuple[FailureMode, ...] = (LEXICAL,)

    async def evaluate(self, subject: Subject) -> Evaluation:
        """Scored always, where the case says what is wanted."""
        known = _known(subject)
        if known is None:
            return _unscored(self, _UNKNOWN)
        wanted = "abstention" if known.must_abstain else known.expected
        right = wanted.casefold() in subject.text.casefold()
        return _scored(
            self, None if right else LEXICAL, None, f"“{wanted}” is not in it", subject.text
        )


_Own = AbstentionEvaluator | SupportEvaluator | LexicalEvaluator


def _scored(
    evaluator: _Own,
    fault: FailureMode | None,
    evidence: Passage | None,
    reason: str,
    text: str,
    details: Mapping[str, str | None] | None = None,
) -> Evaluation:
    scores = tuple(Score(name=mode.name, value=float(mode is fault)) for mode in evaluator.modes)
    findings: Sequence[Finding] = ()
    if fault:
        passage = evidence or Passage.of(text, 0, len(text))
        kept = {name: str(value) for name, value in (details or {}).items() if value}
        findings = (
            Finding(mode=fault.name, evidence=passage, explanation=reason, details={**kept}),
        )
    return Evaluation(
        evaluator=evaluator.name,
        version=evaluator.version,
        scores=scores,
        findings=tuple(findings),
    )


def _unscored(evaluator: _Own, reason: str) -> Evaluation:
    scores = tuple(Score.unscored(mode.name, reason) for mode in evaluator.modes)
    return Evaluation(evaluator=evaluator.name, version=evaluator.version, scores=scores)


class AbstentionSettings(Frozen):
    """The table ``[abstention]``."""

    verifier: str = "none"
    """Who settles what the rules of ``support`` leave open: none, nli, or a model tier."""


def question_evaluator(
    name: str,
    config: Config,
    models: "Models | None" = None,
) -> Evaluator:
    """``abstention``, ``lexical``, or ``support`` with the verifier of ``[abstention]``.

    Raises:
        UsageError: the model or the tier cannot be used.
    """
    if name != "support":
        return AbstentionEvaluator() if name == "abstention" else LexicalEvaluator()
    verifier = config.table("abstention", AbstentionSettings).verifier
    if verifier == "none":
        return SupportEvaluator()
    if verifier == "nli":
        from ancrage.nli import NLIModel, NLISettings

        return SupportEvaluator(NLIVerifier(NLIModel.load(config.table("nli", NLISettings))))
    from ancrage.llm import Models

    return SupportEvaluator(JudgeVerifier(models or Models(config), verifier))
