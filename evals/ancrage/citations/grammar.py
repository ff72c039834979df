"""How answers cite: the table ``[citations]`` of the configuration, compiled.

Patterns of a project are compiled by RE2, whose matching time is linear in the text whatever the
pattern; the default ones, known to be tame, by ``re``, which is called sooner.
"""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import re2

from ancrage.config import Config
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.plugins import load_object

if TYPE_CHECKING:
    from ancrage.citations.model import Citations

LONGEST_TOKEN = 64
KINDS = ("message", "respondent", "question")
"""In the order in which a token is tried against their patterns; kinds of your own come first."""


class KindConfig(Frozen):
    """A kind of reference beside the three: a document, a page, a paragraph."""

    pattern: str
    known: tuple[str, ...] = ()
    """The ids that exist."""
    lookup: str | None = None
    """``module:function`` called with the id and the study; whether the id exists."""


class CitationsConfig(Frozen):
    """The default grammar: ``« quote » [R-012, M-0034]`` and ``[Q3]``.

    Each pattern is a regular expression that a whole token inside brackets must match, case
    ignored; dashes of any kind read as ``-``. A group named ``id`` is the id where the token
    says more: ``msg (?P<id>\\d+)``.
    """

    message: str = r"M\d*[-_.]?\d+"
    respondent: str = r"R(?:[-_.]?\d+|-[0-9a-z]*\d[0-9a-z]*|-[0-9a-f]{4,}|[0-9a-f]{6,})"
    question: str = r"Q[-_.]?\d+[a-z]?"
    attempt: str | None = None
    """Tokens that mean to be an id and match none of the patterns above: malformed. By default
    those that begin like an id of these patterns and go on with a separator or a figure."""
    brackets: tuple[str, ...] = ("[]", "【】", "［］", "〔〕")
    """Pairs, opening half first; a half can be several characters: ``{{}}``."""
    parentheses: bool = True
    """Read ``(R-012, M-0034)`` as a citation too."""
    tags: tuple[str, ...] = (
        "cite",
        "q",
        "quote",
        "blockquote",
        "verbatim",
        "citation",
        "ref",
        "reference",
        "source",
    )
    """Elements whose attributes cite: ``<cite id="M-0034">…</cite>``, ``<ref id="M-0034"/>``."""
    links: bool = True
    """Read ids in the target of a link, ``[…](#M-0034)``."""
    kinds: dict[str, KindConfig] = {}
    """Kinds of reference of your own, each with its pattern and its look-up."""
    parser: str | None = None
    """A parser of your own: ``package.module:function`` or the name of an entry point of group
    ``ancrage.citations``; called with the answer's text, it returns ``Citations``."""


