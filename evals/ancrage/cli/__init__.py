"""The commands, one module a concern; a module loads when one of its commands is called."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ancrage.cli.shell import Command

GROUPS: dict[str, dict[str, str]] = {
    "Every day, in this order": {
        "init": "start",
        "snapshot": "snapshot",
        "experiment": "experiment",
        "report": "report",
        "show": "report",
    },
    "Another model, prompt or scorer": {
        "replay": "replay",
        "migrate": "replay",
        "score": "experiment",
        "label": "judges",
        "calibrate": "judges",
        "verify": "verify",
    },
    "Change and noise": {
        "compare": "compare",
        "gate": "compare",
        "history": "compare",
        "plan": "compare",
    },
    "Runs": {
        "runs": "runs",
        "query": "runs",
        "export": "runs",
    },
    "Langfuse": {
        "push": "langfuse",
        "pull": "langfuse",
        "publish": "langfuse",
    },
    "This installation": {
        "doctor": "start",
        "demo": "start",
        "prove": "prove",
    },
}
"""Each command with the module of this package that declares it, by what people come to do."""

MODULES = {name: module for group in GROUPS.values() for name, module in group.items()}


def find_command(name: str) -> "Command":
    """The command of that name; its module declares it in ``tasks``.

    Raises:
        KeyError: there is none.
    """
    declared: tuple[Command, ...] = import_module(f"{__name__}.{MODULES[name]}").tasks
    return next(command for command in declared if command.name == name)


def __getattr__(attribute: str) -> Any:
    """``namespace``: the collection that a project's ``tasks.py`` gives to Invoke."""
    if attribute != "namespace":
        raise AttributeError(attribute)
    from invoke.collection import Collection

    collection = Collection()
    for name in MODULES:
        collection.add_task(find_command(name).task())
    return collection
