# ruff: noqa: E501 - one pattern a line reads best
"""Dates and times as written in French and English, each an interval of days or minutes."""

import re
from calendar import monthrange
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import date
from functools import partial

MONTHS = {
    "janvier": 1, "février": 2, "fevrier": 2, "mars": 3, "avril": 4, "mai": 5, "juin": 6,
    "juillet": 7, "août": 8, "aout": 8, "septembre": 9, "octobre": 10, "novembre": 11,
    "décembre": 12, "decembre": 12, "january": 1, "february": 2, "march": 3, "april": 4, "may": 5,
    "june": 6, "july": 7, "august": 8, "september": 9, "october": 10, "november": 11,
    "december": 12, "jan": 1, "feb": 2, "apr": 4, "jun": 6, "jul": 7, "aug": 8, "sept": 9, "sep": 9,
    "oct": 10, "nov": 11, "dec": 12, "janv": 1, "févr": 2, "avr": 4, "juil": 7, "déc": 12,
}  # fmt: skip
_DAYS = (
    ("lundi", "monday"), ("mardi", "tuesday"), ("mercredi", "wednesday"), ("jeudi", "thursday"),
    ("vendredi", "friday"), ("samedi", "saturday"), ("dimanche", "sunday"),
)  # fmt: skip
_WEEKDAY = {name: rank for rank, names in enumerate(_DAYS) for name in names}
_NTH = {
    "premier": 1, "1er": 1, "first": 1, "1st": 1, "deuxième": 2, "second": 2, "2e": 2, "2ème": 2,
    "2nd": 2, "troisième": 3, "third": 3, "3e": 3, "3ème": 3, "3rd": 3, "quatrième": 4,
    "fourth": 4, "4e": 4, "4ème": 4, "4th": 4, "last": 4, "dernier": 4,
}  # fmt: skip
_ROMAN = {"I": 1, "V": 5, "X": 10}