@dataclass(frozen=True, eq=False)
class Grammar:
    """A compiled grammar."""

    config: CitationsConfig
    patterns: dict[str, Any]
    attempt: Any
    parser: "Callable[[str], Citations] | None" = None
    spanning: tuple[str, ...] = ()
    """Kinds whose tokens can hold what otherwise parts tokens, such as a space."""
    lookups: "dict[str, Callable[..., bool]]" = field(default_factory=dict)

    @cached_property
    def tags(self) -> frozenset[str]:
        """The names of elements that cite, in lower case."""
        return frozenset(name.lower() for name in self.config.tags)

    @cached_property
    def closers(self) -> dict[str, str]:
        """The closing half of each pair of brackets, by its opening half."""
        halves = {pair[: len(pair) // 2]: pair[len(pair) // 2 :] for pair in self.config.brackets}
        return halves | ({"(": ")"} if self.config.parentheses else {})

    @cached_property
    def marks(self) -> re.Pattern[str]:
        """The halves of brackets, longest first, and line ends: two where a paragraph ends."""
        halves = sorted({*self.closers, *self.closers.values()}, key=len, reverse=True)
        long = "".join(re.escape(half) + "|" for half in halves if len(half) > 1)
        signs = "".join(re.escape(half) for half in halves if len(half) == 1)
        return re.compile(rf"{long}[\n{signs}](?:(?<=\n)[ \t\r>]*\n)?")

    @cached_property
    def read(self) -> Callable[[str], tuple[str, str] | None]:
        """From a token to the kind of id that the whole of it is, and the id; None for none."""

        @lru_cache(maxsize=65_536)
        def read(token: str) -> tuple[str, str] | None:
            for kind, pattern in self.patterns.items() if len(token) <= LONGEST_TOKEN else ():
                if found := pattern.fullmatch(token):
                    return kind, identifier(found)
            return None

        return read

    def kind(self, token: str) -> str | None:
        """Which kind of id the whole token is, or None."""
        found = self.read(token)
        return found[0] if found else None


def identifier(found: Any) -> str:
    """The id of a match: its group ``id`` where the pattern has one."""
    named = found.re.groupindex
    return str(found.group("id") if "id" in named and found.group("id") else found.group())


def attempt_of(patterns: Iterable[str]) -> str:
    """A pattern of tokens that mean to be an id of one of ``patterns`` and are none.

    They begin with its letters, or with the first three of a longer word, and go on with a
    separator or a figure: ``verbatm_19`` and ``verbatim_`` for ``verbatim_\\d+``. A pattern that
    begins with no letter has none.
    """
    begun = []
    for pattern in patterns:
        head = re.split(r"\\[dw]|\[", re.sub(r"^\(\?[a-z]+\)", "", pattern))[0]
        begun += re.findall(r"(?:^|[|(]|\?:|\?P<\w+>)([^\W\d_]+)", head)
    starts = []
    for letters in dict.fromkeys(word.lower() for word in begun):
        rest = rf"\w{{0,{len(letters)}}}?" if len(letters) > 3 else ""
        starts.append(re.escape(letters[:3]) + rest)
    if not starts:
        return r"[^\s\S]"
    return rf"(?:{'|'.join(starts)})(?:[-_.#](?:[\w?.…]*\d[\w.-]*|[xXoOlI?.…_-]*)|\d[\w.-]*)"


_DEFAULTS = tuple(getattr(CitationsConfig(), name) for name in KINDS)
_TAME = frozenset({*_DEFAULTS, attempt_of(_DEFAULTS)})


def compile_grammar(config: CitationsConfig) -> Grammar:
    """The grammar that ``config`` describes.

    Raises:
        UsageError: a pattern is no regular expression RE2 accepts, or the parser is not found.
    """
    written = {f"kinds.{name}": kind.pattern for name, kind in config.kinds.items()}
    written |= {name: getattr(config, name) for name in KINDS}
    written["attempt"] = config.attempt or attempt_of(getattr(config, name) for name in KINDS)
    compiled = {name.removeprefix("kinds."): _compile(name, written[name]) for name in written}
    attempt = compiled.pop("attempt")
    for pair in config.brackets:
        if len(pair) < 2 or len(pair) % 2:
            raise UsageError(f"[citations] brackets: {pair!r} is not two halves of one length")
    spanning = tuple(
        name.removeprefix("kinds.")
        for name, pattern in written.items()
        if name != "attempt" and _spans(pattern)
    )
    lookups = {
        name: _load(kind.lookup, f"kinds.{name}.lookup")
        for name, kind in config.kinds.items()
        if kind.lookup
    }
    parser = _load(config.parser, "parser") if config.parser else None
    return Grammar(config, compiled, attempt, parser, spanning, lookups)


def _compile(name: str, pattern: str) -> Any:
    if pattern in _TAME:
        return re.compile("(?i)" + pattern, re.ASCII)
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile("(?i)" + pattern, options)
    except re2.error as error:
        fault = error.args[0] if error.args else error
        words = fault.decode() if isinstance(fault, bytes) else fault
        raise UsageError(
            f"[citations] {name}: not a pattern RE2 accepts: {words.replace('(?i)', '')}"
        ) from None


def load_grammar(config: Config) -> Grammar:
    """The grammar of the project's configuration."""
    options = config.table("citations", CitationsConfig)
    try:
        return compile_grammar(options)
    except UsageError as error:
        raise config.located(error) from None


def _spans(pattern: str) -> bool:
    """Whether a token of the pattern can hold a space or a mark that parts tokens."""
    plain = re.sub(r"\(\?(?:P<\w+>|:)|\{\d*,?\d*\}", "", pattern)
    return any(sign in plain for sign in (" ", "\\s", ":", "/", "#", "&", ",", "†", "\\(", "="))


def _load(name: str, setting: str) -> Callable[..., Any]:
    loaded: Callable[..., Any] = load_object(
        name, setting=f"[citations] {setting}", group="ancrage.citations"
    )
    return loaded
