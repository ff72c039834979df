"""What a run on questions with known answers is worth, as one file: ``evaluation.json``."""

from collections.abc import Sequence
from datetime import datetime

from ancrage.domain import Frozen, JsonValue, OutputState
from ancrage.errors import UsageError
from ancrage.runs import Item, RunView
from ancrage.stats import wilson

_OWNERS = ("abstention", "support", "lexical")


class Result(Frozen):
    """One case, its answer and what the evaluators say of it."""

    id: int | str
    group: str | None
    question: str
    expected: str
    must_abstain: bool
    state: OutputState
    answer: str
    faithful: bool | None
    """None when unscored; a missing answer is false."""
    cause: str | None
    """The mode that failed, ``missing`` or ``unscored``; None when faithful."""
    reason: str


class Group(Frozen):
    """``total`` = ``faithful`` + ``failed`` + ``unscored``; ``missing`` is part of ``failed``."""

    total: int
    faithful: int
    failed: int
    unscored: int
    missing: int
    score: float | None
    """``faithful`` / ``total``; None of nothing."""
    low: float | None
    high: float | None
    """Wilson's 95 % interval of ``score``."""


class QAEvaluation(Frozen):
    """The content of ``evaluation.json``."""

    format: int = 2
    run: str
    created: datetime
    total: int
    faithful: int
    score: float | None
    failed_cases: tuple[int | str, ...]
    """In the order of the cases; missing answers among them."""
    unscored_cases: tuple[int | str, ...]
    missing_cases: tuple[int | str, ...]
    groups: dict[str, Group]
    """``answerable``, ``must_abstain``, and the groups of the cases."""
    false_answers: int | None
    """Answered, of the cases that must abstain; None without the scorer ``abstention``."""
    false_refusals: int | None
    """Abstained, of the answerable cases."""
    balanced_accuracy: float | None
    """Mean of the shares of both groups that neither answer nor refuse falsely; 0.5 for always and
    for never abstaining. None where a group has no scored case."""
    evaluators: dict[str, str]
    """Versions of what judged."""
    parameters: dict[str, JsonValue]
    results: tuple[Result, ...]

    def __str__(self) -> str:
        ids = ", ".join(repr(case) for case in self.failed_cases)
        score = "–" if self.score is None else f"{self.score:.2f}"
        return (
            f"total={self.total} faithful={self.faithful} score={score} failed_cases=[{ids}]"
            + (f" unscored={len(self.unscored_cases)}" if self.unscored_cases else "")
            + (f" missing={len(self.missing_cases)}" if self.missing_cases else "")
        )


def evaluation_of(view: RunView) -> QAEvaluation:
    """The evaluation of a run; its evaluators decide, all of those that judge questions.

    Raises:
        UsageError: no such evaluator scored the run, or no case says whether it can be answered.
    """
    judges = {name: info for name, (info, _) in view.evaluators.items() if name in _OWNERS}
    if not judges:
        raise UsageError(
            f"run {view.folder.path.name}: no scorer of {', '.join(_OWNERS)} in it; "
            "score it with: --scorers abstention,support"
        )
    modes = {mode.name for info in judges.values() for mode in info.modes}
    items = [i for i in view.items() if isinstance(i.case.metadata.get("must_abstain"), bool)]
    if not items:
        raise UsageError(f"run {view.folder.path.name}: no case has must_abstain in its metadata")
    results = [_result(item, modes) for item in items]
    groups = {
        "answerable": _group([r for r in results if not r.must_abstain]),
        "must_abstain": _group([r for r in results if r.must_abstain]),
    }
    for name in dict.fromkeys(r.group for r in results if r.group):
        groups[name] = _group([r for r in results if r.group == name])
    whole = _group(results)
    false_answers, false_refusals = (
        _count(items, name) if name in modes else None for name in ("false_answer", "false_refusal")
    )
    return QAEvaluation(
        run=view.run.id,
        created=view.run.created,
        total=whole.total,
        faithful=whole.faithful,
        score=whole.score,
        failed_cases=tuple(r.id for r in results if r.faithful is False),
        unscored_cases=tuple(r.id for r in results if r.faithful is None),
        missing_cases=tuple(r.id for r in results if r.cause == "missing"),
        groups=groups,
        false_answers=false_answers,
        false_refusals=false_refusals,
        balanced_accuracy=_balanced(items) if "false_answer" in modes else None,
        evaluators={name: info.version for name, info in judges.items()},
        parameters=view.run.parameters,
        results=tuple(results),
    )


def _result(item: Item, modes: set[str]) -> Result:
    given = item.case.metadata
    scores = {name: score for name, score in item.scores.items() if name in modes}
    failed = [name for name, score in scores.items() if score.value]
    open_ = [score for score in scores.values() if score.value is None]
    faithful: bool | None = False
    if item.output.state is not OutputState.OK:
        cause, reason = "missing", item.output.reason or str(item.output.state)
    elif failed:
        found = next((f for f in item.findings if f.mode == failed[0]), None)
        cause, reason = failed[0], found.explanation if found else ""
    elif open_ or set(scores) != modes:
        faithful = None
        cause, reason = "unscored", (open_[0].reason or "") if open_ else "not scored yet"
    else:
        faithful, cause, reason = True, None, ""
    group = given.get("group")
    return Result(
        id=int(item.case.id) if item.case.id.isdecimal() else item.case.id,
        group=group if isinstance(group, str) else None,
        question=item.case.input.question,
        expected=str(given.get("expected", "")),
        must_abstain=bool(given["must_abstain"]),
        state=item.output.state,
        answer=item.output.answer.text if item.output.answer else "",
        faithful=faithful,
        cause=cause,
        reason=reason,
    )


def _group(results: Sequence[Result]) -> Group:
    total = len(results)
    faithful = sum(r.faithful is True for r in results)
    low, high = wilson(faithful, total) if total else (None, None)
    return Group(
        total=total,
        faithful=faithful,
        failed=sum(r.faithful is False for r in results),
        unscored=sum(r.faithful is None for r in results),
        missing=sum(r.cause == "missing" for r in results),
        score=faithful / total if total else None,
        low=low,
        high=high,
    )


def _count(items: Sequence[Item], mode: str) -> int:
    return sum(bool(item.scores[mode].value) for item in items if mode in item.scores)


def _balanced(items: Sequence[Item]) -> float | None:
    shares = []
    for must_abstain, mode in ((False, "false_refusal"), (True, "false_answer")):
        mine = [
            i.scores[mode].value
            for i in items
            if i.case.metadata["must_abstain"] is must_abstain and mode in i.scores
        ]
        known = [value for value in mine if value is not None]
        if not known:
            return None
        shares.append(sum(value == 0 for value in known) / len(known))
    return sum(shares) / 2
