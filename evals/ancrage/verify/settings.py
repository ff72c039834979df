"""The ``[verify]`` table of the configuration, and the evaluator it describes."""

from typing import Literal

from pydantic import Field

from ancrage.config import Config, load
from ancrage.domain import Frozen
from ancrage.llm import Models
from ancrage.nli import NLISettings
from ancrage.verify.context import GetContext, anchored_context
from ancrage.verify.llm import LLMVerifier, llm_correct, llm_recall
from ancrage.verify.lookup import BM25
from ancrage.verify.scorer import ClaimScorer, Model, claim_scorer


class VerifySettings(Frozen):
    """Who gives verdicts, on what, and how they count."""

    verifiers: tuple[Literal["llm", "nli"], ...] = ()
    """Beside code, in this order of precedence."""
    code: bool = True
    """Whether figures, dates and words are compared by code."""
    tier: str = "standard"
    """The model tier of ``llm``, of recalls and of corrections."""
    extractor: str | None = None
    """The model tier that lists claims; by default rules do."""
    documents: str | None = None
    """A folder of texts in which passages are looked up for claims that the context leaves open."""
    recall: bool = False
    """Whether a reference is recalled from the question alone where there is no context."""
    correct: bool = False
    """Whether contradicted claims are rewritten, each correction verified."""
    scale: float = Field(default=1.0, gt=0)


def scorer_of(
    settings: VerifySettings,
    models: Models,
    get_context: GetContext,
    inference: NLISettings | None = None,
) -> ClaimScorer:
    """The scorer that ``settings`` describe; its NLI model is that of ``inference``, by default of
    ``[nli]``.

    Raises:
        UsageError: a tier is not configured, the NLI model cannot be loaded, or the documents
            cannot be read.
    """
    verifiers: list[Model] = [
        LLMVerifier(models.tier(settings.tier), models) if name == "llm" else name
        for name in settings.verifiers
    ]
    if settings.recall or settings.correct:
        models.tier(settings.tier)
    return claim_scorer(
        verifiers or None,
        code=settings.code,
        scale=settings.scale,
        get_context=get_context,
        extractor=settings.extractor,
        models=models,
        nli=inference,
        retriever=BM25.folder(settings.documents) if settings.documents else None,
        recall=llm_recall(models, settings.tier) if settings.recall else None,
        correct=llm_correct(models, settings.tier) if settings.correct else None,
    )


def claim_evaluator(config: Config | None = None, models: Models | None = None) -> ClaimScorer:
    """The evaluator of ``[verify]``: claims against tool results and cited messages.

    Raises:
        UsageError: the table cannot be used, a tier is not configured, or the NLI model cannot be
            loaded.
    """
    config = config or load()
    settings = config.table("verify", VerifySettings)
    return scorer_of(settings, models or Models(config), anchored_context)
