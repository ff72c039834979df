"""Claims: what an answer asserts, and whether its figures and dates stand."""

from ancrage.claims.compare import COMPARISON_VERSION, Agreement, Comparison, compare_figures
from ancrage.claims.extract import EXTRACTOR_VERSION, Claim, extract_claims

__all__ = [
    "COMPARISON_VERSION",
    "EXTRACTOR_VERSION",
    "Agreement",
    "Claim",
    "Comparison",
    "compare_figures",
    "extract_claims",
]
