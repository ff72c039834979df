"""From probabilities to decisions: the paper's adaptive threshold, a fixed one, and argmax.

A response is a run of claims. Everything is vectorised over all responses at once: ``sizes`` gives
the number of claims of each response, in the order of the rows.
"""

from dataclasses import dataclass
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
    KEPT = 0
    """Neither supported nor contradicted: kept as it is, flagged as undecided."""
    ACCEPTED = 1
    CORRECT = 2
    """Contradicted: to be corrected."""
    UNSCORED = 3
    """The model gave no probabilities."""


@dataclass(frozen=True)
class Decisions:
    """One decision a claim, and what the rule was worth in each response."""

    decisions: NDArray[np.int8]
    scores: Floats
    thresholds: Floats
    """One a response; NaN where the rule has none."""
    flags: dict[str, Bools]
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

    A claim is to be corrected iff its likeliest class is contradiction and s ≤ −τ, accepted iff it
    is entailment and s ≥ τ, otherwise kept. Flags, one boolean a response: ``single`` (one claim:
    the rule is argmax for every k), ``no_spread`` (σ = 0), ``vacuous`` (τ ≤ 0: the threshold holds
    nothing back), ``unreachable`` (τ > 1: no claim can pass), ``empty`` (no scored claim).
    """
    known = ~np.isnan(probabilities).any(axis=1)
    owner = np.repeat(np.arange(len(sizes)), sizes)[known]
    scored = probabilities[known]
    values = signed(scored, score)
    counts = np.bincount(owner, minlength=len(sizes))
    groups = owner if scope == "response" else np.zeros_like(owner)
    mean, deviation = _moments(values, groups, len(sizes) if scope == "response" else 1, ddof)
    thresholds = mean + k * deviation
    if scope == "pooled":
        thresholds, deviation = (np.repeat(x, len(sizes)) for x in (thresholds, deviation))
    thresholds = np.where(counts > 0, thresholds, np.nan)
    likeliest = classes(scored)
    tau = thresholds[owner]
    decisions = np.full(len(probabilities), Decision.UNSCORED, dtype=np.int8)
    decided = np.zeros(len(values), dtype=np.int8)
    decided[(likeliest == 0) & (values >= tau - _ROUNDING)] = Decision.ACCEPTED
    decided[(likeliest == 2) & (values <= _ROUNDING - tau)] = Decision.CORRECT
    decisions[known] = decided
    all_scores = np.full(len(probabilities), np.nan)
    all_scores[known] = values
    flags = {
        "single": counts == 1,
        "no_spread": (deviation == 0) & (counts > 0),
        "vacuous": thresholds <= 0,
        "unreachable": thresholds > 1,
        "empty": counts == 0,
    }
    return Decisions(decisions, all_scores, thresholds, flags)


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
    """Accepted iff pE ≥ τ, to be corrected iff pC ≥ τ (the likelier of the two), else kept."""
    entailment, _, contradiction = probabilities.T
    decisions = np.zeros(len(probabilities), dtype=np.int8)
    decisions[(entailment >= tau) & (entailment >= contradiction)] = Decision.ACCEPTED
    decisions[(contradiction >= tau) & (contradiction > entailment)] = Decision.CORRECT
    return _without_threshold(probabilities, decisions, np.full(len(sizes), tau))


def argmax(probabilities: Floats, sizes: Ints) -> Decisions:
    """Accepted iff entailment is likeliest, to be corrected iff contradiction is."""
    decisions = np.array([Decision.ACCEPTED, Decision.KEPT, Decision.CORRECT], dtype=np.int8)[
        classes(probabilities)
    ]
    return _without_threshold(probabilities, decisions, np.full(len(sizes), np.nan))


def _without_threshold(
    probabilities: Floats, decisions: NDArray[np.int8], thresholds: Floats
) -> Decisions:
    unknown = np.isnan(probabilities).any(axis=1)
    decisions[unknown] = Decision.UNSCORED
    scores = signed(probabilities)
    scores[unknown] = np.nan
    return Decisions(decisions, scores, thresholds, {})
