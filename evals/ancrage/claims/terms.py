"""The words that say what a figure is about: entities, attributes, direction, negation."""

import re
import unicodedata
from dataclasses import dataclass

from ancrage.claims.lexicon import LEXICON

_WORD = re.compile(r"[^\W_](?:[\w-]*[^\W_])?(?:['’](?=\s))?")
_ELISION = re.compile(r"\b(?:[ldcnsjmt]|qu|jusqu|lorsqu|puisqu|aujourd)['’]", re.IGNORECASE)
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|neither|without|pas|jamais|aucun|aucune|sans|ni)\b|n['’]t\b",
    re.IGNORECASE,
)
_NOT_NEGATIVE = re.compile(
    r"\b(?:no|not|pas) (?:more|less|fewer|moins|plus)(?: than| de| d['’])?"
    r"|\bpas (?:moins|plus|loin)\b"
    r"|\bnot only\b|\bpas seulement\b|\bsans doute\b",
    re.IGNORECASE,
)


def _fold(word: str) -> str:
    decomposed = unicodedata.normalize("NFD", word.lower())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


def stem(word: str) -> str:
    """The first letters of a word without accents or plural: enough to match its inflections."""
    folded = _fold(word)
    if len(folded) > 4:
        folded = re.sub(r"(?<=\w{3})(?:ing|ed|es|s|x)$", "", folded)
    return folded[:6]


_KNOWN = {
    _fold(word): f"#{name}" for name, words in LEXICON["concepts"].items() for word in words.split()
}
_STOPPED = frozenset(_fold(word) for word in LEXICON["stop"].split())
_LIGHTS = tuple(LEXICON["light"].split())


def concept(word: str) -> str:
    """The meaning that synonyms share, such as ``#workforce`` for "staff"; otherwise a stem."""
    folded = _fold(word)
    base = folded.removesuffix("ing")
    forms = (folded,) if base == folded else (folded, f"{base}ed", f"{base}e", base)
    return next((_KNOWN[form] for form in forms if form in _KNOWN), None) or stem(word)


def folded_words(text: str) -> frozenset[str]:
    """The words of ``text`` in lower case without accents."""
    return frozenset(_fold(word) for word in _WORD.findall(_ELISION.sub(" ", text)))


@dataclass(frozen=True)
class Terms:
    """What a passage is about."""

    entities: frozenset[str]
    """Folded proper names: capitalised inside a sentence, or all capitals."""
    openers: frozenset[str]
    """Folded words capitalised only because, perhaps, a sentence starts there."""
    words: frozenset[str]
    """Concepts of the other content words."""
    direction: int
    """1 for a rise, −1 for a fall, 0 when neither or both are named."""
    negated: bool


def terms(text: str, figures: tuple[tuple[int, int], ...] = ()) -> Terms:
    """The terms of ``text``; the spans ``figures`` are not words."""
    blanked = list(text)
    for start, end in figures:
        blanked[start:end] = " " * (end - start)
    shown = _ELISION.sub(lambda m: " " * len(m.group()), "".join(blanked))
    entities, openers, words = set(), set(), set()
    for m in _WORD.finditer(shown):
        word = m.group()
        folded = _fold(word)
        if folded in _STOPPED or folded.isdigit() or len(folded) < 2:
            continue
        if word[0].isupper():
            opens = not re.search(r"\w[^.!?\n:]*$", shown[: m.start()])
            if not opens or (word.isupper() and len(word) > 1):
                entities.add(folded)
                continue
            openers.add(folded)
            continue
        words.add(concept(word))
    words = {w for w in words if not w.startswith(_LIGHTS) or w.startswith("#")}
    up, down = "#rise" in words, "#fall" in words
    negated = _NEGATION.search(_NOT_NEGATIVE.sub(" ", text)) is not None
    return Terms(
        frozenset(entities), frozenset(openers), frozenset(words), int(up) - int(down), negated
    )
