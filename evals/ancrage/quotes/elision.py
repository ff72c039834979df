"""Marked elisions: ``[…]``, ``(…)``, ``…`` leave words out, ``[the product]`` replaces some."""

import re
from itertools import pairwise
from typing import NamedTuple

from ancrage.quotes.boundary import find_whole, has_content
from ancrage.quotes.negation import negations
from ancrage.quotes.normalise import canonical

MINIMUM_FRAGMENT = 12
"""Characters that each fragment around an elision needs, in canonical form."""
MAXIMUM_ELISION = 500
"""Characters of the message that one elision may leave out."""
MAXIMUM_BRACKET = 80
"""Characters of the message that one bracketed word or phrase may replace."""
_OCCURRENCES = 64

_MARK = re.compile(
    r"\[\s?(?:…|\.{3,}|\. \. \.)\s?\]|\(\s?(?:…|\.{3,}|\. \. \.)\s?\)|…|\.{3,}|\. \. \."
    r"|[\[(]sic ?!?[\])]|\[[^\[\]\n]{1,120}\]",
    re.IGNORECASE,
)
_CASE_BRACKET = re.compile(r"\[(\w{1,3}(?=\]\w)|(?:\w|[Qq]u)(?=\]['’]))\]")
_DIGITS = re.compile(r"\d+")
FINAL_PUNCTUATION = " .,;:!?…"


class Elided(NamedTuple):
    """A quote read as literal fragments; ``gaps[i]`` lies between fragments i and i + 1."""

    fragments: tuple[str, ...]
    gaps: tuple[str | None, ...]
    """None for words left out, else the bracketed text that replaces some."""
    before: str = ""
    """What brackets ahead of the first fragment say, and, in ``after``, behind the last."""
    after: str = ""


class ElidedMatch(NamedTuple):
    """Where an elided quote stands in a canonical text, and what its gaps hold."""

    start: int
    end: int
    gaps: tuple[str, ...]
    warnings: tuple[str, ...]
    spans: tuple[tuple[int, int], ...] = ()
    """Where each fragment stands."""


def read_elisions(quote: str, *, loose: bool = False, bare: bool = True) -> Elided | None:
    """The fragments and gaps of ``quote``, or None where it marks no elision or says too little.

    ``loose`` takes fragments of any length, to tell a cut that distorts from words that differ.
    Without ``bare``, an ellipsis outside brackets is the respondent's own.
    """
    raw = _CASE_BRACKET.sub(r"\1", quote)
    pieces, gaps = [""], list[str | None]()
    done = 0
    for mark in _MARK.finditer(raw):
        pieces[-1] += raw[done : mark.start()]
        done = mark.end()
        if not bare and mark[0][0] not in "[(":
            pieces[-1] += mark[0]
            continue
        inside = mark[0].strip("[]() ")
        if inside.lower().rstrip(" !") == "sic":
            continue
        gaps.append(None if not inside.strip(".… ") else inside)
        pieces.append("")
    pieces[-1] += raw[done:]
    if raw == quote and done == 0:
        return None
    fragments, kept, spoken = list[str](), list[str | None](), list[int]()
    for position, piece in enumerate(pieces):
        fragment = _fragment(piece)
        if not has_content(fragment):
            continue
        if spoken:
            between = gaps[spoken[-1] : position]
            kept.append(None if None in between else " ".join(filter(None, between)))
        fragments.append(fragment)
        spoken.append(position)
    bracketed = any(gap is not None for gap in gaps)
    if not fragments or not (loose or _long_enough(fragments, kept, bracketed)):
        return None
    before = " ".join(filter(None, gaps[: spoken[0]]))
    after = " ".join(filter(None, gaps[spoken[-1] :]))
    return Elided(tuple(fragments), tuple(kept), before, after)


def without_case_brackets(quote: str) -> str:
    """``[L]e produit`` as ``Le produit``."""
    return _CASE_BRACKET.sub(r"\1", quote)


