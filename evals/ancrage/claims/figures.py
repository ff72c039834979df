"""Figures of a text: a value, its unit and what its wording allows around it."""

import math
import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import zip_longest

from ancrage.claims.dates import Moment, moments
from ancrage.claims.lexicon import LEXICON
from ancrage.claims.numerals import SPACES, Numeral, numerals
from ancrage.claims.readings import Figure, FigureReading, allowed, exact, place_of, sign_of
from ancrage.claims.shares import compounds, fractions, ranges, roles, shares

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


_CURRENCY = {"€": "EUR", "$": "USD", "£": "GBP", "¥": "JPY", "₹": "INR"}
CURRENCIES = frozenset(_CURRENCY.values()) | {"CHF", "CNY", "CAD"}


_NOUN = re.compile(
    r"[ ](?:(?:d'|de[ ]|of[ ](?:the[ ]|our[ ])?|des[ ]|autres[ ]|other[ ]"
    r"|nouveaux[ ]|nouvelles[ ]|new[ ])*)"
    r"(?P<noun>[^\W\d_][\w-]+)"
)


_NOT_NOUN = frozenset(LEXICON["not_counted"].split())


_DATE_BOUND = (
    (
        "<",
        re.compile(
            r"(?:^|(?<!\w))(?:before|prior to|avant)[ ](?:le |la |the |l')?$", re.IGNORECASE
        ),
    ),
    (">", re.compile(r"(?:^|(?<!\w))(?:after|après)[ ](?:le |la |the |l')?$", re.IGNORECASE)),
)


_RANK = {
    word: rank
    for rank, words in enumerate(LEXICON["ordinals"].splitlines(), start=1)
    for word in words.split()
}
_ORDINAL = re.compile(
    r"(?<![\w-])(?:(?P<n>\d{1,6})(?:st|nd|rd|th|e|ème|ers?|ère|re|nde?)"
    rf"|(?P<w>{'|'.join(sorted(_RANK, key=len, reverse=True))}))(?![\w-])(?![ ](?:trimestre"
    r"|quarter|siècle|century|of all|half|semestre))",
    re.IGNORECASE,
)
_MINUS = re.compile(
    r"(?:(?:^|[\s(\[:=])[-–]|\bminus |(?<!au )(?<!du )\bmoins )[€$£]?$", re.IGNORECASE
)
_SYMBOL = re.compile(r"(?<!\d)(?<!\d )([€$£¥₹])[ ]?$")
_AND_A_HALF = re.compile(r"[ ](?:et demie?|and a half)(?!\w)", re.IGNORECASE)
_OLD = re.compile(r"[ -]?olds?\b", re.IGNORECASE)
_AGED = re.compile(r"\b(?:âgée?s? de|aged|age of|l'âge de) (?:\w+ )?$", re.IGNORECASE)
_LASTS = re.compile(
    r"\b(?:dur\w+|pendant|prend|pris|lasts?|lasted|tak(?:es|en)|took|for|en|attend\w+|attente)"
    r"(?: (?:de|environ|about|plus d'|un peu plus d'))* ?$",
    re.IGNORECASE,
)
_OF_WHAT = re.compile(r" (?:d'|de (?!l'|la |matin|après))", re.IGNORECASE)
_NOT = re.compile(r"\b(?:not|non|pas)\b[^.;,]{0,25}$|n['’]t\b[^.;,]{0,25}$", re.IGNORECASE)
_BUT = re.compile(r"[^.;]{0,40}\b(?:but|mais)\b[^.;]{0,30}", re.IGNORECASE)
_INSTEAD = re.compile(
    r"\b(?:rather than|instead of|plutôt que|au lieu d(?:e|u|'))(?: \w+){0,2} ?$", re.IGNORECASE
)


def figures(text: str, *, parts: bool = False) -> tuple[Figure, ...]:
    """The figures of ``text`` in order, references and addresses left out.

    A share such as "12 out of 40" is one figure, in percent; with ``parts`` its two counts are
    given as well.
    """
    text = text.translate(SPACES)
    dates = list(moments(text))
    taken = [(m.start, m.end) for m in dates]
    parts_of_one = [f for f in fractions(text) if _free(f, taken)]
    taken += [(f.start, f.end) for f in parts_of_one]
    counted = sorted(
        (n for n in numerals(text) if _free(n, taken) and not _label(text, n)),
        key=lambda n: n.start,
    )
    found = [_number(text, n) for n in counted]
    found = ranges(text, compounds(text, shares(text, counted, found, parts)))
    ordinals = [
        Figure(
            m.start(), m.end(), m.group(), "ordinal", (exact(_rank(m), 1),), _noun(text, m.end())
        )
        for m in _ORDINAL.finditer(text)
        if not any(m.start() < e and s < m.end() for s, e in taken)
    ]
    whole = [*roles(text, [_date(text, m) for m in dates]), *parts_of_one, *found]
    spans = [(f.start, f.end) for f in whole]
    whole += [ordinal for ordinal in ordinals if _free(ordinal, spans)]
    return tuple(_denials(text, sorted(whole, key=lambda figure: (figure.start, figure.end))))


