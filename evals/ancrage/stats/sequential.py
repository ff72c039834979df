"""A test that may be looked at as often as one likes while a run grows."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import logsumexp

from ancrage.stats.intervals import Floats

_BETS = np.cos(np.pi * (np.arange(1, 33) - 0.5) / 32)
"""Chebyshev nodes: the chances 1/2 ± bet/2 spread as Jeffreys's prior on a chance."""


@dataclass(frozen=True)
class Sequential:
    """The evidence against "no difference" so far."""

    e_value: float
    """The wealth now of a gambler who bets against "no difference" and started with 1."""
    p_value: float
    """1 / the largest wealth so far: valid whenever one stops, and never grows."""
    p_greater: float
    """The same, one-sided: 1 / the largest wealth of a gambler who bets on increases alone."""
    units: int
    """Units (cases, or whole clusters) that moved so far."""


def sequential(differences: ArrayLike) -> Sequential:
    """Anytime-valid test that the runs do not differ, from differences in order of completion.

    Each entry is the difference of one independent unit: a case, or the *sum over a whole
    cluster*, entered once the cluster is complete. When nothing differs, either sign is as likely,
    and the mixture of bets below is a fair game: the chance that its wealth ever reaches 1/α is at
    most α, however often and whenever one looks. ``p_value`` is two-sided and names no direction:
    an early fall leaves it small whatever comes after. For a claim of increase use ``p_greater``.

    Source: Ville (1939); Robbins, Annals of Mathematical Statistics 41 (1970); Ramdas, Grünwald,
    Vovk & Shafer, Statistical Science 38 (2023).
    """
    array = np.asarray(differences, dtype=np.float64)
    if not np.all(np.isfinite(array)):
        raise ValueError("differences must be finite; take unscored cases out first")
    moved = array[np.abs(array) > 1e-9]
    if moved.size == 0:
        return Sequential(1.0, 1.0, 1.0, 0)
    path = wealth(moved)
    return Sequential(
        float(np.exp(path[-1])),
        float(min(1.0, np.exp(-path.max()))),
        float(min(1.0, np.exp(-wealth(moved, _BETS[_BETS > 0]).max()))),
        int(moved.size),
    )


def wealth(differences: Floats, bets: Floats = _BETS) -> Floats:
    """The logarithm of the wealth after each unit, spread evenly over ``bets`` at the start."""
    # tanh(λd) for a unit that moved by d: a bet of that size at even odds, conditional on |d|.
    strength = np.arctanh(bets)
    steps = np.log1p(np.tanh(np.outer(differences, strength)).clip(min=-1 + 1e-15))
    return np.asarray(logsumexp(np.cumsum(steps, axis=0), axis=1) - np.log(bets.size))
