"""Verification of claims by natural language inference.

Torch and transformers are imported when a model is loaded, not before.
"""

from ancrage.nli.evaluator import NLIEvaluator, nli_evaluator
from ancrage.nli.model import Judged, NLIModel
from ancrage.nli.rules import Rule, rule_of
from ancrage.nli.settings import NLISettings
from ancrage.nli.verify import ClaimVerdict, Verification, Verifier

__all__ = [
    "ClaimVerdict",
    "Judged",
    "NLIEvaluator",
    "NLIModel",
    "NLISettings",
    "Rule",
    "Verification",
    "Verifier",
    "nli_evaluator",
    "rule_of",
]
