"""Deterministic comparison of the figures of a claim with those of its context.

A figure allows an interval: "12 %" allows 11.5 to 12.5, « environ 50 » 45 to 55, "more than 50"
everything above, "March 2021" its 31 days. A claim's figure agrees when the context's value lies
in its interval, is contradicted when the two intervals are apart, and cannot be compared when the
context is only vaguer. Two figures are compared when they have the same unit and are about the
same thing: the entities of the claim, and enough of its other words, stand by the context's.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache

from evals.claims.figures import figures
from evals.claims.lexicon import LEXICON
from evals.claims.markup import blocks, plain
from evals.claims.numerals import SPACES
from evals.claims.readings import Figure, Reading
from evals.claims.sentences import protected, sentences
from evals.claims.terms import Terms, concept, terms
from evals.domain import Frozen

COMPARISON_VERSION = "1.0.0"


class Agreement(StrEnum):
    AGREES = "agrees"
    CONTRADICTS = "contradicts"
    NOT_COMPARABLE = "not comparable"


class Comparison(Frozen):
    """Whether a claim's figures stand against a context, and why."""

    verdict: Agreement
    reason: str
    claimed: str | None = None
    """The figure of the claim that decided, as written."""
    found: str | None = None
    """The context's figure it was held against, as written."""
    passage: str | None = None
    """The sentence of the context that holds that figure."""


@dataclass(frozen=True)
class _Place:
    """A figure where it stands: its sentence, its clause, and what each is about."""

    figure: Figure
    sentence: str
    about: Terms
    nearby: Terms
    names: frozenset[str]
    """Entities of the sentence, of its heading and of what its pronoun stands for."""
    dates: tuple[Figure, ...]
    """Dates that qualify the figure: of its clause, or of its sentence."""


_BREAK = re.compile(
    r";|,(?!\d)|\b(?:and|but|while|whereas|et|mais|tandis que|alors que|contre|against|versus"
    r"|vs)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\W*(?:il|elle|ils|elles|it|he|she|they|ce dernier|cette dernière|celui-ci|celle-ci|this|its"
    r"|his|their|son|sa|ses|leur|leurs|le groupe|l['’]entreprise|la société|the company"
    r"|the group)\b",
    re.IGNORECASE,
)
_MEASURES = frozenset(f"#{name}" for name in LEXICON["measures"].split())
_EVENTS = frozenset(LEXICON["events"].split())
_DATES = ("date", "clock", "weekday")


def compare_figures(claim: str, context: str) -> Comparison:
    """Whether every figure of ``claim`` agrees with ``context``, one is contradicted by it, or
    neither can be told. French and English; both arguments may be Markdown."""
    asked = _places([plain(claim)])
    if not asked:
        return Comparison(verdict=Agreement.NOT_COMPARABLE, reason="the claim states no figure")
    known = _known(context)
    results = [_judge(place, asked, known) for place in asked]
    for verdict in (Agreement.CONTRADICTS, Agreement.NOT_COMPARABLE):
        for result in results:
            if result.verdict is verdict:
                return result
    return results[0]


@lru_cache(maxsize=8)
def _known(context: str) -> tuple[_Place, ...]:
    """Kept for a while: the claims of an answer are all held against the same context."""
    return tuple(_places(_sentences(context), parts=True))


def _sentences(text: str) -> list[str]:
    kept = protected(text)
    return [
        plain(text[start:end])
        for block in blocks(text)
        for start, end in sentences(text, block.start, block.end, kept)
    ]


def _places(texts: Iterable[str], *, parts: bool = False) -> list[_Place]:
    places: list[_Place] = []
    names: frozenset[str] = frozenset()
    for text in texts:
        text = text.translate(SPACES)
        found = figures(text, parts=parts)
        spans = tuple((f.start, f.end) for f in found)
        about = terms(text, spans)
        own = about.entities | {w for w in about.openers if not concept(w).startswith("#")}
        names = names | own if _PRONOUN.match(text) or not own else own
        cuts = _cuts(text, found)
        for figure in found:
            low, high = _clause(cuts, figure, len(text))
            inside = tuple((s - low, e - low) for s, e in spans if low <= s and e <= high)
            dates = [f for f in found if f.unit in _DATES and f is not figure]
            near = tuple(f for f in dates if low <= f.start < high) or tuple(
                f for f in dates if f.start < low and not _figures_between(f, figure, found)
            )
            places.append(_Place(figure, text, about, terms(text[low:high], inside), names, near))
    return places


