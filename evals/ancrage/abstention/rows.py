"""JSON and JSON Lines read with their places, so that every fault can be named."""

import json
from pathlib import Path
from typing import Any, NamedTuple

from ancrage.errors import UsageError


class Row(NamedTuple):
    """One record of a file: its 1-based position, where it stands in words, and its value."""

    number: int
    place: str
    value: Any


class DoubtfulError(ValueError):
    """A value that is JSON but must not be read: a field written twice."""


def read_text(path: Path) -> str:
    """The file's text, without a byte-order mark.

    Raises:
        UsageError: it cannot be read, or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise UsageError(f"{path}: not UTF-8 (byte {error.start})") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None


def parse(text: str) -> Any:
    """The JSON value of ``text``.

    Raises:
        ValueError: it is not JSON, or names a field twice.
    """
    return json.loads(text, object_pairs_hook=_fields, parse_constant=_no_constant)


def read_rows(path: Path, key: str) -> tuple[list[Row], list[str]]:
    """The records of a JSON list, of ``{key: [list]}``, or of JSON Lines, and what is unreadable.

    Raises:
        UsageError: the file as a whole cannot be read.
    """
    text = read_text(path)
    if not text.strip():
        raise UsageError(f"{path}: empty")
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        return _lines(path, text)
    try:
        value = parse(text)
    except json.JSONDecodeError as error:
        if error.msg == "Extra data" and _is_object(text.lstrip().partition("\n")[0]):
            return _lines(path, text)
        raise UsageError(f"{path}:{error.lineno}: not valid JSON: {error.msg}") from None
    except (DoubtfulError, RecursionError) as error:
        raise UsageError(f"{path}: {error}") from None
    if isinstance(value, dict) and isinstance(value.get(key), list):
        value = value[key]
    if not isinstance(value, list):
        raise UsageError(f'{path}: expected a list of {key}, or {{"{key}": [...]}}')
    return [Row(i, f"{path}: {i}", each) for i, each in enumerate(value, start=1)], []


def _lines(path: Path, text: str) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    faults: list[str] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            rows.append(Row(len(rows) + 1, f"{path}:{number}", parse(line)))
        except (ValueError, RecursionError) as error:
            words = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
            faults.append(f"{path}:{number}: not valid JSON: {words}")
    return rows, faults


def _is_object(line: str) -> bool:
    try:
        return isinstance(parse(line), dict)
    except ValueError:
        return False


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise DoubtfulError(f"{twice!r} is given twice")
    return fields


def _no_constant(name: str) -> float:
    raise DoubtfulError(f"{name} is not a number")
