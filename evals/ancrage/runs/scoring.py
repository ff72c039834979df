"""Evaluate outputs: every evaluator gives one score for each of its modes, whatever happens."""

from collections.abc import Sequence

from ancrage.domain import Anchors, Evaluation, Output, OutputState, Score, Scored
from ancrage.evaluator import Evaluator, Subject
from ancrage.redact import told
from ancrage.runs.shield import CASE_SECONDS, shielded


async def evaluate(
    subject: Subject, evaluators: Sequence[Evaluator], seconds: float = CASE_SECONDS
) -> Scored:
    """All evaluations of one output; modes that could not be scored say why.

    An output that is not ``ok`` is unscored for every mode. An evaluator that raises, forgets
    a mode, scores one it does not own, or cites a passage that is not in the answer is unscored
    too: its fault never passes for a clean answer. So is one that takes more than ``seconds``.
    """
    output = subject.output
    if output.state is not OutputState.OK:
        reason = f"output {output.state}" + (f": {output.reason}" if output.reason else "")
        return unscored(output, evaluators, reason)
    return Scored(
        case_id=output.case_id,
        evaluations=tuple(
            [await _checked(evaluator, subject, seconds) for evaluator in evaluators]
        ),
        anchors=_anchors(subject),
    )


def _anchors(subject: Subject) -> Anchors | None:
    """How the answer was read; None where a parser of the user's own cannot read it."""
    from ancrage.anchors import anchors

    try:
        return anchors(subject)
    except Exception:  # noqa: BLE001  the checks say so, each for itself
        return None


def unscored(output: Output, evaluators: Sequence[Evaluator], reason: str) -> Scored:
    """No score in any mode, for one reason."""
    evaluations = tuple(_unscored(evaluator, reason) for evaluator in evaluators)
    return Scored(case_id=output.case_id, evaluations=evaluations)


async def _checked(evaluator: Evaluator, subject: Subject, seconds: float) -> Evaluation:
    async def call() -> Evaluation:
        evaluation = await evaluator.evaluate(subject)
        fault = _fault(evaluator, evaluation, subject.text)
        return (
            _unscored(evaluator, f"{evaluator.name} {fault}", faulty=True) if fault else evaluation
        )

    def raised(error: BaseException) -> Evaluation:
        return _unscored(evaluator, f"{evaluator.name} raised {told(error)}", faulty=True)

    return await shielded(call(), raised, seconds)


def _fault(evaluator: Evaluator, evaluation: object, text: str) -> str | None:
    if not isinstance(evaluation, Evaluation):
        return f"gave {type(evaluation).__name__}, not an Evaluation"
    owned = {mode.name for mode in evaluator.modes}
    named = [score.name for score in evaluation.scores]
    if sorted(named) != sorted(owned):
        return f"gave scores {sorted(named)} where its modes are {sorted(owned)}"
    for finding in evaluation.findings:
        evidence = finding.evidence
        if finding.mode not in owned:
            return f"reported {finding.mode}, which it does not own"
        if text[evidence.start : evidence.end] != evidence.text:
            return f"cited a passage that is not at [{evidence.start}, {evidence.end})"
    return None


async def release(evaluators: Sequence[Evaluator]) -> None:
    """Close what evaluators hold open, such as a judge's connections."""
    for evaluator in evaluators:
        if close := getattr(evaluator, "aclose", None):
            await close()


def _unscored(evaluator: Evaluator, reason: str, *, faulty: bool = False) -> Evaluation:
    return Evaluation(
        evaluator=evaluator.name,
        version=evaluator.version,
        scores=tuple(Score.unscored(mode.name, reason) for mode in evaluator.modes),
        faulty=faulty,
    )
