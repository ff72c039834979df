"""Every table and field of the configuration, from the models that validate it."""

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel, TypeAdapter
from pydantic_core import PydanticUndefined

from ancrage.plugins import load_object

TABLES = {
    "sources": "where answers come from, for snapshot",
    "citations": "how answers cite",
    "ids": "which spellings of an id are the same",
    "checks": "which code checks run, and your own",
    "pseudonyms": "what is hidden of respondents",
    "gate": "what a run must keep to",
    "tiers": "language models: a table each, `[tiers.NAME]`",
    "prices": "what models cost",
    "judges": "LLM judges",
    "verify": "the verifier of claims",
    "nli": "the model of natural language inference",
    "assistant": "what to replay",
    "replay": "how to replay",
    "langfuse": "where to send and read",
    "prove": "which faults must be found when the checks are proved",
}
"""In the order of the reference."""

_MODELS = {
    "citations": "ancrage.citations.grammar:CitationsConfig",
    "ids": "ancrage.ids:IdPolicy",
    "checks": "ancrage.checks:ChecksConfig",
    "pseudonyms": "ancrage.snapshot.pseudonyms:PseudonymOptions",
    "gate": "ancrage.compare.policy:Policy",
    "prices": "ancrage.llm.prices:Prices",
    "judges": "ancrage.judges.select:Settings",
    "verify": "ancrage.verify.settings:VerifySettings",
    "nli": "ancrage.nli.settings:NLISettings",
    "assistant": "ancrage.replay.load:AssistantOptions",
    "replay": "ancrage.replay.session:ReplayOptions",
    "prove": "ancrage.prove.settings:ProveSettings",
}
_NAMED = {"tiers": "ancrage.llm.tiers:Tier"}
_SOURCES = {
    "jsonl": "ancrage.snapshot.sources.files:FileOptions",
    "sql": "ancrage.snapshot.sources.sql:SqlOptions",
}
_TOOLS = "ancrage.snapshot.sources.tools:FromTools"
_NEED_AN_EXTRA = {"langfuse": "ancrage.langfuse.connection:Settings"}
_SOURCE_WITH_EXTRA = {"langfuse": "ancrage.langfuse.source:Options"}


def _load(names: Mapping[str, str]) -> dict[str, type[BaseModel]]:
    return {name: load_object(reference, setting=f"[{name}]") for name, reference in names.items()}


def _installed(names: Mapping[str, str]) -> dict[str, type[BaseModel]]:
    """Those whose extra is installed."""
    found = {}
    for name, reference in names.items():
        module, _, attribute = reference.partition(":")
        try:
            found[name] = getattr(import_module(module), attribute)
        except ModuleNotFoundError:
            continue
    return found


def models() -> dict[str, Any]:
    """Each table with the type that validates it; those of an extra where it is installed."""
    named: dict[str, Any] = {
        name: dict[str, model]  # type: ignore[valid-type]
        for name, model in _load(_NAMED).items()
    }
    return {**_load(_MODELS), **_installed(_NEED_AN_EXTRA), **named}


def schema() -> dict[str, Any]:
    """The JSON Schema of ``evals.toml``, for editors."""
    definitions: dict[str, Any] = {}
    properties: dict[str, Any] = {}
    for name, model in models().items():
        properties[name] = _schema_of(model, definitions)
    kinds = {**_load(_SOURCES), **_installed(_SOURCE_WITH_EXTRA)}
    tools = _schema_of(_load({"sources": _TOOLS})["sources"], definitions)
    choices = []
    for kind, model in kinds.items():
        found = _schema_of(model, definitions)
        definition = definitions[found["$ref"].rpartition("/")[2]]
        own = definition["properties"]
        studies = {"anyOf": [own.get("studies", tools), tools]}
        definition["properties"] = {"type": {"const": kind}, **own, "studies": studies}
        definition["required"] = ["type", *definition.get("required", [])]
        choices.append(found)
    others = {"type": "object", "required": ["type"], "properties": {
        "type": {"type": "string", "not": {"enum": sorted(kinds)}}}}  # fmt: skip
    properties["sources"] = {
        "type": "object",
        "additionalProperties": {"anyOf": [*choices, others]},
    }
    for name, words in TABLES.items():
        properties.get(name, {})["description"] = words[0].upper() + words[1:] + "."
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "evals.toml of Ancrage",
        "type": "object",
        "additionalProperties": False,
        "properties": {name: properties[name] for name in TABLES if name in properties},
        "$defs": definitions,
    }


