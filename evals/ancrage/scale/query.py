"""SQL over all runs through DuckDB, read-only and shut in: it reaches the runs and nothing else.

The journals are read as they are, streamed; a run whose columnar copy (``tables.py``) is up to
date is read from there. For scores and findings the rule is that of ``RunView``: of each
evaluator, the newest complete scoring.
"""

import json
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ancrage.errors import UsageError
from ancrage.files import ends_whole, save_model
from ancrage.runs import NOT_RUN, RunView
from ancrage.scale.tables import FOLDER, MANIFEST, TABLES, Made, fresh_tables, sizes

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection
    from rich.console import RenderableType

    from ancrage.runs import RunFolder

Row = dict[str, Any]
_BATCH = 1000
_LONGEST = 240
"""Characters of a cell on the terminal."""
_COLUMNS = 8
"""Columns that stand side by side there."""
_RUNS = """create table runs (
    run varchar, name varchar, kind varchar, state varchar, created timestamp, finished timestamp,
    "group" varchar, repeat bigint, snapshot varchar, cases bigint, counts json,
    parameters json, versions json
)"""


@contextmanager
def connected(folders: Iterable["RunFolder"], *, copying: bool = False) -> Iterator["RunQueries"]:
    """Ready to query ``folders``; ``copying`` reads the journals alone, to copy them.

    Raises:
        UsageError: DuckDB is not installed.
    """
    try:
        import duckdb
    except ModuleNotFoundError:
        raise UsageError("queries need DuckDB: pip install 'ancrage[query]'") from None
    with tempfile.TemporaryDirectory(prefix="ancrage-query-") as name:
        config: dict[str, str | bool | int | float | list[str]] = {
            "temp_directory": name,
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "python_enable_replacements": "false",
        }
        with duckdb.connect(config=config) as connection:
            yield RunQueries(connection, folders, Path(name), copying=copying)


class RunQueries:
    """The views ``runs``, ``answers``, ``scores``, ``findings`` and ``quotes`` over runs."""

    def __init__(
        self,
        connection: "DuckDBPyConnection",
        folders: Iterable["RunFolder"],
        scratch: Path,
        *,
        copying: bool,
    ) -> None:
        self._connection, self._scratch = connection, scratch
        self.notes: list[str] = []
        """What the views lack, one sentence each."""
        self._read: dict[str, list[str]] = {"outputs": [], "scores": [], "cases": []}
        self._copied: dict[str, list[str]] = {table: [] for table in TABLES}
        connection.execute(_RUNS)
        connection.execute("create table _runs (run varchar, outputs varchar, cases_file varchar)")
        connection.execute(
            "create table _modes (run varchar, file varchar, scoring varchar, place bigint, "
            "evaluator varchar, version varchar, mode varchar)"
        )
        for folder in folders:
            self._add(folder, copying=copying)
        nothing = scratch / "nothing.jsonl"
        nothing.touch()
        for name, paths in self._read.items():
            paths[:] = paths or [str(nothing)]
            connection.execute(f"set variable {name} = ?", [paths])
        connection.execute("set variable not_run = ?", [NOT_RUN])
        if not copying:
            self._shut_in()
        self._defined = False

    def rows(self, sql: str) -> Iterator[Row]:
        """What one ``select`` gives, streamed.

        Raises:
            UsageError: it is no single query, or DuckDB refuses it; its words in one line.
        """
        import duckdb

        try:
            statements = self._connection.extract_statements(sql)
            if [found.type for found in statements] != [duckdb.StatementType.SELECT]:
                raise UsageError('give one query, such as: "select * from runs"')
            if re.search("|".join(TABLES), sql, re.IGNORECASE):
                self._define()
            result = self._connection.execute(statements[0])
            columns = _distinct([column[0] for column in result.description or ()])
            while batch := result.fetchmany(_BATCH):
                for row in batch:
                    yield dict(zip(columns, row, strict=True))
        except duckdb.Error as error:
            raise UsageError(" ".join(str(error).split())) from None

    def copy(self, table: str, path: Path) -> None:
        """Write one of ``TABLES`` as Parquet, in row groups of 100,000."""
        self._define()
        self._connection.execute(
            f"copy (from {table}) to '{str(path).replace(chr(39), 2 * chr(39))}' "
            "(format parquet, compression zstd, row_group_size 100_000)"
        )

    def _shut_in(self) -> None:
        """From here on only the files of the runs can be reached, and no setting changed."""
        allowed = [*chain(*self._read.values(), *self._copied.values())]
        self._connection.execute("set allowed_paths = ?", [allowed])
        self._connection.execute("set enable_external_access = false")
        self._connection.execute("set lock_configuration = true")

    def _add(self, folder: "RunFolder", *, copying: bool) -> None:
        view = RunView(folder)
        run, name = view.run, folder.path.name
        self._insert(
            "runs",
            (name, run.name, run.kind, run.state.value, run.created, run.finished, run.group,
             run.repeat, run.snapshot.path, run.counts.get("cases"), json.dumps(run.counts),
             json.dumps(run.parameters), json.dumps(run.versions)),
        )  # fmt: skip
        if not copying and (copied := fresh_tables(folder)):
            for table, path in copied.items():
                self._copied[table].append(str(path))
            return
        outputs = str((folder.path / "outputs.jsonl").resolve())
        self._insert("_runs", (name, outputs, self._cases(view)))
        self._read["outputs"] += [outputs] if Path(outputs).exists() else []
        for place, scoring in enumerate(view.scorings):
            scores = str((scoring.path / "scores.jsonl").resolve())
            counted = [
                (name, scores, scoring.path.name, place, info.name, info.version, mode.name)
                for info, home in view.evaluators.values()
                if home == scoring
                for mode in info.modes
            ]
            for row in counted:
                self._insert("_modes", row)
            self._read["scores"] += [scores] if counted and Path(scores).exists() else []

    def _cases(self, view: RunView) -> str | None:
        """The file of cases that a run read, where it is still the same."""
        try:
            file = str((view.folder.snapshot(verify=False).path / "cases.jsonl").resolve())
        except UsageError as error:
            self.notes.append(f"{error}; its questions, studies and cases not run are unknown")
            return None
        if file not in self._read["cases"]:
            self._read["cases"].append(file)
        return file

    def _insert(self, table: str, row: tuple[object, ...]) -> None:
        marks = ", ".join("?" * len(row))
        self._connection.execute(f"insert into {table} values ({marks})", row)  # noqa: S608

    def _define(self) -> None:
        """Make the views; says which lines cannot be read."""
        if self._defined:
            return
        self._defined = True
        run = self._connection.execute
        run((files(__package__) / "views.sql").read_text(encoding="utf-8"))
        for table, paths in self._copied.items():
            copies = f"union all by name from read_parquet({paths})" if paths else ""
            run(f"create view {table} as from _{table} {copies}")
        damaged = run(
            "select filename, times from (from _output_places union all from _score_places) "
            "where case_id is null order by all"
        )
        for file, count in damaged.fetchall():
            count -= not ends_whole(Path(file))  # torn as it was written, or being written now
            if count:
                self.notes.append(f"{file}: {count} damaged line{'s' * (count > 1)} left out")


