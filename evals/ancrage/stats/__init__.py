"""Statistics of runs: pure functions over numpy arrays, each with its source."""

from ancrage.stats.agreement import Agreement, Confusion, agreement, krippendorff_alpha
from ancrage.stats.bounds import difference_bounds, rate_bounds
from ancrage.stats.intervals import (
    Interval,
    difference_interval,
    jeffreys,
    rate_interval,
    wilson,
)
from ancrage.stats.multiplicity import holm
from ancrage.stats.plan import plan
from ancrage.stats.power import cases_needed, detectable_change, labels_needed, power_of
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
from ancrage.stats.units import dominant, effective_cases, independent_within

__all__ = [
    "Agreement",
    "Confusion",
    "Consistency",
    "Corrected",
    "Interval",
    "Noise",
    "PairedTest",
    "agreement",
    "cases_needed",
    "consistency",
    "detectable_change",
    "difference_bounds",
    "difference_interval",
    "dominant",
    "effective_cases",
    "exchanges",
    "fates",
    "holm",
    "independent_within",
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
