"""Read a run for reports and comparisons: per mode the newest scoring, and counts that add up."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from ancrage.domain import (
    Case,
    Evaluation,
    EvaluatorInfo,
    FailureMode,
    Finding,
    Frozen,
    Output,
    OutputState,
    Run,
    Score,
    ScoreState,
)
from ancrage.runs.record import RunFolder, ScoringFolder
from ancrage.snapshot import Snapshot

NOT_RUN = "the run did not come to it"


class ModeSummary(Frozen):
    """One row of the overview: ``cases == scored + unscored``, ``failing <= scored``."""

    mode: FailureMode
    evaluator: str
    version: str
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

    @property
    def rate(self) -> float | None:
        """Share of scored answers failing; None when none was scored."""
        return self.failing / self.scored if self.scored else None


@dataclass(frozen=True)
class Item:
    """One case of a run: what went in, what came out, what the evaluators say."""

    case: Case
    output: Output
    evaluations: tuple[Evaluation, ...]

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in the order of the answer."""
        found = [each for evaluation in self.evaluations for each in evaluation.findings]
        return tuple(sorted(found, key=lambda each: (each.evidence.start, each.evidence.end)))

    @property
    def scores(self) -> dict[str, Score]:
        """The score of each mode."""
        return {each.name: each for evaluation in self.evaluations for each in evaluation.scores}


class RunView:
    """A run with, for each evaluator, its newest scoring. Verdicts of two versions never mix."""

    def __init__(self, folder: RunFolder, scoring: str | None = None) -> None:
        """Read ``folder``; ``scoring`` restricts the view to the scoring of that id.

        Raises:
            UsageError: the run or its snapshot cannot be read.
        """
        self.folder = folder
        self.run: Run = folder.run
        self.scorings: list[ScoringFolder] = [
            each for each in folder.scorings() if scoring in (None, each.path.name)
        ]

    @cached_property
    def snapshot(self) -> Snapshot:
        """The snapshot that the run read."""
        return self.folder.snapshot()

    @cached_property
    def evaluators(self) -> dict[str, tuple[EvaluatorInfo, ScoringFolder]]:
        """Each evaluator by name, with the newest scoring that ran it.

        An evaluator is left with the modes that no newer scoring owns, by whatever evaluator.
        """
        newest: dict[str, tuple[EvaluatorInfo, ScoringFolder]] = {}
        owned: set[str] = set()
        for folder in reversed(self.scorings):
            infos = [each for each in folder.scoring.evaluators if each.name not in newest]
            for info in infos:
                modes = tuple(mode for mode in info.modes if mode.name not in owned)
                if modes:
                    newest[info.name] = info.model_copy(update={"modes": modes}), folder
            owned |= {mode.name for info in infos for mode in info.modes}
        order = {folder.path: place for place, folder in enumerate(self.scorings)}
        return dict(sorted(newest.items(), key=lambda entry: order[entry[1][1].path]))

    @property
    def modes(self) -> list[FailureMode]:
        """Every failure mode that was looked for."""
        return [mode for info, _ in self.evaluators.values() for mode in info.modes]

    def items(self) -> Iterator[Item]:
        """Every case of the snapshot, in order; ``not_run`` where the run did not come to it."""
        outputs = {output.case_id: output for output in self.folder.outputs()}
        evaluations = self._evaluations
        for case in self.snapshot.cases():
            output = outputs.get(case.id) or Output(
                case_id=case.id, state=OutputState.NOT_RUN, reason=NOT_RUN
            )
            yield Item(case, output, tuple(evaluations.get(case.id, ())))

    def summaries(self) -> list[ModeSummary]:
        """One row a failure mode, in the order of the evaluators."""
        counts: dict[str, Counter[str]] = {mode.name: Counter() for mode in self.modes}
        reasons: dict[str, Counter[str]] = {mode.name: Counter() for mode in self.modes}
        totals: dict[str, float] = dict.fromkeys(counts, 0.0)
        cases = self.snapshot.manifest.counts.kept
        for evaluations in self._evaluations.values():
            for score in (each for evaluation in evaluations for each in evaluation.scores):
                if score.state is ScoreState.UNSCORED or score.value is None:
                    reasons[score.name][score.reason or "no reason given"] += 1
                    continue
                counts[score.name]["scored"] += 1
                counts[score.name]["failing"] += score.value > 0
                totals[score.name] += score.value
        rows = []
        for info, _ in self.evaluators.values():
            for mode in info.modes:
                scored = counts[mode.name]["scored"]
                absent = cases - scored - reasons[mode.name].total()
                if absent:
                    reasons[mode.name][NOT_RUN] += absent
                rows.append(
                    ModeSummary(
                        mode=mode,
                        evaluator=info.name,
                        version=info.version,
                        cases=cases,
                        scored=scored,
                        unscored=cases - scored,
                        failing=counts[mode.name]["failing"],
                        total=totals[mode.name],
                        reasons=dict(reasons[mode.name].most_common()),
                    )
                )
        return rows

    @cached_property
    def _evaluations(self) -> dict[str, list[Evaluation]]:
        found: dict[str, list[Evaluation]] = {}
        for folder in self.scorings:
            wanted = {
                name: {mode.name for mode in info.modes}
                for name, (info, home) in self.evaluators.items()
                if home == folder
            }
            for entry in folder.scored() if wanted else ():
                kept = [
                    _only(each, wanted[each.evaluator])
                    for each in entry.evaluations
                    if each.evaluator in wanted
                ]
                found.setdefault(entry.case_id, []).extend(kept)
        return found


def _only(evaluation: Evaluation, modes: set[str]) -> Evaluation:
    """An evaluation without the modes that a newer scoring owns."""
    scores = tuple(each for each in evaluation.scores if each.name in modes)
    if len(scores) == len(evaluation.scores):
        return evaluation
    findings = tuple(each for each in evaluation.findings if each.mode in modes)
    return evaluation.model_copy(update={"scores": scores, "findings": findings})