def _fragment(piece: str) -> str:
    """A piece in canonical form; the apostrophes of ``l'[outil]`` and of ``[the app]'s`` are no
    quotation marks."""
    if piece[:1] in ("'", "’") and piece[1:2].isalpha():
        return _fragment("x" + piece)[1:]
    if piece[-1:] in ("'", "’") and piece[-2:-1].isalpha():
        return canonical(piece + "x")[:-1]
    return canonical(piece)


def _long_enough(fragments: list[str], gaps: list[str | None], bracketed: bool) -> bool:
    for i, fragment in enumerate(fragments):
        if None in gaps[max(0, i - 1) : i + 1] and len(fragment) < MINIMUM_FRAGMENT:
            return False
    return not bracketed or max(map(len, fragments)) >= MINIMUM_FRAGMENT


def initial_variants(fragment: str) -> tuple[str, ...]:
    """``fragment``, then the same with the other case for its first letter, where it has one."""
    for i, letter in enumerate(fragment[:3]):
        if letter.isalpha():
            other = letter.lower() if letter.isupper() else letter.upper()
            if other != letter and len(other) == 1:
                return fragment, fragment[:i] + other + fragment[i + 1 :]
        if letter.isalnum():
            break
    return (fragment,)


def locate(elided: Elided, text: str, *, loose: bool = False) -> ElidedMatch | None:
    """Where the fragments stand in order in the canonical ``text``, each gap within its bound.

    ``loose`` allows a bracket to stand for words with another number or negation.
    """
    paths: list[tuple[tuple[int, int], ...]] = [()]
    for i, fragment in enumerate(elided.fragments):
        places = _occurrences(fragment, text)
        if i == 0:
            paths = [(place,) for place in places]
            continue
        gap = elided.gaps[i - 1]
        bound = MAXIMUM_ELISION if gap is None and not loose else MAXIMUM_BRACKET
        reached = []
        for place in places:
            nearest = max(
                (path for path in paths if path[-1][1] <= place[0]),
                key=lambda path: path[-1][1],
                default=None,
            )
            if nearest and place[0] - nearest[-1][1] <= bound:
                replaced = text[nearest[-1][1] : place[0]]
                if loose or gap is None or _may_replace(gap, replaced):
                    reached.append((*nearest, place))
        paths = reached
    path = next((path for path in paths if loose or _edges_hold(elided, text, path)), None)
    if path is None:
        return None
    gaps = tuple(text[left[1] : right[0]] for left, right in pairwise(path))
    warnings = tuple(
        f"The quote leaves out the negation “{word}”." for gap in gaps for word in negations(gap)
    )
    return ElidedMatch(path[0][0], path[-1][1], gaps, warnings, path)


def _edges_hold(elided: Elided, text: str, path: tuple[tuple[int, int], ...]) -> bool:
    """Whether brackets at the edges of the quote say no more than the words beside it."""
    start, end = path[0][0], path[-1][1]
    return _may_replace(elided.before, text[max(0, start - MAXIMUM_BRACKET) : start]) and (
        _may_replace(elided.after, text[end : end + MAXIMUM_BRACKET])
    )


def _may_replace(bracketed: str, words: str) -> bool:
    """A bracket can name what it replaces; it brings in no number and no negation."""
    return set(_DIGITS.findall(bracketed)) <= set(_DIGITS.findall(words)) and {
        word.lower() for word in negations(bracketed)
    } <= {word.lower() for word in negations(words)}


def _occurrences(fragment: str, text: str) -> list[tuple[int, int]]:
    """The places of ``fragment`` in ``text``, else of a variant in initial case or final stop."""
    shorter = fragment.rstrip(FINAL_PUNCTUATION)
    for needle in (*initial_variants(fragment), *(initial_variants(shorter) if shorter else ())):
        places: list[tuple[int, int]] = []
        at = find_whole(needle, text)
        while at >= 0 and len(places) < _OCCURRENCES:
            places.append((at, at + len(needle)))
            at = find_whole(needle, text, at + 1)
        if places:
            return places
    return []
