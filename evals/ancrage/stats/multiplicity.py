"""Several tests at once: one adjusted p-value a failure mode."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ancrage.stats.intervals import Floats


def holm(p_values: ArrayLike, attainable: Sequence[Floats] | None = None) -> Floats:
    """Adjusted p-values that control the chance of any false alarm over the whole family.

    ``attainable`` lists, for each test, the p-values it can give, ascending. A discrete test that
    cannot give a p-value as small as the one considered then costs the others nothing: modes on
    which nothing moved do not weaken the rest.

    Source: Holm, Scandinavian Journal of Statistics 6 (1979); discrete tests: Westfall &
    Wolfinger, The American Statistician 51 (1997).
    """
    p = np.asarray(p_values, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ValueError("p-values must lie in [0, 1]")
    order = np.argsort(p, kind="stable")
    adjusted = np.ones_like(p)
    highest = 0.0
    for rank, at in enumerate(order):
        rest = order[rank:]
        if attainable is None:
            total = float(p[at]) * len(rest)
        else:
            total = sum(_size(attainable[other], float(p[at])) for other in rest)
        highest = max(highest, min(total, 1.0))
        adjusted[at] = max(highest, float(p[at]))
    return adjusted


def _size(attainable: Floats, p: float) -> float:
    """The chance, when nothing differs, of a p-value of at most ``p``."""
    at = int(np.searchsorted(attainable, p * (1 + 1e-9), side="right"))
    return float(attainable[at - 1]) if at else 0.0
