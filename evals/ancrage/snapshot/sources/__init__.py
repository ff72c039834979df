"""Where answers come from: one small interface, one file a source, one place to register it.

A new source is a class in a file of its own with the four members of ``Source``, whose
constructor takes ``(name, options, root)``: the source's name in the configuration, its table
``[sources.NAME]`` without ``type``, and the folder that relative paths start from. It is named
in ``BUILT_IN`` below or, from another package, by an entry point of the group
``ancrage.sources``. ``validated`` turns the options into a model of its own.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

from pydantic import BaseModel, ValidationError

from ancrage.config import Config
from ancrage.domain import Case, Study
from ancrage.errors import UsageError, describe
from ancrage.snapshot.manifest import Reject

BUILT_IN = {
    "jsonl": "ancrage.snapshot.sources.files:FileSource",
    "sql": "ancrage.snapshot.sources.sql:SqlSource",
    "langfuse": "ancrage.langfuse.source:LangfuseSource",
}
ENTRY_POINTS = "ancrage.sources"
FILE_SUFFIXES = (".jsonl", ".ndjson", ".json", ".csv", ".tsv")

Model = TypeVar("Model", bound=BaseModel)


class Window(NamedTuple):
    """The times asked for, aware; a source may use it to read less, it need not."""

    since: datetime | None = None
    """Inclusive."""
    until: datetime | None = None
    """Exclusive."""


class Source(Protocol):
    """Production's answers and the studies they speak of."""

    label: str
    """What the manifest names as the origin, such as ``production (sql)``; never a secret."""
    notes: list[str]
    """How it was read where nobody had said how, filled as it is read; for the manifest."""

    def cases(self, window: Window) -> Iterator[Case | Reject]:
        """Every answer in turn, streamed; a row that is no case comes as a ``Reject``.

        Raises:
            UsageError: the source cannot be read at all.
        """
        ...

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """The study of that id; None when it no longer exists.

        Rows of it that cannot be used go to ``reject`` (with ``study=True``); the rest is kept.
        Called between two cases, possibly several times for one study.
        """
        ...

    def close(self) -> None:
        """Free what the source holds."""
        ...


def open_source(name_or_path: str | None, config: Config, studies: str | None = None) -> Source:
    """The source named in the configuration, or a file of answers by its path.

    None means the only source that the configuration has; ``studies`` goes with a path.

    Raises:
        UsageError: there is no such source, file or type, or its table is wrong.
    """
    tables: dict[str, dict[str, Any]] = config.table("sources", dict[str, dict[str, Any]])
    known = ", ".join(tables) or "none is configured"
    if name_or_path is None:
        if len(tables) != 1:
            raise UsageError(
                f"name a source or a file with --source (configured: {known}); "
                "a file of answers works with no configuration"
            )
        name_or_path = next(iter(tables))
    # Its three variables in .env are configuration enough.
    tables = {"langfuse": {"type": "langfuse"}, **tables}
    if name_or_path in tables:
        if studies:
            raise UsageError(f"--studies: set it in [sources.{name_or_path}]")
        options = dict(tables[name_or_path])
        kind = options.pop("type", None)
        if not isinstance(kind, str):
            raise UsageError(
                f"[sources.{name_or_path}] type: missing; known: {', '.join(BUILT_IN)}"
            )
        return _factory(name_or_path, kind)(name_or_path, options, config.root)
    if name_or_path.lower().endswith(FILE_SUFFIXES):
        return _factory(name_or_path, "jsonl")(
            Path(name_or_path).stem,
            {"answers": [name_or_path], "studies": [studies] if studies else []},
            Path.cwd(),
        )
    raise UsageError(
        f"no source {name_or_path!r} (configured: {known}), "
        f"nor a file ending in {', '.join(FILE_SUFFIXES)}"
    )


def validated(name: str, options: Mapping[str, Any], model: type[Model]) -> Model:
    """The options of the source ``name`` as ``model``.

    Raises:
        UsageError: a field is unknown, missing or of the wrong type; names it.
    """
    try:
        return model.model_validate(options)
    except ValidationError as error:
        raise UsageError(f"[sources.{name}] {describe(error)}") from None


def _factory(name: str, kind: str) -> Callable[[str, Mapping[str, Any], Path], Source]:
    found: Callable[[str, Mapping[str, Any], Path], Source]
    if kind in BUILT_IN:
        module, _, attribute = BUILT_IN[kind].partition(":")
        try:
            found = getattr(import_module(module), attribute)
        except ModuleNotFoundError as error:
            raise UsageError(
                f"[sources.{name}] type {kind!r} needs the package {error.name!r}"
            ) from None
        return found
    offered = entry_points(group=ENTRY_POINTS)
    for point in offered:
        if point.name == kind:
            found = point.load()
            return found
    kinds = ", ".join([*BUILT_IN, *sorted(point.name for point in offered)])
    raise UsageError(f"[sources.{name}] type: unknown {kind!r}; known: {kinds}")