def _figures_between(first: Figure, second: Figure, found: Sequence[Figure]) -> bool:
    return any(f.unit in _DATES and first.end <= f.start and f.end <= second.start for f in found)


def _cuts(text: str, found: Sequence[Figure]) -> list[int]:
    """Where clauses part: a break with a figure on either side of it."""
    cuts = [m.start() for m in _BREAK.finditer(text)]
    cuts = [c for c in cuts if not any(f.start <= c < f.end for f in found)]
    plain_figures = [f for f in found if f.unit not in _DATES] or list(found)
    return [
        c
        for c in cuts
        if any(f.end <= c for f in plain_figures) and any(f.start >= c for f in plain_figures)
    ]


def _clause(cuts: Sequence[int], figure: Figure, end: int) -> tuple[int, int]:
    low = max((c for c in cuts if c <= figure.start), default=0)
    high = min((c for c in cuts if c >= figure.end), default=end)
    return low, high


def _judge(place: _Place, asked: Sequence[_Place], known: Sequence[_Place]) -> Comparison:
    claimed = place.figure
    aligned = [(score, other) for other in known if (score := _alignment(place, other)) > 0]
    if claimed.unit in _DATES:
        aligned = [(s, o) for s, o in aligned if _dates_the_same(place, o, asked, known)]
    if not aligned:
        return Comparison(
            verdict=Agreement.NOT_COMPARABLE,
            reason=f"the context states nothing comparable to “{claimed.text}”",
            claimed=claimed.text,
        )
    same_time = [(s, o) for s, o in aligned if not _dates_clash(place, o)]
    if not same_time:
        return _nothing_at_that_time(place, aligned)
    best = max(score for score, _ in same_time)
    nearest = [other for score, other in same_time if score >= best - 0.05]
    verdicts = [(_hold(place, other), other) for other in nearest]
    for verdict in (Agreement.AGREES, Agreement.NOT_COMPARABLE, Agreement.CONTRADICTS):
        for found, other in verdicts:
            if found is verdict:
                return _said(verdict, claimed, other, _opposed(place, other))
    raise AssertionError("unreachable")


def _nothing_at_that_time(place: _Place, aligned: Sequence[tuple[float, _Place]]) -> Comparison:
    """The figure is known for other dates only: the date is wrong if the value is the same."""
    return Comparison(
        verdict=Agreement.NOT_COMPARABLE,
        reason=f"the context gives “{aligned[0][1].figure.text}” for another date",
        claimed=place.figure.text,
        found=aligned[0][1].figure.text,
        passage=aligned[0][1].sentence,
    )


def _said(verdict: Agreement, claimed: Figure, other: _Place, opposed: bool) -> Comparison:
    contrast = " in the opposite direction" if opposed else ""
    mine, its = claimed.text, other.figure.text
    words = {
        Agreement.AGREES: f"“{mine}” agrees with “{its}”",
        Agreement.CONTRADICTS: f"“{mine}” where the context states “{its}”{contrast}",
        Agreement.NOT_COMPARABLE: f"“{its}” in the context does not settle “{mine}”",
    }
    return Comparison(
        verdict=verdict,
        reason=words[verdict],
        claimed=claimed.text,
        found=other.figure.text,
        passage=other.sentence,
    )


def _alignment(place: _Place, other: _Place) -> float:
    """How far the two figures are about the same thing, from 0 (not) to about 2."""
    mine, its = place.figure, other.figure
    if mine.unit != its.unit or (its.role and mine.role and mine.role != its.role):
        return 0
    names = other.names | other.about.words | other.about.entities | other.about.openers
    known = {concept(name) for name in names} | set(names)
    if any(name not in names and concept(name) not in known for name in place.about.entities):
        return 0
    if (
        not place.about.entities
        and not any(
            w in names or concept(w) in known or concept(w).startswith("#")
            for w in place.about.openers
        )
        and place.about.openers
    ):
        return 0
    counted = _counted(mine, its)
    if counted is None:
        return 0
    local = place.nearby.words | {concept(w) for w in place.nearby.openers - other.names}
    if not local:
        local = place.about.words
    local = _undirected(local)
    if mine.unit == "count" and (_EVENTS & other.nearby.words) - place.about.words:
        return 0
    its_words = other.about.words | {concept(word) for word in other.about.openers}
    shared = local & _undirected(its_words)
    if local and (len(shared) / len(local) < 0.5 or (shared < local and shared <= _MEASURES)):
        return 0
    if not local and not (place.about.entities | place.about.openers) & names and not counted:
        return 0
    close = len(local & _undirected(other.nearby.words)) / len(local) if local else 1.0
    named = place.nearby.entities | place.nearby.openers
    here = other.nearby.entities | other.nearby.openers
    named_close = len(named & here) / len(named) if named else 0.5
    return 0.1 + close + 0.5 * named_close + 0.25 * counted + 0.25 * (mine.role == its.role)


