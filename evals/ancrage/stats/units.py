"""Cases or studies: what may be taken as independent when two runs are compared."""

import numpy as np

from ancrage.stats.intervals import Floats, Units

FEWEST = 6
"""With fewer units no exact test can reach p < 0.05."""
_SHUFFLES = 199


def alike_p(differences: Floats, units: Units) -> float:
    """How easily chance makes the changes of the cases of one unit as alike as they are here.

    A permutation p-value of the spread of the units' sums; the mean change is taken out first, so
    that the answer says nothing of which run is better. 1 when nothing moved.
    """
    centred = differences - differences.mean()
    if not np.any(np.abs(centred) > 1e-12):
        return 1.0
    random = np.random.default_rng(20240229)

    def spread(values: Floats) -> float:
        return float(np.sum(np.bincount(units, weights=values) ** 2))

    seen = spread(centred) * (1 - 1e-12)
    beyond = sum(spread(random.permutation(centred)) >= seen for _ in range(_SHUFFLES))
    return (1 + beyond) / (1 + _SHUFFLES)


def dominant(differences: Floats, units: Units) -> int | None:
    """The unit that alone makes up over half of what the units differ in; None when none does.

    One study decides then, and neither the test nor the interval is safe.
    """
    moved = np.bincount(units, weights=np.abs(differences))
    weight = np.bincount(units, weights=differences - differences.mean()) ** 2
    if np.count_nonzero(moved) < FEWEST:
        return None
    largest = int(np.argmax(weight))
    return largest if weight[largest] > weight.sum() / 2 else None


def effective_cases(differences: Floats, units: Units | None) -> float:
    """How many independent cases carry as much information as these differences.

    Clustered cases count for less than their number, never for more; few units for less again,
    since their spread must be seen in them.

    Source: Rao & Scott, Biometrics 48 (1992); the factor (k − 1) / (k + 1) is ours.
    """
    n = differences.size
    if units is None or n == 0:
        return float(n)
    centred = differences - differences.mean()
    k = np.unique(units).size
    if k < 2:
        return 0.0
    independent = float(np.sum(centred**2))
    inflation = 1.0
    if independent > 1e-12:
        together = float(np.sum(np.bincount(units, weights=centred) ** 2))
        inflation = max(1.0, together * k / (k - 1) / independent)
    return n / inflation * (k - 1) / (k + 1)
