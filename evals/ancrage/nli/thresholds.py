"""From probabilities to decisions: argmax, a fixed threshold, and the paper's adaptive one.

A response is a run of claims. Everything is vectorised over all responses at once: ``sizes`` gives
the number of claims of each response, in the order of the rows. No rule calls a claim unsupported
unless neutral is its likeliest class: one that is likely supported or contradicted, and not sure
enough, is undecided.
"""

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

_ROUNDING = 1e-12
"""Scores this close to a threshold are on it: µ + kσ is not exact in floating point."""


class Decision(IntEnum):
    SUPPORTED = 0
    UNSUPPORTED = 1
    CONTRADICTED = 2
    UNDECIDED = 3
    """Entailment or contradiction is likeliest, below the rule's threshold."""
    UNSCORED = 4
    """The model gave no probabilities."""


@dataclass(frozen=True)
class Decisions:
    """One decision a claim, and what the rule was worth in each response."""

    decisions: NDArray[np.int8]
    scores: Floats
    thresholds: Floats
    """One a response; NaN where the rule has none."""
    flags: dict[str, Bools] = field(default_factory=dict)
    """For ``paper``, one an array of responses: see ``paper``."""

    def flagged(self, response: int) -> tuple[str, ...]:
        """The names of the degenerate cases that hold in one response."""
        return tuple(name for name, where in self.flags.items() if where[response])


def classes(probabilities: Floats) -> NDArray[np.int8]:
    """The likeliest class of each row, 0 entailment, 1 neutral, 2 contradiction; ties N, E, C."""
    entailment, neutral, contradiction = probabilities.T
    result = np.ones(len(probabilities), dtype=np.int8)
    result[(entailment > neutral) & (entailment >= contradiction)] = 0
    result[(contradiction > neutral) & (contradiction > entailment)] = 2
    return result


def signed(probabilities: Floats, score: Literal["signed", "difference"] = "signed") -> Floats:
    """The score of each claim: +pE, 0 or −pC by its likeliest class; or pE − pC."""
    if score == "difference":
        difference: Floats = probabilities[:, 0] - probabilities[:, 2]
        return difference
    likeliest = classes(probabilities)
    return np.where(
        likeliest == 0,
        probabilities[:, 0],
        np.where(likeliest == 2, -probabilities[:, 2], 0.0),
    )


def paper(
    probabilities: Floats,
    sizes: Ints,
    k: float = 0.7,
    *,
    score: Literal["signed", "difference"] = "signed",
    scope: Literal["response", "pooled"] = "response",
    ddof: int = 0,
) -> Decisions:
    """The adaptive rule τ = µ + kσ over the scores of a response, or of all responses pooled.

    A claim is contradicted iff that is its likeliest class and s ≤ −τ, supported iff entailment is
    and s ≥ τ. Flags, one boolean a response: ``single`` (one claim: the rule is argmax for every
    k), ``no_spread`` (σ = 0), ``vacuous`` (τ ≤ 0: the threshold holds nothing back),
    ``unreachable`` (τ > 1: no claim can pass), ``empty`` (no scored claim).
    """
    known = ~np.isnan(probabilities).any(axis=1)
    owner = np.repeat(np.arange(len(sizes)), sizes)[known]
    values = signed(probabilities[known], score)
    counts = np.bincount(owner, minlength=len(sizes))
    groups = owner if scope == "response" else np.zeros_like(owner)
    mean, deviation = _moments(values, groups, len(sizes) if scope == "response" else 1, ddof)
    thresholds = mean + k * deviation
    if scope == "pooled":
        thresholds, deviation = (np.repeat(x, len(sizes)) for x in (thresholds, deviation))
    thresholds = np.where(counts > 0, thresholds, np.nan)
    scores = np.full(len(probabilities), np.nan)
    scores[known] = values
    sure = np.zeros(len(probabilities), dtype=bool)
    likeliest, tau = classes(probabilities[known]), thresholds[owner]
    sure[known] = np.where(likeliest == 0, values >= tau - _ROUNDING, values <= _ROUNDING - tau)
    flags = {
        "single": counts == 1,
        "no_spread": (deviation == 0) & (counts > 0),
        "vacuous": thresholds <= 0,
        "unreachable": thresholds > 1,
        "empty": counts == 0,
    }
    return Decisions(_by_class(probabilities, sure), scores, thresholds, flags)


def _moments(values: Floats, groups: Ints, number: int, ddof: int) -> tuple[Floats, Floats]:
    """Mean and deviation of each group; equal values give exactly themselves and zero."""
    counts = np.bincount(groups, minlength=number)
    some = np.maximum(counts, 1)
    mean = np.bincount(groups, weights=values, minlength=number) / some
    off = values - mean[groups]
    squares = np.bincount(groups, weights=off * off, minlength=number)
    deviation = np.sqrt(squares / np.maximum(counts - ddof, 1))
    if len(values):
        starts = np.flatnonzero(np.r_[True, groups[1:] != groups[:-1]])
        least, most = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
        same = starts[least == most]
        mean[groups[same]], deviation[groups[same]] = values[same], 0.0
    return mean, deviation


def fixed(probabilities: Floats, sizes: Ints, tau: float = 0.7) -> Decisions:
    """The likeliest class where it is neutral or has at least the probability τ."""
    sure = probabilities.max(axis=1, initial=0) >= tau
    scores = signed(probabilities)
    return Decisions(_by_class(probabilities, sure), scores, np.full(len(sizes), tau))


def argmax(probabilities: Floats, sizes: Ints) -> Decisions:
    """The likeliest class."""
    sure = np.ones(len(probabilities), dtype=bool)
    scores = signed(probabilities)
    return Decisions(_by_class(probabilities, sure), scores, np.full(len(sizes), np.nan))


def _by_class(probabilities: Floats, sure: Bools) -> NDArray[np.int8]:
    decisions = classes(probabilities)
    decisions[~sure & (decisions != Decision.UNSUPPORTED)] = Decision.UNDECIDED
    decisions[np.isnan(probabilities).any(axis=1)] = Decision.UNSCORED
    return decisions
