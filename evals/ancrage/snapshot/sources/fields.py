"""Read one field of a row: by column or dotted path, of the kind wanted, or say what is wrong."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from pydantic_core import from_json

from ancrage.domain import JsonValue

COLUMNS_SHOWN = 12


class FieldError(ValueError):
    """One field of a row that cannot be used; ``field`` is its configured path."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def has(row: Mapping[str, Any], path: str) -> bool:
    """Whether the row has the column that ``path`` is, or starts from."""
    return path in row or path.partition(".")[0] in row


def missing(row: Mapping[str, Any], path: str) -> FieldError:
    """That nothing stands at ``path``; when there is no such column, the ones that there are."""
    return FieldError(path, "missing" if has(row, path) else f"missing: {unknown(path, row)}")


def unknown(path: str, columns: Iterable[str]) -> str:
    """That there is no such column, which ones there are, and which one may be meant."""
    names = [name for name in map(str, columns) if name]
    shown = ", ".join(name[:40] for name in names[:COLUMNS_SHOWN])
    more = f" and {len(names) - COLUMNS_SHOWN} more" if len(names) > COLUMNS_SHOWN else ""
    close = get_close_matches(path, names, n=1)
    hint = f"; did you mean {close[0]}?" if close else ""
    return f"no column {path!r} among {shown or 'none'}{more}{hint}"


def at(row: Mapping[str, Any], path: str) -> Any:
    """What stands at a column or dotted path of ``row``; None when there is nothing.

    A text that holds a JSON document is entered as that document.
    """
    if path in row:
        return row[path]
    value: Any = row
    for part in path.split("."):
        if isinstance(value, str):
            value = _document(value)
        if isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list) and part.lstrip("-").isdigit():
            value = value[int(part)] if -len(value) <= int(part) < len(value) else None
        else:
            return None
    return value


def identifier(row: Mapping[str, Any], path: str) -> str | None:
    value = at(row, path)
    if value is None or value == "":
        return None
    if isinstance(value, bool | float | dict | list | bytes):
        raise FieldError(path, f"expected an identifier, found {type(value).__name__}")
    return unicode(path, str(value))


def required(row: Mapping[str, Any], path: str) -> str:
    value = identifier(row, path)
    if value is None:
        raise missing(row, path)
    return value


def words(row: Mapping[str, Any], path: str) -> str:
    value = at(row, path)
    if value is None:
        raise missing(row, path)
    return text_of(path, value)


def optional(row: Mapping[str, Any], path: str) -> str | None:
    value = at(row, path)
    return None if value is None else text_of(path, value)


def text_of(path: str, value: Any) -> str:
    """A text, or the text parts of a message's content joined."""
    if isinstance(value, str):
        return unicode(path, value)
    if isinstance(value, list) and all(
        isinstance(part, str) or (isinstance(part, dict) and isinstance(part.get("text"), str))
        for part in value
    ):
        joined = "".join(part if isinstance(part, str) else part["text"] for part in value)
        return unicode(path, joined)
    raise FieldError(path, f"expected text, found {type(value).__name__}")


def unicode(path: str, text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise FieldError(path, "not valid text in the encoding of the file") from None
    return text


def _document(text: str) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError:
        return None


def json_of(row: Mapping[str, Any], path: str, kind: type) -> Any:
    """A JSON value of that kind; empty when there is none."""
    value = at(row, path)
    if isinstance(value, str):
        if not value.strip():
            return kind()
        value = _document(value)
    if value is None and not isinstance(at(row, path), str):
        return kind()
    if not isinstance(value, kind):
        wanted = "a list" if kind is list else "an object"
        raise FieldError(path, f"expected {wanted} in JSON")
    return value


def object_of(row: Mapping[str, Any], path: str) -> dict[str, JsonValue]:
    found: dict[str, JsonValue] = json_of(row, path, dict)
    return found


def plain(value: Any) -> JsonValue:
    """A value that JSON has; what databases add (dates, decimals, UUIDs) as text."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float) and value - value == 0:
        return value
    return value.isoformat() if isinstance(value, datetime) else str(value)
