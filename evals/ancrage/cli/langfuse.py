"""Langfuse: ``push``, ``publish``, ``results``, ``pull`` and ``score-traces``."""

from typing import TYPE_CHECKING

from ancrage.cli.shell import Amount, Count, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from datetime import datetime

    from ancrage.langfuse.connection import Connection
    from ancrage.langfuse.results import ExperimentRow

_SHOWN = 5


@command(
    help={
        "snapshot": "Folder of the snapshot to push.",
        "dataset": "Name of the dataset, folders with '/' (default: [langfuse] dataset, else the "
        "snapshot's name).",
        "archive": "Archive the items that the snapshot no longer has (default: leave them).",
    }
)
def push(snapshot: str, dataset: str = "", archive: bool = False) -> ExitCode:
    """Make a Langfuse dataset of a snapshot.

    Only what changed is written.

    Exits 0 when every case and study is there, 3 when some were refused or the push stopped.
    """
    from ancrage.report.terminal import console
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
    out = console()
    out.print(
        f"{name}: {done.cases:,} cases = {done.created:,} created + {done.updated:,} updated + "
        f"{done.unchanged:,} unchanged + {len(done.refused):,} refused",
        markup=False,
    )
    if done.trimmed:
        out.print(f"{done.trimmed:,} sent without tool outputs, too large otherwise")
    if done.archived or done.left:
        left = f"{done.left:,} left that the snapshot no longer has (--archive archives them)"
        out.print(f"{done.archived:,} archived" if archive else left)
    refused = (*done.refused_studies, *done.refused)
    for refusal in refused[:_SHOWN]:
        out.print(f"  refused {refusal.source}: {refusal.reason}", markup=False)
    if len(refused) > _SHOWN:
        out.print(f"  and {len(refused) - _SHOWN:,} more")
    return ExitCode.INCOMPLETE if refused else ExitCode.OK


@command(
    help={
        "run": "Run to send: its id, its beginning, its folder, or 'latest'.",
        "dataset": "Dataset that holds its cases (default: where it was made or sent before, "
        "else [langfuse] dataset).",
    }
)
def publish(run: str, dataset: str = "") -> ExitCode:
    """Send a run to Langfuse and read it back.

    Of a run that is partly there, only what is missing is sent.

    Any number of times, with no duplicates. Exits 0 when all of it can be seen, 3 when not.
    """
    from ancrage.runs import find_run

    folder = find_run(run)
    connection = connect_or_say(
        f"would send {folder.run.counts.get('cases', 0):,} cases of run {folder.run.id} and "
        f"their scores to the dataset {dataset or _default_dataset() or '(give --dataset)'}"
    )
    from ancrage.langfuse.publish import publish as send

    receipt = send(connection, folder, dataset or None, say=say_line)
    print_text(str(receipt))
    return ExitCode.OK if receipt.complete else ExitCode.INCOMPLETE


@command(
    help={
        "dataset": "Dataset whose experiments to list (default: [langfuse] dataset).",
        "since": "Only experiments active since this ISO date (default: all).",
        "last": "Show the latest so many.",
    }
)
def results(dataset: str = "", since: str = "", last: Count = 6) -> ExitCode:
    """List experiments in Langfuse with their scores."""
    name = dataset or _default_dataset()
    if not name:
        raise UsageError("name the dataset with --dataset, or in [langfuse] dataset")
    connection = connect_or_say(f"would list the experiments on the dataset {name!r}")
    from ancrage.langfuse.dataset import find_dataset
    from ancrage.langfuse.reads import BEGINNING
    from ancrage.langfuse.results import list_experiments

    start, most = moment(since), max(1, last)
    found = find_dataset(connection, name).id
    rows, older = list_experiments(connection, found, start or BEGINNING, most)
    if not rows:
        when = f" since {since}" if start else ""
        again = called(f"experiment --dataset {name}")
        print_text(f"no experiment on {name!r}{when}; make one: {again}")
        return ExitCode.OK
    _table(name, rows)
    if older:
        print_text(f"{older:,} older ones not shown (--last {len(rows) + older})")
    return ExitCode.OK


