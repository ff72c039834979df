"""``snapshot``: freeze production's answers in a folder."""

from typing import TYPE_CHECKING, Any

from ancrage.cli.shell import Amount, Count, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

    from ancrage.snapshot.manifest import Manifest

SHOWN = 5
"""Rejects shown; all of them are in ``rejects.jsonl``."""


@command(
    help={
        "source": "Name of a [sources.NAME] table, or a file of answers "
        "(JSON Lines, JSON, CSV, TSV, Excel, Parquet; default: the only source configured).",
        "out": "Folder to create (default: snapshots/NAME-DATE, numbered where there is one).",
        "limit": "Take a reproducible sample of this many answers (default: all).",
        "days": "Only answers of the last so many days (default: no limit).",
        "since": "Only answers from this ISO date or time on, UTC unless it says otherwise.",
        "until": "Only answers before this ISO date or time.",
        "seed": "Which sample --limit takes.",
        "pseudonymise": "none, respondents (their ids) or text (ids, e-mails, telephone numbers "
        "and the like; default: respondents).",
        "studies": "With a file of answers: the file, or glob, of its messages or whole studies "
        "(default: made of the tool outputs recorded with the answers).",
        "questions": "With a file of answers: the file, or glob, of the questions put.",
        "map": "With a file of answers: FIELD=COLUMN, as in id=case_no or messages.text=verbatim; "
        "can be repeated.",
        "encoding": "With a file of answers: of the text files (default: found out).",
    },
    example="snapshot --source answers.csv --studies messages.csv --map answer=reply",
)
def snapshot(
    source: str = "",
    out: str = "",
    limit: Count | None = None,
    days: Amount | None = None,
    since: str = "",
    until: str = "",
    seed: int = 0,
    pseudonymise: str = "respondents",
    studies: str = "",
    questions: str = "",
    map: list[str] | None = None,
    encoding: str = "",
) -> ExitCode:
    """Freeze production's answers and their studies.

    Exits 3 when nothing was kept, or when more was rejected than kept: of the answers, of a study.
    """
    from contextlib import closing
    from datetime import UTC, datetime, timedelta
    from pathlib import Path

    from rich.console import Console
    from rich.text import Text

    from ancrage.config import load
    from ancrage.snapshot.manifest import Filters, PseudonymMode
    from ancrage.snapshot.pseudonyms import Pseudonymiser
    from ancrage.snapshot.sources import open_source
    from ancrage.snapshot.take import take_snapshot

    if days and since:
        raise UsageError("--days and --since say the same thing: give one")
    if pseudonymise not in list(PseudonymMode):
        raise UsageError(f"--pseudonymise {pseudonymise!r}: takes {', '.join(PseudonymMode)}")
    if abs(seed) >= 2**127:
        raise UsageError(f"--seed {seed}: takes at most 38 digits")
    now = datetime.now(UTC)
    try:
        first = now - timedelta(days=days) if days else _moment("since", since)
    except OverflowError:
        raise UsageError(f"--days {days:g}: goes back before any date") from None
    last = _moment("until", until)
    if first and last and first >= last:
        raise UsageError("the window is empty: it begins at or after --until")
    given = _given(studies, questions, map or [], encoding)
    config = load()
    hidden = Pseudonymiser.configured(PseudonymMode(pseudonymise), config)
    with closing(open_source(source or None, config, given)) as opened:
        path = Path(out) if out else _free(f"{_slug(opened.label)}-{now:%Y-%m-%d}")
        filters = Filters(
            limit=limit,
            seed=seed,
            days=days or None,
            since=first,
            until=last,
        )
        with Console(stderr=True).status(Text(f"Reading {opened.label} …")):
            manifest = take_snapshot(opened, path, filters, hidden)
    _print(path, manifest)
    useful = manifest.counts.kept and not manifest.most_rejected
    return ExitCode.OK if useful else ExitCode.INCOMPLETE


def _given(studies: str, questions: str, pairs: list[str], encoding: str) -> "dict[str, Any]":
    """What the options say, as the table of a source of files would."""
    given: dict[str, Any] = {}
    if studies:
        given["studies"] = [studies]
    if questions:
        given["questions"] = {"files": [questions]}
    if encoding:
        given["encoding"] = encoding
    for pair in pairs:
        field, equals, column = pair.partition("=")
        *place, name = field.strip().split(".")
        if not (equals and name and column.strip()):
            raise UsageError(f"--map {pair!r}: takes FIELD=COLUMN, such as id=case_no")
        table = given.setdefault(place.pop(0), {}) if place[:1] in _PARTS else given
        table = table.setdefault("fields", {})
        for step in place:
            table = table.setdefault(step, {})
        table[name] = column
    return given


