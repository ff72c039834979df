"""The ``[hallucination]`` table of the configuration, and the evaluator it describes."""

from typing import Literal

from pydantic import Field, ValidationError

from ancrage.config import Config, load
from ancrage.domain import Frozen
from ancrage.errors import UsageError, describe
from ancrage.hallucination.context import GetContext, anchored_context
from ancrage.hallucination.scorer import HallucinationScorer, hallucination_scorer
from ancrage.hallucination.verifiers import LLMVerifier
from ancrage.llm import Models


class HallucinationSettings(Frozen):
    """Who gives verdicts and how they count."""

    verdicts: tuple[Literal["llm", "nli"], ...] = ("llm",)
    """In this order of precedence; empty for figures, dates and verbatim claims alone."""
    tier: str = "standard"
    """The model tier of ``llm``."""
    extractor: str | None = None
    """The model tier that lists claims; by default rules do."""
    scale: float = Field(default=1.0, gt=0)


def settings_of(config: Config, **chosen: object) -> HallucinationSettings:
    """The ``[hallucination]`` table with the options that were given in its place.

    Raises:
        UsageError: a value cannot be used.
    """
    table = config.table("hallucination", HallucinationSettings).model_dump()
    try:
        given = {name: value for name, value in chosen.items() if value is not None}
        return HallucinationSettings.model_validate({**table, **given})
    except ValidationError as error:
        raise UsageError(describe(error)) from None


def scorer_of(
    settings: HallucinationSettings, models: Models, get_context: GetContext
) -> HallucinationScorer:
    """The scorer that ``settings`` describe.

    Raises:
        UsageError: a tier is not configured, or the NLI model cannot be loaded.
    """
    if len(set(settings.verdicts)) < len(settings.verdicts):
        raise UsageError("[hallucination] verdicts: name each of llm and nli once")
    verifiers = [
        LLMVerifier(models.tier(settings.tier), models) if each == "llm" else "nli"
        for each in settings.verdicts
    ]
    return hallucination_scorer(
        verifiers or None,
        scale=settings.scale,
        get_context=get_context,
        extractor=settings.extractor,
        models=models,
    )


def hallucination_evaluator(
    config: Config | None = None, models: Models | None = None
) -> HallucinationScorer:
    """The evaluator of ``[hallucination]``: claims against tool results and cited messages.

    Raises:
        UsageError: the table cannot be used, a tier is not configured, or the NLI model cannot be
            loaded.
    """
    config = config or load()
    settings = config.table("hallucination", HallucinationSettings)
    return scorer_of(settings, models or Models(config), anchored_context)