@command(
    help={
        "run": "Name or id of the experiment in Langfuse.",
        "dataset": "Dataset it was run on, where several have a run of that name (default: any).",
    }
)
def pull(run: str, dataset: str = "") -> ExitCode:
    """Rebuild a local run from Langfuse."""
    connection = connect_or_say(f"would rebuild the record of the experiment {run!r} in runs/")
    from ancrage.langfuse.pull import pull as fetch

    done = fetch(connection, run, dataset or None)
    print_text(f"{done.path}: {done.items:,} outputs, {done.scores:,} scores")
    for name, count in sorted(done.left_out.items()):
        print_text(f"  left out: {name} ({count:,})")
    print_text(f"Next: {called(f'report --run {done.run_id}')}")
    return ExitCode.OK


@command(
    help={
        "run": "Run whose scores to send to the traces its cases come from (default: take a "
        "snapshot of production, check it, and send that).",
        "source": "Source of the snapshot (default: langfuse).",
        "days": "Only traces of the last so many days.",
        "limit": "At most so many traces, a reproducible sample (default: all).",
        "judges": "LLM judges to add to the code checks (default: none).",
        "concurrency": "Answers evaluated at once.",
    }
)
def score_traces(
    run: str = "",
    source: str = "langfuse",
    days: Amount = 1,
    limit: Count | None = None,
    judges: str = "none",
    concurrency: Count = 8,
) -> ExitCode:
    """Score production traces in Langfuse, in place.

    Each trace gets one score a failure mode.

    The snapshot and the run stay here; give the run to send what is missing again. Exits 0 when
    every score can be seen, 3 when not.
    """
    from ancrage.runs import find_run

    if run:
        folder = find_run(run)
        connection = connect_or_say(
            f"would send the scores of run {folder.run.id} to production traces"
        )
    else:
        connection = connect_or_say(
            f"would check the traces of the last {days:g} days and score them"
        )
        _ = connection.server
        from ancrage.evaluators import select
        from ancrage.langfuse.live import check_production

        folder = check_production(
            source,
            days,
            select(judges),
            limit=limit,
            concurrency=concurrency,
            say=print_text,
        )
    from ancrage.langfuse.live import score_traces as send

    done = send(connection, folder, say=say_line)
    print_text(
        f"run {folder.run.id}: {done.seen:,} of {done.scores:,} scores seen on {done.traces:,} "
        f"traces ({done.cases - done.traces:,} cases come from no trace)"
    )
    if done.complete:
        return ExitCode.OK
    why = done.stopped or f"{done.scores - done.seen:,} scores cannot be seen yet"
    print_text(f"{why}; send what is missing with: {called('score-traces --run')} {folder.run.id}")
    return ExitCode.INCOMPLETE


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
    from datetime import UTC, datetime

    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{text!r} is not an ISO date, such as 2026-01-31T12:00:00Z") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def say_line(line: str) -> None:
    import sys

    sys.stderr.write(f"{line}\n")


def print_text(text: str) -> None:
    from ancrage.report.terminal import console

    console().print(text, markup=False, highlight=False, soft_wrap=True)


def _table(dataset: str, rows: "list[ExperimentRow]") -> None:
    from rich.table import Table
    from rich.text import Text

    from ancrage.report.terminal import console

    names = sorted({name for row in rows for name in row.scores if not _hidden(name)})
    table = Table(title=Text(f"Experiments on {dataset}, latest first"), title_justify="left")
    table.add_column("")
    for row in rows:
        table.add_column(Text(row.name if row.own else f"{row.name} *"), justify="right")
    table.add_row("started", *(f"{row.started:%Y-%m-%d %H:%M}" for row in rows))
    table.add_row("items", *(f"{row.items:,}" for row in rows), end_section=True)
    for name in names:
        table.add_row(Text(name), *(_cell(row.scores, name) for row in rows))
    console().print(table)
    if not all(row.own for row in rows):
        print_text("* made by another tool: means over the items that have a score")


def _cell(scores: dict[str, float], name: str) -> str:
    """A score; a rate also says how much of the run could be scored, where not all was."""
    coverage = scores.get(name.removesuffix(".rate") + ".coverage", 1.0)
    shown = f"{scores[name]:.3g}" if name in scores else "–"
    return f"{shown} ({coverage:.0%} scored)" if coverage < 1 and name.endswith(".rate") else shown


def _hidden(name: str) -> bool:
    """Rates are what a table compares; counts and coverage are in the interface."""
    return name.endswith((".failing", ".coverage")) or name == "cases"


tasks = (push, publish, results, pull, score_traces)
