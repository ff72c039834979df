"""Evaluate outputs: every evaluator gives one score for each of its modes, whatever happens."""

import asyncio
from collections.abc import Sequence

from ancrage.domain import Evaluation, OutputState, Score, Scored
from ancrage.evaluator import Evaluator, Subject


async def evaluate(subject: Subject, evaluators: Sequence[Evaluator]) -> Scored:
    """All evaluations of one output; modes that could not be scored say why.

    An output that is not ``ok`` is unscored for every mode. An evaluator that raises, forgets
    a mode, scores one it does not own, or cites a passage that is not in the answer is unscored
    too: its fault never passes for a clean answer.
    """
    output = subject.output
    if output.state is not OutputState.OK:
        reason = f"output {output.state}" + (f": {output.reason}" if output.reason else "")
        return Scored(
            case_id=output.case_id,
            evaluations=tuple(_unscored(each, reason) for each in evaluators),
        )
    return Scored(
        case_id=output.case_id,
        evaluations=tuple([await _checked(each, subject) for each in evaluators]),
    )


async def _checked(evaluator: Evaluator, subject: Subject) -> Evaluation:
    try:
        evaluation = await evaluator.evaluate(subject)
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001  a faulty evaluator must not stop the run
        return _unscored(evaluator, f"{evaluator.name} raised {type(error).__name__}: {error}")
    fault = _fault(evaluator, evaluation, subject.text)
    return _unscored(evaluator, f"{evaluator.name} {fault}") if fault else evaluation


def _fault(evaluator: Evaluator, evaluation: Evaluation, text: str) -> str | None:
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
    for each in evaluators:
        if close := getattr(each, "aclose", None):
            await close()


def _unscored(evaluator: Evaluator, reason: str) -> Evaluation:
    return Evaluation(
        evaluator=evaluator.name,
        version=evaluator.version,
        scores=tuple(Score.unscored(mode.name, reason) for mode in evaluator.modes),
    )
