"""Claims held against their context: ``verify``."""

from typing import TYPE_CHECKING

from ancrage.cli.scoring import Calls, conclude, print_estimate, require_models
from ancrage.cli.shell import Amount, Count, command
from ancrage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ancrage.llm import Models
    from ancrage.nli import NLISettings
    from ancrage.runs import RunFolder
    from ancrage.verify import ClaimScorer
    from ancrage.verify.settings import VerifySettings


@command(
    help={
        "what": "A run (its id, its beginning, its folder, or 'latest'), or a file of JSON lines "
        "with answer and, where known, id, question, context (text or texts).",
        "nli": "Have an NLI model give verdicts, beside figures, dates and words by code.",
        "llm": "Have a language model give verdicts; with --nli too, the language model leads.",
        "tier": "Model tier that is asked (default: [verify] tier, else standard).",
        "extractor": "Model tier that lists the claims (default: [verify] extractor, else rules).",
        "model": "NLI checkpoint: a name on the Hugging Face hub or a folder ([nli] model).",
        "rule": "Of --nli: argmax, calibrated, fixed or paper (default: [nli] rule).",
        "calibration": "Of --rule calibrated: the file that calibrate --nli wrote.",
        "no-code": "Leave verdicts to the models alone: no figures, dates or words by code.",
        "documents": "Folder of texts, looked up for claims that the context leaves open.",
        "recall": "Recall a context from the question alone where there is none (asks the tier).",
        "correct": "Rewrite contradicted claims and verify each correction (asks the tier).",
        "scale": "Score of an answer of which every claim is hallucinated (default: 1).",
        "out": "Where the verifications of a file go (default: FILE with .verified.jsonl).",
        "resume": "Keep the verifications that --out already holds and do the rest.",
        "concurrency": "Answers verified at once (default: 8; with --nli alone 64, in batches).",
    },
    example="verify answers.jsonl --nli",
)
def verify(
    what: str,
    nli: bool = False,
    llm: bool = False,
    tier: str = "",
    extractor: str = "",
    model: str = "",
    rule: str = "",
    calibration: str = "",
    no_code: bool = False,
    documents: str = "",
    recall: bool = False,
    correct: bool = False,
    scale: Amount | None = None,
    out: str = "",
    resume: bool = False,
    concurrency: Count | None = None,
    calls: Calls = Calls(),
) -> ExitCode:
    """Verify answers claim by claim.

    Exits 3 when an answer could not be read or a claim has no verdict.
    """
    from pathlib import Path

    from ancrage.config import load
    from ancrage.nli import NLISettings
    from ancrage.verify.context import recorded_context
    from ancrage.verify.files import verify_file
    from ancrage.verify.settings import VerifySettings, scorer_of

    config = load()
    settings = config.table(
        "verify",
        VerifySettings,
        verifiers=[name for name, wanted in (("llm", llm), ("nli", nli)) if wanted] or None,
        code=False if no_code else None,
        tier=tier or None,
        extractor=extractor or None,
        documents=documents or None,
        recall=recall or None,
        correct=correct or None,
        scale=scale,
    )
    inference = None
    if "nli" in settings.verifiers:
        inference = config.table(
            "nli",
            NLISettings,
            model=model or None,
            rule=rule or None,
            calibration=calibration or None,
        )
    elif model or rule or calibration:
        raise UsageError("--model, --rule and --calibration go with --nli")
    asks = settings.verifiers != ("nli",) or settings.recall or settings.correct
    concurrency = concurrency or (8 if asks else 64)
    models = calls.models(concurrency)
    if Path(what).is_file():
        if calls.dry_run:
            raise UsageError("--dry-run looks at a run, not at a file")
        return verify_file(
            what,
            out,
            lambda: scorer_of(settings, models, recorded_context, inference),
            resume=resume,
            concurrency=concurrency,
        )
    if Path(what).suffix == ".jsonl":
        raise UsageError(f"{what}: no such file")
    if out or resume:
        raise UsageError(f"{what} is no file; --out and --resume go with a file of answers")
    return _verify_run(what, settings, models, inference, concurrency, calls)


def _verify_run(
    name: str,
    settings: "VerifySettings",
    models: "Models",
    inference: "NLISettings | None",
    concurrency: int,
    calls: Calls,
) -> ExitCode:
    """A new scoring of the run, beside those that it has."""
    import asyncio

    from ancrage.runs import find_run, score_run
    from ancrage.runs.progress import track
    from ancrage.studies import Studies
    from ancrage.verify.context import anchored_context
    from ancrage.verify.settings import scorer_of

    folder = find_run(name)
    data = folder.snapshot()
    scorer = scorer_of(settings, models, anchored_context, inference)
    if calls.dry_run:
        return print_estimate(data, [scorer], folder)
    if not scorer.verifiers:
        return _preview(folder, scorer)
    require_models([scorer], calls)
    with track("Verifying", data.manifest.counts.kept) as advance:
        asyncio.run(
            score_run(
                folder,
                [scorer],
                Studies(data),
                concurrency=concurrency,
                progress=advance,
            )
        )
    return conclude(folder)


def _preview(folder: "RunFolder", scorer: "ClaimScorer") -> ExitCode:
    """What code alone tells of a run: printed, and no row of its report."""
    import asyncio

    from rich.text import Text

    from ancrage.report.terminal import console, show
    from ancrage.runs.progress import track
    from ancrage.studies import Studies
    from ancrage.verify.account import preview

    data = folder.snapshot()
    with track("Verifying", data.manifest.counts.kept) as advance:
        words, whole = asyncio.run(preview(folder, scorer, Studies(data), advance))
    left = "No model was asked, so the run gets no scoring: --nli or --llm give it one."
    show(Text(f"{words}\n{left}"), console())
    return ExitCode.OK if whole else ExitCode.INCOMPLETE


tasks = (verify,)
