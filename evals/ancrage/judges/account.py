"""What judges did in a scoring: verdicts given and missing, evidence refused, tokens and money."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from ancrage.domain import (
    Evaluation,
    EvaluatorInfo,
    Frozen,
    OutputState,
    ScoreState,
    Usage,
)
from ancrage.llm.request import add_usage
from ancrage.runs import RunView
from ancrage.runs.record import RunFolder, ScoringFolder
from ancrage.stats import Consistency, consistency, noise


class Noise(Frozen):
    """How far a judge agrees with itself on one mode: the same outputs judged again."""

    answers: int
    """Answers with at least two scored verdicts."""
    flips: int
    """Of these, answers that were found both with and without the defect."""
    deviation: float | None
    """Standard deviation between verdicts (0 or 1) on one answer."""


class Account(Frozen):
    """One judge in one scoring; ``verdicts == scored + unscored`` and fates add up."""

    judge: str
    version: str
    model: str
    modes: tuple[str, ...]
    answers: int
    """Outputs that could be judged: those whose state is ``ok``."""
    verdicts: int
    """Answers times modes: the denominator of coverage."""
    scored: int
    reasons: dict[str, int]
    """Why verdicts are missing, most frequent first; they add up to ``verdicts - scored``."""
    reported: int
    """Defects that replies reported."""
    fates: dict[str, int]
    """What became of them, by ``ancrage.judges.contract.DefectStatus``; they add up to
    ``reported``."""
    repaired: int
    """Replies that took a second turn."""
    cached: int
    """Replies that came from the cache."""
    usage: Usage
    noise: dict[str, Noise] = {}
    """By mode, when answers were judged more than once."""

    @property
    def coverage(self) -> float | None:
        """The share of verdicts that were given; None without an answer to judge."""
        return self.scored / self.verdicts if self.verdicts else None

    @property
    def unverified(self) -> int:
        """Defects whose passage does not stand in the answer."""
        return self.fates.get("unverified", 0)

    def below(self, minimum: float) -> bool:
        """Whether the judge gave less than ``minimum`` of its verdicts, or had none to give."""
        return self.coverage is None or self.coverage < minimum


def is_judge(info: EvaluatorInfo) -> bool:
    """Whether an evaluator of a scoring is an LLM judge."""
    return "judge" in info.details


def accounts(folder: RunFolder, scoring: ScoringFolder) -> list[Account]:
    """One account a judge of a scoring, in the scoring's order."""
    judges = {info.name: info for info in scoring.scoring.evaluators if is_judge(info)}
    if not judges:
        return []
    judged = {output.case_id for output in folder.outputs() if output.state is OutputState.OK}
    tallies = {name: _Tally(info) for name, info in judges.items()}
    for entry in scoring.scored():
        if entry.case_id not in judged:
            continue
        for evaluation in entry.evaluations:
            if evaluation.evaluator in tallies:
                tallies[evaluation.evaluator].add(evaluation)
    return [tally.account(len(judged)) for tally in tallies.values()]


def current_accounts(view: RunView) -> Iterator[Account]:
    """One account a judge that a view shows, from the scoring that it is shown of."""
    homes = {home.path: home for info, home in view.evaluators.values() if is_judge(info)}
    shown = {(name, home.path) for name, (_, home) in view.evaluators.items()}
    for path in sorted(homes):
        for found_account in accounts(view.folder, homes[path]):
            if (found_account.judge, path) in shown:
                yield found_account


class _Tally:
    """Counts of one judge, one evaluation at a time."""

    def __init__(self, info: EvaluatorInfo) -> None:
        self.info = info
        self.names = tuple(mode.name for mode in info.modes)
        self.scored = self.answers = self.reported = self.repaired = self.cached = 0
        self.reasons: Counter[str] = Counter()
        self.fates: Counter[str] = Counter()
        self.usage = Usage()
        self.repeats: dict[str, list[list[float]]] = {name: [] for name in self.names}

    def add(self, evaluation: Evaluation) -> None:
        self.answers += 1
        for score in evaluation.scores:
            if score.state is ScoreState.SCORED:
                self.scored += 1
            else:
                self.reasons[score.reason or "no reason given"] += 1
        details: dict[str, Any] = evaluation.details
        self.reported += details.get("reported", 0)
        self.fates.update(details.get("fates", {}))
        self.repaired += details.get("turns", 1) > 1
        self.cached += bool(details.get("cached"))
        if evaluation.usage:
            self.usage = add_usage([self.usage, evaluation.usage])
        for mode, values in details.get("repeats", {}).items():
            known = [float("nan") if value is None else float(value > 0) for value in values]
            self.repeats[mode].append(known)

    def account(self, answers: int) -> Account:
        verdicts = answers * len(self.names)
        if absent := (answers - self.answers) * len(self.names):
            self.reasons["the scoring did not come to it"] += absent
        return Account(
            judge=self.info.name,
            version=self.info.version,
            model=str(self.info.details["judge"]),
            modes=self.names,
            answers=answers,
            verdicts=verdicts,
            scored=self.scored,
            reasons=dict(self.reasons.most_common()),
            reported=self.reported,
            fates={name: n for name, n in self.fates.items() if n},
            repaired=self.repaired,
            cached=self.cached,
            usage=self.usage,
            noise=dict(self._noise()),
        )

    def _noise(self) -> Iterator[tuple[str, Noise]]:
        for mode, rows in self.repeats.items():
            if not rows:
                continue
            array = np.array(rows)
            twice = array[(~np.isnan(array)).sum(axis=1) >= 2]
            found: Consistency = consistency(twice) if len(twice) else consistency([])
            variance = noise(twice[:, None, :]).judge if len(twice) else None
            yield (
                mode,
                Noise(
                    answers=len(twice),
                    flips=found.flips,
                    deviation=None if variance is None else variance**0.5,
                ),
            )
