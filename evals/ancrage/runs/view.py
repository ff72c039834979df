"""Read a run: for each failure mode the scoring that counts, and counts that add up.

Every reader of scores goes through here: report, show, compare, gate, history, judges' accounts,
publish and pull.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ancrage.domain import (
    NO_STUDY,
    Anchors,
    Case,
    Evaluation,
    EvaluatorInfo,
    FailureMode,
    Finding,
    Output,
    OutputState,
    Run,
    RunState,
    Score,
    Scored,
)
from ancrage.errors import UsageError
from ancrage.files import Index
from ancrage.runs.record import RunFolder, ScoringFolder
from ancrage.runs.totals import NOT_RUN, AnchorSummary, ModeSummary, count
from ancrage.snapshot import Snapshot

if TYPE_CHECKING:
    from pandas import DataFrame


@dataclass(frozen=True)
class Item:
    """One case of a run: what went in, what came out, what the evaluators say."""

    case: Case
    output: Output
    evaluations: tuple[Evaluation, ...]
    anchors: Anchors | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """Every finding, in the order of the answer."""
        found = [finding for evaluation in self.evaluations for finding in evaluation.findings]
        return tuple(
            sorted(found, key=lambda finding: (finding.evidence.start, finding.evidence.end))
        )

    @property
    def scores(self) -> dict[str, Score]:
        """The score of each mode."""
        return {score.name: score for done in self.evaluations for score in done.scores}


class RunView:
    """A run with, for each evaluator, the scoring that counts.

    That is its newest complete one; where there is none, its newest. Verdicts of two versions
    never mix, and an interrupted scoring never hides a complete one.
    """

    def __init__(self, folder: RunFolder, scoring: str | None = None) -> None:
        """Read ``folder``; ``scoring`` restricts the view to the scoring of that id.

        Raises:
            UsageError: the run cannot be read, or has no such scoring.
        """
        self.folder = folder
        self.run: Run = folder.run
        self.scorings: list[ScoringFolder] = [
            found for found in folder.scorings() if scoring in (None, found.path.name)
        ]
        if scoring is not None and not self.scorings:
            known = ", ".join(found.path.name for found in folder.scorings()) or "none"
            raise UsageError(f"run {folder.path.name} has no scoring {scoring!r} (it has {known})")

    def __repr__(self) -> str:
        return f"<RunView {self.folder.path.name}: {self.run.kind}, {self.run.state}>"

    @cached_property
    def snapshot(self) -> Snapshot:
        """The snapshot that the run read.

        Raises:
            UsageError: it is gone or has changed.
        """
        return self.folder.snapshot()

    @cached_property
    def evaluators(self) -> dict[str, tuple[EvaluatorInfo, ScoringFolder]]:
        """Each evaluator by name, with the scoring that counts.

        An evaluator is left with the modes that no scoring preferred to its own holds.
        """
        manifests = {folder.path: folder.scoring for folder in self.scorings}
        complete = [f for f in self.scorings if manifests[f.path].state is RunState.COMPLETE]
        others = [folder for folder in self.scorings if folder not in complete]
        chosen: dict[str, tuple[EvaluatorInfo, ScoringFolder]] = {}
        owned: set[str] = set()
        for folder in [*reversed(complete), *reversed(others)]:
            infos = [info for info in manifests[folder.path].evaluators if info.name not in chosen]
            for info in infos:
                modes = tuple(mode for mode in info.modes if mode.name not in owned)
                if modes:
                    chosen[info.name] = info.model_copy(update={"modes": modes}), folder
            owned |= {mode.name for info in infos for mode in info.modes}
        order = {folder.path: place for place, folder in enumerate(self.scorings)}
        return dict(sorted(chosen.items(), key=lambda entry: order[entry[1][1].path]))

    @property
    def unfinished(self) -> list[ScoringFolder]:
        """Scorings that were interrupted and are not shown, because a complete one counts."""
        shown = {folder.path for _, folder in self.evaluators.values()}
        return [
            folder
            for folder in self.scorings
            if folder.path not in shown and folder.scoring.state is not RunState.COMPLETE
        ]

    @property
    def modes(self) -> list[FailureMode]:
        """Every failure mode that was looked for."""
        return [mode for info, _ in self.evaluators.values() for mode in info.modes]

    def items(self) -> Iterator[Item]:
        """Every case of the snapshot, in order; ``not_run`` where the run did not come to it."""
        for case in self.snapshot.cases():
            yield self._item(case)

    def item(self, case_id: str) -> Item:
        """The case ``case_id``, found without reading the others.

        Raises:
            UsageError: there is no such case.
        """
        return self._item(self.snapshot.case(case_id))

    def summaries(self) -> list[ModeSummary]:
        """One row a failure mode, in the order of the evaluators."""
        return self._counted[0]

    @property
    def anchors(self) -> AnchorSummary:
        """What anchors the answers, counted over the run."""
        return self._counted[1]

    @cached_property
    def without_studies(self) -> bool:
        """Whether the snapshot is a file of questions, which bring their text along and name no
        study: what is looked up in a study has nothing to look in, and is not missed."""
        counts = self.snapshot.manifest.counts
        if counts.studies or not counts.kept or counts.without_study != counts.kept:
            return False
        first = next(iter(self.snapshot.cases()), None)
        return first is not None and isinstance(first.metadata.get("must_abstain"), bool)

    @property
    def not_run(self) -> list[str]:
        """The modes that were looked for on no answer, a file of questions having no study."""
        rows = self.summaries() if self.without_studies else []
        return [
            row.mode.name
            for row in rows
            if row.reasons and not row.scored and next(iter(row.reasons)) == NO_STUDY
        ]

    def shortfalls(self, minimum: float) -> list[str]:
        """What makes the figures incomplete, one sentence each; none when all is well.

        An evaluator that failed on any answer, and a mode of other evaluators than judges, which
        keep accounts of their own, that scored less than the share ``minimum`` of the answers; the
        modes of ``not_run`` are none of these.
        """
        answers = self.anchors.answers
        idle = self.not_run
        said = []
        for row in self.summaries():
            if row.faults:
                said.append(f"{row.evaluator} failed on {row.faults} of {answers} answers")
            elif row.mode.name in idle:
                continue
            elif row.kind != "judge" and answers and row.scored < minimum * answers:
                reason = next(iter(row.reasons), "no reason given")
                said.append(
                    f"{row.mode.name} scored {row.scored} of {answers} answers; mostly: {reason}"
                )
        return list(dict.fromkeys(said))

    def frame(self) -> "DataFrame":
        """All scores as a pandas DataFrame: one row an answer, indexed by case.

        Columns: ``study``, ``state``, ``question``, ``answer``, and one a failure mode, NaN where
        it is unscored.

        Raises:
            UsageError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError:
            raise UsageError("a DataFrame needs pandas: pip install pandas") from None
        rows = []
        for item in self.items():
            answer = item.output.answer.text if item.output.answer else None
            row: dict[str, object] = {
                "case": item.case.id,
                "study": item.case.study_id,
                "state": str(item.output.state),
                "question": item.case.input.question,
                "answer": answer,
            }
            rows.append(row | {name: score.value for name, score in item.scores.items()})
        columns = ["case", "study", "state", "question", "answer", *(m.name for m in self.modes)]
        frame = pd.DataFrame(rows, columns=columns).set_index("case")
        modes = [mode.name for mode in self.modes]
        return frame.astype(dict.fromkeys(modes, "float64"))

    @cached_property
    def _counted(self) -> tuple[list[ModeSummary], AnchorSummary]:
        return count(self)

    def read(self, case_id: str) -> tuple[Output, tuple[Evaluation, ...], Anchors | None]:
        """The output of a case, what counts of its scores, and how it was read."""
        output = self._outputs.get(case_id) or Output(
            case_id=case_id, state=OutputState.NOT_RUN, reason=NOT_RUN
        )
        evaluations: list[Evaluation] = []
        anchors = None
        for folder, index, wanted in self._shown:
            entry = index.get(case_id)
            evaluations += [
                _only(evaluation, wanted[evaluation.evaluator])
                for evaluation in (entry.evaluations if entry else ())
                if evaluation.evaluator in wanted
            ]
            anchors = (entry and entry.anchors) or anchors
            if entry is None and output.state is not OutputState.NOT_RUN:
                evaluations += [
                    _not_scored(info, folder)
                    for info, home in self.evaluators.values()
                    if home == folder
                ]
        return output, tuple(evaluations), anchors

    def _item(self, case: Case) -> Item:
        return Item(case, *self.read(case.id))

    @cached_property
    def _outputs(self) -> Index[Output]:
        return self.folder.output_index()

    @cached_property
    def _shown(self) -> list[tuple[ScoringFolder, Index[Scored], dict[str, set[str]]]]:
        """The scorings that count, each with the modes it counts for, by evaluator."""
        found = []
        for folder in self.scorings:
            wanted = {
                name: {mode.name for mode in info.modes}
                for name, (info, home) in self.evaluators.items()
                if home == folder
            }
            if wanted:
                found.append((folder, folder.index(), wanted))
        return found


def _not_scored(info: EvaluatorInfo, folder: ScoringFolder) -> Evaluation:
    reason = f"scoring {folder.path.name} did not come to it"
    return Evaluation(
        evaluator=info.name,
        version=info.version,
        scores=tuple(Score.unscored(mode.name, reason) for mode in info.modes),
    )


def _only(evaluation: Evaluation, modes: set[str]) -> Evaluation:
    """An evaluation without the modes that another scoring owns."""
    scores = tuple(score for score in evaluation.scores if score.name in modes)
    if len(scores) == len(evaluation.scores):
        return evaluation
    findings = tuple(finding for finding in evaluation.findings if finding.mode in modes)
    return evaluation.model_copy(update={"scores": scores, "findings": findings})
