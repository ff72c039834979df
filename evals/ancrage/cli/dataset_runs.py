"""What ``experiment`` does on a dataset of Langfuse."""

from typing import TYPE_CHECKING

from ancrage.cli.judges import print_accounts
from ancrage.cli.langfuse import connect_or_say, moment, print_text, say_line
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from ancrage.evaluator import Evaluator
    from ancrage.langfuse.experiment import Session
    from ancrage.runs import RunFolder


def run_on_dataset(
    dataset: str,
    evaluators: "list[Evaluator]",
    *,
    version: str = "",
    run_name: str = "",
    repeat: int = 1,
    concurrency: int = 8,
) -> ExitCode:
    """Audit a dataset of Langfuse as ``repeat`` experiments; the body of ``experiment --dataset``.

    Returns:
        OK when every run is complete, its judges gave verdicts enough, and it can be seen in
        Langfuse, else INCOMPLETE.
    """
    import re
    from datetime import UTC, datetime

    if repeat < 1:
        raise UsageError("--repeat takes a number of at least 1")
    connection = connect_or_say(
        f"would run {repeat} experiment{'s' * (repeat > 1)} on the dataset {dataset!r}; without "
        f"Langfuse: {called('experiment --snapshot FOLDER')}"
    )
    from ancrage.langfuse.experiment import open_session
    from ancrage.langfuse.target import KEY
    from ancrage.runs import create_run

    session = open_session(connection, dataset, moment(version))
    rejects = session.dataset.rejects
    if rejects:
        say_line(f"{len(rejects):,} items are no case and are left out; first: {rejects[0].error}")
    slug = re.sub(r"[^\w.-]+", "-", dataset).strip("-.")
    group = run_name or f"{slug}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = [group] if repeat == 1 else [f"{group}-{n}" for n in range(1, repeat + 1)]
    targets = [session.target(name) for name in names]
    worst = ExitCode.OK
    for number, target in enumerate(targets):
        folder = create_run(
            session.snapshot,
            kind="audit",
            name=target.run_name,
            group=group if repeat > 1 else None,
            repeat=number,
            details={KEY: target.model_dump(mode="json")},
        )
        worst = max(worst, _through_langfuse(session, folder, evaluators, concurrency))
    return worst


def resume_on_dataset(
    folder: "RunFolder", evaluators: "list[Evaluator]", concurrency: int
) -> ExitCode:
    """Go on with a run that was made on a dataset of Langfuse."""
    connection = connect_or_say(f"would go on with run {folder.run.id} on its dataset")
    from ancrage.langfuse.experiment import resume_session

    return _through_langfuse(resume_session(connection, folder), folder, evaluators, concurrency)


def made_on_dataset(folder: "RunFolder") -> bool:
    """Whether a run was made on a dataset of Langfuse."""
    return "langfuse" in folder.run.details


def _through_langfuse(
    session: "Session",
    folder: "RunFolder",
    evaluators: "list[Evaluator]",
    concurrency: int,
) -> ExitCode:
    import asyncio

    from ancrage.errors import AncrageError
    from ancrage.langfuse.experiment import Tracing
    from ancrage.report.terminal import print_run
    from ancrage.runs import recorded, run_experiment
    from ancrage.runs.progress import track
    from ancrage.studies import Studies

    tracing = Tracing(session, folder)
    data = session.snapshot
    with track(f"Checking {folder.run.id}", data.manifest.counts.kept) as advance:
        run = asyncio.run(
            run_experiment(
                folder,
                data.cases(),
                tracing.traced(recorded),
                evaluators,
                Studies(data),
                concurrency=concurrency,
                on_item=lambda *_: advance(),
                drive=tracing.drive,
            )
        )
    print_run(folder, html=folder.path / "report.html")
    judged = print_accounts(folder)
    try:
        receipt = tracing.finish(say_line)
    except AncrageError as error:
        print_text(
            f"{error}\nthe local record is whole; send it with: {called('publish')} {folder.run.id}"
        )
        return ExitCode.INCOMPLETE
    print_text(str(receipt))
    whole = receipt.complete and run.state == "complete"
    return judged if whole else ExitCode.INCOMPLETE
