"""Cases or studies: what may be taken as independent when two runs are compared."""

import numpy as np

from ancrage.stats.intervals import Floats, Units

FEWEST = 6
"""With fewer units no exact test can reach p < 0.05."""
_SPREAD = 10
"""From so many units on that moved, the direction of the changes alone shows how alike they are."""
_MANY = 20
"""From so many units on that moved, none of them decides alone."""
_ALIKE, _ALIKE_WHERE_FEW = 0.1, 0.3
"""Cases are the units when chance makes the changes within units as alike as they are more often
than this; few units see less, and are believed less."""
_SHUFFLES = 200
_ROOM = 1_000_000
"""Cases shuffled at a time."""


def independent_within(differences: Floats, units: Units) -> bool:
    """Whether the cases of a unit may be taken as independent in their change.

    A permutation test says how often chance makes the changes within units as alike as they are;
    the mean change is taken out first, so that the answer says nothing of which run is better.
    Where changes are spread over ten units and more, none of which holds half of them, they change
    places among the cases that changed (hard studies have more of them, which is no reason to
    distrust them) and p > 0.1 will do. Else among all cases, and p > 0.3 is asked for. True when
    nothing moved.

    Source: stopped when decided, Besag & Clifford, Biometrika 78 (1991).
    """
    moved = np.bincount(units, weights=np.abs(differences))
    bar = _ALIKE_WHERE_FEW
    if np.count_nonzero(moved) >= _SPREAD and moved.max() < moved.sum() / 2:
        bar = _ALIKE
        changed = np.abs(differences) > 1e-12
        differences, units = differences[changed], units[changed]
    centred = differences - differences.mean()
    if not np.any(np.abs(centred) > 1e-12):
        return True
    random = np.random.default_rng(20240229)
    seen = float(np.sum(np.bincount(units, weights=centred) ** 2)) * (1 - 1e-12)
    k, beyond = int(units.max()) + 1, 0
    block = max(1, min(40, _ROOM // centred.size))
    for _ in range(0, _SHUFFLES, block):
        shuffled = random.permuted(np.tile(centred, (block, 1)), axis=1)
        cells = (units + k * np.arange(block)[:, None]).ravel()
        sums = np.bincount(cells, weights=shuffled.ravel(), minlength=k * block)
        beyond += int(np.count_nonzero(np.sum(sums.reshape(block, k) ** 2, axis=1) >= seen))
        if beyond >= bar * _SHUFFLES:
            return True
    return False


def dominant(differences: Floats, units: Units) -> int | None:
    """The unit that alone makes up over half of what few units differ in; None when none does.

    One study decides then, and neither the test nor the interval is safe.
    """
    moved = np.bincount(units, weights=np.abs(differences))
    weight = np.bincount(units, weights=differences - differences.mean()) ** 2
    if not FEWEST <= np.count_nonzero(moved) < _MANY:
        return None
    largest = int(np.argmax(weight))
    return largest if weight[largest] > weight.sum() / 2 else None


def effective_cases(differences: Floats, units: Units | None) -> float:
    """How many independent cases carry as much information as these differences.

    Clustered cases count for less than their number, never for more; few units for less again,
    since their spread must be seen in them. Means of repeats count for more.

    Source: Rao & Scott, Biometrics 48 (1992); the factor (k − 1) / (k + 1) is ours.
    """
    n = float(differences.size)
    if squares := float(np.sum(differences**2)):
        n *= float(np.sum(np.abs(differences))) / squares
    if units is None or n == 0:
        return n
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
