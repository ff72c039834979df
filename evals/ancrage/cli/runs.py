"""What runs there are, and their rows for other tools: ``runs``, ``query`` and ``export``."""

from pathlib import Path
from typing import TYPE_CHECKING, Literal

from ancrage.cli.shell import Count, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from ancrage.runs import RunFolder

_SHOWN = 100
"""Rows of a query that a terminal shows."""


@command(
    help={
        "last": "How many of the newest runs.",
        "kind": "Only runs of this kind, such as audit or replay (default: all).",
    },
    example="runs --last 5",
)
def runs(last: Count = 20, kind: str = "") -> ExitCode:
    """List the runs, newest first, with the names they go by.

    Each run can be named by its number (latest, latest~1, …), by its id, or by the beginning of
    its id.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    from ancrage.report.terminal import console, show
    from ancrage.report.text import line
    from ancrage.runs import RUNS, list_runs

    found = list(reversed(list_runs()))
    if not found:
        raise UsageError(f"no run in {RUNS}/; make one with: {called('experiment')}")
    table = Table("Name", "Run", "Kind", "State", "Cases", box=box.SIMPLE_HEAD, pad_edge=False)
    chosen = [(back, each) for back, each in enumerate(found) if kind in ("", each.run.kind)]
    for back, folder in chosen[:last]:
        run = folder.run
        table.add_row(
            f"latest~{back}" if back else "latest",
            Text(line(folder.path.name), overflow="fold"),
            line(run.kind),
            Text(run.state.value, "" if run.state.value == "complete" else "yellow"),
            str(run.counts.get("cases", 0)),
        )
    out = console()
    show(table, out)
    if len(chosen) > last:
        out.print(f"and {len(chosen) - last} older ones (--last {len(chosen)})")
    return ExitCode.OK


@command(
    help={
        "run": "Run to export: its id, its beginning, its folder, or latest (default: the latest).",
        "rows": "What a row is; evaluation: one JSON file on questions with known answers.",
        "out": "File to write, .csv, .jsonl or .parquet; - prints CSV "
        "(default: RUN-ROWS.csv in this folder).",
        "parquet": "Write all its tables as Parquet in the run's folder, where query reads them.",
    },
    positional=("run",),
    example="export latest --rows findings --out findings.csv",
)
def export(
    run: str = "",
    rows: Literal["answers", "scores", "findings", "quotes", "evaluation"] = "answers",
    out: str = "",
    parquet: bool = False,
) -> ExitCode:
    """Write a run as a flat table for spreadsheets and notebooks.

    Cells that a spreadsheet would take for a formula begin with an apostrophe.
    """
    from ancrage.report.export import lines, rows_of, write
    from ancrage.report.terminal import console
    from ancrage.runs import RunView, find_run

    if parquet and (out or rows != "answers"):
        raise UsageError("--parquet writes all tables into the run's folder: leave out the others")
    folder: RunFolder = find_run(run)
    if parquet:
        return _tables(folder)
    if rows == "evaluation":
        return _evaluation(folder, Path(out or "outputs/evaluation.json"))
    view = RunView(folder)
    if out == "-":
        from ancrage.cli.shield import print_utf8

        print_utf8(lines(rows_of(view, rows), "csv"))
        return ExitCode.OK
    path = Path(out or f"{folder.path.name}-{rows}.csv")
    count = write(view, rows, path)
    console().print(f"{path}: {count} {rows}", soft_wrap=True)
    return ExitCode.OK


def _tables(folder: "RunFolder") -> ExitCode:
    from ancrage.cli.shield import say
    from ancrage.report.terminal import console
    from ancrage.scale.query import write_tables

    place, notes = write_tables(folder)
    for note in notes:
        say(f"export: {note}")
    console().print(str(place), soft_wrap=True)
    return ExitCode.INCOMPLETE if notes else ExitCode.OK


@command(
    help={
        "sql": "One select over the views runs, answers, scores, findings and quotes.",
        "csv": "Print all rows as CSV.",
        "json": "Print all rows as JSON Lines.",
    },
    example='query "select mode, avg(value) from scores group by mode"',
)
def query(sql: str, csv: bool = False, json: bool = False) -> ExitCode:
    """Ask all runs in SQL, read by DuckDB.

    Exits 3 when lines of a journal are damaged or a snapshot is gone: what there is, is read.
    """
    from itertools import islice

    from ancrage.cli.shield import print_utf8, say
    from ancrage.report.export import lines
    from ancrage.report.terminal import console, show
    from ancrage.report.text import counted
    from ancrage.runs import RUNS, list_runs
    from ancrage.scale.query import connected, table

    if csv and json:
        raise UsageError("--csv and --json both print: give one")
    folders = list_runs()
    damaged = len(list(RUNS.glob("*/manifest.json"))) - len(folders)
    with connected(folders) as runs:
        if damaged:
            runs.notes.append(f"{damaged} runs are left out: their manifests cannot be read")
        rows = runs.rows(sql)
        if csv or json:
            print_utf8(lines(rows, "csv" if csv else "jsonl"))
        else:
            shown = list(islice(rows, _SHOWN))
            show(table(shown), console())
            more = ", the first of more: --csv and --json print all" if next(rows, None) else ""
            words = f"{counted(len(shown), 'row')} of {counted(len(folders), 'run')}{more}"
            console().print(words, soft_wrap=True)
        for note in runs.notes:
            say(f"query: {note}")
        return ExitCode.INCOMPLETE if runs.notes else ExitCode.OK


def _evaluation(folder: "RunFolder", path: Path) -> ExitCode:
    from ancrage.abstention.evaluation import evaluation_of
    from ancrage.files import save_model
    from ancrage.report.terminal import console
    from ancrage.runs import RunView

    found = evaluation_of(RunView(folder))
    save_model(path, found)
    out = console()
    out.print(str(found), soft_wrap=True, markup=False, highlight=False)
    out.print(str(path), soft_wrap=True, markup=False)
    return ExitCode.INCOMPLETE if found.missing_cases else ExitCode.OK


tasks = (runs, query, export)
