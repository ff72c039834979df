"""Values that are no plain figures: times of day, frequencies, rates, codes, titles."""

# ruff: noqa: E501 - lists of words

import re
from collections.abc import Iterator

from ancrage.abstention.clauses import fold

_ONES = {
    "en": "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen",
    "fr": "zero un deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze"
    " seize dix-sept dix-huit dix-neuf",
}
_TENS = {"twenty": 20, "thirty": 30, "forty": 40, "fifty": 50}
_TENS |= {"vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50}
_NUMBERS = {word: n for words in _ONES.values() for n, word in enumerate(words.split())}
_NUMBERS |= {"une": 1, "once": 1, "twice": 2, "thrice": 3} | _TENS
_NUMBERS |= {
    f"{ten}{joint}{one}": value + _NUMBERS[one]
    for ten, value in _TENS.items()
    for one in (*_ONES["en"].split()[1:10], *_ONES["fr"].split()[1:10], "une")
    for joint in ("-", " ", " et ", "-et-")
}
_WORDED = "|".join(sorted(map(re.escape, _NUMBERS), key=len, reverse=True))
_NUMBER = rf"(?:\d{{1,2}}|(?:{_WORDED})(?!\w))"
_HALF = re.compile(
    rf"\b(?P<part>half|(?:a )?quarter) (?P<way>past|to) (?P<of>{_NUMBER}|noon|midnight)"
)
_CLOCK = re.compile(
    rf"(?<![\w.,])(?P<hour>{_NUMBER})\s*(?:(?:h|heures?|uhr|horas?|o'clock)\b\s*(?:(?P<quarter>"
    rf"et demie|et quart|moins le quart)|(?P<minutes>{_NUMBER}))?|(?P<colon>[:.])(?P<digits>\d\d)(?!\d)"
    r"|(?=\s*(?:am|pm|a\.m|p\.m|de la (?:manana|tarde|noche))\b))"
)
_PM = re.compile(
    r"\s*(?:pm\b|p\.m|de l'apres-midi|de la (?:tarde|noche)|am abend|du soir|in the (?:afternoon|evening)|at night)"
)
_UNITS = {
    "hour": r"hours?|heures?|h|stunden?|horas?",
    "day": r"days?|jours?|tag(?:e|en)?|dias?|nights?|nuits?",
    "week": r"weeks?|semaines?|wochen?|semanas?",
    "month": r"months?|mois|monat(?:e|en)?|mes(?:es)?",
    "quarter": r"quarters?|trimestres?|quartale?",
    "year": r"years?|ans?|annees?|annum|jahr(?:e|en)?|ano?s?",
}
_PER_YEAR = {"hour": 8760.0, "day": 365.0, "week": 52.0, "month": 12.0, "quarter": 4.0, "year": 1.0}
_UNIT = "|".join(f"(?P<{{0}}{name}>(?:{form})(?!\\w))" for name, form in _UNITS.items())
_RATE = re.compile(
    r"(?:\bper |\bpar |\bpro |\bpor |\bal? |\beach |\bevery |\bchaque |/ ?|\ban? |\bim |\bje |\bdie (?=woche)|\bla (?=semana))"
    rf"(?:{_UNIT.format('')})"
)
_ADVERBS = {"hourly": "hour", "daily": "day", "weekly": "week", "monthly": "month"}
_ADVERBS |= {"yearly": "year", "annually": "year", "quarterly": "quarter", "annuel": "year"}
_ADVERBS |= {"wochentlich": "week", "monatlich": "month", "jahrlich": "year", "taglich": "day"}
_ADVERBS |= {"semanal": "week", "mensual": "month", "trimestr": "quarter", "diari": "day"}
_ADVERBS |= {"quotidien": "day", "hebdomadaire": "week", "mensuel": "month", "annual": "year"}
_MAL = {"einmal": 1, "zweimal": 2, "dreimal": 3, "viermal": 4}
_NUMBERS |= _MAL
_EVERY = re.compile(
    rf"\b(?:every|tous les|toutes les|alle|cada)(?: (?P<n>{_NUMBER}))? (?:{_UNIT.format('')})"
)
_TIMES = re.compile(
    rf"\b(?:(?P<adverb>once|twice|thrice|(?:ein|zwei|drei|vier) ?mal)|(?P<n>{_NUMBER}) ?(?:times|fois|x|mal|vez|veces))\b"
)
_TOKEN = re.compile(r"[^\W_][\w+#./-]*")
_DIALLED = re.compile(r"\+?\d[\d .-]{6,}\d")
_TITLES = {
    "f": r"\b(?:mme|madame|mlle|mrs|ms|miss|frau|senora|sra)\b",
    "m": r"\b(?:m\.|mr|monsieur|herr|senor|sr)(?!\w)",
}


def number(word: str) -> int:
    """The number written in digits or words."""
    return int(word) if word.isdigit() else _NUMBERS[word]


def clocks(text: str) -> set[int]:
    """The times of day in ``text``, in minutes; those of a twelve-hour clock both ways."""
    said, found = fold(text), set()
    if re.search(r"\b(?:noon|midi|mittag|mediodia)\b", said):
        found.add(720)
    if re.search(r"\b(?:midnight|minuit|mitternacht|medianoche)\b", said):
        found.add(0)
    for match in _HALF.finditer(said):
        hour = {"noon": 12, "midnight": 0}.get(match["of"])
        base = 60 * (number(match["of"]) if hour is None else hour)
        shift = 30 if match["part"] == "half" else 15
        found |= _sides(base + (shift if match["way"] == "past" else -shift), said, match.end())
    for match in _CLOCK.finditer(said):
        minutes = match["digits"] or match["minutes"]
        extra = {"et demie": 30, "et quart": 15, "moins le quart": -15}.get(match["quarter"] or "")
        later = number(minutes) if minutes else extra or 0
        found |= _sides(60 * number(match["hour"]) + later, said, match.end())
    return {minutes % 1440 for minutes in found}


def _sides(minutes: int, said: str, end: int) -> set[int]:
    return {minutes % 720 + 720} if _PM.match(said, end) else {minutes}


def per(text: str) -> set[str]:
    """The units of time that something is counted by: « 30 € par mois », "50 km/h"."""
    said = fold(text)
    found = {name for word, name in _ADVERBS.items() if word in said}
    return found | {name for match in _RATE.finditer(said) for name in _named(match)}


def frequency(text: str) -> float | None:
    """How often a year: "twice a year" and "every six months" are 2; None where it is not told."""
    said = fold(text)
    if re.search(r"\b(?:fortnightly|every fortnight|vierzehntagig|bimensuel)", said):
        return _PER_YEAR["week"] / 2
    if every := _EVERY.search(said):
        (unit,) = _named(every)
        return _PER_YEAR[unit] / (number(every["n"]) if every["n"] else 1)
    units = per(text)
    if len(units) != 1:
        return None
    times = _TIMES.search(said)
    if times:
        return _PER_YEAR[units.pop()] * number(
            (times["adverb"] or times["n"]).replace(" mal", "mal")
        )
    adverb = any(word in said for word in _ADVERBS)
    return _PER_YEAR[units.pop()] if adverb and not re.search(r"\d", said) else None


def codes(text: str) -> set[str]:
    """References, versions, languages such as C++, telephone numbers: what counts sign by sign."""
    dialled = [match.group() for match in _DIALLED.finditer(text.replace("(0)", ""))]
    dialled = [found for found in dialled if len(re.sub(r"\D", "", found)) > 6]
    tokens = [token.rstrip(".-/") for token in _TOKEN.findall(text)]
    graded = re.findall(r"(?<![\w-])[A-Z]{1,2}[+−-](?![\w+])", text)
    return (
        {found.casefold().replace("−", "-") for found in graded}
        | {re.sub(r"\D", "", found) for found in dialled}
        | {
            token.casefold()
            for token in tokens
            if (re.search(r"\d", token) and re.search(r"[^\W\d_]", token))
            or token.endswith(("++", "#"))
            or token.count(".") > 1
        }
    )


def gender(text: str) -> str:
    """``f`` or ``m`` by a title such as Mme or Mr; empty without one."""
    said = fold(text)
    return next((name for name, form in _TITLES.items() if re.search(form, said)), "")


def _named(match: re.Match[str]) -> Iterator[str]:
    return (name for name in _UNITS if match[name])
