"""The commands, one module a concern; importing them loads nothing heavy."""

from importlib import import_module

from invoke.collection import Collection

_MODULES = (
    "snapshot",
    "experiment",
    "judges",
    "hallucination",
    "replay",
    "report",
    "nli",
    "qa",
    "compare",
    "langfuse",
)
"""In the order of a working day; each exposes ``tasks``, a tuple of Invoke tasks."""


def _collect() -> Collection:
    collection = Collection()
    for name in _MODULES:
        for task in import_module(f"ancrage.cli.{name}").tasks:
            collection.add_task(task)
    return collection


namespace = _collect()
