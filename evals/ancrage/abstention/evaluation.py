"""What a set of answers is worth: every case counted, and the two ways of being wrong apart."""

import asyncio
import math
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import ValidationError

from ancrage.abstention.answers import AnswerSet, QAAnswer
from ancrage.abstention.cases import CaseFile, QACase
from ancrage.abstention.model import (
    AbstentionFigures,
    CasesRef,
    Failure,
    Group,
    Matrix,
    QAEvaluation,
    Rate,
    Result,
    Row,
    RuleRef,
)
from ancrage.abstention.verdict import UNSCORED, Cause, Rule
from ancrage.domain import OutputState
from ancrage.errors import UsageError, describe
from ancrage.program import called
from ancrage.stats import wilson

EVALUATION = "evaluation.json"


async def evaluate(
    file: CaseFile, answers: AnswerSet, rule: Rule, *, concurrency: int = 8
) -> QAEvaluation:
    """Judge every answer; a case without a usable one fails, and says so."""
    slots = asyncio.Semaphore(concurrency)

    async def one(case: QACase, answer: QAAnswer) -> Result:
        async with slots:
            return await _result(case, answer, rule)

    pairs = zip(file.cases, answers.answers, strict=True)
    results = await asyncio.gather(*(one(case, answer) for case, answer in pairs))
    return summarise(file, answers, rule, results)


def summarise(
    file: CaseFile, answers: AnswerSet, rule: Rule, results: Sequence[Result]
) -> QAEvaluation:
    """The evaluation of these results."""
    info = answers.info
    temperature = info.parameters.get("temperature")
    whole = _group(results)
    low, high = wilson(whole.faithful, whole.total)
    return QAEvaluation(
        total=whole.total,
        faithful=whole.faithful,
        score=whole.faithful / whole.total,
        score_low=low,
        score_high=high,
        failed_cases=tuple(r.id for r in results if r.faithful is False),
        unscored_cases=tuple(r.id for r in results if r.faithful is None),
        missing_cases=tuple(r.id for r in results if r.cause is Cause.MISSING),
        failures=tuple(
            Failure(id=r.id, must_abstain=r.must_abstain, cause=r.cause, reason=r.reason)
            for r in results
            if r.faithful is False and r.cause
        ),
        groups={
            "answerable": _group([r for r in results if not r.must_abstain]),
            "must_abstain": _group([r for r in results if r.must_abstain]),
        },
        by_group=_by_group(results),
        abstention=_abstention(results),
        model=info.model,
        prompt=info.prompt,
        temperature=temperature if isinstance(temperature, int | float) else None,
        parameters=info.parameters,
        rule=RuleRef(name=rule.name, version=rule.version, verifier=rule.verifier_name),
        cases=CasesRef(path=str(file.path), hash=file.hash),
        answered=info.created,
        created=datetime.now(UTC),
        results=tuple(results),
    )


def write_evaluation(path: Path, evaluation: QAEvaluation) -> None:
    """Write it in one step."""
    draft = path.with_suffix(".tmp")
    draft.write_text(evaluation.model_dump_json(indent=2) + "\n", encoding="utf-8")
    draft.replace(path)


def read_evaluation(path: Path) -> QAEvaluation:
    """The evaluation of a folder, or of a file.

    Raises:
        UsageError: there is none, or it cannot be read.
    """
    path = path / EVALUATION if path.is_dir() else path
    try:
        return QAEvaluation.model_validate_json(path.read_bytes())
    except OSError as error:
        raise UsageError(
            f"{path}: {error.strerror or error}; make one with: {called('qa')}"
        ) from None
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}") from None


async def _result(case: QACase, answer: QAAnswer, rule: Rule) -> Result:
    common = {
        "id": case.id,
        "group": case.group,
        "question": case.question,
        "expected": case.expected,
        "must_abstain": case.must_abstain,
        "fingerprint": case.fingerprint,
        "state": answer.state,
        "answer": answer.text,
    }
    if answer.state is not OutputState.OK:
        said = {
            "abstained": None,
            "faithful": False,
            "cause": Cause.MISSING,
            "reason": f"{answer.state}: {answer.reason}",
        }
    else:
        said = (await rule.judge(case, answer.text)).model_dump()
    return Result.model_validate({**common, **said})


def _group(results: Sequence[Result]) -> Group:
    faithful = sum(r.faithful is True for r in results)
    unscored = sum(r.cause in UNSCORED for r in results)
    return Group(
        total=len(results),
        faithful=faithful,
        failed=len(results) - faithful - unscored,
        unscored=unscored,
        missing=sum(r.cause is Cause.MISSING for r in results),
        score=_rate(faithful, len(results)),
    )


def _by_group(results: Iterable[Result]) -> dict[str, Group]:
    members: dict[str, list[Result]] = {}
    for result in results:
        members.setdefault(result.group or "-", []).append(result)
    return {} if list(members) == ["-"] else {name: _group(m) for name, m in members.items()}


def _abstention(results: Sequence[Result]) -> AbstentionFigures:
    answerable = _row([r for r in results if not r.must_abstain])
    others = _row([r for r in results if r.must_abstain])
    figures = AbstentionFigures(
        matrix=Matrix(answerable=answerable, must_abstain=others),
        balanced_accuracy=None,
        false_answers=_rate(others.answered, others.total),
        false_refusals=_rate(answerable.abstained, answerable.total),
    )
    if not answerable.total or not others.total:
        return figures
    low, high = _mean_interval(
        (answerable.answered, answerable.total), (others.abstained, others.total)
    )
    balanced = (answerable.answered / answerable.total + others.abstained / others.total) / 2
    return figures.model_copy(update={"balanced_accuracy": balanced, "low": low, "high": high})


def _row(results: Sequence[Result]) -> Row:
    missing = sum(r.cause is Cause.MISSING for r in results)
    return Row(
        answered=sum(r.abstained is False for r in results),
        abstained=sum(r.abstained is True for r in results),
        unread=sum(r.abstained is None for r in results) - missing,
        missing=missing,
        total=len(results),
    )


def _rate(count: int, total: int) -> Rate:
    if not total:
        return Rate(count=count, total=0, rate=None, low=None, high=None)
    low, high = wilson(count, total)
    return Rate(count=count, total=total, rate=count / total, low=low, high=high)


def _mean_interval(*counts: tuple[int, int]) -> tuple[float, float]:
    """The interval of the mean of independent rates; see ``AbstentionFigures``."""
    rates = [count / total for count, total in counts]
    ends = [wilson(count, total) for count, total in counts]
    mean = sum(rates) / len(rates)
    below = math.sqrt(sum((r - e.low) ** 2 for r, e in zip(rates, ends, strict=True)))
    above = math.sqrt(sum((e.high - r) ** 2 for r, e in zip(rates, ends, strict=True)))
    return mean - below / len(rates), mean + above / len(rates)
