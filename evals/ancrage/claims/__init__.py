"""Claims: what an answer asserts, and whether its figures and dates stand."""

from ancrage.claims.compare import Agreement, Comparison, compare_figures, comparison_version
from ancrage.claims.extract import Claim, extract_claims, extractor_version

__all__ = [
    "Agreement",
    "Claim",
    "Comparison",
    "compare_figures",
    "comparison_version",
    "extract_claims",
    "extractor_version",
]