def _denials(text: str, found: list[Figure]) -> Iterator[Figure]:
    """The figures, those marked that the text says not to be: "not 2019 but 2021"."""
    for figure, following in zip_longest(found, found[1:]):
        before = text[max(0, figure.start - 40) : figure.start]
        contrast = following is not None and following.unit == figure.unit
        denied = _INSTEAD.search(before) or (
            contrast and _NOT.search(before) and _BUT.fullmatch(text[figure.end : following.start])
        )
        yield replace(figure, denied=True) if denied else figure


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
        or (
            number.end - number.start == 2
            and re.search(r"(?:19|20)\d\d[–-]$", text[max(0, number.start - 5) : number.start])
        )
        or (before.strip() == "" and number.start < 3 and re.match(r"[.)]\s", after))
    )


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
        step = place_of(number.values[0])
    unit, noun, size = "", "", 1.0
    if symbol := _SYMBOL.search(text, max(0, start - 3), start):
        unit, start = _CURRENCY[symbol[1]], symbol.start()
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
    if unit == "months" and (_OLD.match(text, end) or _AGED.search(text[:start][-30:])):
        unit = "age"
    if not unit:
        noun, unit = _noun(text, end - (text[end - 1] == " ")), "count"
    if more := _AND_A_HALF.match(text, end) or _AND_A_HALF.match(text, number.end):
        end = max(end, more.end())
        spoken = text[number.start : number.end].split()[-1].lower()
        whole = _SCALES.get(spoken, 1.0)
        number = replace(number, values=tuple(v + whole / 2 for v in number.values))
        step = whole / 10
    minus = _MINUS.search(text[max(0, start - 14) : start])
    if minus:
        number = replace(number, values=tuple(-v for v in number.values))
    sign = sign_of(text, start, end) or ("~" if number.loose else "")
    multiply = factor * size
    values = number.values
    if len(values) > 1 and (chosen := _separator(text, number, unit, scaled)) is not None:
        values, step = (values[chosen],), (step, 1.0)[chosen]
    readings = tuple(
        allowed(value * multiply, step * multiply, place_of(value) * multiply, sign)
        for value in values
    )
    value = values[-1]
    rounded = None
    if unit in ("months", "duration") and step == 1.0 and size > 1 and not sign:
        # "Two years" is neither 18 months nor 30: to half of half a unit, and open up to nearly it.
        readings = tuple(exact(value * multiply, multiply / 2) for value in values)
        rounded = exact(value * multiply, 0.9 * multiply)
    if not sign and not scaled and value == int(value) and value >= 1000 and place_of(value) >= 100:
        half = min(place_of(value) / 2, value * 0.05) * multiply
        rounded = FigureReading(value * multiply - half, value * multiply + half)
    written = text[start:end].strip()
    return Figure(start, end, written, unit, readings, noun=noun, rounded=rounded, size=multiply)


def _noun(text: str, end: int) -> str:
    """The word that a number ending at ``end`` counts, or nothing."""
    counted = _NOUN.match(text, end)
    noun = counted["noun"].lower() if counted else ""
    return "" if noun in _NOT_NOUN else noun


def _separator(text: str, number: Numeral, unit: str, scaled: bool) -> int | None:
    """Which reading of "1,234" holds: 0 the decimal, 1 the thousand; None when it is open."""
    if not scaled and (unit == "count" or unit in _CURRENCY.values()):
        return 1
    french, english = len(_FRENCH.findall(text)), len(_ENGLISH.findall(text))
    if french == english:
        return None
    comma = "," in text[number.start : number.end]
    return int(comma == (english > french))


def _date(text: str, moment: Moment) -> Figure:
    written = text[moment.start : moment.end]
    before = text[max(0, moment.start - 40) : moment.start]
    if (
        moment.unit == "clock"
        and "h" in written.lower()
        and (_LASTS.search(before) or _OF_WHAT.match(text, moment.end))
    ):
        minutes = moment.spans[0][0]
        reading = exact(minutes * 60, 60)
        return Figure(moment.start, moment.end, written, "duration", (reading,), size=60)
    readings = tuple(FigureReading(low, high) for low, high in moment.spans)
    before = text[max(0, moment.start - 20) : moment.start]
    sign = next((s for s, pattern in _DATE_BOUND if pattern.search(before)), "")
    if sign == "<":
        readings = tuple(FigureReading(-math.inf, r.low) for r in readings)
    if sign == ">":
        readings = tuple(FigureReading(r.high, math.inf) for r in readings)
    return Figure(
        moment.start,
        moment.end,
        text[moment.start : moment.end],
        moment.unit,
        readings,
        fields=(None, None, None) if sign else moment.fields,
    )


def _rank(m: "re.Match[str]") -> float:
    return float(m["n"]) if m["n"] else float(_RANK[m["w"].lower()])
