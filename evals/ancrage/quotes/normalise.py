"""The canonical form in which two typographies of the same words are equal.

NFKC is not used: it turns ``10²`` into ``102``. The canonical form is NFC plus the explicit
table and rules below, each of which keeps digits, letters, accents and case as they are.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

INVISIBLE = (
    "\u00ad\u034f\u061c\u180e\u200b\u200c\u200d\u200e\u200f\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2061\u2062\u2063\u2064\u2066\u2067\u2068\u2069\ufe0e\ufe0f\ufeff"
)
"""Characters without width: soft hyphen, joiners, direction marks, variation selectors."""

_TABLE = {
    **{chr(wide): chr(wide - 0xFEE0) for wide in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(INVISIBLE, ""),
    **dict.fromkeys("‐‑‒–−﹣－", "-"),
    **dict.fromkeys("—―﹘⸺⸻", "—"),
    **dict.fromkeys("“”„‟″〝〞＂", '"'),
    **dict.fromkeys("‘’‚‛ʼ′´＇", "'"),
    **dict.fromkeys("⩾≧", "≥"),
    **dict.fromkeys("⩽≦", "≤"),
    "ﬀ": "ff",
    "ﬁ": "fi",
    "ﬂ": "fl",
    "ﬃ": "ffi",
    "ﬄ": "ffl",
    "ﬅ": "st",
    "ﬆ": "st",
    "œ": "oe",
}


_JOINER = "\u200d"
_PICTOGRAPH = re.compile("[\u2190-\u2bff\U0001f000-\U0001faff]")


def _from_table(found: re.Match[str]) -> str:
    character = found[0]
    if character == _JOINER and _PICTOGRAPH.match(found.string, found.end()):
        return _JOINER  # 👩 and 👩‍🚀 are two people
    if character != "Œ":
        return _TABLE[character]
    start, end = found.span()
    before, after = found.string[max(0, start - 1) : start], found.string[end : end + 1]
    return "OE" if before.isupper() or after.isupper() else "Oe"


def _without_spaces(found: re.Match[str]) -> str:
    return found[0].replace(" ", "")


_SYMBOLS = {">=": "≥", "<=": "≤", "!=": "≠", "->": "→", "-->": "→", "''": '"', "`": "'"}

Replacement = str | Callable[[re.Match[str]], str]

RESPELT = re.compile("[" + re.escape("".join(_TABLE)) + "Œ]")
_TABLE_STEP: tuple[re.Pattern[str], Replacement] = (RESPELT, _from_table)
# What a text must hold for the step to matter, the pattern, its replacement. Every pattern is
# linear: whitespace is collapsed first, so that no later one can run over it.
_STEPS: tuple[tuple[tuple[str, ...], re.Pattern[str], Replacement], ...] = (
    (("",), re.compile(r" ?[^\S ]\s*| {2,}\s*"), " "),
    (
        ("«", "»", "‹", "›"),
        re.compile(r"(?:(?<![^ (\[\"'-])|(?<=—))[«‹] ?| ?[»›](?!\w)|[«»‹›]"),
        '"',
    ),
    (
        ("=", ">", "''", "`"),
        re.compile(r"[<>!]=|-{1,2}>|''|(?<=\w)`(?=\w)"),
        lambda found: _SYMBOLS[found[0]],
    ),
    (
        ("…", "...", ".. .", ". ..", ". . ."),
        re.compile(r" ?(?:…|\.(?: ?\.){2,})(?: ?…| ?\.(?: ?\.){2,}|\.| \.(?=[ .]|\Z))*"),
        "…",
    ),
    (("-",), re.compile(r"-{2,}|(?<![^ —])-(?![^ —])"), "—"),
    (("—",), re.compile(r" ?—[ —]*"), "—"),
    (
        (" ;", " :", " !", " ?", " ,", " .", "( ", " )", " %", " ‰", " €", " £", " $", " °"),
        re.compile(r" (?=[;:!?)])| (?=[,.](?: |\Z))|(?<=\() |(?<=\d) (?=[%‰€£$°])"),
        "",
    ),
    (("° ", "º "), re.compile(r"(?<=[nN][°º]) (?=\d)"), ""),
    ((" ",), re.compile(r"(?<!\d)\d{1,3}(?: \d{3})+(?!\d)"), _without_spaces),
    (("'",), re.compile(r"(?<!\w)'|(?<=[^\W\d])'(?!\w)"), '"'),
)


class Normalised(NamedTuple):
    """A canonical text with, for each of its characters, the original span it stands for."""

    text: str
    starts: Sequence[int]
    ends: Sequence[int]

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The span of the original text that ``text[start:end]`` stands for (``start < end``)."""
        return self.starts[start], self.ends[end - 1]


