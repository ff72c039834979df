"""Code checks: one file each, found by being here or in the modules of ``[checks]``."""

import pkgutil
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module
from types import ModuleType

from pydantic import Field

from ancrage.checks.base import CodeCheck, Unscorable, check, finding
from ancrage.config import Config, load
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.fingerprint import code_version, content_version
from ancrage.plugins import installed, load_module

__all__ = ["CodeCheck", "Unscorable", "check", "finding", "load_checks"]


class ChecksConfig(Frozen):
    """The table ``[checks]`` of the configuration."""

    modules: tuple[str, ...] = ()
    """Modules with checks of your own, beside those of the entry-point group ``ancrage.checks``."""
    skip: tuple[str, ...] = ()
    """Names of checks not to run."""
    min_coverage: float = Field(default=0.9, ge=0, le=1)
    """The share of the answers that each check must score; below it, commands end with 3."""


def load_checks(config: Config | None = None) -> list[CodeCheck]:
    """Every code check, sorted by name, each with the version of what its verdict depends on.

    A version is a hash of what the check's code reaches (see ``ancrage.fingerprint``) and of the
    tables ``[citations]`` and ``[ids]``: scores of two versions never pass for comparable.

    Raises:
        UsageError: a module cannot be imported or has no check, two checks share a name, or
            ``skip`` names none.
    """
    config = config or load()
    options = config.table("checks", ChecksConfig)
    tables = {name: config.tables.get(name, {}) for name in ("citations", "ids")}
    found: dict[str, CodeCheck] = {}
    for module in _modules(options):
        declared = [value for value in vars(module).values() if isinstance(value, CodeCheck)]
        if not declared and module.__name__ in options.modules:
            raise UsageError(
                f"[checks] modules: {module.__name__!r} has no check; decorate one with "
                "@check(title=…, definition=…)"
            )
        for one in declared:
            known = found.get(one.name)
            if known and known.function is not one.function:
                raise UsageError(f"two checks are named {one.name!r}; rename one")
            version = content_version(code_version(one.function), tables)
            found[one.name] = replace(one, version=version)
    unknown = set(options.skip) - found.keys()
    if unknown:
        raise UsageError(f"[checks] skip: no check named {min(unknown)!r}")
    return [found[name] for name in sorted(found) if name not in options.skip]


def _modules(options: ChecksConfig) -> Iterator[ModuleType]:
    for info in pkgutil.iter_modules(__path__):
        yield import_module(f"{__name__}.{info.name}")
    for name, entry in installed("ancrage.checks").items():
        yield load_module(entry.module, setting=f"entry point {name!r} of ancrage.checks")
    for name in options.modules:
        yield load_module(name, setting="[checks] modules")
