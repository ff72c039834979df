"""Verification of claims by natural language inference.

Torch and transformers are imported when a model is loaded, not before.
"""

from evals.nli.evaluator import NLIEvaluator, nli_evaluator
from evals.nli.model import Judged, NLIModel
from evals.nli.rules import Rule, rule_of
from evals.nli.settings import NLISettings
from evals.nli.verify import ClaimVerdict, Verification, Verifier

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
