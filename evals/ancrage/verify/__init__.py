"""Claims of an answer held against a context: verifiers, verdicts, score."""

from ancrage.verify.context import (
    GetContext,
    anchored_context,
    make_run,
    recorded_context,
    tool_context,
)
from ancrage.verify.live import Live
from ancrage.verify.llm import LLMVerifier
from ancrage.verify.model import (
    ClaimVerdict,
    ClaimVerifier,
    ContextItem,
    Correction,
    Evidence,
    Opinion,
    Opinions,
    Prompt,
    State,
    Verdict,
)
from ancrage.verify.result import Band, Verification
from ancrage.verify.rounds import verify_by_code
from ancrage.verify.scorer import ClaimScorer, claim_scorer
from ancrage.verify.settings import VerifySettings, claim_evaluator

__all__ = [
    "Band",
    "ClaimScorer",
    "ClaimVerdict",
    "ClaimVerifier",
    "ContextItem",
    "Correction",
    "Evidence",
    "GetContext",
    "LLMVerifier",
    "Live",
    "Opinion",
    "Opinions",
    "Prompt",
    "State",
    "Verdict",
    "Verification",
    "VerifySettings",
    "anchored_context",
    "claim_evaluator",
    "claim_scorer",
    "make_run",
    "recorded_context",
    "tool_context",
    "verify_by_code",
]
