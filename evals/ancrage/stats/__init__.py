"""Statistics of runs: pure functions over numpy arrays, each with its source."""

from ancrage.stats.agreement import Agreement, Confusion, agreement, krippendorff_alpha
from ancrage.stats.bounds import difference_bounds, rate_bounds
from ancrage.stats.intervals import (
    Clusters,
    Interval,
    clopper_pearson,
    jeffreys,
    rate_interval,
    wilson,
)
from ancrage.stats.multiplicity import benjamini_hochberg, holm
from ancrage.stats.paired import (
    PairedTest,
    detectable_difference,
    difference_interval,
    effective_size,
    mcnemar,
    sign_flip,
)
from ancrage.stats.prevalence import Corrected, ppi, rogan_gladen
from ancrage.stats.repeats import (
    Consistency,
    Noise,
    consistency,
    fates,
    noise,
    pass_at_k,
    pass_hat_k,
)
from ancrage.stats.sequential import Sequential, sequential

__all__ = [
    "Agreement",
    "Clusters",
    "Confusion",
    "Consistency",
    "Corrected",
    "Interval",
    "Noise",
    "PairedTest",
    "Sequential",
    "agreement",
    "benjamini_hochberg",
    "clopper_pearson",
    "consistency",
    "detectable_difference",
    "difference_bounds",
    "difference_interval",
    "effective_size",
    "fates",
    "holm",
    "jeffreys",
    "krippendorff_alpha",
    "mcnemar",
    "noise",
    "pass_at_k",
    "pass_hat_k",
    "ppi",
    "rate_bounds",
    "rate_interval",
    "rogan_gladen",
    "sequential",
    "sign_flip",
    "wilson",
]
