"""Errors a user can act on, and the exit codes that every command keeps to."""

from enum import IntEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pydantic import ValidationError


class ExitCode(IntEnum):
    """What a command's exit status means, the same for every command."""

    OK = 0
    BELOW_GATE = 1
    """The command did its work and the data fell short of a gate."""
    WRONG_USE = 2
    """The command could not start: bad option, bad file, bad configuration."""
    INCOMPLETE = 3
    """The work began and could not be completed; what was done is kept."""
    INTERNAL = 70
    """A fault of this program, told in one line and kept in a log (``EX_SOFTWARE``)."""


class AncrageError(Exception):
    """A failure to show as one line that says what to do; never a traceback."""

    exit_code = ExitCode.WRONG_USE


class UsageError(AncrageError):
    """An option, file or configuration value that cannot be used as given."""


class IncompleteError(AncrageError):
    """Work that stopped before its end; what was done is on disk."""

    exit_code = ExitCode.INCOMPLETE


_PLAIN = {"extra_forbidden": "is no field of it", "missing": "is missing"}
"""What pydantic calls by its own names."""


def describe(error: "ValidationError", model: object = None) -> str:
    """The first fault in one line, ``field: what is wrong``, and how many others there are.

    Of a field that ``model`` does not know, those that it does.
    """
    faults = error.errors(include_url=False, include_input=False, include_context=False)
    first = faults[0]
    field = ".".join(str(part) for part in first["loc"]) or "value"
    more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
    words = _PLAIN.get(first["type"], first["msg"].removeprefix("Value error, "))
    if first["type"] == "extra_forbidden" and (known := _fields(model, first["loc"][:-1])):
        words += f"; known: {', '.join(known)}"
    return f"{field}: {words}{more}"


def _fields(model: object, path: tuple[int | str, ...]) -> list[str]:
    """The fields of the model that stands at ``path`` in ``model``, as they are written."""
    for part in path:
        fields = getattr(model, "model_fields", {})
        model = fields[part].annotation if part in fields else None
    fields = getattr(model, "model_fields", {})
    return [field.alias or name for name, field in fields.items()]
