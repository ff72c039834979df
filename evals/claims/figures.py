"""Figures of a text: a value, its unit and what its wording allows around it."""

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from evals.claims.dates import Moment, moments
from evals.claims.lexicon import LEXICON
from evals.claims.numerals import SMALL, SPACES, Numeral, numerals, value_of


@dataclass(frozen=True)
class Reading:
    """What a figure allows: any value of the closed interval; ``point`` is the one it states."""

    low: float
    high: float
    point: float | None = None


@dataclass(frozen=True)
class Figure:
    """A number or a date of a text, in the base unit of its dimension."""

    start: int
    end: int
    text: str
    unit: str
    """``percent``, ``EUR``, ``length``, ``date``, …; ``count`` when what follows is a noun."""
    readings: tuple[Reading, ...]
    noun: str = ""
    """For counts: the word counted."""
    role: str = ""
    """``from`` or ``to`` in a change or a period."""
    rounded: Reading | None = None
    """A wider reading for numbers that look rounded without saying so, such as 1,200."""
    fields: tuple[int | None, int | None, int | None] = (None, None, None)
    """Year, month and day of a date, where stated."""


_SCALES = {
    "mille": 1e3, "thousand": 1e3, "million": 1e6, "millions": 1e6, "milliard": 1e9,
    "milliards": 1e9, "billion": 1e9, "billions": 1e9, "trillion": 1e12, "trillions": 1e12,
    "hundred": 1e2, "k": 1e3, "K": 1e3, "M": 1e6, "Md": 1e9, "Mds": 1e9, "Mrd": 1e9, "bn": 1e9,
    "mn": 1e6, "B": 1e9,
}  # fmt: skip
_SCALE = re.compile(
    r"[ ]?(milliards?|millions?|billions?|trillions?|thousand|hundred|mille|Mds?|Mrd|bn|mn"
    r"|[kKMB](?=[ ]?[€$£]|[ ]|\b))"
    r"(?!\w)(?:[ ](?:d'|de[ ]|of[ ])|[ ]d'|(?=[ ]?[€$£]))?|[ ]?([kKM])(?=[€$£])"
)
_UNITS: list[tuple[str, str, float]] = [tuple(unit) for unit in LEXICON["units"]]
_UNIT = re.compile(
    "[ -]?(?:"
    + "|".join(f"(?P<u{i}>{pattern})" for i, (pattern, _, _) in enumerate(_UNITS))
    + r")(?!\w|(?<=\bm)[²2])",
    re.IGNORECASE,
)
_FRENCH = re.compile(r"\b(?:le|la|les|des?|du|une?|et|est|en|à|pour|dans|par)\b|\b[ldcn]'")
_ENGLISH = re.compile(r"\b(?:the|of|an?|and|is|was|in|at|to|for|by|has|are|were)\b")
_CURRENCY = {"€": "EUR", "$": "USD", "£": "GBP"}
_NOUN = re.compile(
    r"[ ](?:(?:d'|de[ ]|of[ ](?:the[ ]|our[ ])?|des[ ]|autres[ ]|other[ ]"
    r"|nouveaux[ ]|nouvelles[ ]|new[ ])*)"
    r"(?P<noun>[^\W\d_][\w-]+)"
)
_NOT_NOUN = frozenset(LEXICON["not_counted"].split())

