"""Figures made of several: fractions, shares of a total, ranges, changes and periods."""

import re
from collections.abc import Iterator
from dataclasses import replace

from ancrage.claims.numerals import SMALL, Numeral, numerals
from ancrage.claims.readings import Figure, FigureReading, allowed, exact, sign_of

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
    r"(?<!\w)(?:(?P<half>la moitié|(?<!and a )half)"
    r"(?=[ ](?:d|of|the|our|respond|partic|all|les)|[.,;]|$)"
    r"|(?:(?P<n>un|deux|trois|quatre|one|a|two|three|four)[ -])?"
    r"(?P<d>tiers|quarts?|cinquièmes?|thirds?|quarters?|fifths?)(?=[ ](?:d|of)|[.,;]|$))",
    re.IGNORECASE,
)


_PARTS = {"tiers": 3, "quart": 4, "cinquième": 5, "third": 3, "quarter": 4, "fifth": 5}


_OF = re.compile(
    r"(?:[ ][^\W\d_]+){0,2}?[ ](?:sur|out of|in|of the|of|parmi les)[ ](?:les |the )?$",
    re.IGNORECASE,
)


_SLASH = re.compile(r"(?<![\w/.,])(\d{1,3})/(\d{1,3})(?![\w/])")


def fractions(text: str) -> Iterator[Figure]:
    """Fractions of a whole in words ("two thirds", « la moitié ») or as 2/3, in percent."""
    for pattern, read in ((_FRACTION, _fraction), (_SLASH, _division)):
        for m in pattern.finditer(text):
            if (figure := read(m)) is not None:
                yield figure


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
    sign = sign_of(m.string, m.start(), m.end())
    reading = allowed(share, 2.0, 1.0, sign)
    return Figure(m.start(), m.end(), m.group(), "percent", (reading,))


def _division(m: "re.Match[str]") -> Figure | None:
    few, all_ = int(m[1]), int(m[2])
    if not 0 < few <= all_:
        return None
    share = 100 * few / all_
    return Figure(m.start(), m.end(), m.group(), "percent", (exact(share, 1),))


def shares(text: str, counted: list[Numeral], found: list[Figure], parts: bool) -> list[Figure]:
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
                        (FigureReading(share - 0.5, share + 0.5, share),),
                    )
                )
                if parts:
                    noun = figure.noun or follower.noun
                    result += [replace(figure, noun=noun), replace(follower, noun=noun)]
                skip = True
                continue
        result.append(figure)
    return result


_JOINED = re.compile(r",?[ ]?(?:and[ ]|et[ ])?", re.IGNORECASE)


def compounds(text: str, found: list[Figure]) -> list[Figure]:
    """Joins what is one duration: "1 hour 35", "2 ans et 3 mois"."""
    result: list[Figure] = []
    for figure in found:
        last = result[-1] if result else None
        link = text[last.end if last else 0 : figure.start]
        amount = figure.readings[0].point
        if last and last.size == 3600 and figure.unit == "count" and not figure.noun:
            bare = link == " " and amount is not None and amount < 60
            size, unit = 60.0, "duration" if bare else ""
        else:
            size, unit = figure.size, figure.unit
        whole = last.readings[0].point if last else None
        if (
            last is None
            or unit not in ("duration", "months")
            or unit != last.unit
            or whole is None
            or amount is None
            or not size < last.size
            or not _JOINED.fullmatch(link)
        ):
            result.append(figure)
            continue
        amount *= size / figure.size
        if amount >= last.size:
            result.append(figure)
            continue
        reading = exact(whole + amount, size)
        written = text[last.start : figure.end]
        result[-1] = Figure(last.start, figure.end, written, unit, (reading,), size=size)
    return result


_TO = re.compile(
    rf"{_CHANGE.pattern}[^.;,]{{0,40}}?\b(?P<way>to|from|by|à|de)[ ]"
    r"(?:le |the |about |environ )?[€$£]?$",
    re.IGNORECASE,
)
_WAYS = {"to": "to", "à": "to", "from": "from", "by": "by", "de": "by"}


def _role(text: str, figure: Figure) -> str:
    """What a figure is in a change that states it alone: where to, where from, by how much."""
    if figure.role:
        return figure.role
    found = _TO.search(text[max(0, figure.start - 80) : figure.start])
    if not found or (found["way"].lower() == "de" and found.group().lower().startswith("pass")):
        return ""
    return _WAYS[found["way"].lower()]


def ranges(text: str, found: list[Figure]) -> list[Figure]:
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
            span = FigureReading(low.point, high.point)
            result[-1] = replace(
                figure, start=last.start, text=text[last.start : figure.end], readings=(span,),
                rounded=None,
            )  # fmt: skip
    return [replace(figure, role=_role(text, figure)) for figure in result]


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
        FigureReading(r.low * ratio, r.high * ratio, None if r.point is None else r.point * ratio)
        for r in first.readings
    )
    return replace(first, unit=second.unit, noun=second.noun, readings=readings)


def roles(text: str, dates: list[Figure]) -> Iterator[Figure]:
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
