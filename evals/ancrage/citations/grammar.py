"""How answers cite: the table ``[citations]`` of the configuration, compiled.

Patterns are compiled by RE2, whose matching time is linear in the text whatever the pattern.
"""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import TYPE_CHECKING, Any

import re2

from ancrage.config import Config
from ancrage.domain import Frozen
from ancrage.errors import UsageError

if TYPE_CHECKING:
    from ancrage.citations.model import Citations

KINDS = ("message", "respondent", "question")
"""In the order in which a token is tried against their patterns."""


class CitationsConfig(Frozen):
    """The default grammar: ``« quote » [R-012, M-0034]`` and ``[Q3]``.

    Each pattern is a regular expression that a whole token inside brackets must match, case
    ignored; dashes of any kind read as ``-``.
    """

    message: str = r"M\d*[-_.]?\d+"
    respondent: str = r"R(?:[-_.]?\d+|-[0-9a-z]*\d[0-9a-z]*|-[0-9a-f]{4,}|[0-9a-f]{6,})"
    question: str = r"Q[-_.]?\d+[a-z]?"
    attempt: str = r"[RMQ](?:[-_.#](?:[\wxX?.…]*\d[\w.-]*|[xXoOlI?.…_-]*)|\d[\w.-]*)"
    """Tokens that mean to be an id and match none of the patterns above: malformed."""
    brackets: tuple[str, ...] = ("[]", "【】", "［］", "〔〕")
    parentheses: bool = True
    """Read ``(R-012, M-0034)`` as a citation too."""
    parser: str | None = None
    """A parser of your own: ``package.module:function`` or the name of an entry point of group
    ``ancrage.citations``; called with the answer's text, it returns ``Citations``."""


@dataclass(frozen=True)
class Grammar:
    """A compiled grammar."""

    config: CitationsConfig
    patterns: dict[str, Any]
    attempt: Any
    parser: "Callable[[str], Citations] | None" = None

    def kind(self, token: str) -> str | None:
        """Which kind of id the whole token is: one of ``KINDS``, or None."""
        for kind in KINDS:
            if self.patterns[kind].fullmatch(token):
                return kind
        return None


def compile_grammar(config: CitationsConfig) -> Grammar:
    """The grammar that ``config`` describes.

    Raises:
        UsageError: a pattern is no regular expression RE2 accepts, or the parser is not found.
    """
    compiled = {}
    for field in (*KINDS, "attempt"):
        try:
            compiled[field] = re2.compile("(?i)" + getattr(config, field))
        except re2.error as error:
            raise UsageError(f"[citations] {field}: not a pattern RE2 accepts: {error}") from None
    attempt = compiled.pop("attempt")
    return Grammar(config, compiled, attempt, _parser(config.parser) if config.parser else None)


def load_grammar(config: Config) -> Grammar:
    """The grammar of the project's configuration."""
    return compile_grammar(config.table("citations", CitationsConfig))


def _parser(name: str) -> "Callable[[str], Citations]":
    for entry in entry_points(group="ancrage.citations", name=name):
        return entry.load()  # type: ignore[no-any-return]
    module, _, function = name.partition(":")
    try:
        return getattr(importlib.import_module(module), function)  # type: ignore[no-any-return]
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"[citations] parser = {name!r} cannot be loaded: {error}") from None
