"""Verbatim words whose cut, or whose bracket, says something else than the message did.

A quote can be word for word and still lose the negation, the hedge, the condition, the quantity
or the question that governed it, or gain other words between brackets. Found by the
clause: what governs words stands in their clause or joins right on to it, and what a comma or a
conjunction parts from them does not.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from ancrage.quotes.elision import Elided
from ancrage.quotes.normalise import canonical
from ancrage.quotes.substitution import in_bracket, in_edge_bracket
from ancrage.quotes.turns import (
    ADJUNCT,
    ASKS,
    CLAUSE,
    COMPARES,
    CONCEDES,
    CONDITIONS,
    COUNTS,
    DIRECT,
    GIVES_BACK,
    GOVERNS,
    IDLE,
    IDLES,
    JOINS,
    MAY_COUNT,
    MAY_GOVERN,
    NUMBER,
    SENTENCE,
    SIGN,
    UNIT,
    WITHOUT_CONDITION,
)


class Distortion(NamedTuple):
    """What a quote dropped or changed."""

    kind: str
    """``negation``, ``hedge``, ``condition``, ``quantity``, ``name``, ``word`` or ``question``."""
    words: str
    """The words of the message at stake."""
    start: int
    end: int
    """The passage of the canonical message that shows it: the quote and those words."""
    explanation: str


_REACH = 10
"""Words before the quote, within its clause, that can govern it."""
_LONGEST = 400
_TAIL = 100
"""Characters before the quote in which a quantity that goes with it stands."""
_OPENING = re.compile(r"\W*(?:(?:but|and|mais|et|or|then|so)\s+)?(\w+(?:['’-]\w+)?(?:\s+\w+)?)")
_SENTENCE_TAIL = re.compile(r"[^.!?…;\n]{0,60}([.!?…;\n]|\Z)")
_CONDITIONAL = frozenset({"if", "unless", "si", "s'il", "s'ils", "provided", "sauf", "sans"}) | {
    "à condition",
    "à moins",
    "as long",
    "tant que",
    "only if",
}


def distortion(text: str, start: int, end: int, quote: str, around: str = "") -> Distortion | None:
    """What the quote ``text[start:end]`` of a message, without cuts, left out at its edges.

    ``text`` and ``quote`` are canonical; ``around`` is the rest of the quote's sentence in the
    answer, which can give back what the quote left out.
    """
    text = _without_idle(text)
    found = _at_left(text, start, end, quote) or _at_right(text, start, end, quote)
    return _unless_given_back(found, around)


def marked_distortion(
    elided: Elided,
    spans: tuple[tuple[int, int], ...],
    text: str,
    quote: str,
    around: str = "",
) -> Distortion | None:
    """The same where the fragments stand at ``spans`` of ``text``."""
    start, end = spans[0][0], spans[-1][1]
    text = _without_idle(text)
    for index, bracket in enumerate(elided.gaps):
        left, right = spans[index][1], spans[index + 1][0]
        gap = text[left:right]
        found = (
            _in_cut(gap, spans[index], spans[index + 1], text)
            if bracket is None
            else in_bracket(bracket, gap, text)
        )
        if found:
            kind, words = found
            what = (
                f"The cut leaves out “{_short(words)}” ({kind})."
                if bracket is None
                else f"The bracket “{_short(bracket)}” stands for “{_short(gap.strip())}” ({kind})."
            )
            turned = Distortion(kind, words, start, end, what)
            if bracket is not None or _unless_given_back(turned, around):
                return turned
    for bracket, edge, before in (
        (elided.before, text[max(0, start - 80) : start], True),
        (elided.after, text[end : end + 80], False),
    ):
        if bracket and (found := in_edge_bracket(bracket, edge, before=before)):
            kind, words = found
            what = f"The bracket “{_short(bracket)}” stands for “{_short(words)}” ({kind})."
            return Distortion(kind, words, start, end, what)
    found_left = None if elided.before else _at_left(text, start, end, quote)
    found_right = None if elided.after else _at_right(text, start, end, quote)
    return _unless_given_back(found_left or found_right, around)


@lru_cache(maxsize=1024)
def _without_idle(text: str) -> str:
    lower = text.lower()
    if not any(idle in lower for idle in IDLES):
        return text
    return IDLE.sub(lambda found: "_" * len(found[0]), text)


def _unless_given_back(found: Distortion | None, around: str) -> Distortion | None:
    if found is None or found.kind not in GIVES_BACK:
        return found
    plain = WITHOUT_CONDITION.sub(" ", canonical(around))
    return None if GIVES_BACK[found.kind].search(plain) else found


def _at_left(text: str, start: int, end: int, quote: str) -> Distortion | None:
    begin = max(0, start - _LONGEST)
    for stop in SENTENCE.finditer(text, begin, start):
        begin = stop.end()
    before = text[begin:start]
    if not before.strip():
        return None

    def found(kind: str, words: str, at: int) -> Distortion:
        what = f"The quote leaves out “{_short(words.strip())}” before it ({kind})."
        return Distortion(kind, words.strip(), at, end, what)

    tail = max(0, len(before) - _TAIL)
    counted = None
    if SIGN.search(before, tail) or MAY_COUNT(before[tail:]):
        if quote[:1].isdigit() or NUMBER.match(quote):
            counted = COMPARES.search(before, tail)
        counted = counted or COUNTS.search(before, tail)
    if counted:
        return found("quantity", counted[0], begin + counted.start())
    if before[-1].isalpha() and quote[:1] in "$€£":
        unit = re.search(r"\w+\Z", before)
        return found("quantity", unit[0] if unit else before[-1], start - 1)
    if _opening_condition(before):
        return found("condition", before, begin)
    clause = begin
    for stop in CLAUSE.finditer(text, begin, start):
        clause = stop.end()
    governing = text[clause:start]
    words = governing.split()
    if len(words) > _REACH:
        clause = start - len(" ".join(words[-_REACH:])) - 1
        governing = text[max(clause, begin) : start]
    if not MAY_GOVERN(governing):
        return None
    for kind, pattern in GOVERNS:
        if pattern.search(governing):
            return found(kind, governing, start - len(governing))
    if CONDITIONS.search(governing) and not CONCEDES.match(governing.strip()):
        return found("condition", governing, start - len(governing))
    return None


def _opening_condition(before: str) -> bool:
    """Whether the sentence opens with a condition and the quote is what follows from it."""
    opened = _OPENING.match(before)
    if opened is None:
        return False
    words = opened[1].lower().split()
    if words[0] not in _CONDITIONAL and " ".join(words) not in _CONDITIONAL:
        return False
    return before.count(",", opened.end()) <= 1 and len(before.split()) <= 25


def _at_right(text: str, start: int, end: int, quote: str) -> Distortion | None:
    after = text[end : end + _LONGEST]
    inside = text[start:end]

    def found(kind: str, words: str, length: int) -> Distortion:
        what = f"The quote leaves out “{_short(words.strip())}” after it ({kind})."
        return Distortion(kind, words.strip(), start, min(len(text), end + length), what)

    if after[:1] == "/" and after[1:2].isalnum() and UNIT.search(inside):
        return found("quantity", after[:4], 4)
    asked = _question(text, start, end, quote)
    if asked:
        return asked
    stop = SENTENCE.search(after)
    rest = after[: stop.start()] if stop else after
    if SENTENCE.search(inside[-1:] + " "):
        return None
    if (direct := DIRECT.match(rest)) and not CLAUSE.search(rest[: direct.end()]):
        return found("negation", direct[0], direct.end())
    joined = JOINS.match(rest)
    if joined and not CONCEDES.match(joined["word"]):
        word = joined["word"].lower()
        denies = re.search(r"\b(?:not|pas|never|jamais|no|non)$", word)
        if word in ("si", "s'il", "s'ils") and re.match(
            r"\s*(?:\w+ment\b|tant|bien|peu)", rest[joined.end() :]
        ):
            return None
        if word == "until":
            return None
        return found("negation" if denies else "condition", rest[:80], min(len(rest), 80))
    return None


def _question(text: str, start: int, end: int, quote: str) -> Distortion | None:
    """A question quoted as a statement, or the other way round."""
    inside = text[start:end]
    tail = _SENTENCE_TAIL.match(text[end : end + 61])
    asks = quote.rstrip(' "')[-1:] == "?"
    ended = inside.rstrip(' "')[-1:]
    if ended == "?":
        asked = True
    elif ended in ".!…;":
        asked = False
    else:
        between = tail[0][:-1] if tail and tail[1] else ""
        asked = bool(
            tail and tail[1] == "?" and not CLAUSE.search(between) and len(between.split()) <= 6
        )
    if asked == asks:
        return None
    if asks:
        closed = tail and tail[1] and not tail[0][:-1].strip()
        if not closed and ended not in ".!…;":
            return None
        what = "The quote makes a question of a statement."
    else:
        stated = quote.rstrip(' "')[-1:] in ".!"
        if not stated and ASKS.search(quote):
            return None
        what = "The quote drops the question mark: the message asks."
    stop = min(len(text), end + (tail.end() if tail else 0))
    return Distortion("question", text[end:stop].strip() or "?", start, stop, what)


def _in_cut(
    gap: str, before: tuple[int, int], following: tuple[int, int], text: str
) -> tuple[str, str] | None:
    """What a marked cut leaves out of the clauses on its two sides."""
    parts = [match.span() for match in CLAUSE.finditer(gap)]
    sentences = [match.span() for match in SENTENCE.finditer(gap + " ")]
    bounds = sorted([*parts, *sentences])
    first = gap[: bounds[0][0]] if bounds else gap
    last = gap[bounds[-1][1] :] if bounds else gap
    adjunct = bool(bounds) and ADJUNCT.match(text, following[0])
    for kind, pattern in (*GOVERNS, ("condition", CONDITIONS)):
        if adjunct or (kind == "hedge" and text[following[0] : following[1]].endswith("?")):
            continue
        if pattern.search(last) and (bounds or len(last.split()) <= 2 * _REACH):
            return kind, last.strip()
    if counted := COUNTS.search(last):
        return "quantity", counted[0].strip()
    if text[before[0] : before[1]].rstrip(' "')[-1:] in (".", "!", "?", "…"):
        return None  # what was cut begins a sentence of its own
    direct = DIRECT.match(" " + first.lstrip())
    if direct:
        return "negation", first.strip()
    joined = JOINS.match(gap)
    if joined and not CONCEDES.match(joined["word"]):
        return "condition", gap.strip()[:80]
    return None


def _short(text: str, limit: int = 70) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