def _undirected(words: Iterable[str]) -> frozenset[str]:
    """Rises and falls are about the same thing: a change."""
    return frozenset("#change" if word in ("#rise", "#fall") else word for word in words)


def _counted(mine: Figure, its: Figure) -> float | None:
    """1 when both count the same noun, 0 when that cannot be told, None when they differ."""
    if mine.unit != "count" or not (mine.noun and its.noun):
        return 0
    first, second = concept(mine.noun), concept(its.noun)
    if first == second:
        return 1
    return None


def _dates_clash(place: _Place, other: _Place) -> bool:
    """Whether two numbers are dated differently; dates themselves are never qualified."""
    if place.figure.unit in _DATES or not place.dates or not other.dates:
        return False
    return all(
        _compare(mine, its) is Agreement.CONTRADICTS
        for mine in place.dates
        for its in other.dates
        if mine.unit == its.unit
    ) and any(m.unit == i.unit for m in place.dates for i in other.dates)


def _dates_the_same(
    place: _Place, other: _Place, asked: Sequence[_Place], known: Sequence[_Place]
) -> bool:
    """Whether the numbers that a claim dates are those that the context dates."""
    dated = [p for p in asked if p.figure.unit not in _DATES and place.figure in p.dates]
    return all(
        any(
            k.sentence == other.sentence
            and k.figure.unit == p.figure.unit
            and _compare(p.figure, k.figure) is Agreement.AGREES
            for k in known
        )
        for p in dated
    )


def _hold(place: _Place, other: _Place) -> Agreement:
    if place.nearby.negated != other.nearby.negated:
        return Agreement.NOT_COMPARABLE
    verdict = _compare(place.figure, other.figure)
    if verdict is Agreement.AGREES and _opposed(place, other):
        return Agreement.CONTRADICTS
    return verdict


def _opposed(place: _Place, other: _Place) -> bool:
    """A rise against a fall."""
    opposed = place.nearby.direction * other.nearby.direction < 0
    return opposed and place.figure.unit not in _DATES


def _compare(mine: Figure, its: Figure) -> Agreement:
    if mine.unit == "date" and not (mine.readings and its.readings):
        return _by_fields(mine, its)
    stated = [_whole(b) if its.unit == "count" else b for b in its.readings]
    verdicts = {_intervals(a, b) for a in mine.readings for b in stated}
    for verdict in (Agreement.AGREES, Agreement.NOT_COMPARABLE):
        if verdict in verdicts:
            return verdict
    if mine.rounded and any(_overlap(mine.rounded, b) for b in its.readings):
        return Agreement.NOT_COMPARABLE
    if its.rounded and any(_overlap(a, its.rounded) for a in mine.readings):
        return Agreement.NOT_COMPARABLE
    return Agreement.CONTRADICTS


def _whole(reading: Reading) -> Reading:
    """A count of things as exactly the whole number it is."""
    if reading.point is None or reading.high - reading.low > 1:
        return reading
    return Reading(reading.point, reading.point, reading.point)


def _intervals(mine: Reading, its: Reading) -> Agreement:
    slack = 1e-9 * max(1.0, *(abs(x) for x in (mine.low, mine.high) if abs(x) < 1e300))
    low, high = (its.low, its.high) if its.point is None else (its.point, its.point)
    if mine.low - slack <= low and high <= mine.high + slack:
        return Agreement.AGREES
    return Agreement.NOT_COMPARABLE if _overlap(mine, its) else Agreement.CONTRADICTS


def _overlap(mine: Reading, its: Reading) -> bool:
    slack = 1e-9 * max(1.0, *(abs(x) for x in (mine.low, mine.high) if abs(x) < 1e300))
    return mine.low < its.high - slack and its.low < mine.high - slack


def _by_fields(mine: Figure, its: Figure) -> Agreement:
    """Dates of which one has no year: field by field."""
    pairs = list(zip(mine.fields, its.fields, strict=True))
    if any(a is not None and b is not None and a != b for a, b in pairs):
        return Agreement.CONTRADICTS
    if all(b is not None for a, b in pairs if a is not None) and any(mine.fields):
        return Agreement.AGREES
    return Agreement.NOT_COMPARABLE
