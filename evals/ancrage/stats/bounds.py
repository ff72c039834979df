"""What the unscored cases could change: best and worst case, with no assumption about them."""

import numpy as np
from numpy.typing import ArrayLike

from ancrage.stats.intervals import Interval


def rate_bounds(values: ArrayLike) -> Interval:
    """The lowest and highest rate over *all* cases; NaN marks an unscored one, worth 0 or 1.

    An array cases × repeats counts every verdict.
    (0, 1) when there is no case. Source: Manski, American Economic Review 80 (1990).
    """
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        return Interval(0.0, 1.0)
    return Interval(
        float(np.nan_to_num(array, nan=0).mean()), float(np.nan_to_num(array, nan=1).mean())
    )


def difference_bounds(first: ArrayLike, second: ArrayLike) -> Interval:
    """The lowest and highest mean of second − first over *all* cases; NaN marks an unscored one.

    (−1, 1) when there is no case. Source: as ``rate_bounds``.
    """
    a, b = rate_bounds(first), rate_bounds(second)
    if np.shape(first)[:1] != np.shape(second)[:1]:
        raise ValueError("both runs need one value (or one row of repeats) a case")
    return Interval(b.low - a.high, b.high - a.low)
