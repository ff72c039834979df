"""Whether an answer says what was expected.

By what kind of thing is expected: yes or no, a code, a time of day, a frequency, figures, a name,
or other words. The rules say ``None`` where they cannot tell; a verifier may then be asked.
"""

# ruff: noqa: E501, SIM905 - lists of words

import math
import re
import unicodedata
from typing import NamedTuple

from ancrage.abstention.clauses import fold
from ancrage.abstention.quantities import clocks, codes, frequency, gender, per
from ancrage.abstention.relations import content_words, elsewhere, namesake, spelt, turned
from ancrage.abstention.sense import (
    Found,
    canonical,
    clauses,
    contains,
    content,
    names,
    negated,
    same_figure,
    share,
    unread,
)
from ancrage.abstention.spelling import score, scores, spelled
from ancrage.claims.dates import MONTHS
from ancrage.claims.figures import figures
from ancrage.claims.readings import Figure
from ancrage.claims.terms import terms

_ENOUGH = 0.7
"""Share of the expected answer's words that an answer in other words must have."""
_YES = re.compile(
    r"\W*(?:yes|yep|yeah|oui|ja|doch|si(?=\s*(?:[,.!;:–—]|$))|correct|indeed|exactly|absolutely"
    r"(?! not)|that is right|tout a fait|absolument(?! pas)|effectivement|en effet|exact|genau"
    r"|stimmt|richtig|jawohl|asi es|correcto|claro|true|vrai|wahr|verdadero)(?=\W|$)"
)
_NO = re.compile(
    r"\W*(?:no|nope|non|nein|not at all|absolutely not|certainly not|pas du tout|absolument pas"
    r"|jamais|never|keineswegs|nie|en absoluto|de ninguna manera|nunca|false|faux|incorrect|falsch"
    r"|falso)(?=\W|$)"
)
_TURN = (
    r"(?:[.…!?,;:–—-]+ *|\b(?:and|et|und|y|or|ou|oder|o) +)(?:(?:well|actually|rather|in fact|en fait"
    r"|plutot|enfin|eigentlich|doch|vielmehr|en realidad|mejor dicho|i mean),? +)"
)
_AND = r"\W+(?:and|et|und|y) +"
_TAKEN_BACK_YES = re.compile(rf"(?:{_TURN}|^\W*\w+{_AND})(?:no|non|nein|not)\b")
_TAKEN_BACK_NO = re.compile(rf"(?:{_TURN}|^\W*\w+{_AND})(?:yes|oui|ja|si)\b")
_PLACE = re.compile(r"\b(?:where|ou|wo|donde|city|ville|stadt|ciudad|town|country|pays)\b")
_UNIT = re.compile(r"\d\s?([a-zµ]?[A-Z][A-Za-z]{0,2})\b")
_NONE = frozenset(
    (
        "no none nobody nothing zero aucun aucune personne rien kein keine keiner null niemand "
        "ninguno ninguna nadie cero nul nulle"
    ).split()
)
_OPPOSITES = tuple(
    (frozenset(a.split()), frozenset(b.split()))
    for a, b in (
        (
            "profit gain surplus benefice excedent gewinn won gagne gewonnen earned ganancia gano",
            "loss deficit perte verlust perdida lost perdu verloren perdio",
        ),
        ("before avant vor antes", "after apres nach despues"),
        ("above over plus more mehr mas au-dessus", "below under moins less weniger menos"),
        ("north nord norte", "south sud sur"),
        ("east est este ost", "west ouest oeste"),
        ("left gauche links izquierda", "right droite rechts derecha"),
        ("minimum minimal least mindestens", "maximum maximal most hochstens"),
        ("open ouvert offen abierto", "closed ferme geschlossen cerrado"),
    )
)


class _Texts(NamedTuple):
    answer: str
    expected: str
    question: str


def gives_expected(answer: str, expected: str, question: str) -> Found:
    """Whether ``answer``, without what surrounds it, says what ``expected`` says."""
    t = _Texts(spelled(answer), spelled(expected), spelled(question))
    if found := _symbol(t):
        return found
    if _exact(t.answer) == _exact(t.expected):
        return Found(True, "it is the expected answer")
    if found := _other_number(_Texts(answer, expected, question), dates=True):
        return found
    for rule in (
        _polar,
        _none,
        _related,
        _scored,
        _coded,
        _timed,
        _often,
        _figured,
        _other_number,
        _named,
    ):
        if found := rule(t):
            return found
    return _worded(t)


def _exact(text: str) -> str:
    """``text`` in small letters on one line, its signs and accents kept."""
    kept = unicodedata.normalize("NFKC", text).replace("−", "-").casefold()
    return re.sub(r"\s+", "", kept).strip(".!?…\"'«»“”()")


