"""Run the checks over answers: ``experiment`` and ``score``."""

from pathlib import Path

from invoke.context import Context

from evals.cli.shell import Whole, command
from evals.errors import ExitCode, UsageError

_SNAPSHOTS = Path("snapshots")


@command(
    help={
        "snapshot": "Folder of the snapshot to audit (default: the newest in snapshots/).",
        "judges": "LLM judges to add to the code checks (default: none).",
        "run-name": "Name of the run (default: date, time and snapshot).",
        "resume": "Continue this run instead of starting one: its id, or 'latest'.",
        "concurrency": "Answers evaluated at once (default: 8).",
    }
)
def experiment(
    context: Context,
    snapshot: str = "",
    judges: str = "none",
    run_name: str = "",
    resume: str = "",
    concurrency: int = Whole(8),
) -> ExitCode:
    """Check the recorded answers of a snapshot, and report what was found.

    Exits 0 when every answer has its scores, 3 when the run is incomplete.
    """
    import asyncio

    from evals.evaluators import select
    from evals.report.terminal import print_run
    from evals.runs import create_run, find_run, recorded, run_experiment
    from evals.runs.progress import track
    from evals.snapshot import open_snapshot
    from evals.source import Sources

    if resume and (snapshot or run_name):
        raise UsageError("--resume continues a run as it is; leave out --snapshot and --run-name")
    evaluators = select(judges)
    if resume:
        folder = find_run(resume)
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
