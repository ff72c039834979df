"""Run the checks over answers: ``experiment`` and ``score``."""

from typing import TYPE_CHECKING, Literal

from ancrage.cli.scoring import Calls, Scoring, conclude, print_estimate, require_models
from ancrage.cli.shell import Count, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called, resume_with

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ancrage.evaluator import Evaluator
    from ancrage.runs.parallel import Pool
    from ancrage.snapshot import Snapshot


@command(
    help={
        "snapshot": "Folder of the snapshot to audit (default: the newest in snapshots/).",
        "dataset": "Run on this dataset of Langfuse instead, as an experiment there.",
        "version": "With --dataset: as it was at this ISO time (default: as it is now).",
        "repeat": "With --dataset: how many experiments to make, as one group.",
        "publish": "With --dataset: 'failing' sends the answers that fail or are missing alone.",
        "run-name": "Name of the run (default: date, time and snapshot).",
        "resume": "Continue this run instead of starting one: its id, or 'latest'.",
        "concurrency": "Answers evaluated at once.",
        "workers": "Processes for code checks: a number, or auto for every core when it pays.",
        "engine": "Where code checks and NLI run: in processes here, or on a Ray cluster "
        "(RAY_ADDRESS; without it, one on this machine).",
    }
)
def experiment(
    snapshot: str = "",
    dataset: str = "",
    version: str = "",
    repeat: Count = 1,
    publish: Literal["all", "failing"] = "all",
    scoring: Scoring = Scoring(),
    run_name: str = "",
    resume: str = "",
    concurrency: Count = 8,
    workers: str = "auto",
    engine: Literal["local", "ray"] = "local",
    calls: Calls = Calls(),
) -> ExitCode:
    """Check the answers of a snapshot and report.

    Exits 0 when every answer has its scores; 3 when the run is incomplete, an evaluator failed,
    or one scored fewer answers than min_coverage of [checks] or [judges] asks.
    """
    import asyncio

    from ancrage.cli.dataset_runs import made_on_dataset, resume_on_dataset, run_on_dataset
    from ancrage.runs import create_run, find_run, recorded, run_experiment
    from ancrage.runs.progress import track
    from ancrage.snapshot import newest_snapshot, open_snapshot
    from ancrage.studies import Studies

    if resume and (snapshot or dataset or run_name):
        raise UsageError(
            "--resume continues a run as it is; leave out --snapshot, --dataset and --run-name"
        )
    if snapshot and dataset:
        raise UsageError("--snapshot and --dataset both say what to run on: give one")
    if not dataset and (version or repeat != 1):
        raise UsageError("--version and --repeat go with --dataset")
    if publish != "all" and not (dataset or resume):
        raise UsageError("--publish goes with --dataset; without it, publish the run afterwards")
    evaluators = scoring.evaluators(calls, concurrency)
    if calls.dry_run:
        if dataset:
            raise UsageError("--dry-run looks at a snapshot: pull the dataset first")
        given = (
            find_run(resume).snapshot() if resume else open_snapshot(snapshot or newest_snapshot())
        )
        return print_estimate(given, evaluators)
    require_models(evaluators, calls)
    if dataset:
        return run_on_dataset(
            dataset,
            evaluators,
            version=version,
            run_name=run_name,
            repeat=repeat,
            concurrency=concurrency,
            only=publish,
        )
    if resume:
        folder = find_run(resume)
        if made_on_dataset(folder):
            return resume_on_dataset(folder, evaluators, concurrency, publish)
        if folder.run.kind != "audit":
            raise UsageError(
                f"{folder.path.name} is a {folder.run.kind}, not an audit; "
                f"continue it with: {called(folder.run.kind)} --resume {folder.path.name}"
            )
        data = folder.snapshot()
    else:
        data = open_snapshot(snapshot or newest_snapshot())
        folder = create_run(data, kind="audit", name=run_name or None)
    resume_with(f"experiment --resume {folder.path.name}")
    with track("Checking", data.manifest.counts.kept) as advance:
        asyncio.run(
            run_experiment(
                folder,
                data.cases(),
                recorded,
                evaluators,
                Studies(data),
                concurrency=concurrency,
                pool=_pool(engine, workers, data, evaluators, scoring.scorers),
                progress=advance,
            )
        )
    return conclude(folder)


@command(
    help={
        "run": "Run to score again: its id, its beginning, its folder, or 'latest'.",
        "resume": "Take up the newest scoring by the same evaluators that was interrupted.",
        "concurrency": "Answers evaluated at once.",
        "workers": "Processes for code checks: a number, or auto for every core when it pays.",
        "engine": "Where code checks and NLI run: in processes here, or on a Ray cluster "
        "(RAY_ADDRESS; without it, one on this machine).",
    },
)
def score(
    run: str,
    scoring: Scoring = Scoring(),
    resume: bool = False,
    concurrency: Count = 8,
    workers: str = "auto",
    engine: Literal["local", "ray"] = "local",
    calls: Calls = Calls(),
) -> ExitCode:
    """Score a run's outputs again, with judges if named.

    Nothing is generated anew; the older scorings stay beside the new one.

    Exits 3 when the run, or its scoring, is incomplete (the outputs that there are get scored),
    an evaluator failed, or one scored fewer answers than min_coverage of [checks] or [judges]
    asks.
    """
    import asyncio

    from ancrage.runs import find_run, score_run
    from ancrage.runs.progress import track
    from ancrage.studies import Studies

    folder = find_run(run)
    data = folder.snapshot()
    chosen = scoring.evaluators(calls, concurrency)
    if calls.dry_run:
        return print_estimate(data, chosen, folder)
    require_models(chosen, calls)
    resume_with(f"score {folder.path.name} --resume{scoring.words()}")
    with track("Scoring", data.manifest.counts.kept) as advance:
        asyncio.run(
            score_run(
                folder,
                chosen,
                Studies(data),
                resume=resume,
                concurrency=concurrency,
                pool=_pool(engine, workers, data, chosen, scoring.scorers),
                progress=advance,
            )
        )
    return conclude(folder)


def _pool(
    engine: str, workers: str, data: "Snapshot", evaluators: "Sequence[Evaluator]", scorers: str
) -> "Pool | None":
    """The workers that the options ask for, beside this process."""
    from functools import partial

    from ancrage.evaluators import select
    from ancrage.runs.parallel import count_workers, processes

    number = count_workers(workers, data.manifest.counts.kept)
    if engine == "local":
        return processes(number)
    from ancrage.scale.cluster import cluster

    wanted = {name.strip() for name in scorers.split(",")}
    modelless = [
        evaluator.name
        for evaluator in evaluators
        if evaluator.name in wanted and not getattr(evaluator, "tiers", None)
    ]
    return cluster(partial(select, "none", ",".join(modelless)), modelless)


tasks = (experiment, score)
