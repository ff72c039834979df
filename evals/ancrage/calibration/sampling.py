"""Which answers to label first, and what labels chosen so say of all of them.

Answers on which judges differ (repeats, versions, judges) are likelier to be judged wrongly, and a
label there tells more. Each answer gets a weight, the square root of its likely share of errors
(Neyman's allocation), and a place in a random order in which heavier ones tend to come first: the
exponential ranks of Efraimidis and Spirakis (2006). However many labels are given in that order,
they are a sample with known chances (Cohen and Kaplan, bottom-k sketches, 2007): answer i is in it
with p = 1 − exp(−w · τ), τ being the rank of the first answer without a label. Errors divided by
their chance therefore estimate the errors among all answers without bias.
"""

import hashlib
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from ancrage.domain import Evaluation, Frozen, ScoreState
from ancrage.errors import UsageError
from ancrage.files import read_model, save_model
from ancrage.judges.account import is_judge
from ancrage.runs import RunFolder
from ancrage.stats import Corrected, wilson

AGREED = 0.04
"""The likely share of errors where nothing differs; keeps every answer's chance well above 0."""


class Sample(Frozen):
    """The plan that labels were given by; lies beside their file."""

    run: str
    weights: dict[str, float]
    """By case; every answer that could be labelled."""

    def order(self) -> list[str]:
        """The cases, first to label first; the same for everyone."""
        return sorted(self.weights, key=self._rank)

    def chances(self, labelled: Iterable[str]) -> dict[str, float]:
        """By labelled case, the chance that it had of being among so many.

        A label given out of order counts from where the order is unbroken.
        """
        known = set(labelled)
        order = self.order()
        first = next((at for at, case in enumerate(order) if case not in known), len(order))
        if first == len(order):
            return dict.fromkeys(order, 1.0)
        threshold = self._rank(order[first])
        return {case: -math.expm1(-self.weights[case] * threshold) for case in order[:first]}

    def _rank(self, case: str) -> float:
        digest = hashlib.sha256(f"ancrage sample/{self.run}/{case}".encode()).digest()
        uniform = (int.from_bytes(digest[:8]) + 1) / (2**64 + 1)
        return -math.log(uniform) / self.weights[case]


def sample_path(labels: Path) -> Path:
    """Where the plan of a file of labels lies."""
    return labels.with_name(f"{labels.stem}.sample.json")


def plan(folder: RunFolder, cases: Iterable[str], modes: Iterable[str], labels: Path) -> Sample:
    """The plan beside ``labels``, made and kept the first time.

    Raises:
        UsageError: the file of labels was begun for another run.
    """
    path = sample_path(labels)
    if path.exists():
        sample = read_model(path, Sample)
        if sample.run != folder.run.id:
            raise UsageError(f"{path} is of run {sample.run}: give another --out")
        return sample
    if labels.exists():
        raise UsageError(f"{labels} was begun at random: give another --out")
    differs = disagreement(folder, set(modes))
    weights = {case: math.sqrt(AGREED + differs.get(case, 0.0)) for case in cases}
    sample = Sample(run=folder.run.id, weights=weights)
    save_model(path, sample)
    return sample


def disagreement(folder: RunFolder, modes: set[str]) -> dict[str, float]:
    """By case, the smaller share of its verdicts (0 to 0.5) on the mode on which they differ most,
    over repeats, judges and scorings."""
    votes: dict[tuple[str, str], list[bool]] = defaultdict(list)
    for scoring in folder.scorings():
        judges = {info.name for info in scoring.scoring.evaluators if is_judge(info)}
        for entry in scoring.scored() if judges else ():
            for evaluation in entry.evaluations:
                if evaluation.evaluator in judges:
                    for mode, found in _votes(evaluation):
                        if mode in modes:
                            votes[entry.case_id, mode].append(found)
    shares: dict[str, float] = {}
    for (case, _), given in votes.items():
        share = sum(given) / len(given)
        shares[case] = max(shares.get(case, 0.0), min(share, 1 - share))
    return shares


def _votes(evaluation: Evaluation) -> Iterable[tuple[str, bool]]:
    repeats = evaluation.details.get("repeats")
    if isinstance(repeats, dict):
        for mode, values in repeats.items():
            for value in values if isinstance(values, list) else ():
                if isinstance(value, int | float):
                    yield mode, value > 0
        return
    for score in evaluation.scores:
        if score.state is ScoreState.SCORED and score.value is not None:
            yield score.name, score.value > 0


def weighted_rate(
    errors: Mapping[str, float],
    chances: Mapping[str, float],
    judged: Mapping[str, bool],
    share: float = 1.0,
    level: float = 0.95,
) -> Corrected:
    """The true rate among the answers ``judged``, from labels chosen with known chances.

    The judge's rate plus the errors (label less verdict) found among those labelled, each divided
    by its chance: the difference estimator of survey sampling, unbiased however poor the judge.
    The interval is Wilson's on the effective size of the estimated variance, which half an error
    of the usual chance keeps from being 0.

    Args:
        share: of the run's answers that ``judged`` is a random part of.
    """
    n, size = len(errors), len(judged)
    if n < 2:
        return Corrected("weighted", None, None, f"{n} labels are too few to correct a rate")
    error = np.array(list(errors.values()))
    chance = np.array([chances[case] for case in errors])
    raw = sum(judged.values()) / size
    rate = min(1.0, max(0.0, raw + float((error / chance).sum()) / size))
    spread = float(((error / chance) ** 2 * (1 - chance)).sum())
    spread += 0.5 * float(((1 - chance) / chance**2).mean())
    centre = (rate * n + 0.5) / (n + 1)
    variance = spread / size**2 + (1 - share) * centre * (1 - centre) / size
    if variance <= 0:
        return Corrected("weighted", rate, wilson(rate * size, size, level))
    effective = centre * (1 - centre) / variance
    return Corrected("weighted", rate, wilson(rate * effective, effective, level))


def chances_of(files: Iterable[Path], run: str, labelled: Iterable[str]) -> dict[str, float]:
    """The chances of the cases labelled in ``files``, where a plan for ``run`` lies beside one;
    empty where none does."""
    for path in files:
        if sample_path(path).exists():
            sample = read_model(sample_path(path), Sample)
            if sample.run == run:
                return sample.chances(labelled)
    return {}
