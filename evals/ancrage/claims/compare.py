"""Deterministic comparison of the figures of a claim with those of its context.

A figure allows an interval: "12 %" allows 11.5 to 12.5, « environ 50 » 45 to 55, "more than 50"
everything above, "March 2021" its 31 days. A claim's figure agrees when the context's value lies
in its interval, is contradicted when the two intervals are apart, and cannot be compared when the
context is only vaguer. Bounds are compared as bounds: "at least 16" neither is "at least 21" nor
follows from it as it is meant. Two figures are compared when they have the same unit and are about
the same thing: the entities of the claim, and enough of its other words, stand by the context's. A
value that stands anywhere in the context is never contradicted: only a reader can tell then.
"""

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum

from ancrage.claims.align import alignment, comparable, counts_a_part
from ancrage.claims.figures import CURRENCIES
from ancrage.claims.markup import plain
from ancrage.claims.places import DATES, FigureInContext, Known, known, pieces, places
from ancrage.claims.readings import Figure, FigureReading
from ancrage.domain import Frozen
from ancrage.fingerprint import code_version


def comparison_version() -> str:
    """Changes with the code that compares figures."""
    return code_version("ancrage.claims.compare:compare_figures")


_FAR = 3
"""How many times larger than a value a bound on it can be."""


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


def compare_figures(claim: str, context: str) -> Comparison:
    """Whether every figure of ``claim`` agrees with ``context``, one is contradicted by it, or
    neither can be told. French and English; both arguments may be Markdown."""
    asked = places(pieces(plain(claim)))
    if not asked:
        return Comparison(verdict=Agreement.NOT_COMPARABLE, reason="the claim states no figure")
    stated = known(context)
    results = [_judge(place, asked, stated) for place in asked]
    for verdict in (Agreement.CONTRADICTS, Agreement.NOT_COMPARABLE):
        for result in results:
            if result.verdict is verdict:
                return result
    return results[0]


def _judge(place: FigureInContext, asked: Sequence[FigureInContext], stated: Known) -> Comparison:
    claimed = place.figure
    rivals = [other for other in stated.of(claimed.unit) if comparable(place, other)]
    only = len(rivals) == 1
    aligned = [(s, other) for other in rivals if (s := alignment(place, other, only=only)) > 0]
    if claimed.unit in DATES:
        aligned = [(s, o) for s, o in aligned if _dates_the_same(place, o, asked, stated)]
    if not aligned:
        return _other_currency(place, stated) or _said(Agreement.NOT_COMPARABLE, claimed, None)
    same_time = [(s, o) for s, o in aligned if not _dates_clash(place, o)]
    if not same_time:
        return _nothing_at_that_time(place, aligned)
    same_time = [(s, o) for s, o in same_time if not o.figure.denied] or same_time
    best = max(score for score, _ in same_time)
    nearest = [other for score, other in same_time if score >= best - 0.05]
    verdicts = [(_hold(place, other), other) for other in nearest]
    for verdict in (Agreement.AGREES, Agreement.NOT_COMPARABLE, Agreement.CONTRADICTS):
        for found, other in verdicts:
            if found is verdict:
                opposed = _opposed(place, other)
                if (
                    verdict is Agreement.CONTRADICTS
                    and not opposed
                    and (counts_a_part(place, other) or _stands(place, other, stated))
                ):
                    verdict = Agreement.NOT_COMPARABLE
                return _said(verdict, claimed, other, opposed)
    raise AssertionError("unreachable")


def _stands(place: FigureInContext, other: FigureInContext, stated: Known) -> bool:
    """Whether the context has the claim's figure somewhere, whatever it is about there; but for
    the other end of the very change that ``other`` is an end of."""
    claimed = place.figure
    return any(
        _compare(claimed, rival.figure) is Agreement.AGREES
        and not rival.figure.denied
        and not (
            rival.sentence == other.sentence
            and claimed.role
            and rival.figure.role
            and rival.figure.role != claimed.role
        )
        for rival in stated.of(claimed.unit)
    )


def _other_currency(place: FigureInContext, stated: Known) -> Comparison | None:
    """The same amount in another currency contradicts; any other may be a conversion."""
    claimed = place.figure
    if claimed.unit not in CURRENCIES:
        return None
    for unit in CURRENCIES - {claimed.unit}:
        for other in stated.of(unit):
            figure = replace(other.figure, unit=claimed.unit)
            translated = replace(other, figure=figure)
            if (
                _compare(claimed, figure) is Agreement.AGREES
                and comparable(place, translated)
                and alignment(place, translated) > 0
            ):
                return _said(Agreement.CONTRADICTS, claimed, other)
    return None


def _nothing_at_that_time(
    place: FigureInContext, aligned: Sequence[tuple[float, FigureInContext]]
) -> Comparison:
    """The figure is known for other dates only: the date is wrong if the value is the same."""
    return Comparison(
        verdict=Agreement.NOT_COMPARABLE,
        reason=f"the context gives “{aligned[0][1].figure.text}” for another date",
        claimed=place.figure.text,
        found=aligned[0][1].figure.text,
        passage=aligned[0][1].sentence,
    )


