"""Repeats of one experiment: what holds every time, what flips, and how much is noise."""

import math
from collections.abc import Sequence

import numpy as np

from ancrage.compare.model import Repeats
from ancrage.compare.results import Group
from ancrage.stats import Noise, consistency, fates, pass_at_k, pass_hat_k
from ancrage.stats.intervals import Floats, quantile


def repeats(outcomes: Floats, cases: Sequence[str], parts: Noise) -> Repeats | None:
    """How cases fared over an array cases × repeats; None for a single run."""
    n = outcomes.shape[1]
    if n < 2:
        return None
    found = consistency(outcomes, len(cases))
    names = fates(outcomes) if len(cases) else []
    flips = [at for at, fate in enumerate(names) if fate == "flip"]
    flips.sort(key=lambda at: (round(abs(float(np.nanmean(outcomes[at])) - 0.5), 9), at))
    scored = (~np.isnan(outcomes)).sum(axis=1)
    passes = (outcomes == 0).sum(axis=1)
    tries = list(zip(passes.tolist(), scored.tolist(), strict=True))
    return Repeats(
        repeats=n,
        cases=found.cases,
        always_pass=found.always_pass,
        always_fail=found.always_fail,
        flips=found.flips,
        missing=found.missing,
        flip_rate=found.flip_rate,
        pass_hat={k: _mean([pass_hat_k(p, m, k) for p, m in tries]) for k in range(1, n + 1)},
        pass_at={k: _mean([pass_at_k(p, m, k) for p, m in tries]) for k in range(1, n + 1)},
        noise=_root(parts.within),
        model_noise=None if parts.judge is None else _root(parts.model),
        judge_noise=_root(parts.judge),
        flaky=tuple(cases[at] for at in flips),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _root(variance: float | None) -> float | None:
    return None if variance is None else math.sqrt(variance)


def verdicts(side: Group, mode: str, cases: Sequence[str], outcomes: Floats) -> Floats:
    """``outcomes`` as cases × repeats × verdicts: several where an answer was judged again."""
    known = [each.verdicts.get(mode, {}) for each in side]
    most = max((len(values) for each in known for values in each.values()), default=1)
    array = np.full((*outcomes.shape, most), np.nan)
    array[:, :, 0] = outcomes
    for column, each in enumerate(known):
        for row, case in enumerate(cases) if each else ():
            if values := each.get(case):
                array[row, column, : len(values)] = values
    return array


def noise_floor(
    variances: Sequence[float | None], repeats: Sequence[int], n: int, level: float = 0.95
) -> float | None:
    """The difference that two sides of the same thing stay within, ``level`` of the time.

    ``variances`` are those of one case within each side, ``repeats`` the runs of each. A side
    whose variance is unknown is taken to be as noisy as the other; None when both are unknown, or
    nothing is paired.
    """
    known = [each for each in variances if each is not None]
    if not known or n < 1:
        return None
    variance = sum(
        (known[0] if each is None else each) / (n * count)
        for each, count in zip(variances, repeats, strict=True)
    )
    return quantile(level) * math.sqrt(variance)
