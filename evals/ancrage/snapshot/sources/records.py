"""Read rows from JSON, JSON Lines, CSV and TSV files, setting aside the lines that are none."""

import codecs
import csv
import sys
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from pydantic_core import from_json

from ancrage.errors import UsageError
from ancrage.snapshot.manifest import Reject

RAW_KEPT = 2_000
"""Characters of a rejected line that are kept, where any may be."""


class Record(NamedTuple):
    """A row and where it stands."""

    where: str
    line: int
    row: dict[str, Any]


def resolve(patterns: tuple[str, ...], root: Path) -> list[Path]:
    """The files that paths and globs mean, in a stable order, each once.

    Raises:
        UsageError: a pattern means no file.
    """
    found: dict[Path, None] = {}
    for pattern in patterns:
        exact = root / pattern
        if exact.is_file():
            matches = [exact]
        elif Path(pattern).is_absolute():
            anchor = Path(pattern).anchor
            matches = sorted(Path(anchor).glob(str(Path(pattern).relative_to(anchor))))
        else:
            matches = sorted(root.glob(pattern))
        files = [path for path in matches if path.is_file()]
        if not files:
            raise UsageError(f"{pattern}: no such file (looked in {root})")
        found.update(dict.fromkeys(files))
    return list(found)


def read_records(path: Path, where: str) -> Iterator[Record | Reject]:
    """The rows of a file; JSON Lines, CSV and TSV are streamed, one JSON document is not.

    ``where`` is how rejects and records name the file.

    Raises:
        UsageError: the file cannot be read, or its type is not known by its ending.
    """
    readers = {
        ".jsonl": _json_lines, ".ndjson": _json_lines, ".json": _json,
        ".csv": _csv, ".tsv": _csv,
    }  # fmt: skip
    reader = readers.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: unknown kind of file; known: {', '.join(readers)}")
    try:
        with path.open("rb") as file:
            first = file.read(4)
            if first[:2] in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE) and 0 in first:
                raise UsageError(f"{path}: is in UTF-16; save it as UTF-8")
        yield from reader(path, where)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def raw(line: bytes) -> str:
    """A rejected line, legible and cut."""
    text = line[: RAW_KEPT * 4].decode("utf-8", "backslashreplace").strip()
    return text[:RAW_KEPT]


def _json_lines(path: Path, where: str) -> Iterator[Record | Reject]:
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if not line.strip():
                continue
            try:
                yield _record(where, number, from_json(line, allow_inf_nan=False), line)
            except ValueError as error:
                # from_json counts lines from the start of this one.
                fault = str(error).replace(" at line 1 column ", " at character ")
                yield Reject(where=where, line=number, error=f"not JSON: {fault}", raw=raw(line))


def _json(path: Path, where: str) -> Iterator[Record | Reject]:
    content = path.read_bytes().removeprefix(b"\xef\xbb\xbf")
    try:
        document = from_json(content, allow_inf_nan=False)
    except ValueError as error:
        lines = [line for line in content.split(b"\n", 2)[:2] if line.strip()]
        if len(lines) == 2 and all(line.strip().startswith(b"{") for line in lines):
            yield from _json_lines(path, where)
        else:
            yield Reject(where=where, error=f"not JSON: {error}", raw=raw(content))
        return
    if isinstance(document, list):
        for rank, row in enumerate(document, 1):
            yield _record(where, rank, row, b"")
    else:
        yield _record(where, 1, document, content)


def _record(where: str, line: int, row: Any, source: bytes) -> Record | Reject:
    if isinstance(row, dict):
        return Record(where, line, row)
    return Reject(
        where=where, line=line, raw=raw(source) or None,
        error=f"expected an object with fields, found {type(row).__name__}",
    )  # fmt: skip


def _csv(path: Path, where: str) -> Iterator[Record | Reject]:
    csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    # Undecodable bytes become lone surrogates, which the models then refuse by field.
    with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
        first = file.readline()
        delimiter = "\t" if path.suffix.lower() == ".tsv" else _delimiter(first)
        rows = csv.reader(chain([first], file), delimiter=delimiter, strict=True)
        header = [name.strip() for name in next(rows, [])]
        while True:
            start = rows.line_num + 1
            try:
                values = next(rows)
            except StopIteration:
                return
            except csv.Error as error:
                yield Reject(where=where, line=start, error=f"not CSV: {error}")
                continue
            if len(values) == len(header):
                yield Record(where, start, dict(zip(header, values, strict=True)))
            elif values:
                yield Reject(
                    where=where, line=start, raw=delimiter.join(values)[:RAW_KEPT],
                    error=f"{len(values)} columns where the header has {len(header)}",
                )  # fmt: skip


def _delimiter(header: str) -> str:
    """Semicolons are what French spreadsheets write."""
    return ";" if header.count(";") > header.count(",") else ","
