"""An answer cut into clauses, and what each looks like to the model."""

# ruff: noqa: E501, SIM905 - lists of words

import re
import unicodedata
import zlib
from collections.abc import Iterator
from typing import NamedTuple

from ancrage.claims.markup import blocks
from ancrage.claims.sentences import protected, sentences

Span = tuple[int, int]
SIZE = 1 << 15
"""Hashed features."""
LONGEST = 60
"""Words of a clause that are read; what a clause does shows early, and time stays bounded."""

_CUT = re.compile(
    r"(?:\s*;\s+|\s+[–—]\s+|,?\s+(?=(?:but|however|yet|mais|cependant|toutefois|néanmoins|en revanche"
    r"|aber|jedoch|allerdings|sondern|pero|sin embargo|no obstante|though|although|bien que"
    r"|quoique|obwohl|aunque)\b)|:\s+|(?<=[a-zà-ÿ]{2}[.!?])(?=[A-ZÀ-Ý][a-zà-ÿ ’']))",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*['’]?|\d+(?:[.,:]\d+)*|[?!%€$£]|«|“|\"")
_QUOTED = re.compile(r"«[^«»]*»|“[^“”]*”|„[^„“”]*[“”]|\"[^\"\n]*\"")
_ELISION = re.compile(r"^(?:[cdjlmnst]|qu|lorsqu|puisqu|quoiqu)['’](?=\w)", re.IGNORECASE)
_NEGATIONS = frozenset(
    (
        "not no never none nothing nobody neither nor cannot cant without unable nowhere ne n pas "
        "jamais aucun aucune rien personne ni sans nulle non nicht kein keine keinen keiner "
        "keinerlei nichts niemand nie ohne nirgends no ningun ninguna nada nadie nunca sin ni "
        "tampoco"
    ).split()
)
_COMMON = frozenset(
    (
        "the a an of in on at to for and or is are was were be do does did has have had it this "
        "that what which who when where why how much many with from by as can you i your my we "
        "they le la les l un une des du de d et ou est sont en au aux que qui quoi quel quelle "
        "quels quelles quand combien comment pourquoi ce cette ces se s il elle on je vous par "
        "pour avec der die das den dem ein eine einen und oder ist sind war wer was wann wo warum "
        "wie viel welche welcher im in von zu mit auf fur es sie ich el los las una y o es son "
        "quien cuando donde por que cual cuanto como en con para su"
    ).split()
)


class Words(NamedTuple):
    """The words of a text, as the model sees them."""

    shown: list[str]
    """Folded; ``<q>`` for a word of the question, ``<n>`` for a figure, ``<name>`` for a name."""
    plain: list[str]
    """The same without those of the question, figures and names: their letters are read too."""
    overlap: float
    """Share of the weightier words that the question has."""
    figures: int
    """That the question has not."""


def fold(text: str) -> str:
    """``text`` in lower case without accents, apostrophes straight."""
    decomposed = unicodedata.normalize("NFD", text.lower().replace("’", "'"))
    return "".join(character for character in decomposed if not unicodedata.combining(character))


def clauses(text: str) -> Iterator[Span]:
    """The clauses of ``text`` in order, trimmed: sentences, cut where one turns against itself."""
    kept = protected(text)
    for block in blocks(text):
        for start, end in sentences(text, block.start, block.end, kept):
            yield from _cut(text, start, end, kept)


def _cut(text: str, start: int, end: int, kept: list[Span]) -> Iterator[Span]:
    inside = [span for span in kept if span[0] < end and span[1] > start]
    for match in _CUT.finditer(text, start, end):
        if any(low < match.start() < high for low, high in inside):
            continue
        if len(text[start : match.start()].split()) < 2 or len(text[match.end() : end].split()) < 2:
            continue
        yield start, match.start()
        start = match.end()
    if re.search(r"\w", text[start:end]):
        yield start, end


def key_words(question: str) -> frozenset[str]:
    """The folded words of a question that say what it is about."""
    words = (fold(_ELISION.sub("", word)) for word in _WORD.findall(question))
    return frozenset(w[:6] for w in words if w not in _COMMON and (len(w) > 2 or w[:1].isdigit()))


def words_of(clause: str, asked: frozenset[str] = frozenset()) -> Words:
    """How the model sees ``clause``; ``asked`` are the question's ``key_words``."""
    shown: list[str] = []
    plain: list[str] = []
    shared = weighty = figures = 0
    own = _QUOTED.sub(" zquote ", clause)
    own = own if re.search(r"\w", own.replace("zquote", "")) else clause
    for number, found in enumerate(_WORD.findall(own)[:LONGEST]):
        elided = _ELISION.match(found)
        parts = [elided.group(), found[elided.end() :]] if elided else [found]
        for part in parts:
            word = fold(part)
            if word not in _COMMON and len(word) > 2:
                weighty += 1
            if word[:6] in asked and word not in _NEGATIONS:
                shared += 1
                shown.append("<q>")
            elif word[:1].isdigit():
                figures += 1
                shown.append("<n>")
            elif number and part[:1].isupper() and len(part) > 1 and not clause.isupper():
                shown.append("<name>")
            else:
                shown.append(word)
                plain.append(word)
    return Words(shown, plain, shared / weighty if weighty else 0.0, figures)


def features(clause: str, asked: frozenset[str] = frozenset()) -> dict[int, float]:
    """The hashed features of a clause and their weights; each group has length 1."""
    seen = words_of(clause, asked)
    shown = ["^", *_runs(seen.shown), "$"]
    grams = {" ".join(shown[i : i + n]) for n in (1, 2, 3) for i in range(len(shown) - n + 1)}
    grams |= {f"{a} * {b}" for a, b in zip(shown, shown[2:], strict=False)}
    pieces = {
        f"~{padded[i : i + n]}"
        for padded in (f"_{word}_" for word in seen.plain if len(word) > 2)
        for n in (4, 5)
        for i in range(max(1, len(padded) - n + 1))
    }
    length = len(seen.shown)
    negated = any(word in _NEGATIONS or word.endswith("n't") for word in seen.shown)
    shape = {
        f"=length {min(length, 3) if length < 4 else 4 if length < 9 else 9 if length < 20 else 20 if length < 32 else 32}",
        f"=negated {negated}",
        f"=overlap {round(min(seen.overlap, 1) * 3)} {negated}",
        f"=figures {min(seen.figures, 2)}",
        f"=names {'<name>' in seen.shown}",
        f"=asks {clause.rstrip().endswith('?')}",
        f"=leads {clause.rstrip().endswith(':')}",
    }
    told = {f"?{word} {negated}" for word in asked}
    found: dict[int, float] = {}
    for group, weight in ((grams, 1.0), (pieces, 0.7), (shape, 0.5), (told, 0.4)):
        for name in group:
            index = zlib.crc32(name.encode()) % SIZE
            found[index] = found.get(index, 0.0) + weight / max(1, len(group)) ** 0.5
    return found


def _runs(words: list[str]) -> Iterator[str]:
    """The words, those of a run of the same mark taken as one."""
    for number, word in enumerate(words):
        if not (word in ("<q>", "<name>") and number and words[number - 1] == word):
            yield word