def write_tables(folder: "RunFolder") -> tuple[Path, list[str]]:
    """Write the columnar copy of a run, in the place of the one before.

    Returns:
        Its folder, and what it lacks, one sentence each.

    Raises:
        UsageError: DuckDB is not installed, or the run cannot be read.
    """
    made = Made(of=sizes(folder))
    draft = Path(tempfile.mkdtemp(prefix=f".{FOLDER}-", dir=folder.path))
    try:
        with connected([folder], copying=True) as queries:
            for table in TABLES:
                queries.copy(table, draft / f"{table}.parquet")
            notes = queries.notes
        save_model(draft / MANIFEST, made, private=True)
        target = folder.path / FOLDER
        shutil.rmtree(target, ignore_errors=True)
        draft.rename(target)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return target, notes


def table(rows: list[Row]) -> "RenderableType":
    """Rows for the terminal; those too wide for a line stand one below the other."""
    from rich import box
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    from ancrage.report.text import line

    if rows and len(rows[0]) > _COLUMNS:
        found: list[RenderableType] = []
        for row in rows:
            card = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
            for name, value in row.items():
                card.add_row(Text(line(name), "bold"), Text(_cell(value)))
            found += [card, Text("")]
        return Group(*found)
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name, value in rows[0].items() if rows else ():
        numeric = isinstance(value, int | float)
        grid.add_column(line(name), justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(_cell(value)) for value in row.values()))
    return grid


def _cell(value: object) -> str:
    from ancrage.report.text import line

    if value is None:
        return "null"
    text = f"{value:.6g}" if isinstance(value, float) else line(str(value))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _distinct(names: list[str]) -> list[str]:
    """Column names, those that came before numbered."""
    seen: Counter[str] = Counter()
    found = []
    for name in names:
        seen[name] += 1
        found.append(f"{name}_{seen[name]}" if seen[name] > 1 else name)
    return found
