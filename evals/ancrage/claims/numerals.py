"""Numbers as written in French and English, in figures and in words, with their precision."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

SPACES = str.maketrans({"\u00a0": " ", "\u202f": " ", "\u2009": " ", "−": "-", "’": "'", "‑": "-"})
"""One character for one, so that offsets hold."""


@dataclass(frozen=True)
class Numeral:
    """A number in a text: its possible values, smallest stated step, and span."""

    start: int
    end: int
    values: tuple[float, ...]
    """Two where the separator is ambiguous: "1,234" is 1.234 or 1234, in this order."""
    step: float
    """The unit of the last stated digit: 0.1 for "12,5", 1 for "12"."""
    loose: bool = False
    """For words that round by themselves, such as « une centaine »."""
    words: bool = False


_DIGITS = re.compile(
    r"(?<![\w.,/])(?<!\d[ '])(?:(?P<grouped>\d{1,3}(?:[ ']\d{3})+)(?P<gfrac>[.,]\d+)?"
    r"|(?P<comma>\d{1,3}(?:,\d{3}){2,}|\d{1,3}(?:,\d{3})+(?=\.\d))(?P<cfrac>\.\d+)?"
    r"|(?P<dot>\d{1,3}(?:\.\d{3}){2,}|\d{1,3}(?:\.\d{3})+(?=,\d))(?P<dfrac>,\d+)?"
    r"|(?P<plain>\d+)(?P<pfrac>[.,]\d+)?)(?!\d)(?![.,]\d)"
)

_FR = {
    "zéro": 0, "un": 1, "une": 1, "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6,
    "sept": 7, "huit": 8, "neuf": 9, "dix": 10, "onze": 11, "douze": 12, "treize": 13,
    "quatorze": 14, "quinze": 15, "seize": 16, "vingt": 20, "vingts": 20, "trente": 30,
    "quarante": 40, "cinquante": 50, "soixante": 60, "septante": 70, "huitante": 80,
    "octante": 80, "nonante": 90,
}  # fmt: skip
_EN = {
    "zero": 0, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7,
    "eight": 8, "nine": 9, "ten": 10, "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14,
    "fifteen": 15, "sixteen": 16, "seventeen": 17, "eighteen": 18, "nineteen": 19, "twenty": 20,
    "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90,
}  # fmt: skip
SMALL = _FR | _EN
_BIG = {
    "cent": 100, "cents": 100, "hundred": 100, "mille": 1000, "mil": 1000, "thousand": 1000,
    "million": 10**6, "millions": 10**6, "milliard": 10**9, "milliards": 10**9, "billion": 10**9,
    "billions": 10**9,
}  # fmt: skip
_COLLECTIVE = {
    "dizaine": 10, "douzaine": 12, "dozen": 12, "quinzaine": 15, "vingtaine": 20, "trentaine": 30,
    "quarantaine": 40, "cinquantaine": 50, "soixantaine": 60, "centaine": 100, "millier": 1000,
}  # fmt: skip
_PLURAL = frozenset(
    {"millions", "milliards", "billions", "million", "milliard", "billion", "hundred"}
)
_ALONE = frozenset({"un", "une", "one", "cents", "mil"})
"""Words that are a number only beside another number."""
_TOKENS = "|".join(sorted({*SMALL, *_BIG}, key=len, reverse=True))
_WORDS = re.compile(
    rf"(?<![\w-])(?<!pour )(?<!per )(?:a[ ](?=hundred|thousand|million|billion))?"
    rf"(?:{_TOKENS})(?:(?:-et-|-|[ ](?:et|and)[ ]|[ ])(?:{_TOKENS}))*(?![\w-])",
    re.IGNORECASE,
)
_GROUP = re.compile(
    rf"(?<!\w)(?:une|a)[ ](?:bonne[ ])?({'|'.join(_COLLECTIVE)})(?!\w)", re.IGNORECASE
)
_HALF = re.compile(
    r"(?<![\w-])(?:(?P<quarter>a quarter of a|un quart de)|half an?"
    r"|(?:un |one-)?(?:demi|half)[ -])[ ]?"
    r"(?P<scale>million|milliard|billion|thousand|dozen|douzaine)(?!\w)",
    re.IGNORECASE,
)
_AN = re.compile(r"(?<!\w)an?(?=[ ](?:hour|day|week|month|year) and a half)", re.IGNORECASE)
_LONGEST = 15
"""Digits that a number has at most; a longer run is an identifier."""
_SCALE_NEXT = re.compile(r"[ ]?(million|milliard|billion|thousand|hundred)", re.IGNORECASE)


def numerals(text: str) -> Iterator[Numeral]:
    """The numbers of ``text``, which has passed through ``SPACES``, in no particular order."""
    for m in _DIGITS.finditer(text):
        if sum(character.isdigit() for character in m.group()) <= _LONGEST:
            yield _digits(m)
    halves = list(_HALF.finditer(text))
    for m in halves:
        word = m["scale"].lower()
        whole = float(_BIG.get(word) or _COLLECTIVE[word])
        value = whole * (0.25 if m["quarter"] else 0.5)
        yield Numeral(m.start(), m.end(), (value,), whole / 10, words=True)
    for m in _GROUP.finditer(text):
        value = float(_COLLECTIVE[m[1].lower()])
        yield Numeral(m.start(), m.end(), (value,), value / 10, loose=m[1].lower() != "dozen")
    for m in _AN.finditer(text):
        yield Numeral(m.start(), m.end(), (1.0,), 1.0, words=True)
    for m in _WORDS.finditer(text):
        if not any(half.start() < m.end() and m.start() < half.end() for half in halves):
            yield from _worded(m.group(), m.start(), text)


def _digits(m: "re.Match[str]") -> Numeral:
    whole = m["grouped"] or m["comma"] or m["dot"] or m["plain"]
    fraction = (m["gfrac"] or m["cfrac"] or m["dfrac"] or m["pfrac"] or "")[1:]
    digits = re.sub(r"\D", "", whole)
    value = float(f"{digits}.{fraction or 0}")
    step = 10.0 ** -len(fraction)
    if m["plain"] and len(fraction) == 3 and 0 < len(digits) <= 3 and digits[0] != "0":
        return Numeral(m.start(), m.end(), (value, float(digits + fraction)), step)
    return Numeral(m.start(), m.end(), (value,), step)


def _worded(run: str, start: int, text: str) -> Iterator[Numeral]:
    """The numbers of a run of number words: one, or several that only stand side by side."""
    tokens = [(t.group().lower(), t.start(), t.end()) for t in re.finditer(r"[^\W\d_]+", run)]
    pending: list[tuple[str, int, int]] = []
    for token in [*tokens, ("", 0, 0)]:
        if token[0] and (not pending or value_of([*(t[0] for t in pending), token[0]]) is not None):
            pending.append(token)
            continue
        while pending and pending[-1][0] in ("et", "and"):
            pending.pop()
        words = [t[0] for t in pending]
        if words and words[0] in _BIG and re.search(r"\d[ ]?$", text[: start + pending[0][1]]):
            words, pending = [], []  # "3 millions": the scale of the digits before it
        value = value_of(words) if words else None
        if value is not None and pending and not _is_article(words, pending, start, text):
            yield Numeral(
                start + pending[0][1], start + pending[-1][2], (float(value),), 1.0, words=True
            )
        pending = [token] if token[0] not in ("", "et", "and") else []


def _is_article(
    words: list[str], tokens: list[tuple[str, int, int]], start: int, text: str
) -> bool:
    """Whether a lone word is an article, an adjective or a coin rather than a number."""
    if len(words) > 1:
        return False
    after = text[start + tokens[0][2] :]
    if words[0] in _ALONE:
        return not (
            _SCALE_NEXT.match(after)
            or re.match(r"(?:[ ]\w+)?[ ](?:sur|in|out of)[ ]\w+", after, re.IGNORECASE)
            or re.match(
                r"[ ](?:hour|heure|day|jour|week|semaine|month|mois|year|an)s?\b",
                after,
                re.IGNORECASE,
            )
        )
    return words[0] in _PLURAL or (words[0] == "neuf" and not re.match(r"[ ]\w", after))


def value_of(words: list[str]) -> int | None:
    """The value of number words such as ``["quatre", "vingt", "dix", "sept"]``, or None."""
    total, current, last = 0, 0, 10**12
    previous = 10**12
    for position, word in enumerate(words):
        if word in ("et", "and", "a"):
            if position == 0 and word != "a":
                return None
            continue
        if word in _BIG:
            scale = _BIG[word]
            if scale == 100:
                if current >= 100:
                    return None
                current = (current or 1) * 100
                previous = 100
            else:
                if scale >= last:
                    return None
                total += (current or 1) * scale
                current, last, previous = 0, scale, scale
            continue
        if word not in SMALL:
            return None
        small = SMALL[word]
        if small == 20 and current % 100 == 4 and previous == 4 and word.startswith("vingt"):
            current += 76
            previous = 80
            continue
        fits = (
            current % 100 == 0
            if previous >= 100
            else (previous >= 20 and 0 < small < (20 if previous in (60, 80) else 10))
            or (previous == 10 and 7 <= small <= 9)
        )
        if not fits:
            return None
        current += small
        previous = small
    return total + current
