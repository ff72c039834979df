"""What ``experiment`` and ``replay`` do on a dataset of Langfuse."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Literal

from ancrage.cli.langfuse import Lines, connect_or_say, moment, print_text
from ancrage.cli.scoring import print_accounts
from ancrage.errors import AncrageError, ExitCode
from ancrage.program import called

if TYPE_CHECKING:
    from ancrage.domain import JsonValue
    from ancrage.evaluator import Evaluator
    from ancrage.langfuse.session import Follower, Session
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
    folder: "RunFolder", evaluators: "list[Evaluator]", concurrency: int, only: Only = "all"
) -> ExitCode:
    """Go on with a run that was made on a dataset of Langfuse."""
    return _audit(reopen_dataset(folder), folder, evaluators, concurrency, only)


def reopen_dataset(folder: "RunFolder") -> "Session":
    """The dataset that a run was made on, as it was then."""
    connection = connect_or_say(f"would go on with run {folder.run.id} on its dataset")
    from ancrage.langfuse.session import resume_session

    return resume_session(connection, folder)


def made_on_dataset(folder: "RunFolder") -> bool:
    """Whether a run was made on a dataset of Langfuse."""
    return "langfuse" in folder.run.details


def _audit(
    session: "Session",
    folder: "RunFolder",
    evaluators: "list[Evaluator]",
    concurrency: int,
    only: Only,
) -> ExitCode:
    import asyncio

    from ancrage.cli.reporting import print_run
    from ancrage.runs import recorded, run_experiment
    from ancrage.runs.progress import track
    from ancrage.studies import Studies

    data = session.snapshot
    publishing = Publishing(session, only)
    with (
        track(f"Checking {folder.run.id}", data.manifest.counts.kept) as advance,
        publishing.follow(folder) as on_item,
    ):
        asyncio.run(
            run_experiment(
                folder,
                data.cases(),
                recorded,
                evaluators,
                Studies(data),
                concurrency=concurrency,
                progress=advance,
                on_item=on_item,
            )
        )
    print_run(folder)
    return max(print_accounts(folder), publishing.finish())


class Publishing:
    """Publishes the runs of a session as they grow, and in the end reads them back."""

    def __init__(self, session: "Session", only: Only = "all") -> None:
        self._session, self._only, self._lines = session, only, Lines()
        self._followers: list[Follower] = []

    def details(self, run_name: str) -> "dict[str, JsonValue]":
        """What makes a run the experiment of that name: the details to create it with."""
        return self._session.details(run_name)

    @contextmanager
    def follow(self, folder: "RunFolder") -> "Iterator[OnItem]":
        """What to call for each item of a run."""
        from ancrage.langfuse.session import Follower

        with Follower(self._session, folder, self._only, self._lines.say) as follower:
            self._followers.append(follower)
            yield follower.on_item

    def finish(self) -> ExitCode:
        """Read the runs back and say what was seen: OK when each is complete and all of it can be
        seen, else INCOMPLETE."""
        worst = ExitCode.OK
        for follower in self._followers:
            run = follower.folder.run
            try:
                receipt = follower.finish()
            except AncrageError as error:
                again = called(f"publish {run.id}")
                print_text(f"{error}\nthe local record is whole; send it with: {again}")
                worst = ExitCode.INCOMPLETE
                continue
            print_text(str(receipt))
            if not receipt.complete or run.state != "complete":
                worst = ExitCode.INCOMPLETE
        return worst
