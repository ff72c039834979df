"""Does this passage stand in this text? Tiers T0 to T3, from exact to marked elision."""

import re
from collections.abc import Iterator
from enum import StrEnum
from functools import cached_property, lru_cache
from html import unescape
from typing import NamedTuple

from ancrage.quotes import language
from ancrage.quotes.boundary import find_whole, has_content
from ancrage.quotes.elision import (
    FINAL_PUNCTUATION,
    Elided,
    initial_variants,
    locate,
    read_elisions,
    without_case_brackets,
)
from ancrage.quotes.negation import left_outside
from ancrage.quotes.normalise import canonical, normalise


class QuoteTier(StrEnum):
    """How a quote stands to the messages cited for it; only T0 to T3 pass."""

    EXACT = "T0"
    TYPOGRAPHIC = "T1"
    EDGES = "T2"
    """Another case for the first letter, or another final punctuation."""
    ELIDED = "T3"
    ALTERED = "T4"
    TRANSLATED = "T5"
    ELSEWHERE = "T6"
    ABSENT = "T7"

    @property
    def passes(self) -> bool:
        return self <= QuoteTier.ELIDED


class Match(NamedTuple):
    """Where a passage stands: ``text[start:end]``, in code points of the text as it was given."""

    start: int
    end: int
    tier: QuoteTier
    warnings: tuple[str, ...] = ()


_TOLD = 5_000
"""Characters that tell a text's language."""
_KEPT_LENGTH = 5_000
_kept = lru_cache(maxsize=512)(normalise)
_kept_long = lru_cache(maxsize=2)(normalise)
"""Offset maps of the last short texts: the messages of a study are cited again and again."""


class SourceText:
    """A text to search, with its canonical form once that was needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def canonical(self) -> str:
        return canonical(self.text)

    @cached_property
    def language(self) -> str | None:
        """The language of the text's beginning, where it is clear."""
        return language.detect(self.text[:_TOLD])

    @cached_property
    def languages(self) -> set[str]:
        """The languages of its sentences, where they are clear."""
        return language.languages_in(self.text[:_TOLD])

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The span of the text that ``canonical[start:end]`` stands for."""
        kept = len(self.text) <= _KEPT_LENGTH
        return (_kept if kept else _kept_long)(self.text).original(start, end)

    def match(self, start: int, end: int, tier: QuoteTier, warnings: tuple[str, ...] = ()) -> Match:
        """The match of ``canonical[start:end]``, in the text's own offsets."""
        return Match(*self.span(start, end), tier, warnings)


_EMPHASIS = re.compile(
    r"(?<![\w*])(\*{1,3})(?=\S)([^*]+)(?<=\S)\1(?![\w*])|(?<!\w)(_{1,3})(?=\S)([^_]+)(?<=\S)\3(?!\w)"
)
_TAGS = re.compile(r"</?([A-Za-z][A-Za-z0-9-]{0,20})(?:\s[^<>]{0,400})?/?>")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")
_LINE_MARK = re.compile(r"\n[ \t]*>[ \t>]*")


def without_markup(quote: str) -> str:
    """``quote`` as a reader sees it: without emphasis, tags, escapes, entities, and the marks of
    a block quote's next lines."""
    plain = _LINE_MARK.sub("\n", quote)
    if "&" in plain or "<" in plain or "\\" in plain:
        plain = _ESCAPE.sub(r"\1", _TAGS.sub(_blank, unescape(plain)))
    if "*" not in plain and "_" not in plain:
        return plain
    for _ in range(2):
        plain = _EMPHASIS.sub(lambda found: found[2] or found[4], plain)
    return plain


def _blank(tag: re.Match[str]) -> str:
    return " " if tag[1].lower() in ("br", "p", "li", "div") else ""


class Needle:
    """A quote to find, with the readings that its tiers need, once they were needed."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def has_content(self) -> bool:
        return has_content(self.text)

    @cached_property
    def canonical(self) -> str:
        return canonical(without_markup(self.text))

    @cached_property
    def typographic(self) -> tuple[str, ...]:
        """As written first: a message can hold asterisks of its own."""
        return tuple(dict.fromkeys((canonical(self.text), self.canonical)))

    @cached_property
    def edges(self) -> tuple[str, ...]:
        readings: list[str] = []
        for reading in self.typographic:
            shorter = reading.rstrip(FINAL_PUNCTUATION)
            readings += initial_variants(reading)[1:]
            if shorter != reading and has_content(shorter):
                readings += initial_variants(shorter)
        return tuple(dict.fromkeys(readings))

    @cached_property
    def without_case_brackets(self) -> tuple[str, ...]:
        """``[O]k... fine`` as it may stand, an ellipsis of the respondent's own kept."""
        plain = without_markup(self.text)
        whole = without_case_brackets(plain)
        return initial_variants(canonical(whole)) if whole != plain else ()

    def readings(self) -> Iterator[str]:
        """The readings without cuts, the closest first, each made when it is asked for."""
        yield from self.typographic
        yield from self.edges
        yield from self.without_case_brackets

    @cached_property
    def elided(self) -> tuple[Elided, ...]:
        texts = dict.fromkeys((self.text, without_markup(self.text)))
        found = (read_elisions(text, bare=bare) for text in texts for bare in (False, True))
        return tuple(dict.fromkeys(read for read in found if read))


needle_of = lru_cache(maxsize=2048)(Needle)
"""A quote is looked for, and its cut judged, with the same readings."""


def exact(quote: str, text: str) -> Match | None:
    """The exact passage (T0), not cut out of a longer word or number; ``quote`` says something."""
    start = find_whole(quote, text)
    if start < 0:
        return None
    end = start + len(quote)
    return Match(start, end, QuoteTier.EXACT, negation_warnings(text, start, end))


def find(needle: Needle, source: SourceText) -> Match | None:
    """The best match of a quote in one text, T0 to T3, or None."""
    if not needle.has_content:
        return None
    if found := exact(needle.text, source.text):
        return found
    text = source.canonical
    for tier in (QuoteTier.TYPOGRAPHIC, QuoteTier.EDGES):
        for reading in needle.typographic if tier is QuoteTier.TYPOGRAPHIC else needle.edges:
            start = find_whole(reading, text)
            if start >= 0:
                end = start + len(reading)
                return source.match(start, end, tier, negation_warnings(text, start, end))
    for elided in needle.elided:
        if cut := locate(elided, text):
            warnings = cut.warnings + negation_warnings(text, cut.start, cut.end)
            return source.match(cut.start, cut.end, QuoteTier.ELIDED, warnings)
    for reading in needle.without_case_brackets:
        start = find_whole(reading, text)
        if start >= 0:
            end = start + len(reading)
            return source.match(start, end, QuoteTier.ELIDED, negation_warnings(text, start, end))
    return None


def plain_option(text: str) -> str:
    """``text`` without what options of a questionnaire and quotes of them may differ by."""
    return canonical(text).casefold().rstrip(" .!?…")


def find_passage(passage: str, text: str) -> Match | None:
    """Where ``passage`` stands verbatim in ``text`` (T0 to T3), or None.

    An empty passage, or one of punctuation alone, stands nowhere.
    """
    return find(needle_of(passage), SourceText(text))


def negation_warnings(text: str, start: int, end: int) -> tuple[str, ...]:
    """A warning where ``text[start:end]`` leaves a negation just outside itself."""
    word = left_outside(text, start, end)
    return (f"The quote stops short of the negation “{word}”.",) if word else ()