def _schema_of(model: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    found = TypeAdapter(model).json_schema(ref_template="#/$defs/{model}")
    definitions.update(found.pop("$defs", {}))
    if isinstance(model, type) and issubclass(model, BaseModel):
        name = f"{model.__module__.removeprefix('ancrage.')}.{model.__name__}".replace(".", "_")
        definitions[name] = found
        return {"$ref": f"#/$defs/{name}"}
    return found


def markdown() -> str:
    """The reference as a page."""
    return "\n".join(_page()) + "\n"


def _page() -> Iterator[str]:
    yield "# Configuration"
    yield ""
    yield (
        "`evals.toml`, or `[tool.ancrage]` in `pyproject.toml`, in the project's folder. Every "
        "table and field may be left out. Secrets go into `.env`. This page is made from the code "
        "that reads the file; `ancrage init` writes a first one, and `evals.schema.json` beside "
        "this page lets editors complete and check it (`#:schema` on the first line)."
    )
    found = models()
    for table, words in TABLES.items():
        if table == "sources":
            yield from _sources(words)
            continue
        model = found.get(table)
        heading = f"[{table}.NAME]" if table in _NAMED else f"[{table}]"
        yield f"\n## `{heading}`\n\n{words[0].upper() + words[1:]}.\n"
        if model is not None:
            yield from _fields(get_args(model)[1] if table in _NAMED else model)


def _sources(words: str) -> Iterator[str]:
    yield f"\n## `[sources.NAME]`\n\n{words[0].upper() + words[1:]}. `type` says which kind.\n"
    for kind, model in {**_load(_SOURCES), **_installed(_SOURCE_WITH_EXTRA)}.items():
        yield f'\n### `type = "{kind}"`\n'
        yield from _fields(model)
    yield "\n### `studies`, of any of them\n\nMade of the tool outputs recorded with the answers.\n"
    yield from _fields(_load({"sources": _TOOLS})["sources"])


def _fields(model: type[BaseModel], prefix: str = "") -> Iterator[str]:
    """A table of the fields, then those of the models within."""
    documented = docstrings(model)
    yield "| Field | Type | Default | |"
    yield "|---|---|---|---|"
    inner: list[tuple[str, type[BaseModel]]] = []
    for name, field in model.model_fields.items():
        known = field.alias or name
        default = field.get_default(call_default_factory=True)
        nested = [each for each in _types(field.annotation) if _is_model(each)]
        inner += [(f"{prefix}{known}", each) for each in nested]
        shown = "required" if default is PydanticUndefined else _default(default)
        words = " ".join((field.description or documented.get(name, "")).split())
        yield f"| `{prefix}{known}` | {_type(field.annotation)} | {shown} | {_cell(words)} |"
    yield ""
    for name, each in inner:
        if not prefix.startswith(f"{name}."):
            yield f"Fields of `{name}`:\n"
            yield from _fields(each, f"{name}.")


def _is_model(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, BaseModel)


def _types(annotation: Any) -> Iterator[Any]:
    yield annotation
    for part in get_args(annotation):
        yield from _types(part)


def _default(value: Any) -> str:
    if value is None or value in ({}, (), [], ""):
        return "none"
    if isinstance(value, BaseModel):
        return "below"
    plain = json.dumps(value, ensure_ascii=False, default=str)
    return f"`{_cell(plain)}`"


def _type(annotation: Any) -> str:
    found = TypeAdapter(annotation).json_schema() if annotation is not None else {}
    return _cell(_words(found))


def _words(found: dict[str, Any]) -> str:
    if "enum" in found:
        return " or ".join(f"`{value}`" for value in found["enum"])
    if "const" in found:
        return f"`{found['const']}`"
    if "anyOf" in found:
        kinds = [_words(each) for each in found["anyOf"] if each.get("type") != "null"]
        return " or ".join(dict.fromkeys(kinds))
    kind = found.get("type", "table" if "$ref" in found or "properties" in found else "any")
    if kind == "array":
        return f"list of {_words(found.get('items', {}))}"
    return {"object": "table", "string": "text", "integer": "whole number"}.get(kind, str(kind))


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


@cache
def docstrings(model: type[BaseModel]) -> dict[str, str]:
    """The text that stands below each field in the source of the model and its bases."""
    found: dict[str, str] = {}
    for kind in reversed(model.__mro__):
        if not kind.__module__.startswith("ancrage"):
            continue
        body = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
        statements = body.body if isinstance(body, ast.ClassDef) else []
        for field, after in pairwise(statements):
            if (
                isinstance(field, ast.AnnAssign)
                and isinstance(field.target, ast.Name)
                and isinstance(after, ast.Expr)
                and isinstance(after.value, ast.Constant)
            ):
                found[field.target.id] = inspect.cleandoc(str(after.value.value))
    return found
