"""Hallucination of answers in a file: ``hallucination``."""

from ancrage.cli.judges import models_for
from ancrage.cli.shell import Amount, Count, Size, command
from ancrage.errors import ExitCode


@command(
    help={
        "file": "JSON lines with answer and, where known, id, question, context (text or texts).",
        "out": "Where results go, a line an answer (default: FILE with .hallucination.jsonl).",
        "verdicts": "Who gives verdicts: llm, nli, both with a comma between (the first is "
        "followed), or none for figures, dates and verbatim claims alone (default: "
        "[hallucination] verdicts, else llm).",
        "tier": "Model tier of llm (default: [hallucination] tier, else standard).",
        "extractor": "Model tier that lists the claims (default: [hallucination] extractor, else "
        "rules, without a model).",
        "scale": "Score of an answer of which every claim is hallucinated (default: "
        "[hallucination] scale, else 1).",
        "resume": "Keep the results that --out already holds and do the rest.",
        "concurrency": "Answers scored at once.",
        "budget-tokens": "Stop before this many tokens are spent (default: no bound).",
        "budget-cost": "Stop before this much money is spent, by [prices] (default: no bound).",
        "no-cache": "Call the model also where an answer to the very same call is on disk.",
    }
)
def hallucination(
    file: str,
    out: str = "",
    verdicts: str = "",
    tier: str = "",
    extractor: str = "",
    scale: Amount | None = None,
    resume: bool = False,
    concurrency: Count = 8,
    budget_tokens: Size | None = None,
    budget_cost: Amount | None = None,
    no_cache: bool = False,
) -> ExitCode:
    """Score answers claim by claim against a context.

    Exits 3 when a line could not be read or a claim has no verdict.
    """
    from ancrage.config import load
    from ancrage.hallucination.files import score_file
    from ancrage.hallucination.settings import settings_of

    names = [each.strip() for each in verdicts.split(",") if each.strip()]
    settings = settings_of(
        load(),
        verdicts=None if not names else [] if names == ["none"] else names,
        tier=tier or None,
        extractor=extractor or None,
        scale=scale or None,
    )
    models = models_for(concurrency, budget_tokens, budget_cost, no_cache)
    return score_file(file, out, settings, models, resume=resume, concurrency=concurrency)


tasks = (hallucination,)
