"""Configuration: ``evals.toml``, or ``[tool.ancrage]`` in ``pyproject.toml``, and ``.env``."""

import os
import re
import tomllib
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from ancrage.errors import UsageError, describe

__all__ = ["Config", "load", "secret"]

TABLES = (
    "assistant",
    "checks",
    "citations",
    "gate",
    "ids",
    "judges",
    "langfuse",
    "nli",
    "prices",
    "prove",
    "pseudonyms",
    "replay",
    "sources",
    "tiers",
    "verify",
)
"""Every table that some concern reads; any other is a spelling mistake."""

T = TypeVar("T")


@dataclass(frozen=True)
class Config:
    """The project's configuration; each concern validates the table it owns."""

    path: Path | None
    """The file read; None when there is none and everything is at its default."""
    tables: dict[str, Any]

    def table(self, name: str, model: type[T], /, **options: object) -> T:
        """The table ``name`` validated as ``model``; an absent one validates as empty. Options
        that are not None take the place of the file's values.

        Raises:
            UsageError: a field is unknown, missing or of the wrong type; names file and field.
        """
        table = self.tables.get(name, {})
        given = {field: value for field, value in options.items() if value is not None}
        try:
            settings = TypeAdapter(model).validate_python(table)
        except ValidationError as error:
            fault = UsageError(f"[{name}] {describe(error, model)}")
            raise self.located(fault) from None
        try:
            return TypeAdapter(model).validate_python({**table, **given}) if given else settings
        except ValidationError as error:
            raise UsageError(f"[{name}] {describe(error, model)}") from None

    def located(self, error: UsageError) -> UsageError:
        """The error of ``[table] field: …`` with the file and line of that field before it."""
        found = re.match(r"\[([\w.-]+)\] ([\w.-]*)", str(error))
        if not self.path or not found:
            return UsageError(f"{self.path or 'configuration'}: {error}")
        line = _line(self.path.read_text(encoding="utf-8-sig"), *found.groups())
        return UsageError(f"{self.path}{f':{line}' if line else ''}: {error}")

    @property
    def root(self) -> Path:
        """The folder that relative paths of the configuration start from."""
        return self.path.parent if self.path else Path.cwd()


def _line(text: str, table: str, field: str) -> int | None:
    """The line of a field, or of the table where the field is in none."""
    *within, last = [part for part in [*table.split("."), *field.split(".")] if part]
    inside: list[str] = []
    best = None
    for number, line in enumerate(text.splitlines(), 1):
        if header := re.match(r"\s*\[+\s*([^\[\]]+?)\s*\]", line):
            inside = [part.strip(" \"'") for part in header[1].split(".")]
            inside = inside[2:] if inside[:2] == ["tool", "ancrage"] else inside
            if inside == [*within, last]:
                return number
            if inside and inside == [*within, last][: len(inside)]:
                best = number
        elif inside and inside == within[: len(inside)]:
            rest = [*within, last][len(inside) :]
            if re.match(rf"\s*[\"']?{re.escape(rest[0])}[\"']?\s*[=.]", line):
                return number
    return best


@cache
def load(folder: Path | None = None) -> Config:
    """The configuration of ``folder`` (default: the current one); empty when there is no file.

    Raises:
        UsageError: the file is not TOML or holds an unknown table.
    """
    folder = folder or Path.cwd()
    for path, keys in (
        (folder / "evals.toml", ()),
        (folder / "pyproject.toml", ("tool", "ancrage")),
    ):
        if not path.is_file():
            continue
        try:
            tables: Any = tomllib.loads(path.read_text(encoding="utf-8-sig"))
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
            raise UsageError(f"{path}: not valid TOML: {error}") from None
        for key in keys:
            tables = tables.get(key, {})
        if not tables and keys:
            continue
        unknown = sorted(set(tables) - set(TABLES))
        if unknown:
            raise UsageError(f"{path}: unknown table [{unknown[0]}]; known: {', '.join(TABLES)}")
        return Config(path, tables)
    return Config(None, {})


def secret(name: str) -> str | None:
    """The environment variable ``name``, also looked up in ``.env``; None when unset or empty.

    Blanks around it are dropped, and no message shows it from now on (``ancrage.redact``).

    Raises:
        UsageError: it holds a line break or another control character.
    """
    from ancrage.redact import remember

    value = os.environ.get(name) or _dotenv().get(name) or ""
    value = value.strip() if "PUBLIC" in name else remember(value)
    if any(ord(character) < 32 or ord(character) == 127 for character in value):
        raise UsageError(f"{name}: a line break or control character within it; write it anew")
    return value or None


def _dotenv() -> dict[str, str | None]:
    """What the current folder's ``.env`` holds; read again only when it changes."""
    path = Path.cwd() / ".env"
    try:
        return _read_dotenv(path, path.stat().st_mtime_ns)
    except OSError:
        return {}


@lru_cache(maxsize=8)
def _read_dotenv(path: Path, _changed: int) -> dict[str, str | None]:
    from dotenv import dotenv_values

    from ancrage.redact import remember_named

    values = dict(dotenv_values(path))
    remember_named(values)
    return values
