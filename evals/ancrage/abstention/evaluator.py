"""Abstention as an evaluator of an experiment, for cases that say whether they can be answered."""

from dataclasses import dataclass

from ancrage.abstention.detect import DETECTOR_VERSION, detect
from ancrage.domain import Evaluation, FailureMode, Finding, Passage, Score
from ancrage.evaluator import Subject

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


@dataclass(frozen=True)
class AbstentionEvaluator:
    """Reads ``must_abstain`` (a boolean), and ``expected`` where there is one, in the metadata of
    the case."""

    name: str = "abstention"
    version: str = DETECTOR_VERSION
    modes: tuple[FailureMode, ...] = (FALSE_ANSWER, FALSE_REFUSAL)

    async def evaluate(self, subject: Subject) -> Evaluation:
        """1 for the fault that the answer has, 0 otherwise; unscored where the case does not say
        whether it can be answered, or the answer cannot be read either way."""
        must_abstain = subject.case.metadata.get("must_abstain")
        if not isinstance(must_abstain, bool):
            return self._unscored("the case has no must_abstain (true or false) in its metadata")
        expected = subject.case.metadata.get("expected")
        wanted = expected if isinstance(expected, str) and not must_abstain else ""
        read = detect(subject.text, subject.case.input.question, wanted)
        if read.abstained is None:
            return self._unscored(read.reason)
        fault = None
        if read.abstained != must_abstain:
            fault = FALSE_REFUSAL if read.abstained else FALSE_ANSWER
        scores = tuple(Score(name=mode.name, value=float(mode is fault)) for mode in self.modes)
        findings: tuple[Finding, ...] = ()
        if fault:
            evidence = read.evidence or Passage.of(subject.text, 0, len(subject.text))
            findings = (Finding(mode=fault.name, evidence=evidence, explanation=read.reason),)
        return Evaluation(
            evaluator=self.name, version=self.version, scores=scores, findings=findings
        )

    def _unscored(self, reason: str) -> Evaluation:
        scores = tuple(Score.unscored(mode.name, reason) for mode in self.modes)
        return Evaluation(evaluator=self.name, version=self.version, scores=scores)