def _said(
    verdict: Agreement, claimed: Figure, other: FigureInContext | None, opposed: bool = False
) -> Comparison:
    mine = claimed.text
    if other is None:
        reason = f"the context states nothing comparable to “{mine}”"
        return Comparison(verdict=verdict, reason=reason, claimed=mine)
    its, contrast = other.figure.text, " in the opposite direction" if opposed else ""
    words = {
        Agreement.AGREES: f"“{mine}” agrees with “{its}”",
        Agreement.CONTRADICTS: f"“{mine}” where the context states “{its}”{contrast}",
        Agreement.NOT_COMPARABLE: f"“{its}” in the context does not settle “{mine}”",
    }
    return Comparison(
        verdict=verdict, reason=words[verdict], claimed=mine, found=its, passage=other.sentence
    )


def _dates_clash(place: FigureInContext, other: FigureInContext) -> bool:
    """Whether two numbers are dated differently; dates themselves are never qualified."""
    if place.figure.unit in DATES or not place.dates or not other.dates:
        return False
    return all(
        _compare(mine, its) is Agreement.CONTRADICTS
        for mine in place.dates
        for its in other.dates
        if mine.unit == its.unit
    ) and any(m.unit == i.unit for m in place.dates for i in other.dates)


def _dates_the_same(
    place: FigureInContext, other: FigureInContext, asked: Sequence[FigureInContext], stated: Known
) -> bool:
    """Whether the numbers that a claim dates are those that the context dates."""
    dated = [p for p in asked if p.figure.unit not in DATES and place.figure in p.dates]
    return all(
        any(
            near.figure.unit == p.figure.unit
            and _compare(p.figure, near.figure) is Agreement.AGREES
            for near in stated.beside(other)
        )
        for p in dated
    )


def _hold(place: FigureInContext, other: FigureInContext) -> Agreement:
    contrast = place.figure.denied or other.figure.denied
    if not contrast and place.nearby.negated != other.nearby.negated:
        return Agreement.NOT_COMPARABLE
    verdict = _compare(place.figure, other.figure)
    if verdict is Agreement.AGREES and _opposed(place, other):
        return Agreement.CONTRADICTS
    if place.figure.denied is other.figure.denied or verdict is Agreement.NOT_COMPARABLE:
        return verdict
    if other.figure.denied:  # only what it is said not to be is known
        agrees = verdict is Agreement.AGREES
        return Agreement.CONTRADICTS if agrees else Agreement.NOT_COMPARABLE
    return Agreement.CONTRADICTS if verdict is Agreement.AGREES else Agreement.AGREES


def _opposed(place: FigureInContext, other: FigureInContext) -> bool:
    """A rise against a fall."""
    opposed = place.nearby.direction * other.nearby.direction < 0
    return opposed and place.figure.unit not in DATES


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


def _whole(reading: FigureReading) -> FigureReading:
    """A count of things as exactly the whole number it is."""
    if reading.point is None or reading.high - reading.low > 1:
        return reading
    return FigureReading(reading.point, reading.point, reading.point)


def _intervals(mine: FigureReading, its: FigureReading) -> Agreement:
    if mine.bound and mine.bound == its.bound:
        return _bounds(mine, its)
    slack = _slack(mine)
    low, high = (its.low, its.high) if its.point is None else (its.point, its.point)
    if mine.low - slack <= low and high <= mine.high + slack:
        far = mine.bound and its.point is not None and not _near(mine.edge, its.point)
        return Agreement.NOT_COMPARABLE if far else Agreement.AGREES
    return Agreement.NOT_COMPARABLE if _overlap(mine, its) else Agreement.CONTRADICTS


def _bounds(mine: FigureReading, its: FigureReading) -> Agreement:
    """The same bound, or one that is too tight; a looser one follows and is not what is said."""
    if abs(mine.edge - its.edge) <= 1e-5 * max(1.0, abs(its.edge)):
        return Agreement.AGREES
    looser = (mine.edge > its.edge) is (mine.bound < 0)
    return Agreement.NOT_COMPARABLE if looser else Agreement.CONTRADICTS


def _near(bound: float, value: float) -> bool:
    """Whether a value may be told by a bound: nobody calls 750 "up to 7,500,000"."""
    low, high = sorted((abs(bound), abs(value)))
    return high <= _FAR * low or high < 10


def _slack(reading: FigureReading) -> float:
    return 1e-9 * max(1.0, *(abs(x) for x in (reading.low, reading.high) if abs(x) < 1e300))


def _overlap(mine: FigureReading, its: FigureReading) -> bool:
    slack = _slack(mine)
    return mine.low < its.high - slack and its.low < mine.high - slack


def _by_fields(mine: Figure, its: Figure) -> Agreement:
    """Dates of which one has no year: field by field."""
    pairs = list(zip(mine.fields, its.fields, strict=True))
    if any(a is not None and b is not None and a != b for a, b in pairs):
        return Agreement.CONTRADICTS
    if all(b is not None for a, b in pairs if a is not None) and any(mine.fields):
        return Agreement.AGREES
    return Agreement.NOT_COMPARABLE
