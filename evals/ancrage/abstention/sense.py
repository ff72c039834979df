"""Whether a statement stands in a text, and what two texts share.

Words by their meaning, figures and dates by their value, negation. The rules say ``None`` where
they cannot tell; a verifier may then be asked.
"""

import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from ancrage.abstention.clauses import fold
from ancrage.claims import Agreement, Claim, compare_figures, extract_claims
from ancrage.claims.figures import figures
from ancrage.claims.lexicon import LEXICON
from ancrage.claims.markup import plain
from ancrage.claims.readings import Figure, FigureReading
from ancrage.claims.terms import Terms, concept, terms

_COVERED, _BARE = 0.6, 0.34
"""Shares of a statement's words found in the support: enough, and too few."""
STOP = frozenset(re.findall(r"\w+", fold(LEXICON["stop"])))
"""Folded words that say nothing of their own."""


def normalised(text: str) -> str:
    """``text`` in lower case, its accents kept, runs of anything but letters and digits a space."""
    return re.sub(r"\W+", " ", unicodedata.normalize("NFC", text).casefold()).strip()


class Found(NamedTuple):
    """``holds`` is None where the rules cannot tell."""

    holds: bool | None
    reason: str
    contradicted: bool = False


def supported(claim: str, support: str, known: str, *, added: bool) -> Found:
    """Whether ``claim`` stands in ``support``, or merely repeats ``known`` (question, expected).

    ``added``: the expected answer is given already, so that other words are no paraphrase of it.
    """
    claim = plain(claim)
    ground = f"{support}\n{known}"
    if contains(support, claim) or contains(known, claim):
        return Found(True, "it stands in the support as it is")
    comparison = compare_figures(claim, support)
    if comparison.verdict is Agreement.CONTRADICTS:
        return Found(False, comparison.reason, contradicted=True)
    stated = figures(ground, parts=True)
    if comparison.verdict is not Agreement.AGREES:
        for figure in figures(claim):
            if not any(same_figure(figure, other) for other in stated):
                return Found(False, f"“{figure.text}” is nowhere in the support")
    ground_words = set(normalised(fold(ground)).split())
    for name in sorted(names(claim)):
        if not all(_among(part, ground_words) for part in normalised(name).split()):
            return Found(False, f"“{name}” is nowhere in the support")
    words = _words(claim, figures(claim))
    if denied := _denied(claim, words, support):
        return Found(False, f"the support says the contrary: “{denied}”", contradicted=True)
    common = share(words, _words(ground))
    if common >= _COVERED or not words:
        return Found(True, "its words stand in the support")
    if added and common < _BARE and len(words) >= 3:
        return Found(False, "nothing in the support speaks of it")
    return Found(None, "the support may say it in other words")


def statements(parts: Iterable[str]) -> list[Claim]:
    """The claims of the parts of an answer that state something."""
    return [claim for part in parts for claim in extract_claims(part)]


def same_figure(mine: Figure, its: Figure) -> bool:
    """Whether two figures state the same: unit alike, one value within what the other allows."""
    if mine.unit != its.unit or (mine.role and its.role and mine.role != its.role):
        return False
    if not (mine.readings and its.readings):
        pairs = [(a, b) for a, b in zip(mine.fields, its.fields, strict=True) if a and b]
        return bool(pairs) and all(a == b for a, b in pairs)
    return any(_meet(a, b) for a in mine.readings for b in its.readings)


def _meet(mine: FigureReading, its: FigureReading) -> bool:
    if mine.point is not None and its.point is not None:
        return mine.low <= its.point <= mine.high or its.low <= mine.point <= its.high
    if mine.point is not None:
        return _bounds(its, mine)
    if its.point is not None:
        return _bounds(mine, its)
    # Periods that overlap, or bounds of the same sense that coincide.
    if math.isfinite(mine.high - mine.low) and math.isfinite(its.high - its.low):
        return mine.low < its.high and its.low < mine.high
    return math.isclose(mine.low, its.low, rel_tol=1e-3) and math.isclose(
        mine.high, its.high, rel_tol=1e-3
    )


def _bounds(bound: FigureReading, exact: FigureReading) -> bool:
    """Whether a range holds a stated value, and, where it is open, ends at it."""
    if exact.point is None or not bound.low <= exact.point <= bound.high:
        return False
    end = bound.high if math.isfinite(bound.high) else bound.low
    return math.isfinite(bound.high - bound.low) or exact.low <= end <= exact.high


def unread(text: str) -> bool:
    """Whether there are digits that no figure was read from."""
    shown = list(text)
    for figure in figures(text):
        shown[figure.start : figure.end] = " " * (figure.end - figure.start)
    return any(character.isdigit() for character in shown)


def _denied(claim: str, words: set[str], support: str) -> str | None:
    """The clause of the support that says the same words with or without "not"."""
    if len(words) < 2:
        return None
    best, passage = 0.0, ""
    for clause in clauses(support):
        others = _words(clause)
        mutual = min(share(words, others), share(others, words))
        same = negated(clause) == negated(claim)
        if mutual > best or (mutual == best and same):
            best, passage = mutual, clause
    if best >= _COVERED and negated(passage) != negated(claim):
        return passage.strip()
    return None


_CLAUSE = re.compile(
    r"(?<=[.!?;:])\s+|(?<=[a-zà-ÿ)][.!?])(?=[A-ZÀ-Ý])|\n+|;"
    r"|,\s+(?=(?:but|while|whereas|mais|alors|tandis|et|and|however|cependant)\b)"
    r"|\s+(?=(?:but|mais|whereas|alors que|tandis que)\b)"
)


def clauses(text: str) -> list[str]:
    return [part for part in _CLAUSE.split(text) if part and part.strip()]


def canonical(text: str) -> str:
    return normalised(fold(text))


def contains(text: str, expected: str) -> bool:
    wanted = canonical(expected)
    return bool(wanted) and f" {wanted} " in f" {canonical(text)} "


def _terms(text: str, found: Sequence[Figure] = ()) -> Terms:
    return terms(text, tuple((f.start, f.end) for f in found))


_NEGATED = re.compile(r"\b(?:nicht|kein(?:e[nmrs]?)?|niemals|keineswegs|nunca|jamas|tampoco)\b")


def negated(text: str) -> bool:
    return _terms(text).negated or _NEGATED.search(fold(text)) is not None


def _words(text: str, found: Sequence[Figure] = ()) -> set[str]:
    """What ``text`` is about: concepts of its weightier words, names among them."""
    about = _terms(text, found)
    return set(about.words) | {concept(name) for name in about.entities | about.openers}


def content(text: str, found: Sequence[Figure] = ()) -> set[str]:
    """The concepts of all words of ``text`` but the commonest; the spans ``found`` left out."""
    shown = list(text)
    for figure in found:
        shown[figure.start : figure.end] = " " * (figure.end - figure.start)
    words = canonical("".join(shown)).split()
    return {concept(word) for word in words if word not in STOP and len(word) > 1}


def names(text: str) -> set[str]:
    """Folded proper names; none where everything is in capitals."""
    return set() if text.isupper() else {fold(name) for name in _terms(text).entities}


def share(words: set[str], others: set[str]) -> float:
    """The share of ``words`` that are among ``others``, inflections and typing slips allowed."""
    if not words:
        return 0.0
    return sum(_among(word, others) for word in words) / len(words)


def _among(word: str, others: set[str]) -> bool:
    return word in others or (
        len(word) >= 5
        and any(abs(len(other) - len(word)) <= 2 and ratio(word, other) >= 85 for other in others)
    )