def _polar(t: _Texts) -> Found | None:
    said = fold(t.expected)
    wanted = True if _YES.match(said) else False if _NO.match(said) else None
    if wanted is None or len(said.split()) > 6:
        return None
    answer = fold(t.answer)
    if _NO.match(answer) or _YES.match(answer):
        affirms = _NO.match(answer) is None
        if (_TAKEN_BACK_YES if affirms else _TAKEN_BACK_NO).search(answer):
            return Found(None, "it says yes and no")
        same = affirms == wanted
        return Found(same, "the same yes or no" if same else "the opposite yes or no", not same)
    if len(clauses(t.answer)) == 1 and share(content(t.question), content(t.answer)) >= 0.6:
        same = (negated(t.answer) == negated(t.question)) == wanted
        return Found(same, "it affirms as expected" if same else "it says the opposite", not same)
    return Found(None, "no yes or no is to be read in it")


def _none(t: _Texts) -> Found | None:
    words = set(canonical(t.expected).split())
    if not words & _NONE or len(words) > 2:
        return None
    given = figures(t.answer)
    if set(canonical(t.answer).split()) & (_NONE | {"0"}):
        if any(r.point for f in given for r in f.readings):
            return Found(None, "it says none of one thing and some of another")
        return Found(True, "it says that there is none")
    if not given and negated(t.answer) and share(content(t.question), content(t.answer)) >= 0.5:
        return Found(True, "it says that there is none")
    if given:
        return Found(False, f"“{given[0].text}” instead of none", contradicted=True)
    return None


def _related(t: _Texts) -> Found | None:
    if turned(t.answer, t.expected):
        return Found(False, "it says it the other way round", contradicted=True)
    if elsewhere(t.answer, t.expected, t.question):
        return Found(None, "it says the expected of something else than what is asked")
    return None


def _scored(t: _Texts) -> Found | None:
    """Three to two is not two to three."""
    wanted, given = score(t.expected), scores(t.answer)
    if wanted is None or not given:
        return None
    if wanted in given:
        return Found(True, "the same result")
    return Found(False, "another result", contradicted=True)


def _coded(t: _Texts) -> Found | None:
    """Codes count sign by sign; units stuck to their number are figures, not codes."""
    read = {canonical(figure.text).replace(" ", "") for figure in figures(t.expected)}
    versions = re.search(r"\b(?:versions?|releases?|fassung)\b", fold(t.question))
    wanted = codes(t.expected)
    if versions:
        wanted |= set(re.findall(r"\d+(?:\.\d+)*", t.expected))
    wanted = {code for code in wanted if versions or canonical(code).replace(" ", "") not in read}
    if not wanted or re.search(r"\d\s?(?:[€$£%°]|[kcm]?m²?\b|kg|g|h|l)\b", t.expected.casefold()):
        return None
    given = codes(t.answer)
    if versions:
        given |= set(re.findall(r"\d+(?:\.\d+)*", t.answer))
    if wanted <= given:
        return Found(True, "the same code")
    return Found(False, f"“{min(wanted - given)}” is not in it", contradicted=bool(given))


def _timed(t: _Texts) -> Found | None:
    if not any(f.unit == "clock" for f in figures(t.expected)) and not re.search(
        r"\b(?:noon|midnight|midi|minuit|o'clock|half past|quarter|uhr)\b", fold(t.expected)
    ):
        return None
    wanted, given = clocks(t.expected), clocks(t.answer)
    if not wanted or not given:
        return None
    half = re.search(r"[ap]\.?m\b|past|quarter|o'clock|noon", fold(t.expected + t.answer))
    both = given | {(time + 720) % 1440 for time in given} if half and not _said_side(t) else given
    if wanted <= both:
        return Found(True, "the same time")
    return Found(False, "another time", contradicted=True)


def _said_side(t: _Texts) -> bool:
    """Whether both say which half of the day, or count to 24."""
    side = r"[ap]\.?m\b|morning|afternoon|evening|\b(?:1[3-9]|2[0-3])\s*[h:]|noon|midi|\bh\b"
    return all(re.search(side, fold(text)) for text in (t.answer, t.expected))


def _often(t: _Texts) -> Found | None:
    wanted, given = frequency(t.expected), frequency(t.answer)
    if wanted is None or given is None:
        return None
    if abs(wanted - given) <= 0.02 * wanted:
        return Found(True, "as often")
    return Found(False, "more or less often", contradicted=True)


