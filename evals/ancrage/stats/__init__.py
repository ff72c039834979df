"""Statistics of runs: pure functions over numpy arrays, each with its source."""

from ancrage.stats.agreement import Agreement, Confusion, agreement, krippendorff_alpha
from ancrage.stats.bounds import difference_bounds, rate_bounds
from ancrage.stats.intervals import (
    Interval,
    clopper_pearson,
    difference_interval,
    jeffreys,
    rate_interval,
    wilson,
)
from ancrage.stats.multiplicity import benjamini_hochberg, holm
from ancrage.stats.power import cases_needed, detectable_change, labels_needed, plan, power_of
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
from ancrage.stats.swaps import (
    PairedTest,
    exchanges,
    mcnemar,
    shares,
    swap_evidence,
    swap_test,
)
from ancrage.stats.units import alike_p, dominant, effective_cases

__all__ = [
    "Agreement",
    "Confusion",
    "Consistency",
    "Corrected",
    "Interval",
    "Noise",
    "PairedTest",
    "agreement",
    "alike_p",
    "benjamini_hochberg",
    "cases_needed",
    "clopper_pearson",
    "consistency",
    "detectable_change",
    "difference_bounds",
    "difference_interval",
    "dominant",
    "effective_cases",
    "exchanges",
    "fates",
    "holm",
    "jeffreys",
    "krippendorff_alpha",
    "labels_needed",
    "mcnemar",
    "noise",
    "pass_at_k",
    "pass_hat_k",
    "plan",
    "power_of",
    "ppi",
    "rate_bounds",
    "rate_interval",
    "rogan_gladen",
    "shares",
    "swap_evidence",
    "swap_test",
    "wilson",
]
