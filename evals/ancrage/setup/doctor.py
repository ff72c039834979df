"""What works here and what does not, each with what to do."""

import locale
import os
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import urlsplit

from ancrage import __version__
from ancrage.config import Config, load, secret
from ancrage.errors import AncrageError, UsageError
from ancrage.program import called
from ancrage.redact import redact

EXTRAS = {
    "langfuse": ("langfuse", "tenacity"),
    "llm": ("httpx2", "json_repair"),
    "nli": ("torch", "transformers", "rank_bm25"),
    "tables": ("pyarrow",),
    "postgres": ("psycopg",),
}
"""Each extra with the modules that it brings."""

TIMEOUT = 5.0


class Check(NamedTuple):
    """One thing that was looked at."""

    name: str
    state: Literal["ok", "absent", "fault"]
    """``absent`` is no fault: nothing that is configured needs it."""
    words: str


def examine(*, offline: bool = False) -> Iterator[Check]:
    """Every check in turn; ``offline`` leaves out those that reach for the network."""
    yield Check("Python", "ok", f"{sys.version.split()[0]}, ancrage {__version__}")
    yield _encoding()
    yield _writable()
    yield from _extras()
    try:
        tables = load().tables
        yield from _configuration()
    except AncrageError as error:
        yield Check("Configuration", "fault", str(error))
        return
    yield from _data(tables)
    yield from _keys(tables)
    if not offline:
        yield from _endpoints(tables)


def _encoding() -> Check:
    encoding = (sys.stdout.encoding or "unknown").lower()
    if encoding.replace("-", "") == "utf8":
        return Check("Terminal", "ok", "UTF-8")
    words = f"{encoding} ({locale.getlocale()[1] or 'no'} locale): set PYTHONUTF8=1 to see all text"
    return Check("Terminal", "absent", words)


def _writable() -> Check:
    folder = Path.cwd()
    if os.access(folder, os.W_OK):
        return Check("Folder", "ok", str(folder))
    return Check("Folder", "fault", f"{folder} cannot be written: runs/ goes there")


def _extras() -> Iterator[Check]:
    for extra, modules in EXTRAS.items():
        missing = [name for name in modules if find_spec(name) is None]
        if missing:
            yield Check(f"Extra {extra}", "absent", f"pip install 'ancrage[{extra}]'")
            continue
        try:
            words = f"{modules[0]} {version(modules[0])}"
        except PackageNotFoundError:
            words = modules[0]
        yield Check(f"Extra {extra}", "ok", words)


def _configuration() -> Iterator[Check]:
    from ancrage.setup.reference import models

    config = load()
    if config.path is None:
        yield Check("Configuration", "absent", f"none: {called('init')} writes evals.toml")
        return
    for table, model in models().items():
        if table in config.tables:
            config.table(table, model)
    from ancrage.checks import load_checks
    from ancrage.citations.grammar import load_grammar

    load_grammar(config)
    yield from _sources(config)
    checks = load_checks(config)
    yield Check("Configuration", "ok", f"{config.path}: {', '.join(config.tables) or 'empty'}")
    yield Check("Checks", "ok" if checks else "fault", ", ".join(check.name for check in checks))


def _sources(config: Config) -> Iterator[Check]:
    """Whether the files of each source of files are there, and its fields are known."""
    from contextlib import closing

    from ancrage.snapshot.sources import open_source

    for name, table in config.table("sources", dict[str, dict[str, Any]]).items():
        kind = table.get("type")
        if kind in ("sql", "langfuse"):
            yield Check(f"Source {name}", "ok", f"{kind}, not read here")
            continue
        try:
            with closing(open_source(name, config)) as source:
                yield Check(f"Source {name}", "ok", source.label)
        except UsageError as error:
            words = str(error)
            if not words.startswith("["):
                words = f"[sources.{name}] {_field(table, words)}{words}"
            yield Check(f"Source {name}", "fault", str(config.located(UsageError(words))))


def _field(table: dict[str, Any], words: str) -> str:
    """The field that holds the path which the words begin with, as ``messages.files: ``."""
    missing = words.partition(":")[0]
    for field, value in table.items():
        if isinstance(value, dict) and missing in str(value):
            return f"{field}.files: "
        if missing in str(value):
            return f"{field}: "
    return ""


def _data(tables: dict[str, Any]) -> Iterator[Check]:
    from ancrage.runs import list_runs

    snapshots = sorted(Path("snapshots").glob("*/manifest.json"))
    words = f"{len(snapshots)} snapshots, {len(list_runs())} runs"
    state: Literal["ok", "absent"] = "ok" if snapshots else "absent"
    if not snapshots:
        words = f"no snapshot: {called('snapshot')} takes one, {called('demo')} has one to try"
    yield Check("Data", state, words)


def _keys(tables: dict[str, Any]) -> Iterator[Check]:
    for name, tier in tables.get("tiers", {}).items():
        variable = tier.get("key", "OPENAI_API_KEY")
        found = isinstance(variable, str) and secret(variable)
        state: Literal["ok", "fault"] = "ok" if found else "fault"
        yield Check(
            f"Tier {name}", state, f"{variable} is {'set' if found else 'not set: in .env'}"
        )
    pair = [secret(f"LANGFUSE_{kind}_KEY") for kind in ("PUBLIC", "SECRET")]
    if all(pair):
        yield Check("Langfuse", "ok", "both keys are set")
    elif any(pair) or "langfuse" in tables:
        yield Check("Langfuse", "fault", "LANGFUSE_PUBLIC_KEY and LANGFUSE_SECRET_KEY: set both")
    else:
        yield Check("Langfuse", "absent", "no keys: everything works without, but push and publish")


def _endpoints(tables: dict[str, Any]) -> Iterator[Check]:
    urls = {
        str(tier["endpoint"]) for tier in tables.get("tiers", {}).values() if tier.get("endpoint")
    }
    if base := secret("LANGFUSE_BASE_URL"):
        urls.add(base.rstrip("/") + "/api/public/health")
    for url in sorted(urls):
        yield _reached(url)


def _reached(url: str) -> Check:
    if not url.startswith(("http://", "https://")):
        return Check("Endpoint", "fault", f"{redact(url)}: an http or https address is needed")
    address = urlsplit(url)  # a user and password in it are not urllib's to send
    bare = address._replace(netloc=address.netloc.rpartition("@")[2]).geturl()
    url = redact(url)
    try:
        with urllib.request.urlopen(bare, timeout=TIMEOUT) as answer:  # noqa: S310  checked above
            return Check("Endpoint", "ok", f"{url} answers {answer.status}")
    except urllib.error.HTTPError as error:
        return Check("Endpoint", "ok", f"{url} answers {error.code}")
    except (OSError, ValueError) as error:
        return Check("Endpoint", "fault", f"{url}: {getattr(error, 'reason', error)}")
