"""Hallucination of an output, claim by claim, against a context."""

from ancrage.hallucination.batch import Batch, BatchItem, Scorer, Summary, run_evals
from ancrage.hallucination.context import (
    GetContext,
    anchored_context,
    make_run,
    recorded_context,
    tool_context,
)
from ancrage.hallucination.live import Live
from ancrage.hallucination.model import (
    ClaimVerdict,
    ContextItem,
    Evidence,
    HallucinationResult,
    Opinion,
    Prompt,
    State,
    Verdict,
)
from ancrage.hallucination.scorer import HallucinationScorer, hallucination_scorer
from ancrage.hallucination.settings import HallucinationSettings, hallucination_evaluator
from ancrage.hallucination.verifiers import ClaimVerifier, LLMVerifier, Verification

__all__ = [
    "Batch",
    "BatchItem",
    "ClaimVerdict",
    "ClaimVerifier",
    "ContextItem",
    "Evidence",
    "GetContext",
    "HallucinationResult",
    "HallucinationScorer",
    "HallucinationSettings",
    "LLMVerifier",
    "Live",
    "Opinion",
    "Prompt",
    "Scorer",
    "State",
    "Summary",
    "Verdict",
    "Verification",
    "anchored_context",
    "hallucination_evaluator",
    "hallucination_scorer",
    "make_run",
    "recorded_context",
    "run_evals",
    "tool_context",
]
