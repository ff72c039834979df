"""Two evaluations side by side: two sets of answers, or the same answers under two rules."""

from ancrage.abstention.cases import CaseId
from ancrage.abstention.model import QAEvaluation, Result
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.program import called
from ancrage.stats import difference_interval, mcnemar


class Moved(Frozen):
    """A case whose verdict differs."""

    id: CaseId
    question: str
    before: str
    after: str


class Paired(Frozen):
    """Faithful or not, case by case; ``compared`` = both + only_first + only_second + neither."""

    compared: int
    both: int
    only_first: int
    only_second: int
    neither: int
    unscored: int
    """On the same cases, but unscored on either side; not compared."""
    unpaired: tuple[CaseId, ...]
    """In one evaluation only, or with another content; not compared."""
    difference: float | None
    """Second score less the first, over the cases compared."""
    low: float | None
    high: float | None
    """Tango's 95 % interval of ``difference``."""
    p_value: float
    """Two-sided, exact McNemar."""
    smallest_p_value: float
    """That as many discordant cases could have given."""
    lost: tuple[Moved, ...]
    """Faithful in the first only."""
    won: tuple[Moved, ...]


def compare_answers(first: QAEvaluation, second: QAEvaluation) -> Paired:
    """Two sets of answers to the same cases, judged by the same rule.

    Raises:
        UsageError: the rules differ, or no case is in both.
    """
    if first.rule != second.rule:
        raise UsageError(
            f"judged by different rules ({_rule(first)} and {_rule(second)}); "
            f"judge one again with: {called('qa-score')}"
        )
    pairs, unpaired = _pairs(first, second)
    if not pairs:
        raise UsageError("no case is in both evaluations with the same content")
    scored = [(a, b) for a, b in pairs if a.faithful is not None and b.faithful is not None]
    lost = [(a, b) for a, b in scored if a.faithful and not b.faithful]
    won = [(a, b) for a, b in scored if b.faithful and not a.faithful]
    both = sum(bool(a.faithful and b.faithful) for a, b in scored)
    test = mcnemar(len(lost), len(won))
    differences = [float(bool(b.faithful)) - float(bool(a.faithful)) for a, b in scored]
    interval = difference_interval(differences) if differences else None
    return Paired(
        compared=len(scored),
        both=both,
        only_first=len(lost),
        only_second=len(won),
        neither=len(scored) - both - len(lost) - len(won),
        unscored=len(pairs) - len(scored),
        unpaired=unpaired,
        difference=sum(differences) / len(differences) if differences else None,
        low=interval.low if interval else None,
        high=interval.high if interval else None,
        p_value=test.p_value,
        smallest_p_value=test.smallest,
        lost=tuple(_moved(a, b) for a, b in lost),
        won=tuple(_moved(a, b) for a, b in won),
    )


def moved_verdicts(before: QAEvaluation, after: QAEvaluation) -> tuple[Moved, ...]:
    """The same answers under two rules: the cases whose verdict is another.

    Raises:
        UsageError: the answers are not the same.
    """
    pairs, unpaired = _pairs(before, after)
    changed = [a.id for a, b in pairs if (a.state, a.answer) != (b.state, b.answer)]
    if unpaired or changed:
        first = [*changed, *unpaired][0]
        raise UsageError(f"case {first}: not the same question and answer in both evaluations")
    return tuple(_moved(a, b) for a, b in pairs if _said(a) != _said(b))


def _pairs(
    first: QAEvaluation, second: QAEvaluation
) -> tuple[list[tuple[Result, Result]], tuple[CaseId, ...]]:
    mine, its = _by_id(first), _by_id(second)
    same = [k for k in mine if k in its and mine[k].fingerprint == its[k].fingerprint]
    unpaired = [each.id for k, each in (mine | its).items() if k not in set(same)]
    return [(mine[k], its[k]) for k in same], tuple(unpaired)


def _by_id(evaluation: QAEvaluation) -> dict[str, Result]:
    return {str(result.id): result for result in evaluation.results}


def _moved(a: Result, b: Result) -> Moved:
    return Moved(id=a.id, question=a.question, before=_said(a), after=_said(b))


def _said(result: Result) -> str:
    if result.faithful:
        return "faithful"
    return f"unscored: {result.cause}" if result.faithful is None else f"failed: {result.cause}"


def _rule(evaluation: QAEvaluation) -> str:
    rule = evaluation.rule
    return f"{rule.name} {rule.version}" + (f" with {rule.verifier}" if rule.verifier else "")
