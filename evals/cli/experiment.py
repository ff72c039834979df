"""Run the checks over answers: ``experiment`` and ``score``."""

from pathlib import Path

from invoke.context import Context

from evals.cli.shell import Whole, command
from evals.errors import ExitCode, UsageError

_SNAPSHOTS = Path("snapshots")


@command(
    help={
        "snapshot": "Folder of the snapshot to audit (default: the newest in snapshots/).",
        "dataset": "Run on this dataset of Langfuse instead, as an experiment there.",
        "version": "With --dataset: as it was at this ISO time (default: as it is now).",
        "repeat": "With --dataset: how many experiments to make, as one group (default: 1).",
        "judges": "LLM judges to add to the code checks (default: none).",
        "run-name": "Name of the run (default: date, time and snapshot).",
        "resume": "Continue this run instead of starting one: its id, or 'latest'.",
        "concurrency": "Answers evaluated at once (default: 8).",
    }
)
def experiment(
    context: Context,
    snapshot: str = "",
    dataset: str = "",
    version: str = "",
    repeat: int = Whole(1),
    judges: str = "none",
    run_name: str = "",
    resume: str = "",
    concurrency: int = Whole(8),
) -> ExitCode:
    """Check the recorded answers of a snapshot, and report what was found.

    Exits 0 when every answer has its scores, 3 when the run is incomplete.
    """
    import asyncio

    from evals.cli.langfuse import made_on_dataset, resume_on_dataset, run_on_dataset
    from evals.evaluators import select
    from evals.report.terminal import print_run
    from evals.runs import create_run, find_run, recorded, run_experiment
    from evals.runs.progress import track
    from evals.snapshot import open_snapshot
    from evals.source import Sources

    if resume and (snapshot or dataset or run_name):
        raise UsageError(
            "--resume continues a run as it is; leave out --snapshot, --dataset and --run-name"
        )
    if snapshot and dataset:
        raise UsageError("--snapshot and --dataset both say what to run on: give one")
    if not dataset and (version or repeat != 1):
        raise UsageError("--version and --repeat go with --dataset")
    evaluators = select(judges)
    if dataset:
        return run_on_dataset(
            dataset,
            evaluators,
            version=version,
            run_name=run_name,
            repeat=repeat,
            concurrency=concurrency,
        )
    if resume:
        folder = find_run(resume)
        if made_on_dataset(folder):
            return resume_on_dataset(folder, evaluators, concurrency)
        data = folder.snapshot()
    else:
        data = open_snapshot(snapshot or _newest())
        folder = create_run(data, kind="audit", name=run_name or None)
    with track("Checking", data.manifest.counts.kept) as advance:
        run = asyncio.run(
            run_experiment(
                folder,
                data.cases(),
                recorded,
                evaluators,
                Sources(data),
                concurrency=concurrency,
                on_item=lambda *_: advance(),
            )
        )
    print_run(folder, html=folder.path / "report.html")
    return ExitCode.OK if run.state == "complete" else ExitCode.INCOMPLETE


@command(
    help={
        "run": "Run to score again: its id, its beginning, its folder, or 'latest'.",
        "judges": "LLM judges to add to the code checks (default: none).",
        "concurrency": "Answers evaluated at once (default: 8).",
    },
)
def score(
    context: Context, run: str, judges: str = "none", concurrency: int = Whole(8)
) -> ExitCode:
    """Score a run's outputs again with the checks as they are now, beside its older scorings."""
    import asyncio

    from evals.evaluators import select
    from evals.report.terminal import print_run
    from evals.runs import find_run, score_run
    from evals.runs.progress import track
    from evals.source import Sources

    folder = find_run(run)
    data = folder.snapshot()
    with track("Scoring", data.manifest.counts.kept) as advance:
        asyncio.run(
            score_run(
                folder,
                select(judges),
                Sources(data),
                concurrency=concurrency,
                on_item=lambda *_: advance(),
            )
        )
    print_run(folder, html=folder.path / "report.html")
    return ExitCode.OK


def _newest() -> Path:
    found = [path.parent for path in _SNAPSHOTS.glob("*/manifest.json")]
    if not found:
        raise UsageError("no snapshot in snapshots/; take one with: invoke snapshot")
    return max(found, key=lambda path: ((path / "manifest.json").stat().st_mtime, path.name))


tasks = (experiment, score)
