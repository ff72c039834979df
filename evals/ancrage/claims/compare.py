"""Deterministic comparison of the figures of a claim with those of its context.

A figure allows an interval: "12 %" allows 11.5 to 12.5, « environ 50 » 45 to 55, "more than 50"
everything above, "March 2021" its 31 days. A claim's figure agrees when the context's value lies
in its interval, is contradicted when the two intervals are apart, and cannot be compared when the
context is only vaguer. Two figures are compared when they have the same unit and are about the
same thing: the entities of the claim, and enough of its other words, stand by the context's.
"""

from collections.abc import Sequence
from enum import StrEnum

from ancrage.claims.align import affinity, alignment, comparable, counts_a_part
from ancrage.claims.markup import plain
from ancrage.claims.places import DATES, Place, known, places
from ancrage.claims.readings import Figure, Reading
from ancrage.domain import Frozen
from ancrage.fingerprint import code_version


def comparison_version() -> str:
    """Changes with the code that compares figures."""
    return code_version("ancrage.claims.compare:compare_figures")


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
    asked = places([plain(claim)])
    if not asked:
        return Comparison(verdict=Agreement.NOT_COMPARABLE, reason="the claim states no figure")
    stated = known(context)
    results = [_judge(place, asked, stated) for place in asked]
    for verdict in (Agreement.CONTRADICTS, Agreement.NOT_COMPARABLE):
        for result in results:
            if result.verdict is verdict:
                return result
    return results[0]


def _judge(place: Place, asked: Sequence[Place], known: Sequence[Place]) -> Comparison:
    claimed = place.figure
    rivals = [other for other in known if comparable(place, other)]
    only = len(rivals) == 1
    aligned = [(s, other) for other in rivals if (s := alignment(place, other, only=only)) > 0]
    if claimed.unit in DATES:
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
                if verdict is Agreement.CONTRADICTS and (
                    counts_a_part(place, other) or _stated_too(place, other, rivals)
                ):
                    verdict = Agreement.NOT_COMPARABLE
                return _said(verdict, claimed, other, _opposed(place, other))
    raise AssertionError("unreachable")


def _stated_too(place: Place, other: Place, rivals: Sequence[Place]) -> bool:
    """Whether the context does state the claim's figure, where it stands as close to the claim as
    ``other`` does: then only a reader can tell which one is meant."""
    return any(
        rival.figure is not other.figure
        and _hold(place, rival) is Agreement.AGREES
        and not _dates_clash(place, rival)
        and affinity(place, rival) >= affinity(place, other)
        for rival in rivals
    )


def _nothing_at_that_time(place: Place, aligned: Sequence[tuple[float, Place]]) -> Comparison:
    """The figure is known for other dates only: the date is wrong if the value is the same."""
    return Comparison(
        verdict=Agreement.NOT_COMPARABLE,
        reason=f"the context gives “{aligned[0][1].figure.text}” for another date",
        claimed=place.figure.text,
        found=aligned[0][1].figure.text,
        passage=aligned[0][1].sentence,
    )


def _said(verdict: Agreement, claimed: Figure, other: Place, opposed: bool) -> Comparison:
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


def _dates_clash(place: Place, other: Place) -> bool:
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
    place: Place, other: Place, asked: Sequence[Place], known: Sequence[Place]
) -> bool:
    """Whether the numbers that a claim dates are those that the context dates."""
    dated = [p for p in asked if p.figure.unit not in DATES and place.figure in p.dates]
    return all(
        any(
            k.sentence == other.sentence
            and k.figure.unit == p.figure.unit
            and _compare(p.figure, k.figure) is Agreement.AGREES
            for k in known
        )
        for p in dated
    )


def _hold(place: Place, other: Place) -> Agreement:
    if place.nearby.negated != other.nearby.negated:
        return Agreement.NOT_COMPARABLE
    verdict = _compare(place.figure, other.figure)
    if verdict is Agreement.AGREES and _opposed(place, other):
        return Agreement.CONTRADICTS
    return verdict


def _opposed(place: Place, other: Place) -> bool:
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
