"""Count a run in one pass: a row a failure mode, and what anchors its answers."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ancrage.domain import (
    Anchors,
    Evaluation,
    EvaluatorInfo,
    FailureMode,
    Frozen,
    OutputState,
    ScoreState,
)

if TYPE_CHECKING:
    from ancrage.runs.view import RunView


NOT_RUN = "the run did not come to it"


class ModeSummary(Frozen):
    """One row of the overview: ``cases == scored + unscored``, ``failing <= scored``."""

    mode: FailureMode
    evaluator: str
    version: str
    kind: str = "other"
    """Of the evaluator: ``check``, ``judge``, ``external``, …"""
    cases: int
    """Cases of the run, whether or not they could be scored."""
    scored: int
    """The denominator of the rate."""
    unscored: int
    failing: int
    """Answers whose score is above zero."""
    total: float
    """The sum of the scores: how many defects in all."""
    reasons: dict[str, int] = {}
    """Why cases are unscored, most frequent first."""
    faults: int = 0
    """Answers on which the evaluator raised, or gave what it may not; they are unscored."""

    @property
    def rate(self) -> float | None:
        """Share of scored answers that fail; None when none was scored."""
        return self.failing / self.scored if self.scored else None


class AnchorSummary(Frozen):
    """What anchors the answers of a run: how much was looked at."""

    answers: int = 0
    """Answers that there are to read: outputs that are ``ok``."""
    read: int = 0
    """Those of them whose reading the record holds."""
    silent: int = 0
    """Answers read that cite nothing."""
    perfect: int = 0
    """Answers that cite something, scored by every code check, with no finding."""
    citations: int = 0
    references: int = 0
    messages: int = 0
    quotes: int = 0
    held: int = 0
    """Quotes that were held against a message."""
    diagnoses: dict[str, int] = {}
    """Of the quotes held, why those that fail do: translated, altered, elsewhere, absent, …"""
    languages: dict[str, dict[str, int]] = {}
    """The same by pair of languages, ``quote→message``; ``quotes`` counts all of the pair."""
    unrecognised: dict[str, int] = {}
    """Marks that look like citations or quotes and were not read, by shape."""
    unread_answers: int = 0
    """Answers in which no citation was read while such marks stand there."""


@dataclass
class _Mode:
    scored: int = 0
    failing: int = 0
    total: float = 0.0
    faults: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass
class _Anchors:
    plain: Counter[str] = field(default_factory=Counter)
    diagnoses: Counter[str] = field(default_factory=Counter)
    languages: dict[str, Counter[str]] = field(default_factory=dict)
    unrecognised: Counter[str] = field(default_factory=Counter)

    def add(self, anchors: Anchors, clean: bool) -> None:
        cites = bool(anchors.citations)
        self.plain.update(
            read=1,
            silent=not cites,
            perfect=cites and clean,
            citations=anchors.citations,
            references=anchors.references,
            messages=anchors.messages,
            quotes=len(anchors.quotes),
            held=anchors.held,
            unread_answers=bool(not cites and anchors.unrecognised),
        )
        self.unrecognised.update(anchors.unrecognised)
        for quote in anchors.quotes:
            if quote.tier is None:
                continue
            pair = f"{quote.language or '?'}→{quote.source_language or '?'}"
            by_pair = self.languages.setdefault(pair, Counter())
            by_pair["quotes"] += 1
            if quote.diagnosis:
                self.diagnoses[quote.diagnosis] += 1
                by_pair[quote.diagnosis] += 1


def count(view: "RunView") -> tuple[list[ModeSummary], AnchorSummary]:
    """The rows and the anchors of a run; memory does not grow with its answers."""
    modes = {mode.name: _Mode() for mode in view.modes}
    checks = {
        mode.name
        for info, _ in view.evaluators.values()
        for mode in info.modes
        if info.kind == "check"
    }
    anchored, answers, cases = _Anchors(), 0, 0
    for case_id in view.snapshot.case_ids():
        cases += 1
        output, evaluations, anchors = view.read(case_id)
        _add_scores(modes, evaluations)
        if output.state is OutputState.OK:
            answers += 1
            if anchors is not None:
                anchored.add(anchors, _is_clean(checks, evaluations))
    rows = [
        _row(info, mode, modes[mode.name], cases)
        for info, _ in view.evaluators.values()
        for mode in info.modes
    ]
    summary = AnchorSummary(
        answers=answers,
        **{name: int(number) for name, number in anchored.plain.items()},
        diagnoses=dict(anchored.diagnoses.most_common()),
        languages={pair: dict(found) for pair, found in sorted(anchored.languages.items())},
        unrecognised=dict(anchored.unrecognised.most_common()),
    )
    return rows, summary


def _add_scores(modes: Mapping[str, _Mode], evaluations: Iterable[Evaluation]) -> None:
    found = ((score, done.faulty) for done in evaluations for score in done.scores)
    for score, faulty in found:
        mode = modes[score.name]
        mode.faults += faulty
        if score.state is ScoreState.UNSCORED or score.value is None:
            mode.reasons[score.reason or "no reason given"] += 1
            continue
        mode.scored += 1
        mode.failing += score.value > 0
        mode.total += score.value


def _is_clean(checks: set[str], evaluations: Iterable[Evaluation]) -> bool:
    values = {score.name: score.value for done in evaluations for score in done.scores}
    return bool(checks) and all(values.get(name) == 0 for name in checks)


def _row(info: EvaluatorInfo, mode: FailureMode, counted: _Mode, cases: int) -> ModeSummary:
    reasons = counted.reasons
    if absent := cases - counted.scored - reasons.total():
        reasons[NOT_RUN] += absent
    return ModeSummary(
        mode=mode,
        evaluator=info.name,
        version=info.version,
        kind=info.kind,
        cases=cases,
        scored=counted.scored,
        unscored=cases - counted.scored,
        failing=counted.failing,
        total=counted.total,
        faults=counted.faults,
        reasons=dict(reasons.most_common()),
    )
