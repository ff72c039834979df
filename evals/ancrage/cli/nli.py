"""Commands of verification by inference: verify, calibrate-nli, bench-nli."""

from typing import TYPE_CHECKING, Any

from ancrage.cli.shell import Amount, Count, Share, command
from ancrage.errors import ExitCode, UsageError, describe

if TYPE_CHECKING:
    from ancrage.nli import NLISettings

_MODEL = {
    "model": "NLI checkpoint: a name on the Hugging Face hub or a folder (default: [nli] model).",
    "offline": "Never reach for the network; the weights must be here (default: [nli] offline).",
}


def _settings(model: str, offline: bool, **others: Any) -> "NLISettings":
    from pydantic import ValidationError

    from ancrage.config import load
    from ancrage.nli import NLISettings

    settings = load().table("nli", NLISettings).model_dump()
    settings |= {"model": model} if model else {}
    settings |= {"offline": True} if offline else {}
    settings |= {name: value for name, value in others.items() if value not in ("", None)}
    try:
        return NLISettings.model_validate(settings)
    except ValidationError as error:
        raise UsageError(describe(error)) from None


@command(
    help={
        "file": "JSONL with answer and, where known, id, question, reference or context, domain.",
        "out": "Where the verdicts go, one line an answer (default: FILE with .verified.jsonl).",
        "rule": "One of paper, fixed, argmax or calibrated (default: [nli] rule).",
        "sigmas": "For paper, the k of τ = µ + kσ (default: [nli] k).",
        "calibration": "For calibrated, the file that calibrate-nli wrote.",
        "recall": "Recall a reference from the question alone where there is none (calls a model).",
        "correct": "Rewrite contradicted claims and verify each correction (calls a model).",
        "documents": "Folder of texts to search for claims that the reference cannot settle.",
        "resume": "Keep the verdicts that --out already holds and do the rest.",
        **_MODEL,
    },
)
def verify(
    file: str,
    out: str = "",
    rule: str = "",
    sigmas: Amount | None = None,
    calibration: str = "",
    recall: bool = False,
    correct: bool = False,
    documents: str = "",
    resume: bool = False,
    model: str = "",
    offline: bool = False,
) -> ExitCode:
    """Verify answers claim by claim, correct if wrong."""
    from ancrage.nli.batch import verify_file

    settings = _settings(
        model,
        offline,
        rule=rule,
        k=sigmas,
        calibration=calibration,
        documents=documents,
    )
    return verify_file(file, out, settings, recall=recall, correct=correct, resume=resume)


@command(
    help={
        "file": "Labelled claims: TruthfulQA CSV, FEVER-style JSONL, or TSV with three classes.",
        "out": "Where the calibration goes (default: nli-calibration.json).",
        "alpha": "The false-negative rate to keep to.",
        "precision": "The share of corrections that must be due.",
        "delta": "The risk of missing that precision.",
        "frozen": "Probabilities kept by an earlier run (default: FILE with .frozen.jsonl).",
        **_MODEL,
    },
)
def calibrate_nli(
    file: str,
    out: str = "nli-calibration.json",
    alpha: Share = 0.1,
    precision: Share = 0.8,
    delta: Share = 0.1,
    frozen: str = "",
    model: str = "",
    offline: bool = False,
) -> None:
    """Fit NLI thresholds on labelled claims."""
    from ancrage.nli.batch import calibrate_file

    settings = _settings(model, offline)
    calibrate_file(file, out, settings, alpha, precision, delta, frozen=frozen)


@command(
    help={
        "data": "A labelled file, as for calibrate-nli; repeat for several.",
        "out": "Folder for probabilities, tables and plots (default: nli-bench).",
        "limit": "Use at most that many responses of each file (default: all).",
        "generations": "JSONL of sampled answers and self-checks (default: OUT/generations.jsonl).",
        "tier": "Ask this model tier for generations first (default: none is asked).",
        **_MODEL,
    },
)
def bench_nli(
    data: list[str] | None = None,
    out: str = "nli-bench",
    limit: Count | None = None,
    generations: str = "",
    tier: str = "",
    model: str = "",
    offline: bool = False,
) -> None:
    """Compare NLI methods on labelled claims.

    Recomputes its tables without any model.
    """
    from ancrage.nli.batch import bench_files

    if not data:
        raise UsageError("give at least one --data FILE")
    settings = _settings(model, offline)
    bench_files(data, out, settings, limit, generations, tier)


tasks = (verify, calibrate_nli, bench_nli)
