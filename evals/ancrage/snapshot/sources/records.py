"""Read rows from files of any kind, setting aside what is no row."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from pydantic_core import from_json

from ancrage.errors import UsageError
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources import tables
from ancrage.snapshot.sources.encodings import encoding_of
from ancrage.snapshot.sources.rows import Record, raw

TABLES = (".csv", ".tsv", ".xlsx", ".xlsm", ".parquet")
"""Kinds of files in which every row has the same columns."""
SUFFIXES = (".jsonl", ".ndjson", ".json", *TABLES)


Reader = Callable[[Path, str, str], Iterator[Record | Reject]]
"""From a path, its name in messages and its encoding to its rows."""


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


def read_records(
    path: Path, where: str, encoding: str | None = None, notes: list[str] | None = None
) -> Iterator[Record | Reject]:
    """The rows of a file, streamed but for one JSON document.

    ``where`` is how rejects and records name the file; ``encoding`` that of a text file, found
    out when None and told to ``notes`` when guessed.

    Raises:
        UsageError: the file cannot be read, its kind is not known by its ending, or two of its
            columns have one name.
    """
    suffix = path.suffix.lower()
    notes = [] if notes is None else notes
    try:
        if suffix in (".xlsx", ".xlsm"):
            yield from tables.read_excel(path, where, notes)
        elif suffix == ".parquet":
            yield from tables.read_parquet(path, where)
        elif reader := _TEXTS.get(suffix):
            yield from reader(path, where, encoding_of(path, encoding, notes))
        else:
            raise UsageError(f"{path}: unknown kind of file; known: {', '.join(SUFFIXES)}")
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except UnicodeError as error:
        raise UsageError(f"{path}: cannot be decoded: {error}") from None


def _json_lines(path: Path, where: str, encoding: str) -> Iterator[Record | Reject]:
    with path.open(encoding=encoding, errors="surrogateescape") as file:
        for number, line in enumerate(file, 1):
            if not line.strip():
                continue
            try:
                yield _record(where, number, _value(line), line)
            except ValueError as error:
                yield Reject(where=where, line=number, error=_fault(error), raw=raw(line))


def _value(text: str) -> Any:
    # As bytes: of text that no encoding holds, from_json says TypeError, encode what is wrong.
    return from_json(text.encode(), allow_inf_nan=False)


def _fault(error: ValueError) -> str:
    if isinstance(error, UnicodeEncodeError):
        return "not JSON: not valid text in the encoding of the file"
    # from_json counts lines from the start of this one.
    words = re.sub(r" at line 1 column (\d+)", r" at character \1", str(error))
    return "not JSON: " + re.sub(r" at line \d+ column \d+", " at its end", words)


def _json(path: Path, where: str, encoding: str) -> Iterator[Record | Reject]:
    content = path.read_bytes().decode(encoding, "surrogateescape")
    try:
        document = _value(content)
    except ValueError as error:
        lines = [line for line in content.split("\n", 2)[:2] if line.strip()]
        if len(lines) == 2 and all(line.strip().startswith("{") for line in lines):
            yield from _json_lines(path, where, encoding)
        else:
            yield Reject(where=where, error=_fault(error), raw=raw(content))
        return
    rows = document if isinstance(document, list) else _wrapped(document)
    for rank, row in enumerate(rows, 1):
        yield _record(where, rank, row, content if rows == [document] else "")


def _wrapped(document: Any) -> list[Any]:
    """The rows of ``{"questions": […]}``; a document that has fields of its own is one row."""
    if isinstance(document, dict) and not document.keys() & _OWN:
        lists = [value for value in document.values() if isinstance(value, list)]
        if len(lists) == 1 and lists[0] and all(isinstance(row, dict) for row in lists[0]):
            return lists[0]
    return [document]


_OWN = {"id", "study_id", "question", "answer", "input"}


def _record(where: str, line: int, row: Any, source: str) -> Record | Reject:
    if isinstance(row, dict):
        return Record(where, line, row)
    error = f"expected an object with fields, found {type(row).__name__}"
    return Reject(where=where, line=line, raw=raw(source) or None, error=error)


_TEXTS: dict[str, Reader] = {
    ".jsonl": _json_lines,
    ".ndjson": _json_lines,
    ".json": _json,
    ".csv": tables.read_csv,
    ".tsv": tables.read_csv,
}