_BEFORE = tuple(
    (
        sign,
        re.compile(
            rf"(?:^|(?<![\w'])|(?<=[ (~<>≤≥≈]))(?:{'|'.join(patterns)})[ ]?"
            r"(?:the |les |des |la |an? )?[€$£]?$",
            re.IGNORECASE,
        ),
    )
    for sign, patterns in LEXICON["before"].items()
)
_FOLLOWING = tuple(
    (sign, re.compile(rf"[ ]?(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE))
    for sign, patterns in LEXICON["after"].items()
)
_DATE_BOUND = (
    (
        "<",
        re.compile(
            r"(?:^|(?<!\w))(?:before|prior to|avant)[ ](?:le |la |the |l')?$", re.IGNORECASE
        ),
    ),
    (">", re.compile(r"(?:^|(?<!\w))(?:after|après)[ ](?:le |la |the |l')?$", re.IGNORECASE)),
)
_CHANGE = re.compile(
    r"\b(?:pass\w+|rose|risen|rise|grew|grown|grow|increas\w+|augment\w+|fell|fallen|fall\w*|dropp\w+"
    r"|declin\w+|baiss\w+|recul\w+|progress\w+|went|chang\w+|moved|climb\w+|évolu\w+|diminu\w+|chut\w+"
    r"|bond\w+|grimp\w+|jump\w+|slip\w+)\b",
    re.IGNORECASE,
)
_LINK = re.compile(
    r"[ ]?(?:[–—-]|\bà\b|\bto\b|\bet\b|\band\b|\bau\b)[ ]?(?:le |the )?[€$£]?$", re.IGNORECASE
)
_FROM = re.compile(r"(?:^|\b)(?:from|de|du|between|entre)[ ](?:le |the )?[€$£]?$", re.IGNORECASE)
_FRACTION = re.compile(
    r"(?<!\w)(?:(?P<half>la moitié|half)(?=[ ](?:d|of|the|our|respond|partic|all|les)|[.,;]|$)"
    r"|(?:(?P<n>un|deux|trois|quatre|one|a|two|three|four)[ -])?"
    r"(?P<d>tiers|quarts?|cinquièmes?|thirds?|quarters?|fifths?)(?=[ ](?:d|of)|[.,;]|$))",
    re.IGNORECASE,
)
_PARTS = {"tiers": 3, "quart": 4, "cinquième": 5, "third": 3, "quarter": 4, "fifth": 5}
_OF = re.compile(
    r"(?:[ ][^\W\d_]+){0,2}?[ ](?:sur|out of|in|of the|of|parmi les)[ ](?:les |the )?$",
    re.IGNORECASE,
)
_ORDINAL = re.compile(
    r"(?<![\w-])(?:(?P<n>\d+)(?:st|nd|rd|th|e|ème|er|ère)|(?P<w>premi(?:er|ère)|deuxième|troisième"
    r"|quatrième|cinquième|first|second|third|fourth|fifth))(?![\w-])(?![ ](?:trimestre"
    r"|quarter|siècle|century|of all|half|semestre))",
    re.IGNORECASE,
)  # fmt: skip
_BEYOND = 1e-6
"""By how much, relatively, "more than 50" excludes 50 itself."""
_SLASH = re.compile(r"(?<![\w/.,])(\d{1,3})/(\d{1,3})(?![\w/])")
_RANK = {
    "premi": 1, "first": 1, "deuxi": 2, "secon": 2, "trois": 3, "third": 3, "quatr": 4,
    "fourt": 4, "cinqu": 5, "fifth": 5,
}  # fmt: skip


def figures(text: str, *, parts: bool = False) -> tuple[Figure, ...]:
    """The figures of ``text`` in order, references and addresses left out.

    A share such as "12 out of 40" is one figure, in percent; with ``parts`` its two counts are
    given as well.
    """
    text = text.translate(SPACES)
    dates = list(moments(text))
    taken = [(m.start, m.end) for m in dates]
    written = (_fraction(m) for m in _FRACTION.finditer(text))
    divided = (_division(m) for m in _SLASH.finditer(text))
    fractions = [f for f in (*written, *divided) if f and _free(f, taken)]
    taken += [(f.start, f.end) for f in fractions]
    counted = sorted(
        (n for n in numerals(text) if _free(n, taken) and not _label(text, n)),
        key=lambda n: n.start,
    )
    found = [_number(text, n) for n in counted]
    found = _shares(text, counted, found, parts)
    found = _ranges(text, found)
    ordinals = [
        Figure(m.start(), m.end(), m.group(), "ordinal", (_exact(_rank(m), 1),))
        for m in _ORDINAL.finditer(text)
        if not any(m.start() < e and s < m.end() for s, e in taken)
    ]
    whole = [*_roles(text, [_date(text, m) for m in dates]), *fractions, *found]
    spans = [(f.start, f.end) for f in whole]
    return tuple(
        sorted([*whole, *(o for o in ordinals if _free(o, spans))], key=lambda f: (f.start, f.end))
    )


def _free(item: "Figure | Numeral", taken: list[tuple[int, int]]) -> bool:
    return not any(item.start < high and low < item.end for low, high in taken)


def _label(text: str, number: Numeral) -> bool:
    """Whether the digits are part of a name, such as COVID-19, F16, v2 or a list number."""
    before = text[max(0, number.start - 3) : number.start]
    after = text[number.end : number.end + 2]
    return bool(
        (not number.words and re.search(r"[^\W\d_]-$|[#§/]$|n°[ ]?$", before))
        or re.match(r"(?:st|nd|rd|th|er|ère|ème|e)\b", after, re.IGNORECASE)
        or re.match(r"/\d", after)
        or (before.strip() == "" and number.start < 3 and re.match(r"[.)]\s", after))
    )


def _exact(point: float, step: float) -> Reading:
    return Reading(point - step / 2, point + step / 2, point)


def _number(text: str, number: Numeral) -> Figure:
    start, end, factor, step = number.start, number.end, 1.0, number.step
    scaled = False
    if scale := _SCALE.match(text, end):
        factor = _SCALES[scale[1] if scale[1] in _SCALES else (scale[1] or scale[2])]
        end, scaled = scale.end(), True
    elif number.words and text[start:end].lower().endswith(tuple(_SCALES)):
        link = re.match(r"[ ](?:d'|de[ ]|of[ ])|[ ]d'", text[end:])
        end += link.end() if link else 0
        scaled = True
        step = _step(number.values[0])
    symbol = text[start - 1 : start]
    unit, noun, size = "", "", 1.0
    if symbol in _CURRENCY:
        unit, start = _CURRENCY[symbol], start - 1
        if not scaled and (short := re.match(r"[ ]?(?:m|bn|k|b)(?!\w)", text[end:])):
            letter = short.group().strip()
            factor = {"m": 1e6, "bn": 1e9, "b": 1e9, "k": 1e3}[letter]
            end, scaled = end + short.end(), True
    elif found := _UNIT.match(text, end - (text[end - 1] == " ")):
        index = next(i for i in range(len(_UNITS)) if found[f"u{i}"])
        _, unit, size = _UNITS[index]
        end = found.end()
        if unit in ("length", "mass", "volume", "duration") and len(found.group().strip()) == 1:
            capital = found.group().strip()
            if capital.isupper():
                unit, size, end = "", 1.0, found.start()
    if not unit:
        counted = _NOUN.match(text, end - (text[end - 1] == " "))
        if counted and counted["noun"].lower() not in _NOT_NOUN:
            noun = counted["noun"].lower()
        unit = "count"
    sign = _sign(text, start, end) or ("~" if number.loose else "")
    multiply = factor * size
    values = number.values
    if len(values) > 1 and (chosen := _separator(text, number, unit, scaled)) is not None:
        values, step = (values[chosen],), (step, 1.0)[chosen]
    readings = tuple(
        _reading(value * multiply, step * multiply, _step(value) * multiply, sign)
        for value in values
    )
    value = values[-1]
    rounded = None
    if not sign and not scaled and value == int(value) and value >= 1000 and _step(value) >= 100:
        half = min(_step(value) / 2, value * 0.05) * multiply
        rounded = Reading(value * multiply - half, value * multiply + half)
    written = text[start:end].strip()
    return Figure(start, end, written, unit, readings, noun=noun, rounded=rounded)


def _separator(text: str, number: Numeral, unit: str, scaled: bool) -> int | None:
    """Which reading of "1,234" holds: 0 the decimal, 1 the thousand; None when it is open."""
    if not scaled and (unit == "count" or unit in _CURRENCY.values()):
        return 1
    french, english = len(_FRENCH.findall(text)), len(_ENGLISH.findall(text))
    if french == english:
        return None
    comma = "," in text[number.start : number.end]
    return int(comma == (english > french))


def _sign(text: str, start: int, end: int) -> str:
    """The bound or approximation that the words around a number express."""
    before = text[max(0, start - 30) : start]
    signs: list[str] = [sign for sign, pattern in _FOLLOWING if pattern.match(text, end)]
    signs += [sign for sign, pattern in _BEFORE if pattern.search(before)]
    return signs[0] if signs else ""


def _step(value: float) -> float:
    """The place of the last digit of ``value`` that is not zero: 100 for 1,200."""
    if value == 0 or value != int(value):
        return 1.0
    digits = str(int(value))
    return float(10 ** (len(digits) - len(digits.rstrip("0"))))


def _reading(point: float, step: float, place: float, sign: str) -> Reading:
    size = abs(point)
    slack = max(step / 2, 0.05 * size, min(place / 2, 0.1 * size))
    match sign:
        case "~":
            return Reading(point - slack, point + slack, point)
        case "<~":
            return Reading(point - slack, point + step / 2, point)
        case ">":
            return Reading(point + _BEYOND * max(1.0, size), math.inf)
        case "≥":
            return Reading(point, math.inf)
        case "<":
            return Reading(-math.inf, point - _BEYOND * max(1.0, size))
        case "≤":
            return Reading(-math.inf, point)
    return _exact(point, step)


def _fraction(m: "re.Match[str]") -> Figure | None:
    if m["half"]:
        share = 50.0
    else:
        word = (m["n"] or "").lower()
        part = _PARTS.get(m["d"].lower(), 0) or _PARTS[m["d"].lower().rstrip("s")]
        if not word:
            return None
        count = 1 if word == "a" else SMALL[word]
        share = 100 * count / part
    if not 0 < share < 100:
        return None
    sign = _sign(m.string, m.start(), m.end())
    reading = _reading(share, 2.0, 1.0, sign)
    return Figure(m.start(), m.end(), m.group(), "percent", (reading,))


def _division(m: "re.Match[str]") -> Figure | None:
    few, all_ = int(m[1]), int(m[2])
    if not 0 < few <= all_:
        return None
    share = 100 * few / all_
    return Figure(m.start(), m.end(), m.group(), "percent", (_exact(share, 1),))


def _shares(text: str, counted: list[Numeral], found: list[Figure], parts: bool) -> list[Figure]:
    """Counts over a total become one share in percent; ``parts`` keeps the counts beside it."""
    result: list[Figure] = []
    skip = False
    for i, figure in enumerate(found):
        if skip:
            skip = False
            continue
        follower = found[i + 1] if i + 1 < len(found) else None
        if follower and figure.unit == "count" and follower.unit == "count":
            between = text[counted[i].end : counted[i + 1].start]
            few, all_ = counted[i].values[0], counted[i + 1].values[0]
            if 0 < few <= all_ and (_OF.fullmatch(between) or between == "/"):
                share = 100 * few / all_
                result.append(
                    Figure(
                        figure.start,
                        follower.end,
                        text[figure.start : follower.end],
                        "percent",
                        (Reading(share - 0.5, share + 0.5, share),),
                    )
                )
                if parts:
                    noun = figure.noun or follower.noun
                    result += [replace(figure, noun=noun), replace(follower, noun=noun)]
                skip = True
                continue
        result.append(figure)
    return result


def _ranges(text: str, found: list[Figure]) -> list[Figure]:
    """Joins "between 10 and 20" and "10–20 %" into one interval; "from 3 to 5" after a verb of
    change keeps two figures with their roles."""
    result: list[Figure] = []
    for figure in found:
        last = result[-1] if result else None
        link = text[last.end if last else 0 : figure.start]
        if last and last.noun and last.noun == figure.noun:
            link = re.sub(rf"^ {re.escape(last.noun)}(?= )", "", link, flags=re.IGNORECASE)
        if (
            last is None
            or last.role
            or not _LINK.fullmatch(link)
            or not (last.unit == figure.unit or (last.unit == "count" and not last.noun))
        ):
            result.append(figure)
            continue
        before = text[max(0, last.start - 20) : last.start]
        opens = _FROM.search(before)
        changed = _CHANGE.search(text[max(0, last.start - 60) : last.start])
        between = opens is not None and opens.group().lower().startswith(("between", "entre"))
        dash = link.strip() in ("–", "—", "-")
        if not dash and opens is None:
            result.append(figure)
        elif changed and not between and not dash:
            scaled = _like(last, figure)
            result[-1:] = [replace(scaled, role="from"), replace(figure, role="to")]
        elif link.strip().lower() in ("et", "and") and not between:
            result.append(figure)
        else:
            low, high = _like(last, figure).readings[0], figure.readings[0]
            if low.point is None or high.point is None or low.point > high.point:
                result.append(figure)
                continue
            span = Reading(low.point, high.point)
            result[-1] = replace(
                figure, start=last.start, text=text[last.start : figure.end], readings=(span,),
                rounded=None,
            )  # fmt: skip
    return result


def _like(first: Figure, second: Figure) -> Figure:
    """``first`` with the unit and scale that "3 to 5 million euros" leaves to the second."""
    if first.unit == second.unit and first.unit != "count":
        return first
    ratio = 1.0
    stated = re.match(r"[\d.,' ]*", second.text)
    numeral = next(iter(numerals(stated.group() if stated else "")), None)
    point = second.readings[0].point
    if numeral and point and first.unit == "count" and point not in numeral.values:
        ratio = point / (numeral.values[0] or 1)
    readings = tuple(
        Reading(r.low * ratio, r.high * ratio, None if r.point is None else r.point * ratio)
        for r in first.readings
    )
    return replace(first, unit=second.unit, noun=second.noun, readings=readings)


def _date(text: str, moment: Moment) -> Figure:
    readings = tuple(Reading(low, high) for low, high in moment.spans)
    before = text[max(0, moment.start - 20) : moment.start]
    sign = next((s for s, pattern in _DATE_BOUND if pattern.search(before)), "")
    if sign == "<":
        readings = tuple(Reading(-math.inf, r.low) for r in readings)
    if sign == ">":
        readings = tuple(Reading(r.high, math.inf) for r in readings)
    return Figure(
        moment.start,
        moment.end,
        text[moment.start : moment.end],
        moment.unit,
        readings,
        fields=(None, None, None) if sign else moment.fields,
    )


def _roles(text: str, dates: list[Figure]) -> Iterator[Figure]:
    """The dates, those that open or close a period marked so."""
    opened = False
    for i, figure in enumerate(dates):
        follower = dates[i + 1] if i + 1 < len(dates) else None
        link = text[figure.end : follower.start] if follower else ""
        starts = follower is not None and _LINK.fullmatch(link) is not None
        dash = link.strip() in ("–", "—", "-")
        begins = starts and (dash or _FROM.search(text[max(0, figure.start - 20) : figure.start]))
        yield replace(figure, role="to" if opened else "from" if begins else "")
        opened = bool(begins) and not opened


def _rank(m: "re.Match[str]") -> float:
    return float(m["n"]) if m["n"] else float(_RANK[m["w"].lower()[:5]])


__all__ = ["Figure", "Reading", "figures", "value_of"]