_M = "|".join(sorted(MONTHS, key=len, reverse=True))
_YEAR = r"(?:1[0-9]|20)\d{2}"
_N = "|".join(sorted(_NTH, key=len, reverse=True))
_PATTERNS: tuple[tuple[str, "re.Pattern[str]"], ...] = tuple(
    (name, re.compile(pattern, re.IGNORECASE))
    for name, pattern in (
        ("iso", rf"(?<![\w-])(?P<y>{_YEAR})-(?P<m>0[1-9]|1[0-2])(?:-(?P<d>[0-2]\d|3[01]))?(?![\w-])"),
        ("slashed", rf"(?<![\w/])(?P<a>\d{{1,2}})[/.](?P<b>\d{{1,2}})[/.](?P<y>{_YEAR})(?![\w/])"),
        ("quarter", rf"(?<!\w)[TQ](?P<n>[1-4])[ ](?P<y>{_YEAR})(?!\w)"),
        ("quarter", rf"(?<!\w)(?P<n>{_N})[ ](?:trimestre|quarter)(?:[ ](?:de|of))?(?:[ ](?P<y>{_YEAR}))?(?!\w)"),
        ("half", rf"(?<!\w)[SH](?P<n>[12])[ ](?P<y>{_YEAR})(?!\w)"),
        ("half", rf"(?<!\w)(?P<n>{_N})[ ](?:semestre|half)(?:[ ](?:de|of))?[ ](?P<y>{_YEAR})(?!\w)"),
        ("day", rf"(?<!\w)(?P<d>\d{{1,2}})(?:er|st|nd|rd|th)?(?:[ ]of)?[ ](?P<m>{_M})\.?(?:,?[ ](?P<y>{_YEAR}))?(?!\w)"),
        ("day", rf"(?<!\w)(?P<m>{_M})\.?[ ](?P<d>\d{{1,2}})(?:st|nd|rd|th)?(?:,?[ ](?P<y>{_YEAR}))?(?![\w%])"),
        ("month", rf"(?<!\w)(?P<m>{_M})\.?,?(?:[ ](?:of|de))?[ ](?P<y>{_YEAR})(?!\w)"),
        ("month", rf"(?<=\ben )(?P<m>{_M})(?!\w)|(?<=\bin )(?P<n>{_M})(?!\w)"),
        ("decade", r"(?<!\w)(?:the[ ])?(?P<y>(?:1[5-9]|20)\d0)s(?!\w)|années[ ](?P<z>(?:1[5-9]|20)\d0)(?!\w)"),
        ("century", r"(?<!\w)(?P<n>\d{1,2})(?:st|nd|rd|th|e|ème)[ -](?:century|siècle)|(?<!\w)(?P<r>[IVX]+)(?:e|ème)[ ]siècle"),
        ("clock", r"(?<![\w:.,])(?P<h>[01]?\d|2[0-3])(?:[ ]?h[ ]?|:)(?P<mn>[0-5]\d)(?:[ ]?(?P<ap>[ap])\.?m\b\.?)?(?!\w)"),
        ("clock", r"(?<![\w:.,])(?P<h>1[0-2]|[1-9])[ ]?(?P<ap>[ap])\.?m\b\.?"),
        ("clock", r"(?:(?<=à )|(?<=vers )|(?<=dès )|(?<=avant )|(?<=après ))(?P<h>[01]?\d|2[0-3])[ ]?h(?:eures)?(?!\w)"),
        ("weekday", rf"(?<!\w)(?P<w>{'|'.join(_WEEKDAY)})s?(?!\w)"),
        ("year", rf"(?<![\w.,'/-])(?<!\d )(?P<y>{_YEAR})(?![\w'/%])(?![.,]\d)(?! \d{{3}}\b)"),
    )
)  # fmt: skip
_BEFORE_YEAR = re.compile(
    r"(?:\b(?:en|in|since|depuis|dès|until|till|before|after|avant|après|during|année|an|year|fin"
    r"|début|mi|mid|early|late|spring|summer|autumn|fall|winter|été|hiver|printemps|automne|et|and)"
    r"|[(–-])[ ]?$",
    re.IGNORECASE,
)
_NOUN_AFTER = re.compile(
    r"[ ](?!(?:les|des|dans|ans|mais|plus|was|has|is|as|its|his|this|sales|vs)\b)[^\W\d_]{3,}s\b|[ ]?[%€$£]"
    r"|[ ](?:d'|de[ ]|of[ ])?(?:euro|dollar|pound|personne|people|million|milliard|km|kg|m\b)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Moment:
    """A date, a time of day or a weekday, at the granularity at which it was written."""

    start: int
    end: int
    unit: str
    """``date``, ``clock`` or ``weekday``."""
    spans: tuple[tuple[float, float], ...]
    """Half-open intervals, several where the writing is ambiguous; empty without a year."""
    fields: tuple[int | None, int | None, int | None] = (None, None, None)


def moments(text: str) -> Iterator[Moment]:
    """The dates and times of ``text`` (passed through ``numerals.SPACES``), without overlap."""
    taken: list[tuple[int, int]] = []
    for name, pattern in _PATTERNS:
        for m in pattern.finditer(text):
            if any(m.start() < high and low < m.end() for low, high in taken):
                continue
            moment = _READ[name](m) if name != "year" or _is_year(text, m) else None
            if moment is not None:
                taken.append(m.span())
                yield moment


def _is_year(text: str, m: "re.Match[str]") -> bool:
    if _BEFORE_YEAR.search(text[max(0, m.start() - 12) : m.start()]):
        return True
    return not _NOUN_AFTER.match(text[m.end() : m.end() + 20])


def _days(
    year: int, month: int | None = None, day: int | None = None
) -> tuple[float, float] | None:
    try:
        if month is None:
            return date(year, 1, 1).toordinal(), date(year, 12, 31).toordinal() + 1
        low = date(year, month, day or 1).toordinal()
        return low, low + (1 if day else monthrange(year, month)[1])
    except ValueError:
        return None


def _moment(
    m: "re.Match[str]", year: int | None, month: int | None, day: int | None
) -> Moment | None:
    span = _days(year or 2000, month, day)
    if span is None:
        return None
    return Moment(m.start(), m.end(), "date", (span,) if year else (), (year, month, day))


def _day(m: "re.Match[str]") -> Moment | None:
    year = int(m["y"]) if m["y"] else None
    day = m.groupdict().get("d")
    return _moment(m, year, MONTHS[m["m"].lower()], int(day) if day else None)


def _month(m: "re.Match[str]") -> Moment | None:
    groups = m.groupdict()
    year = int(groups["y"]) if groups.get("y") else None
    return _moment(m, year, MONTHS[(groups.get("m") or groups.get("n") or "").lower()], None)


def _year(m: "re.Match[str]") -> Moment | None:
    return _moment(m, int(m["y"]), None, None)


def _iso(m: "re.Match[str]") -> Moment | None:
    return _moment(m, int(m["y"]), int(m["m"]), int(m["d"]) if m["d"] else None)


def _slashed(m: "re.Match[str]") -> Moment | None:
    year, a, b = int(m["y"]), int(m["a"]), int(m["b"])
    spans = dict.fromkeys(
        span for month, day in ((b, a), (a, b)) if (span := _days(year, month, day)) is not None
    )
    return Moment(m.start(), m.end(), "date", tuple(spans), (year, None, None)) if spans else None


def _part(m: "re.Match[str]", months: int) -> Moment | None:
    rank = int(m["n"]) if m["n"].isdigit() else _NTH[m["n"].lower()]
    if rank * months > 12 or not m["y"]:
        return None
    year = int(m["y"])
    low = date(year, (rank - 1) * months + 1, 1).toordinal()
    last = _days(year, rank * months)
    return (
        Moment(m.start(), m.end(), "date", ((low, last[1]),), (year, None, None)) if last else None
    )


def _decade(m: "re.Match[str]") -> Moment:
    year = int(m["y"] or m["z"])
    years = 100 if year % 100 == 0 else 10  # "the 1800s" are a century
    span = (date(year, 1, 1).toordinal(), date(year + years, 1, 1).toordinal())
    return Moment(m.start(), m.end(), "date", (span,))


def _century(m: "re.Match[str]") -> Moment | None:
    rank = int(m["n"]) if m["n"] else _roman(m["r"].upper())
    if not 0 < rank < 31:
        return None
    span = (
        date(max(1, 100 * rank - 100), 1, 1).toordinal(),
        date(100 * rank + 1, 1, 1).toordinal(),
    )
    return Moment(m.start(), m.end(), "date", (span,))


def _roman(text: str) -> int:
    values = [_ROMAN[letter] for letter in text]
    return sum(-v if v < max(values[i:]) else v for i, v in enumerate(values))


def _clock(m: "re.Match[str]") -> Moment | None:
    groups = m.groupdict()
    hour, minute = int(groups["h"]), int(groups.get("mn") or 0)
    half = (groups.get("ap") or "").lower()
    if half and hour > 12:
        return None
    if half:
        hour = hour % 12 + (12 if half == "p" else 0)
    low = 60.0 * hour + minute
    return Moment(m.start(), m.end(), "clock", ((low, low + 1),))


def _weekday(m: "re.Match[str]") -> Moment:
    rank = float(_WEEKDAY[m["w"].lower()])
    return Moment(m.start(), m.end(), "weekday", ((rank, rank + 1),))


_READ: dict[str, Callable[[re.Match[str]], Moment | None]] = {
    "iso": _iso,
    "slashed": _slashed,
    "quarter": partial(_part, months=3),
    "half": partial(_part, months=6),
    "day": _day,
    "month": _month,
    "decade": _decade,
    "century": _century,
    "clock": _clock,
    "weekday": _weekday,
    "year": _year,
}