def canonical(text: str) -> str:
    """``text`` in canonical form; the same string as ``normalise(text).text``, sooner."""
    if not text.isascii():
        pattern, replacement = _TABLE_STEP
        text = pattern.sub(replacement, unicodedata.normalize("NFC", text))
        text = unicodedata.normalize("NFC", text)
    for signs, pattern, replacement in _STEPS:
        for sign in signs:
            if sign in text:
                text = pattern.sub(replacement, text)
                break
    return text.strip(" ")


def normalise(text: str) -> Normalised:
    """``text`` in canonical form with the map back to its own offsets.

    The starts and the ends never decrease. A character that was removed belongs to no span.
    """
    result = Normalised(text, list(range(len(text))), list(range(1, len(text) + 1)))
    if not text.isascii():
        result = _apply(result, _composed(result.text))
        result = _apply(result, _found(result.text, *_TABLE_STEP))
        result = _apply(result, _composed(result.text))
    for signs, pattern, replacement in _STEPS:
        if any(sign in result.text for sign in signs):
            result = _apply(result, _found(result.text, pattern, replacement))
    start = len(result.text) - len(result.text.lstrip(" "))
    end = len(result.text.rstrip(" "))
    return Normalised(result.text[start:end], result.starts[start:end], result.ends[start:end])


Edit = tuple[int, int, str]


def _found(text: str, pattern: re.Pattern[str], replacement: Replacement) -> Iterator[Edit]:
    for found in pattern.finditer(text):
        new = replacement if isinstance(replacement, str) else replacement(found)
        yield found.start(), found.end(), new


def _composed(text: str) -> Iterator[Edit]:
    """The edits that bring ``text`` to NFC, one a cluster of characters that may compose."""
    if unicodedata.is_normalized("NFC", text):
        return
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and _may_compose(text[end]):
            continue
        cluster = text[start:end]
        composed = unicodedata.normalize("NFC", cluster)
        if composed != cluster:
            yield start, end, composed
        start = end


# Characters of combining class 0 that compose with the one before them all the same.
_COMPOSING_STARTERS = frozenset(
    "\u09be\u09d7\u0b3e\u0b56\u0b57\u0bbe\u0bd7\u0cc2\u0cd5\u0cd6\u0d3e\u0d57\u0dcf\u0ddf\u102e"
    "\u1b35\U00011127\U0001133e\U00011357\U000114b0\U000114ba\U000114bd\U000115af\U00011930"
)


def _may_compose(character: str) -> bool:
    return (
        unicodedata.combining(character) != 0
        or character in _COMPOSING_STARTERS
        or "\u1161" <= character <= "\u1175"
        or "\u11a8" <= character <= "\u11c2"
        or (character > "\U00011380" and unicodedata.category(character) == "Mc")
    )


def _apply(before: Normalised, edits: Iterator[Edit]) -> Normalised:
    pieces: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    done = 0
    for start, end, new in edits:
        pieces += (before.text[done:start], new)
        starts += before.starts[done:start]
        ends += before.ends[done:start]
        starts += [before.starts[start]] * len(new)
        ends += [before.ends[end - 1]] * len(new)
        done = end
    if not pieces:
        return before
    pieces.append(before.text[done:])
    starts += before.starts[done:]
    ends += before.ends[done:]
    return Normalised("".join(pieces), starts, ends)
