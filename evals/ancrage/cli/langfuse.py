"""Langfuse: ``push``, ``publish`` and ``pull``."""

from typing import TYPE_CHECKING, Literal

from ancrage.cli.shell import command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from datetime import datetime

    from ancrage.langfuse.connection import Connection
    from ancrage.runs import RunFolder

_SHOWN = 5


@command(
    help={
        "snapshot": "Folder of the snapshot to push.",
        "dataset": "Name of the dataset, folders with '/' (default: [langfuse] dataset, else the "
        "snapshot's name).",
        "archive": "Archive the items that the snapshot no longer has (default: leave them).",
    },
    example="push snapshots/march --dataset team/assistant",
)
def push(snapshot: str, dataset: str = "", archive: bool = False) -> ExitCode:
    """Make a Langfuse dataset of a snapshot.

    Only what changed is written.

    Exits 0 when every case and study is there, 3 when some were refused or the push stopped.
    """
    from ancrage.snapshot import open_snapshot

    data = open_snapshot(snapshot)
    name = dataset or _default_dataset() or data.path.resolve().name
    counts = data.manifest.counts
    connection = connect_or_say(
        f"would push {counts.kept:,} cases and {counts.studies:,} studies of {data.path} "
        f"to the dataset {name!r}"
    )
    from ancrage.langfuse.push import push as send

    done = send(connection, data, name, archive=archive)
    print_text(
        f"{name}: {done.cases:,} cases = {done.created:,} created + {done.updated:,} updated + "
        f"{done.unchanged:,} unchanged + {len(done.refused):,} refused"
    )
    if done.trimmed:
        print_text(f"{done.trimmed:,} sent without tool outputs, too large otherwise")
    if done.unstable:
        print_text(
            "pseudonyms are drawn anew for each snapshot, so that the same answers count as "
            "changed: set ANCRAGE_PSEUDONYM_KEY before the next snapshot"
        )
    if done.archived or done.left:
        left = f"{done.left:,} left that the snapshot no longer has (--archive archives them)"
        print_text(f"{done.archived:,} archived" if archive else left)
    refused = (*done.refused_studies, *done.refused)
    for refusal in refused[:_SHOWN]:
        print_text(f"  refused {refusal.source}: {refusal.reason}")
    if len(refused) > _SHOWN:
        print_text(f"  and {len(refused) - _SHOWN:,} more")
    return ExitCode.INCOMPLETE if refused else ExitCode.OK


@command(
    help={
        "run": "Run to send: its id, its beginning, its folder, or 'latest'.",
        "dataset": "Dataset that holds its cases (default: where it was made or sent before, "
        "else [langfuse] dataset).",
        "only": "'failing' sends the answers that fail or are missing, and the run's scores.",
        "traces": "Score the production traces that the cases come from instead.",
        "force": "Overwrite scores of this run even where Langfuse holds later or fuller ones.",
    },
    example="publish latest",
)
def publish(
    run: str,
    dataset: str = "",
    only: Literal["all", "failing"] = "all",
    traces: bool = False,
    force: bool = False,
) -> ExitCode:
    """Send a run to Langfuse and read it back.

    Of a run that is partly there, or still grows, only what is missing is sent.

    Any number of times, with no duplicates. Exits 0 when all of it can be seen, 3 when not.
    """
    from ancrage.runs import find_run

    folder = find_run(run)
    cases = folder.run.counts.get("cases", 0)
    if traces:
        if dataset or only != "all" or force:
            raise UsageError("--traces sends all scores to production traces; give it alone")
        connection = connect_or_say(
            f"would send the scores of run {folder.run.id} to production traces"
        )
        return _publish_traces(connection, folder)
    connection = connect_or_say(
        f"would send {cases:,} cases of run {folder.run.id} and "
        f"their scores to the dataset {dataset or _default_dataset() or '(give --dataset)'}"
    )
    from ancrage.langfuse.publish import publish as send

    receipt = send(connection, folder, dataset or None, only=only, force=force, say=Lines().say)
    print_text(str(receipt))
    return ExitCode.OK if receipt.complete else ExitCode.INCOMPLETE


def _publish_traces(connection: "Connection", folder: "RunFolder") -> ExitCode:
    from ancrage.langfuse.traces import score_traces

    done = score_traces(connection, folder, say=Lines().say)
    print_text(
        f"run {folder.run.id}: {done.seen:,} of {done.scores:,} scores seen on {done.traces:,} "
        f"traces ({done.cases - done.traces:,} cases come from no trace)"
    )
    if done.complete:
        return ExitCode.OK
    why = done.stopped or f"{done.scores - done.seen:,} scores cannot be seen yet"
    again = called(f"publish {folder.run.id} --traces")
    print_text(f"{why}; send what is missing with: {again}")
    return ExitCode.INCOMPLETE


@command(
    help={
        "run": "Name or id of the experiment in Langfuse.",
        "dataset": "Dataset it was run on, where several have a run of that name (default: any).",
    },
    example="pull march-audit",
)
def pull(run: str, dataset: str = "") -> ExitCode:
    """Rebuild a local run from Langfuse.

    Exits 3 when a part of it could not be read: the run is made, and says what it lacks.
    """
    connection = connect_or_say(f"would rebuild the record of the experiment {run!r} in runs/")
    from ancrage.langfuse.pull import pull as fetch

    done = fetch(connection, run, dataset or None)
    print_text(f"{done.path}: {done.items:,} outputs, {done.scores:,} scores")
    for name, count in sorted(done.left_out.items()):
        print_text(f"  left out: {name} ({count:,})")
    print_text(f"Next: {called(f'report --run {done.run_id}')}")
    return ExitCode.INCOMPLETE if done.lacking else ExitCode.OK


def connect_or_say(otherwise: str) -> "Connection":
    """The connection; without keys, one line that says what the command would have done."""
    try:
        from ancrage.langfuse.connection import connect, credentials
    except ModuleNotFoundError as error:
        raise UsageError(
            f"{otherwise}; it needs the package {error.name!r}: pip install 'ancrage[langfuse]'"
        ) from None
    if credentials() is None:
        raise UsageError(
            f"{otherwise}, but LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY are not set: put them, "
            "and LANGFUSE_BASE_URL, in .env"
        )
    return connect()


def _default_dataset() -> str | None:
    from ancrage.config import load

    name = load().tables.get("langfuse", {}).get("dataset")
    return str(name) if name else None


def moment(text: str) -> "datetime | None":
    """The time that an option names; None when it is empty."""
    from datetime import UTC, datetime

    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not an ISO date, such as 2026-01-31T12:00:00Z") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


class Lines:
    """What goes on, on standard error; while something is waited for, one line, not fifty."""

    def __init__(self) -> None:
        import sys

        self._out = sys.stderr
        self._waiting = False

    def say(self, line: str) -> None:
        """Say a line; one more about waiting replaces the one before, or, in a file, is left."""
        waiting = line.startswith("waiting")
        if waiting and self._out.isatty():
            self._out.write(f"\r\033[K{line}")
            self._out.flush()
        elif not (waiting and self._waiting):
            self._out.write(f"\r\033[K{line}\n" if self._waiting and self._tty else f"{line}\n")
        self._waiting = waiting

    @property
    def _tty(self) -> bool:
        return self._out.isatty()


def print_text(text: str) -> None:
    """Print text as it is, however long its lines."""
    from ancrage.report.terminal import console

    console().print(text, markup=False, highlight=False, soft_wrap=True)


tasks = (push, publish, pull)
