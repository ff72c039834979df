"""Repeats of one experiment: what holds every time, what flips, and how much is noise."""

import math
from collections.abc import Sequence

import numpy as np

from evals.compare.model import Repeats
from evals.stats import consistency, fates, noise, pass_at_k, pass_hat_k
from evals.stats.intervals import Floats, quantile


def repeats(outcomes: Floats, cases: Sequence[str]) -> Repeats | None:
    """How cases fared over an array cases × repeats; None for a single run."""
    n = outcomes.shape[1]
    if n < 2:
        return None
    found = consistency(outcomes, len(cases))
    parts = noise(outcomes)
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
        noise=None if parts.within is None else math.sqrt(parts.within),
        flaky=tuple(cases[at] for at in flips),
    )


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def noise_floor(first: Floats, second: Floats, n: int, level: float = 0.95) -> float | None:
    """The difference that two sides of the same thing stay within, ``level`` of the time.

    From the variance between repeats of one case; a side without repeats is taken to be as noisy
    as the other. None when neither side has repeats, or nothing is paired.
    """
    measured = [noise(side).within for side in (first, second)]
    known = [each for each in measured if each is not None]
    if not known or n < 1:
        return None
    variance = sum(
        (known[0] if within is None else within) / (n * side.shape[1])
        for within, side in zip(measured, (first, second), strict=True)
    )
    return quantile(level) * math.sqrt(variance)
