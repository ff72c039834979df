"""Where answers come from: one small interface, one file a source, one place to register it.

A new source is a class in a file of its own with the four members of ``Source``, whose
constructor takes ``(name, options, root)``: the source's name in the configuration, its table
``[sources.NAME]`` without ``type``, and the folder that relative paths start from. It is named
in ``BUILT_IN`` below or, from another package, by an entry point of the group
``ancrage.sources``. ``validated`` turns the options into a model of its own.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ancrage.config import Config
from ancrage.errors import UsageError
from ancrage.plugins import installed, load_object
from ancrage.snapshot.sources.contract import Source, Window, validated
from ancrage.snapshot.sources.guarded import Guarded

__all__ = ["BUILT_IN", "ENTRY_POINTS", "Source", "Window", "open_source", "validated"]

BUILT_IN = {
    "jsonl": "ancrage.snapshot.sources.files:FileSource",
    "sql": "ancrage.snapshot.sources.sql:SqlSource",
    "langfuse": "ancrage.langfuse.source:LangfuseSource",
    "qa": "ancrage.abstention.source:QASource",
}
ENTRY_POINTS = "ancrage.sources"
_TOOLS_WILL_DO = ("jsonl", "sql", "langfuse")
"""Where studies are made of tool outputs when there is no other."""


def open_source(
    name_or_path: str | None, config: Config, given: Mapping[str, Any] | None = None
) -> Source:
    """The source named in the configuration, or a file of answers or questions by its path.

    None means the only source that the configuration has. ``given`` goes with a path: what a table
    of type ``jsonl`` would say beside ``answers``, one of type ``qa`` beside ``cases``. Studies are
    made of tool outputs where the table says so, and where files or Langfuse are given without any
    study.

    Raises:
        UsageError: there is no such source, file or type, or its table is wrong.
    """
    from ancrage.snapshot.sources.records import SUFFIXES

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
        if given:
            told = ", ".join(f"--{name}" for name in given)
            raise UsageError(f"{told}: set it in [sources.{name_or_path}]")
        return _opened(name_or_path, tables[name_or_path], config.root)
    if name_or_path.lower().endswith(SUFFIXES):
        from ancrage.snapshot.sources.questions import holds_questions

        if holds_questions(Path(name_or_path)):
            table = {"type": "qa", "cases": name_or_path, **(given or {})}
            return _opened(Path(name_or_path).stem, table, Path.cwd())
        table = {"type": "jsonl", "answers": [name_or_path], **(given or {})}
        return _opened(Path(name_or_path).stem, table, Path.cwd())
    raise UsageError(
        f"no source {name_or_path!r} (configured: {known}), nor a file ending in "
        f"{', '.join(SUFFIXES)}"
    )


def _opened(name: str, table: Mapping[str, Any], root: Path) -> Source:
    options = dict(table)
    kind = options.pop("type", None)
    if not isinstance(kind, str):
        raise UsageError(f"[sources.{name}] type: missing; known: {', '.join(BUILT_IN)}")
    from ancrage.snapshot.sources.tools import FromTools, ToolOptions, ToolStudies

    tools: ToolOptions | bool = kind in _TOOLS_WILL_DO and not options.keys() & {
        "studies", "messages", "questions"
    }  # fmt: skip
    if isinstance(options.get("studies"), dict) and "from_tools" in options["studies"]:
        tools = validated(f"{name}.studies", options.pop("studies"), FromTools).from_tools
    make = _factory(name, kind)
    source = make(name, options, root) if kind in BUILT_IN else Guarded(name, make, options, root)
    if not tools:
        return source
    return ToolStudies(source, ToolOptions() if tools is True else tools)


def _factory(name: str, kind: str) -> Callable[[str, Mapping[str, Any], Path], Source]:
    setting = f"[sources.{name}] type"
    offered = installed(ENTRY_POINTS)
    if kind not in BUILT_IN and kind not in offered and ":" not in kind:
        kinds = ", ".join([*BUILT_IN, *offered])
        raise UsageError(f"{setting}: unknown {kind!r}; known: {kinds}, or module:Class")
    found: Callable[[str, Mapping[str, Any], Path], Source] = load_object(
        BUILT_IN.get(kind, kind), setting=setting, group=ENTRY_POINTS
    )
    return found
