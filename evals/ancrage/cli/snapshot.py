"""``snapshot``: freeze production's answers in a folder."""

from typing import TYPE_CHECKING, Any

from ancrage.cli.shell import Amount, Count, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime
    from pathlib import Path

    from rich.console import RenderableType

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
        "answers": "With a file of questions (must_abstain, expected, support): of their answers.",
        "questions": "With a file of answers: the file, or glob, of the questions put.",
        "map": "With a file of answers: FIELD=COLUMN, as in id=case_no or messages.text=verbatim; "
        "can be repeated. Fields: id, question, answer, study_id, history, tool_calls, "
        "system_prompt, time, model; messages. id, respondent_id, text, question_ref, language, "
        "study_id; questions. ref, text, study_id.",
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
    answers: str = "",
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
    from shutil import rmtree

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
    given = _given(studies, questions, map or [], encoding, answers)
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
    left = bool(manifest.counts.kept or out)
    _print(path, manifest, left=left)
    if not left:
        rmtree(path)
    useful = manifest.counts.kept and not manifest.most_rejected
    return ExitCode.OK if useful else ExitCode.INCOMPLETE


def _given(
    studies: str, questions: str, pairs: list[str], encoding: str, answers: str
) -> "dict[str, Any]":
    """What the options say, as the table of a source of files would."""
    given: dict[str, Any] = {}
    if answers:
        given["answers"] = answers
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


def _print(path: "Path", manifest: "Manifest", *, left: bool) -> None:
    from rich.console import Group

    from ancrage.report.terminal import console, show

    out = console()
    out.soft_wrap = True
    show(Group(*_told(path, manifest, left)), out)


def _told(path: "Path", manifest: "Manifest", left: bool) -> "Iterator[RenderableType]":
    from itertools import islice

    from rich.table import Table
    from rich.text import Text

    from ancrage.report.text import line
    from ancrage.snapshot.store import open_snapshot

    counts = manifest.counts
    table = Table(title=Text(f"Snapshot of {line(manifest.source)}"), title_justify="left")
    table.add_column("Answers")
    table.add_column("Count", justify="right")
    # Those of the first part that are 0 are left out, but for the first three.
    for part in (
        {
            "read": counts.read, "kept": counts.kept, "rejected": counts.rejected,
            "duplicate ids": counts.duplicates, "outside the window": counts.outside_window,
            "without time, so in no window": counts.undated,
            "not in the sample": counts.sampled_out,
        },
        {
            "kept: source missing": counts.source_missing,
            "kept: no study named": counts.without_study,
            "kept: no usable answer": counts.without_answer,
        },
        {
            "studies": counts.studies, "messages": counts.messages, "questions": counts.questions,
            "rows of studies rejected": counts.study_rows_rejected,
        },
    ):  # fmt: skip
        for rank, (label, value) in enumerate(part.items()):
            if value or rank < 3:
                table.add_row(label, f"{value:,}")
        table.add_section()
    yield table
    aside = counts.rejected + counts.duplicates + counts.study_rows_rejected
    if aside:
        yield Text(f"{aside:,} {'row' if aside == 1 else 'rows'} set aside:", "bold yellow")
        for reject in islice(open_snapshot(path, verify=False).rejects(), SHOWN):
            yield Text(f"  {line(str(reject))}")
        if aside > SHOWN:
            kept = path / "rejects.jsonl" if left else "the folder that --out names"
            yield Text(f"  … all of them in {kept}")
    for warning in manifest.warnings:
        yield Text(warning, "bold yellow")
    for note in manifest.notes:
        yield Text(line(note))
    if manifest.most_rejected:
        yield Text("More was rejected than kept.", "bold red")
    if counts.source_missing and not counts.studies:
        yield Text(
            "No study was found, so no quote can be checked: give --studies with a file of "
            "answers, or messages in the source's table, or record what tools return.",
            "bold yellow",
        )
    yield Text(_hidden(manifest))
    yield Text(f"Snapshot: {path if left else 'none is left, for want of answers'}")
    without_study = counts.source_missing and not counts.studies
    if counts.kept and not (without_study or manifest.most_rejected):
        yield Text(f"Next: {called(f'experiment --snapshot {path} --judges none')}")
        return
    if counts.kept:
        yield Text("Next: set right what is said above, and take it again.")
        return
    yield Text("Nothing was kept: there is nothing to evaluate.", "bold red")
    if counts.rejected:
        yield Text(
            "Fields of other names: --map FIELD=COLUMN for each that is said to be missing above, "
            f"or in evals.toml [sources.NAME.fields]; {called('init FILE')} proposes them."
        )


def _hidden(manifest: "Manifest") -> str:
    """What became of respondents' ids, and how to have it otherwise."""
    told = manifest.pseudonyms
    if told.mode == "none":
        return "Pseudonymised: none"
    changed = f"Pseudonymised: {told.mode.value} (ids of respondents are replaced, each by one)"
    if told.key == "random":
        changed += (
            ", by others in every snapshot, so that compare shows them as changes: a key in "
            "ANCRAGE_PSEUDONYM_KEY, which init writes to .env, keeps them the same; "
            "--pseudonymise none keeps the ids"
        )
    return changed


tasks = (snapshot,)
