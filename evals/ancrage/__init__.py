"""Ancrage: evals for assistants whose answers must be anchored in their sources.

Names are imported when they are asked for: ``import ancrage`` alone loads nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ancrage.api import audit, compare_runs, gate, open_run, open_snapshot
    from ancrage.checks import Unscorable, check, finding
    from ancrage.evaluator import Evaluator, Subject
    from ancrage.runs import RunView

    __version__: str

__all__ = [
    "Evaluator",
    "RunView",
    "Subject",
    "Unscorable",
    "audit",
    "check",
    "compare_runs",
    "finding",
    "gate",
    "open_run",
    "open_snapshot",
]

_HOMES = {
    "ancrage.api": ("audit", "compare_runs", "gate", "open_run", "open_snapshot"),
    "ancrage.checks": ("Unscorable", "check", "finding"),
    "ancrage.evaluator": ("Evaluator", "Subject"),
    "ancrage.runs": ("RunView",),
}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return _version()
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(home), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("ancrage")
    except PackageNotFoundError:  # run from a source tree that was never installed
        return "0.0.0"
