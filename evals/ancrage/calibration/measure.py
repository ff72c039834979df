"""The figures of a calibration: error rates, agreement, corrected prevalence, each an interval."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ancrage.calibration.pairs import ModeCalibration, Pair
from ancrage.calibration.sampling import weighted_rate
from ancrage.stats import (
    Agreement,
    Confusion,
    Corrected,
    Interval,
    PairedTest,
    agreement,
    difference_interval,
    jeffreys,
    krippendorff_alpha,
    mcnemar,
    ppi,
    rogan_gladen,
)

RESAMPLES = 1_000


@dataclass(frozen=True)
class Measures:
    """How a judge does on one mode. Rates are None without a denominator, which ``confusion``
    has; intervals are 95 % ones."""

    confusion: Confusion
    sensitivity: Interval
    """Jeffreys intervals of sensitivity (TPR), specificity (TNR) and precision."""
    specificity: Interval
    precision: Interval
    agreement: Agreement
    """Raw agreement of judge and people, and κ."""
    alpha: float | None
    """Krippendorff's α between annotators; None with fewer than two."""
    alpha_interval: Interval | None


def measure(mode: ModeCalibration, level: float = 0.95) -> Measures:
    """The figures of one mode."""
    table = confusion(mode.pairs)
    truth = [pair.truth for pair in mode.pairs]
    judged = [pair.judged for pair in mode.pairs]
    alarms = table.true_positive + table.false_positive
    alpha = krippendorff_alpha(mode.ratings)
    return Measures(
        confusion=table,
        sensitivity=jeffreys(table.true_positive, table.positives, level),
        specificity=jeffreys(table.true_negative, table.negatives, level),
        precision=jeffreys(table.true_positive, alarms, level),
        agreement=agreement(truth, judged, level),
        alpha=alpha,
        alpha_interval=None if alpha is None else _alpha_interval(mode.ratings, level),
    )


def confusion(pairs: Sequence[Pair]) -> Confusion:
    """The judge against people, counted."""
    return Confusion.of([pair.truth for pair in pairs], [pair.judged for pair in pairs])


def corrected(
    mode: ModeCalibration,
    verdicts: Mapping[str, tuple[str, bool]],
    *,
    random_sample: bool,
    chances: Mapping[str, float] | None = None,
    tuned: frozenset[str] = frozenset(),
    level: float = 0.95,
) -> Corrected:
    """The true rate of a mode among a run's judged answers.

    ``verdicts`` holds, by case, the answer's hash and whether the judge found the defect. PPI++
    when the labelled answers are a random sample of these very answers: it is valid however poor
    the judge, whom it then hardly listens to. Rogan–Gladen otherwise, refused when the judge
    carries too little information. Labels chosen with known ``chances`` are weighed by them. Cases
    in ``tuned``, on which the judge may do better than elsewhere, are left out of all but
    Rogan–Gladen.
    """
    here = [
        pair
        for pair in mode.pairs
        if pair.case_id in verdicts and verdicts[pair.case_id][0] == pair.answer
    ]
    if chances and all(pair.case_id in chances for pair in here):
        apart = {
            case_id: judged for case_id, (_, judged) in verdicts.items() if case_id not in tuned
        }
        # People could not decide on some of those that the plan chose: chance, one hopes.
        chosen = sum(case_id in apart for case_id in chances)
        decided = len(here) / chosen if chosen else 1.0
        return weighted_rate(
            {pair.case_id: float(pair.truth) - float(pair.judged) for pair in here},
            {case_id: chance * decided for case_id, chance in chances.items()},
            apart,
            len(apart) / len(verdicts),
            level,
        )
    if not random_sample or len(here) < len(mode.pairs):
        alarms = sum(judged for _, judged in verdicts.values())
        return rogan_gladen(alarms, len(verdicts), confusion(mode.pairs), level)
    left_out = tuned | {pair.case_id for pair in here}
    others = [judged for case_id, (_, judged) in verdicts.items() if case_id not in left_out]
    return ppi([pair.truth for pair in here], [pair.judged for pair in here], others, level)


@dataclass(frozen=True)
class JudgeComparison:
    """Two judges on the same labels: who is right where only one of them is."""

    mode: str
    n: int
    """Answers that both judged and people decided on."""
    both_right: int
    only_first: int
    only_second: int
    both_wrong: int
    difference: Interval
    """95 % interval of the second's agreement with people less the first's."""
    test: PairedTest


def compare_judges(first: ModeCalibration, second: ModeCalibration) -> JudgeComparison:
    """Judge against judge, paired by answer; answers that one of them lacks are left out."""
    mine = {(pair.case_id, pair.answer): pair for pair in first.pairs}
    right = [
        (mine[key].judged == mine[key].truth, pair.judged == pair.truth)
        for pair in second.pairs
        if (key := (pair.case_id, pair.answer)) in mine
    ]
    counts = {both: right.count(both) for both in ((True, True), (True, False), (False, True))}
    differences = [float(b) - float(a) for a, b in right]
    return JudgeComparison(
        mode=first.mode,
        n=len(right),
        both_right=counts[True, True],
        only_first=counts[True, False],
        only_second=counts[False, True],
        both_wrong=right.count((False, False)),
        difference=difference_interval(differences) if right else Interval(-1.0, 1.0),
        test=mcnemar(counts[True, False], counts[False, True]),
    )


def _alpha_interval(ratings: Sequence[Sequence[bool | None]], level: float) -> Interval | None:
    """Percentile bootstrap over cases, from a fixed seed; None when α rarely exists."""
    several = [row for row in ratings if sum(rating is not None for rating in row) >= 2]
    random = np.random.default_rng(0)
    values = []
    for _ in range(RESAMPLES):
        drawn = random.integers(0, len(several), len(several))
        value = krippendorff_alpha([several[at] for at in drawn])
        if value is not None:
            values.append(value)
    if len(values) < RESAMPLES / 2:
        return None
    low, high = np.quantile(values, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))
