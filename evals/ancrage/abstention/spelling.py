"""Values in their plain form: numbers in words, dates, halves, scores, before they are compared."""

# ruff: noqa: E501 - one kind of wording a pattern

import re

from ancrage.abstention.clauses import fold
from ancrage.claims.markup import plain

_MONTHS = {
    fold(name): number
    for names in (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "januar februar märz april mai juni juli august september oktober november dezember",
    )
    for number, name in enumerate(names.split(), start=1)
}
_DATE = re.compile(r"\b(\d{1,2})(?:\.| de) ([^\W\d_]{3,10})(?: del?)? (\d{4})\b")
_ORDINAL = re.compile(r"(?<=\d)\s?(?:i?èmes?|emes?|ieme)\b")
_SPEED = re.compile(
    r"\b(?:(?:kilom[eè]t(?:re|er)s?|km) ?(?:per|an|par|à l['’]|pro|por|/) ?(?:hour|heure|stunde|hora|h)|kph)\b",
    re.IGNORECASE,
)
_HALF = re.compile(
    r"\b(?:(?P<one>an? (?P<u1>hour|year|day|month|week) and a half)"
    r"|(?P<n>\w+) and a half (?P<u2>hours|years|days|months|weeks|kilos|metres|meters)"
    r"|(?P<m>\w+) (?P<u3>heures?|ans?|jours?|mois) et demie?)\b",
    re.IGNORECASE,
)
_WORDS = {
    word: number
    for words in (
        "one two three four five six seven eight nine ten",
        "un deux trois quatre cinq six sept huit neuf dix",
    )
    for number, word in enumerate(words.split(), start=1)
}
_BELOW = re.compile(
    r"(?P<value>[\w.,]+ ?(?:degrees?|degrés?|grad|grados?|°)(?: ?(?:c\b|f\b|celsius|fahrenheit))?)"
    r" (?:below zero|sous zéro|au-dessous de zéro|en dessous de zéro|unter null|bajo cero)",
    re.IGNORECASE,
)
_SCORE = re.compile(r"(?<![\d.,/-])(\d{1,3})\s?[-–:]\s?(\d{1,3})(?![\d/-]|[.,]\d)")


def spelled(text: str) -> str:
    """``text`` without markup, the values in it in the form that figures are read from."""
    text = _ORDINAL.sub("e", plain(text))
    text = _SPEED.sub("km/h", text)
    text = _DATE.sub(_iso, text)
    text = _HALF.sub(_halved, text)
    text = _BELOW.sub(lambda match: f"minus {match['value']}", text)
    return _in_digits(text)


def score(text: str) -> tuple[int, int] | None:
    """The result of a match that ``text`` is, and nothing else: "3-2"; a range never descends."""
    match = _SCORE.fullmatch(text.strip().rstrip("."))
    if match is None or int(match[1]) < int(match[2]):
        return None
    return int(match[1]), int(match[2])


def scores(text: str) -> set[tuple[int, int]]:
    """Every pair such as "3–2" in ``text``."""
    return {(int(match[1]), int(match[2])) for match in _SCORE.finditer(text)}


def _iso(match: re.Match[str]) -> str:
    month = _MONTHS.get(fold(match[2]))
    return f"{match[3]}-{month:02}-{int(match[1]):02}" if month else match.group()


def _halved(match: re.Match[str]) -> str:
    if match["one"]:
        return f"1.5 {match['u1']}s"
    word, unit = (match["n"], match["u2"]) if match["n"] else (match["m"], match["u3"])
    number = int(word) if word.isdigit() else _WORDS.get(fold(word))
    # "huit heures et demie" may be a time of day, which is read as such.
    if number is None or (match["m"] and unit.startswith("heure")):
        return match.group()
    return f"{number + 0.5} {unit}"


def _in_digits(text: str) -> str:
    """German and Spanish numbers in digits; English and French ones are read as they are."""
    said = f" {fold(text)} "
    for language, marks in _MARKS.items():
        if marks.search(said):
            from text_to_num import alpha2digit

            return str(alpha2digit(text, language))
    return text


_MARKS = {
    "de": re.compile(
        r"\W(?:\w*(?:zwanzig|dreissig|dreißig|vierzig|funfzig|sechzig|siebzig|achtzig|neunzig|hundert|tausend|zehn)\w*"
        r"|zwei|drei|vier|funf|sechs|sieben|acht|neun|elf|zwolf)(?=\W)"
    ),
    "es": re.compile(
        r"\W(?:dos|tres|cuatro|cinco|siete|ocho|nueve|diez|doce|trece|catorce|quince|dieci\w+"
        r"|veint\w+|treinta|cuarenta|cincuenta|sesenta|setenta|ochenta|noventa|cien|ciento"
        r"|\w+cient[oa]s|quinient[oa]s|mil)(?=\W)"
    ),
}