def _figured(t: _Texts) -> Found | None:
    wanted = figures(t.expected)
    if not wanted:
        return None
    asked = {f.text for f in figures(t.question)}
    given = [f for f in figures(t.answer) if f.text not in asked]
    units, others = (set(_UNIT.findall(text)) for text in (t.expected, t.answer))
    if units and others and not units & others and {f.unit for f in wanted} == {"count"}:
        return Found(False, f"{min(others)} instead of {min(units)}", contradicted=True)
    missing = [f for f in wanted if not any(_same(f, g, t) for g in given)]
    if missing and unread(t.answer) and not given:
        return Found(None, f"“{missing[0].text}” may be among the figures it writes in its own way")
    if missing:
        rival = next((g for g in given if g.unit == missing[0].unit), None)
        if rival:
            return Found(False, f"“{rival.text}” instead of “{missing[0].text}”", contradicted=True)
        if len(t.expected.split()) <= 12:
            return Found(False, f"“{missing[0].text}” is not given")
        return Found(None, f"“{missing[0].text}” is not given as such")
    if (rates := per(t.expected)) and (others := per(t.answer)) and not rates & others:
        return Found(False, f"per {min(others)} instead of {min(rates)}", contradicted=True)
    bounded = any(math.isinf(r.high - r.low) for f in wanted for r in f.readings)
    if not bounded and (opposed := _opposed(t)):
        return opposed
    if all(negated(part) for part in _holding(t)) and not negated(f"{t.expected} {t.question}"):
        return Found(False, "it denies the expected answer", contradicted=True)
    words = content(t.expected, wanted) - content(t.question)
    return Found(True, "the same figures") if len(words) <= 2 else None


_TOKEN = re.compile(r"\d+|[^\W\d_]+")


def _slots(text: str, *, dates: bool) -> dict[tuple[str, str], set[str]]:
    """The numbers of ``text`` (with ``dates``: those of dates alone) by the words beside them."""
    found: dict[tuple[str, str], set[str]] = {}
    tokens = ["", "", *(token.casefold() for token in _TOKEN.findall(text)), "", ""]
    for at in range(2, len(tokens) - 2):
        dated = not MONTHS.keys().isdisjoint(tokens[at - 2 : at + 3])
        if tokens[at].isdigit() and (dated or not dates):
            found.setdefault((tokens[at - 1], tokens[at + 1]), set()).add(tokens[at])
    return found


def _other_number(t: _Texts, *, dates: bool = False) -> Found | None:
    """Another number between the same words, also where it makes no date or is no figure."""
    given, said = _slots(t.answer, dates=dates), set(_TOKEN.findall(t.answer))
    for words, wanted in _slots(t.expected, dates=dates).items():
        others = given.get(words, set()) - wanted
        if any(words) and others and not wanted & said:
            return Found(False, f"{min(others)} instead of {min(wanted)}", contradicted=True)
    return None


def _holding(t: _Texts) -> list[str]:
    """The clauses of the answer that hold an expected figure."""
    wanted = figures(t.expected)
    parts = clauses(t.answer)
    return [p for p in parts if any(same_figure(w, g) for w in wanted for g in figures(p))] or parts


def _same(wanted: Figure, given: Figure, t: _Texts) -> bool:
    """Alike in unit, value and sign; a fall in words is a minus, points are not percent."""
    if _points(t.expected, wanted) != _points(t.answer, given):
        return False
    if not _overlap(wanted, given):
        return False
    if {wanted.unit, given.unit} == {"clock", "duration"}:
        return _lasts(wanted) == _lasts(given)
    if same_figure(wanted, given):
        points = [r.point for f in (wanted, given) for r in f.readings[:1] if r.point is not None]
        # A rounded reading allows much; what is stated must still be of the same size.
        return len(points) < 2 or (
            points[0] * points[1] >= 0 and (points[0] == 0) == (points[1] == 0)
        )
    flipped = tuple(
        r.__class__(-r.high, -r.low, None if r.point is None else -r.point) for r in given.readings
    )
    falls = terms(t.answer).direction < 0 or bool(_side(t.answer, 1))
    falls_too = terms(t.expected).direction < 0 or bool(_side(t.expected, 1))
    turned = given.__class__(**{**given.__dict__, "readings": flipped})
    return falls != falls_too and bool(given.readings) and same_figure(wanted, turned)


def _overlap(wanted: Figure, given: Figure) -> bool:
    """False for two closed ranges of which neither lies in the other for the better part, and for
    two ranges of a quantity that end elsewhere."""
    if wanted.unit != given.unit or not (wanted.readings and given.readings):
        return True
    pairs = [(a, b) for a in wanted.readings for b in given.readings]
    if any(math.isinf(r.high - r.low) or r.point is not None for pair in pairs for r in pair):
        return True
    if wanted.unit not in ("date", "clock"):
        return any(
            math.isclose(a.low, b.low, rel_tol=1e-3) and math.isclose(a.high, b.high, rel_tol=1e-3)
            for a, b in pairs
        )
    return any(
        min(a.high, b.high) - max(a.low, b.low) >= 0.5 * min(a.high - a.low, b.high - b.low)
        for a, b in pairs
    )


