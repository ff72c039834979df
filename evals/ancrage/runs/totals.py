"""Count a run in one pass: a row a failure mode, and what anchors its answers."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ancrage.domain import Anchors, Evaluation, OutputState, ScoreState
from ancrage.runs.view import NOT_RUN, AnchorSummary, ModeSummary, RunView


@dataclass
class _Mode:
    scored: int = 0
    failing: int = 0
    total: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass
class _Anchors:
    plain: Counter[str] = field(default_factory=Counter)
    diagnoses: Counter[str] = field(default_factory=Counter)
    languages: dict[str, Counter[str]] = field(default_factory=dict)
    unrecognised: Counter[str] = field(default_factory=Counter)

    def add(self, anchors: Anchors, clean: bool) -> None:
        read = bool(anchors.citations or anchors.quotes)
        self.plain.update(
            read=1,
            silent=not read,
            perfect=read and clean,
            citations=anchors.citations,
            references=anchors.references,
            messages=anchors.messages,
            quotes=len(anchors.quotes),
            held=anchors.held,
            unread_answers=bool(not read and anchors.unrecognised),
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


def count(view: RunView) -> tuple[list[ModeSummary], AnchorSummary]:
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
        _row(view, name, mode.name, modes[mode.name], cases)
        for name, (info, _) in view.evaluators.items()
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
    for score in (score for evaluation in evaluations for score in evaluation.scores):
        mode = modes[score.name]
        if score.state is ScoreState.UNSCORED or score.value is None:
            mode.reasons[score.reason or "no reason given"] += 1
            continue
        mode.scored += 1
        mode.failing += score.value > 0
        mode.total += score.value


def _is_clean(checks: set[str], evaluations: Iterable[Evaluation]) -> bool:
    values = {score.name: score.value for done in evaluations for score in done.scores}
    return bool(checks) and all(values.get(name) == 0 for name in checks)


def _row(view: RunView, evaluator: str, mode_name: str, counted: _Mode, cases: int) -> ModeSummary:
    info, _ = view.evaluators[evaluator]
    reasons = counted.reasons
    if absent := cases - counted.scored - reasons.total():
        reasons[NOT_RUN] += absent
    return ModeSummary(
        mode=next(mode for mode in info.modes if mode.name == mode_name),
        evaluator=evaluator,
        version=info.version,
        kind=info.kind,
        cases=cases,
        scored=counted.scored,
        unscored=cases - counted.scored,
        failing=counted.failing,
        total=counted.total,
        reasons=dict(reasons.most_common()),
    )
