"""What ``experiment`` and ``replay`` do on a dataset of Langfuse."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal

from ancrage.cli.judges import print_accounts
from ancrage.cli.langfuse import Lines, connect_or_say, moment, print_text
from ancrage.errors import AncrageError, ExitCode
from ancrage.program import called

if TYPE_CHECKING:
    from ancrage.domain import Run
    from ancrage.evaluator import Evaluator
    from ancrage.langfuse.session import Session
    from ancrage.runs import OnItem, RunFolder

Only = Literal["all", "failing"]


def open_dataset(dataset: str, version: str = "") -> "Session":
    """The dataset as it was at an ISO time, by default now, and its cases as a local snapshot.

    Raises:
        UsageError: Langfuse is not set up, or holds no such dataset.
        LangfuseError: it cannot be reached.
    """
    connection = connect_or_say(
        f"would run on the dataset {dataset!r}; without Langfuse, give --snapshot FOLDER"
    )
    from ancrage.langfuse.session import open_session

    session = open_session(connection, dataset, moment(version))
    if rejects := session.dataset.rejects:
        said = f"{len(rejects):,} items are no case and are left out; first: {rejects[0].error}"
        Lines().say(said)
    return session


def run_on_dataset(
    dataset: str,
    evaluators: "list[Evaluator]",
    *,
    version: str = "",
    run_name: str = "",
    repeat: int = 1,
    concurrency: int = 8,
    only: Only = "all",
) -> ExitCode:
    """Audit a dataset of Langfuse as ``repeat`` experiments; the body of ``experiment --dataset``.

    Returns:
        OK when every run is complete, its judges gave verdicts enough, and it can be seen in
        Langfuse, else INCOMPLETE.
    """
    import re
    from datetime import UTC, datetime

    from ancrage.runs import create_run

    session = open_dataset(dataset, version)
    slug = re.sub(r"[^\w.-]+", "-", dataset).strip("-.")
    group = run_name or f"{slug}-{datetime.now(UTC):%Y%m%d-%H%M%S}"
    names = [group] if repeat == 1 else [f"{group}-{n}" for n in range(1, repeat + 1)]
    worst = ExitCode.OK
    for number, details in enumerate([session.details(name) for name in names]):
        folder = create_run(
            session.snapshot,
            kind="audit",
            name=names[number],
            group=group if repeat > 1 else None,
            repeat=number,
            details=details,
        )
        worst = max(worst, _audit(session, folder, evaluators, concurrency, only))
    return worst


def resume_on_dataset(
    folder: "RunFolder", evaluators: "list[Evaluator]", concurrency: int
) -> ExitCode:
    """Go on with a run that was made on a dataset of Langfuse."""
    connection = connect_or_say(f"would go on with run {folder.run.id} on its dataset")
    from ancrage.langfuse.session import resume_session

    return _audit(resume_session(connection, folder), folder, evaluators, concurrency)


def made_on_dataset(folder: "RunFolder") -> bool:
    """Whether a run was made on a dataset of Langfuse."""
    return "langfuse" in folder.run.details


def _audit(
    session: "Session",
    folder: "RunFolder",
    evaluators: "list[Evaluator]",
    concurrency: int,
    only: Only = "all",
) -> ExitCode:
    import asyncio

    from ancrage.report.terminal import print_run
    from ancrage.runs import recorded, run_experiment
    from ancrage.runs.progress import track
    from ancrage.studies import Studies

    data = session.snapshot

    def run(on_item: "OnItem") -> "Run":
        work = run_experiment(
            folder,
            data.cases(),
            recorded,
            evaluators,
            Studies(data),
            concurrency=concurrency,
            on_item=on_item,
        )
        return asyncio.run(work)

    with track(f"Checking {folder.run.id}", data.manifest.counts.kept) as advance:
        seen = publish_while(session, folder, run, advance, only)
    print_run(folder, html=folder.path / "report.html")
    judged = print_accounts(folder)
    ended = seen()
    return judged if ended is ExitCode.OK else ended


def publish_while(
    session: "Session",
    folder: "RunFolder",
    run: "Callable[[OnItem], Run]",
    advance: Callable[[], None] = lambda: None,
    only: Only = "all",
) -> Callable[[], ExitCode]:
    """Publish a run as it grows.

    Args:
        run: does the run, calling what it is given for each item.
        advance: called for each item too.

    Returns:
        What reads the run back and says what was seen: OK when it is complete and all of it can
        be seen, else INCOMPLETE.
    """
    from ancrage.domain import RunState
    from ancrage.langfuse.session import Follower

    lines = Lines()
    with Follower(session, folder, only, lines.say) as follower:

        def on_item(*item: object) -> None:
            follower.on_item(*item)  # type: ignore[arg-type]
            advance()

        done = run(on_item)

    def finish() -> ExitCode:
        try:
            receipt = follower.finish()
        except AncrageError as error:
            again = called(f"publish {folder.run.id}")
            print_text(f"{error}\nthe local record is whole; send it with: {again}")
            return ExitCode.INCOMPLETE
        print_text(str(receipt))
        whole = receipt.complete and done.state is RunState.COMPLETE
        return ExitCode.OK if whole else ExitCode.INCOMPLETE

    return finish
