"""Code of others: objects named in the configuration, and those that installed packages offer."""

from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from types import ModuleType
from typing import Any

from ancrage.errors import UsageError


def installed(group: str) -> dict[str, EntryPoint]:
    """The entry points of ``group`` by name, of all installed packages."""
    return {entry.name: entry for entry in sorted(entry_points(group=group), key=str)}


def load_module(name: str, *, setting: str) -> ModuleType:
    """The module ``name``.

    Raises:
        UsageError: importing it raised, whatever it was; names ``setting``.
    """
    try:
        return import_module(name)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  SystemExit too: no module ends the command
        raise UsageError(f"{setting}: cannot import {name!r}: {_words(error)}") from None


def load_object(reference: str, *, setting: str, group: str | None = None) -> Any:
    """The object that ``reference`` names: ``module:attribute``, or an entry point of ``group``.

    Raises:
        UsageError: there is none, or importing it raised; names ``setting``.
    """
    if group and (entry := installed(group).get(reference)):
        reference = entry.value
    module_name, colon, path = reference.partition(":")
    if not (colon and module_name and path):
        known = ", ".join(sorted(installed(group))) if group else ""
        offered = f", or one of those installed: {known}" if known else ""
        raise UsageError(f"{setting}: {reference!r} is not of the form module:name{offered}")
    found: Any = load_module(module_name, setting=setting)
    try:
        for name in path.split("."):
            found = getattr(found, name)
    except AttributeError:
        raise UsageError(f"{setting}: module {module_name!r} has no {path!r}") from None
    except Exception as error:  # noqa: BLE001  a module's own __getattr__ may raise anything
        raise UsageError(f"{setting}: cannot load {reference!r}: {_words(error)}") from None
    return found


def _words(error: BaseException) -> str:
    if isinstance(error, SyntaxError) and error.filename:
        return f"SyntaxError in {error.filename}, line {error.lineno}: {error.msg}"
    if isinstance(error, ImportError):
        return str(error)
    return " ".join(f"{type(error).__name__}: {error}".split())
