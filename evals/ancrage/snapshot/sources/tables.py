"""Tables in files: CSV and TSV, Excel, Parquet."""

import csv
import re
import sys
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any

from ancrage.errors import UsageError
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.rows import Record, raw

LONGEST_ROW = 10_000
"""Lines of one row of CSV; beyond, its quotation mark is one that nobody closed."""
_SEPARATOR = re.compile(r'"?sep=(.)"?\s*', re.IGNORECASE)
"""What Excel writes before the header, so as to say which character separates."""


def read_csv(path: Path, where: str, encoding: str) -> Iterator[Record | Reject]:
    """The rows of a CSV or TSV file.

    A row whose quotation mark is never closed costs its first line alone: reading goes on at the
    next.
    """
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    # Undecodable bytes become lone surrogates, which the models then refuse by field.
    with path.open(encoding=encoding, errors="surrogateescape", newline="") as file:
        first = file.readline()
        skipped = 0
        if declared := _SEPARATOR.fullmatch(first):
            first, skipped = file.readline(), 1
        delimiter = declared[1] if declared else _delimiter(path, first)
        lines = _Lines(chain([first], file), skipped)
        rows = csv.reader(lines, delimiter=delimiter, strict=True)
        try:
            header = _header(where, next(rows, []))
        except csv.Error as error:
            raise UsageError(f"{where}:{skipped + 1}: not CSV: {error}") from None
        while True:
            start = lines.begin()
            try:
                values = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                unclosed = len(lines.row) > 1 or "end of data" in str(error)
                fault = f"not CSV: {error}"
                if unclosed:
                    fault += "; a quotation mark that opens in this row is not closed"
                yield Reject(where=where, line=start, raw=raw(lines.give_up()), error=fault)
                continue
            if len(values) != len(header) and len(lines.row) > 1:
                fault = _width(values, header) + ", over several lines; is a quotation mark open?"
                yield Reject(where=where, line=start, raw=raw(lines.give_up()), error=fault)
            else:
                yield from _row(where, start, header, values)


def read_excel(path: Path, where: str, notes: list[str]) -> Iterator[Record | Reject]:
    """The rows of the first sheet of a workbook that has any; formulas give their last results.

    Raises:
        UsageError: the package is missing, or the file is no workbook.
    """
    try:
        from openpyxl import load_workbook
    except ModuleNotFoundError as error:
        raise _needs(path, error) from None
    try:
        book = load_workbook(path, read_only=True, data_only=True)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001  the package raises what the archive's parts raise
        raise UsageError(f"{path}: not an Excel workbook: {error}") from None
    try:
        header: list[str] = []
        for sheet in book.worksheets:
            # Some writers state a size of one cell.
            sheet.reset_dimensions()
            for line, cells in enumerate(sheet.iter_rows(values_only=True), 1):
                values = [_cell(cell) for cell in cells]
                while values and values[-1] is None:
                    values.pop()
                if not values:
                    continue
                if header:
                    values += [None] * (len(header) - len(values))
                    yield from _row(where, line, header, values)
                else:
                    header = _header(where, ["" if cell is None else str(cell) for cell in values])
            if header:
                others = ", ".join(name for name in book.sheetnames if name != sheet.title)
                if others:
                    notes.append(f"{path.name}: sheet {sheet.title!r} read; not read: {others}")
                return
    finally:
        book.close()


def read_parquet(path: Path, where: str) -> Iterator[Record | Reject]:
    """The rows of a Parquet file.

    Raises:
        UsageError: the package is missing, or the file is no Parquet.
    """
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ModuleNotFoundError as error:
        raise _needs(path, error) from None
    try:
        with ParquetFile(path) as file:
            _header(where, file.schema_arrow.names)
            rank = 0
            for batch in file.iter_batches(batch_size=500):
                for row in batch.to_pylist():
                    rank += 1
                    yield Record(where, rank, {str(name).strip(): row[name] for name in row})
    except ArrowException as error:
        raise UsageError(f"{path}: not a Parquet file: {error}") from None


class _Lines:
    """A file's lines for a CSV reader; those of the row under way can be read again."""

    def __init__(self, lines: Iterator[str], skipped: int) -> None:
        self._lines = lines
        self._again: deque[str] = deque()
        self._number = skipped + 1
        self.row: list[str] = []

    def __iter__(self) -> "_Lines":
        return self

    def __next__(self) -> str:
        if len(self.row) >= LONGEST_ROW:
            raise csv.Error("unexpected end of data")
        line = self._again.popleft() if self._again else next(self._lines)
        self.row.append(line)
        return line

    def begin(self) -> int:
        """Start a row; its first line's number."""
        self._number += len(self.row)
        self.row = []
        return self._number

    def give_up(self) -> str:
        """Leave out the first line of the row under way and read the others again."""
        self._again.extendleft(reversed(self.row[1:]))
        del self.row[1:]
        return self.row[0] if self.row else ""


def _header(where: str, names: Sequence[str]) -> list[str]:
    header = [name.strip() for name in names]
    twice = [name for name, count in Counter(header).items() if count > 1 and name]
    if twice:
        raise UsageError(f"{where}: column {twice[0]!r} stands twice in the header")
    return header


def _row(
    where: str, line: int, header: list[str], values: Sequence[Any]
) -> Iterator[Record | Reject]:
    if list(values) == header:
        yield Reject(where=where, line=line, error="the header once more")
    elif len(values) == len(header):
        yield Record(where, line, dict(zip(header, values, strict=True)))
    elif values:
        shown = ", ".join(str(value) for value in values if value is not None)
        yield Reject(where=where, line=line, raw=raw(shown), error=_width(values, header))


def _width(values: Sequence[Any], header: list[str]) -> str:
    return f"{len(values)} columns where the header has {len(header)}"


def _cell(value: Any) -> Any:
    """Excel keeps every number as a float; an id is none."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _delimiter(path: Path, header: str) -> str:
    """Semicolons are what French spreadsheets write."""
    return "\t" if path.suffix.lower() == ".tsv" else max(",;\t|", key=header.count)


def _needs(path: Path, error: ModuleNotFoundError) -> UsageError:
    return UsageError(f"{path}: reading it needs {error.name}: pip install 'ancrage[tables]'")
