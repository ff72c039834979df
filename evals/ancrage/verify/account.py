"""What verified answers come to: claims by verdict, and what those without one leave open."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from rich.text import Text

from ancrage.runs.record import RunFolder, ScoringFolder
from ancrage.studies import Studies
from ancrage.verify.evaluation import NAME
from ancrage.verify.model import State, Verdict
from ancrage.verify.scorer import ClaimScorer

_SHOWN = 20


@dataclass
class Tally:
    """Sums over answers; memory does not grow with them."""

    states: Counter[str] = field(default_factory=Counter)
    claims: Counter[str] = field(default_factory=Counter)
    """``claims`` and one entry a verdict."""
    deciders: Counter[str] = field(default_factory=Counter)
    best: float = 0.0
    worst: float = 0.0

    def add(
        self,
        state: str,
        counts: Mapping[str, int],
        best: float,
        worst: float,
        deciders: Iterable[str | None],
    ) -> None:
        """One answer more."""
        self.states[state] += 1
        self.claims.update(counts)
        self.deciders.update(name for name in deciders if name)
        self.best, self.worst = self.best + best, self.worst + worst

    @property
    def left(self) -> int:
        """Answers without a score."""
        return self.states[State.PARTIAL] + self.states[State.UNSCORED]

    def words(self) -> str:
        """The sums, whose parts add up, and the mean score or its bounds."""
        answers = self.states.total()
        states = " + ".join(
            f"{self.states[state]} {state.replace('_', ' ')}"
            for state in State
            if self.states[state]
        )
        verdicts = " + ".join(f"{self.claims[verdict]} {verdict}" for verdict in Verdict)
        decided = ", ".join(f"{name} {count}" for name, count in self.deciders.most_common())
        lines = [
            f"Answers: {answers} = {states}.",
            f"Claims: {self.claims['claims']} in {answers} answers = {verdicts}.",
            f"Decided by: {decided or 'nobody'}.",
        ]
        if self.left:
            lines.append(
                f"Answers without a score, for want of a context or a verdict: {self.left}. The "
                f"mean score of all {answers} lies between {self.best / answers:.3f} and "
                f"{self.worst / answers:.3f}."
            )
        else:
            lines.append(f"Mean score {self.best / answers:.3f}.")
        return "\n".join(lines)


def account_of_claims(scoring: ScoringFolder) -> Text | None:
    """The sums of a scoring; None where no answer was scored."""
    tally = Tally()
    for entry in scoring.scored():
        for evaluation in entry.evaluations:
            details: dict[str, Any] = evaluation.details
            if evaluation.evaluator == NAME and "counts" in details:
                deciders = [v.get("decided_by") for v in details.get("verdicts", ())]
                tally.add(
                    details["state"], details["counts"], details["best"], details["worst"], deciders
                )
    return Text(f"\n{tally.words()}") if tally.states else None


async def preview(
    folder: RunFolder, scorer: ClaimScorer, studies: Studies, progress: Callable[[], None]
) -> tuple[str, bool]:
    """What ``scorer`` tells of a run's answers, in words, and whether each has a score; the run
    gets no scoring."""
    tally = Tally()
    contradicted: list[str] = []
    for output in folder.outputs():
        result = await scorer.score(studies.subject(studies.snapshot.case(output.case_id), output))
        deciders = [verdict.decided_by for verdict in result.verdicts]
        tally.add(result.state, result.counts, result.best, result.worst, deciders)
        contradicted += [
            f"{result.run_id}: “{verdict.statement}” ({verdict.reason})"
            for verdict in result.verdicts
            if verdict.verdict is Verdict.CONTRADICTED
        ]
        progress()
    more = len(contradicted) - _SHOWN
    lines = [*contradicted[:_SHOWN], *([f"and {more} more"] if more > 0 else [])]
    return "\n".join([tally.words(), *lines]), not tally.left