_PARTS = (["messages"], ["questions"])


def _free(name: str) -> "Path":
    """The folder of that name, or with the first number that is free."""
    from itertools import count
    from pathlib import Path

    names = (name if rank == 1 else f"{name}-{rank}" for rank in count(1))
    return next(path for path in (Path("snapshots", name) for name in names) if not path.exists())


def _moment(option: str, value: str) -> "datetime | None":
    from datetime import UTC, datetime

    if not value:
        return None
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        raise UsageError(f"--{option} {value!r} is not an ISO date, such as 2026-01-31") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _slug(label: str) -> str:
    import re

    name = label.rpartition(" (")[0] or label
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "snapshot"


def _print(path: "Path", manifest: "Manifest") -> None:
    from itertools import islice

    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from ancrage.snapshot.store import open_snapshot

    console = Console(soft_wrap=True)
    counts = manifest.counts
    table = Table(title=Text(f"Snapshot of {manifest.source}"), title_justify="left")
    table.add_column("Answers")
    table.add_column("Count", justify="right")
    for label, value, always in (
        ("read", counts.read, True),
        ("kept", counts.kept, True),
        ("rejected", counts.rejected, True),
        ("duplicate ids", counts.duplicates, False),
        ("outside the window", counts.outside_window, False),
        ("without time, so in no window", counts.undated, False),
        ("not in the sample", counts.sampled_out, False),
    ):
        if value or always:
            table.add_row(label, f"{value:,}")
    table.add_section()
    for label, value in (
        ("kept: source missing", counts.source_missing),
        ("kept: no study named", counts.without_study),
        ("kept: no usable answer", counts.without_answer),
    ):
        table.add_row(label, f"{value:,}")
    table.add_section()
    for label, value in (
        ("studies", counts.studies),
        ("messages", counts.messages),
        ("questions", counts.questions),
    ):
        table.add_row(label, f"{value:,}")
    if counts.study_rows_rejected:
        table.add_row("rows of studies rejected", f"{counts.study_rows_rejected:,}")
    console.print(table)
    aside = counts.rejected + counts.duplicates + counts.study_rows_rejected
    if aside:
        rows = "row" if aside == 1 else "rows"
        console.print(Text(f"{aside:,} {rows} set aside:", style="bold yellow"))
        for reject in islice(open_snapshot(path, verify=False).rejects(), SHOWN):
            console.print(Text(f"  {reject}"))
        if aside > SHOWN:
            console.print(Text(f"  … all of them in {path / 'rejects.jsonl'}"))
    for warning in manifest.warnings:
        console.print(Text(warning, style="bold yellow"))
    for note in manifest.notes:
        console.print(Text(note))
    if manifest.most_rejected:
        console.print(Text("More was rejected than kept.", style="bold red"))
    if counts.source_missing and not counts.studies:
        console.print(
            Text(
                "No study was found, so no quote can be checked: give --studies with a file of "
                "answers, or messages in the source's table, or record what tools return.",
                style="bold yellow",
            )
        )
    console.print(Text(_hidden(manifest)))
    console.print(Text(f"Snapshot: {path}"))
    if counts.kept:
        console.print(Text(f"Next: {called(f'experiment --snapshot {path} --judges none')}"))
    else:
        console.print(Text("Nothing was kept: there is nothing to evaluate.", style="bold red"))
        if counts.rejected:
            console.print(
                Text(
                    "Fields of other names: --map question=COLUMN, or in evals.toml "
                    "[sources.NAME.fields]."
                )
            )


def _hidden(manifest: "Manifest") -> str:
    """What became of respondents' ids, and how to have it otherwise."""
    told = manifest.pseudonyms
    if told.mode == "none":
        return "Pseudonymised: none"
    changed = f"Pseudonymised: {told.mode.value} (an id such as R-001 becomes R-8775364226)"
    if told.key == "random":
        changed += (
            "; --pseudonymise none keeps ids; a key in ANCRAGE_PSEUDONYM_KEY, which init writes to "
            ".env, gives the same pseudonyms in every snapshot"
        )
    return changed


tasks = (snapshot,)