def _lasts(figure: Figure) -> int:
    """Minutes of a duration; "1 h 35" may be read as a time of day."""
    first = figure.readings[0]
    return round(first.low if figure.unit == "clock" else (first.point or 0) / 60)


def _points(text: str, figure: Figure) -> bool:
    return bool(
        re.match(r"\s*(?:percentage |de pourcentage )?points?\b", text[figure.end :])
    ) or bool(re.search(r"points?$", figure.text))


def _side(text: str, side: int) -> set[str]:
    """The words for a loss (``side`` 1) or a profit (0) in ``text``."""
    return set(canonical(text).split()) & _OPPOSITES[0][side]


def _opposed(t: _Texts) -> Found | None:
    if terms(t.answer).direction * terms(t.expected).direction < 0:
        return Found(False, "a rise against a fall", contradicted=True)
    said, wanted = set(canonical(t.answer).split()), set(canonical(t.expected).split())
    for pair in _OPPOSITES:
        for mine, its in (pair, pair[::-1]):
            if wanted & mine and not wanted & its and said & its and not said & mine:
                return Found(False, f"“{min(said & its)}” against “{min(wanted & mine)}”", True)
    return None


def _symbol(t: _Texts) -> Found | None:
    """One short word, such as C or Co: another letter, case or sign is another thing."""
    if not re.fullmatch(r"[^\W\d_]{1,3}", t.expected) or t.expected.islower():
        return None
    if _YES.match(fold(t.expected)) or _NO.match(fold(t.expected)):
        return None
    said = t.expected.lower() if t.answer.islower() else t.expected
    if re.search(rf"(?<![\w-]){re.escape(said)}(?![\w+#-])", t.answer):
        return Found(True, "it contains the expected answer")
    return Found(False, f"“{t.expected}” is not in it")


def _named(t: _Texts) -> Found | None:
    its = terms(t.expected)
    if its.words or not (its.entities | its.openers):
        return None
    if len({gender(t.answer), gender(t.expected)} - {""}) == 2:
        return Found(False, "another person of that name")
    people = re.split(r"\s*(?:,|;|&|\b(?:and|et|und|y)\b)\s*", t.expected)
    said = canonical(t.answer).split()
    for person in people:
        parts = [word for word in canonical(person).split() if word in content_words(person)]
        if not parts:
            continue
        if namesake(t.answer, person):
            return Found(False, f"another than “{person}”")
        whole = all(spelt(word, said) for word in parts)
        if not whole and not (
            len(parts) > 1 and not _PLACE.search(fold(t.question)) and spelt(parts[-1], said)
        ):
            others = names(t.answer) - {fold(n) for n in names(t.question)}
            if others or len(said) <= 4:
                return Found(False, f"“{person}” is not named")
            return None
    naming = [p for p in clauses(t.answer) if content(p) & content(t.expected)]
    if naming and all(negated(part) for part in naming) and not negated(t.question):
        return Found(False, "it denies the expected answer", contradicted=True)
    if contains(t.question, t.expected):
        return _chosen(t)
    return Found(True, "the same name")


def _chosen(t: _Texts) -> Found:
    """One of those the question names: it must be the one that the answer is about."""
    wanted = re.escape(canonical(t.expected))
    lead = r"(?:(?:the|le|la|l|it was|it is|c est) )?"
    if re.match(rf"{lead}{wanted}(?! (?:and|et|or|ou) )", canonical(t.answer)):
        return Found(True, "it names the expected answer")
    return Found(None, "it names the expected answer among others")


def _worded(t: _Texts) -> Found:
    if contains(t.answer, t.expected):
        holding = [part for part in clauses(t.answer) if contains(part, t.expected)]
        if holding and all(negated(part) for part in holding) and not negated(t.expected):
            if not negated(t.question):
                return Found(False, "it denies the expected answer", contradicted=True)
            return Found(None, "whether it affirms the expected answer is not clear")
        if contains(t.question, t.expected):
            return _chosen(t)
        return _opposed(t) or Found(True, "it contains the expected answer")
    if opposed := _opposed(t):
        return opposed
    words = content(t.expected, figures(t.expected)) - content(t.question)
    words = words or content(t.expected)
    shared = share(words, content(t.answer))
    if words and shared >= (_ENOUGH if len(words) > 2 else 1):
        speaking = [part for part in clauses(t.answer) if content(part) & words]
        if any(negated(part) == negated(t.expected) for part in speaking):
            return Found(True, "the expected answer in other words")
        return Found(False, "it denies the expected answer", contradicted=True)
    its = terms(t.expected)
    others = names(t.answer) - {fold(n) for n in names(t.question) | names(t.expected)}
    if not shared and (its.entities | its.openers) and len(words) <= 4 and others:
        return Found(False, f"it names {min(others)!r} instead")
    return Found(None, "other words than the expected answer's")
