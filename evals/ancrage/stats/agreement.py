"""How far raters agree: people with people, a judge with people, a judge with itself."""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np

from ancrage.stats.intervals import Interval, quantile, wilson


@dataclass(frozen=True)
class Confusion:
    """A judge against the truth, counted; ``positive`` means that the defect is there."""

    true_positive: int
    false_positive: int
    false_negative: int
    true_negative: int

    @classmethod
    def of(cls, truth: Sequence[bool], judged: Sequence[bool]) -> "Confusion":
        """Count the pairs, one a case."""
        pairs = Counter(zip(map(bool, truth), map(bool, judged), strict=True))
        return cls(pairs[True, True], pairs[False, True], pairs[True, False], pairs[False, False])

    @property
    def n(self) -> int:
        return sum(
            (self.true_positive, self.false_positive, self.false_negative, self.true_negative)
        )

    @property
    def positives(self) -> int:
        """Cases where the defect is truly there: the denominator of sensitivity."""
        return self.true_positive + self.false_negative

    @property
    def negatives(self) -> int:
        """Cases where it is not: the denominator of specificity."""
        return self.true_negative + self.false_positive

    @property
    def sensitivity(self) -> float | None:
        """True-positive rate; None without positives."""
        return self.true_positive / self.positives if self.positives else None

    @property
    def specificity(self) -> float | None:
        """True-negative rate; None without negatives."""
        return self.true_negative / self.negatives if self.negatives else None

    @property
    def precision(self) -> float | None:
        """Share of the judge's alarms that are right; None without alarms."""
        alarms = self.true_positive + self.false_positive
        return self.true_positive / alarms if alarms else None

    @property
    def agreement(self) -> float | None:
        """Raw agreement; None without cases."""
        return (self.true_positive + self.true_negative) / self.n if self.n else None

    @property
    def prevalence(self) -> float | None:
        """Share of cases where the defect is there; κ cannot be read without it."""
        return self.positives / self.n if self.n else None


@dataclass(frozen=True)
class Agreement:
    """Agreement of two raters; ``kappa`` is None where both give one label throughout."""

    n: int
    raw: float | None
    raw_interval: Interval
    kappa: float | None
    kappa_interval: Interval | None


def agreement(
    first: Sequence[Hashable], second: Sequence[Hashable], level: float = 0.95
) -> Agreement:
    """Raw agreement and Cohen's κ of two raters who labelled the same cases, with intervals.

    Source: Cohen, Educational and Psychological Measurement 20 (1960); large-sample variance:
    Fleiss, Cohen & Everitt, Psychological Bulletin 72 (1969).
    """
    if len(first) != len(second):
        raise ValueError(f"{len(first)} labels against {len(second)}")
    n = len(first)
    if n == 0:
        return Agreement(0, None, Interval(0.0, 1.0), None, None)
    labels = {label: at for at, label in enumerate(dict.fromkeys([*first, *second]))}
    table = np.zeros((len(labels), len(labels)))
    for one, other in zip(first, second, strict=True):
        table[labels[one], labels[other]] += 1
    table /= n
    raw = float(np.trace(table))
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    chance = float(rows @ columns)
    interval = wilson(round(raw * n), n, level)
    if 1 - chance < 1e-12:
        return Agreement(n, raw, interval, None, None)
    kappa = (raw - chance) / (1 - chance)
    diagonal = np.diag(table)
    on = np.sum(diagonal * (1 - (rows + columns) * (1 - kappa)) ** 2)
    off = (1 - kappa) ** 2 * (
        np.sum(table * (columns[:, None] + rows[None, :]) ** 2)
        - np.sum(diagonal * (columns + rows) ** 2)
    )
    variance = (on + off - (kappa - chance * (1 - kappa)) ** 2) / ((1 - chance) ** 2 * n)
    half = quantile(level) * float(np.sqrt(max(variance, 0.0)))
    return Agreement(
        n, raw, interval, kappa, Interval(max(-1.0, kappa - half), min(1.0, kappa + half))
    )


def krippendorff_alpha(ratings: Sequence[Sequence[Hashable | None]]) -> float | None:
    """Krippendorff's α for nominal labels; one sequence a case, None where a rater gave none.

    Raters may be many, change from case to case, and leave gaps. None when α does not exist: no
    case with two labels, or one label everywhere.

    Source: Krippendorff, Content Analysis (2004), chapter 11.
    """
    units = [Counter(label for label in case if label is not None) for case in ratings]
    units = [unit for unit in units if unit.total() >= 2]
    totals: Counter[Hashable] = Counter()
    for unit in units:
        totals.update(unit)
    n = totals.total()
    if n == 0 or len(totals) < 2:
        return None
    observed = sum(
        (unit.total() ** 2 - sum(count**2 for count in unit.values())) / (unit.total() - 1)
        for unit in units
    )
    expected = (n**2 - sum(count**2 for count in totals.values())) / (n - 1)
    return 1 - observed / expected
