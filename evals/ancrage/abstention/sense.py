"""Whether an answer says what was expected, and nothing that its support does not.

Rules first: words by their meaning, figures and dates by their value, negation, yes and no. They
say ``None`` where they cannot tell; a verifier may then be asked.
"""

import math
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rapidfuzz.fuzz import partial_ratio, ratio

from ancrage.abstention.cases import normalised
from ancrage.abstention.detect import fold
from ancrage.abstention.wording import YES_NO
from ancrage.claims import Agreement, Claim, compare_figures, extract_claims
from ancrage.claims.figures import figures
from ancrage.claims.lexicon import LEXICON
from ancrage.claims.markup import plain
from ancrage.claims.readings import Figure, Reading
from ancrage.claims.terms import Terms, concept, terms

SENSE_VERSION = "1.0.0"

_ENOUGH = 0.7
"""Share of the expected answer's words that an answer in other words must have."""
_COVERED, _BARE = 0.6, 0.34
"""Shares of a statement's words found in the support: enough, and too few."""
_ALIKE = 88
"""Similarity, of 100, of a name that is spelt otherwise."""
_STOP = frozenset(normalised(fold(LEXICON["stop"])).split())
_NO = ("no", "non", "nope")


class Found(NamedTuple):
    """``holds`` is None where the rules cannot tell."""

    holds: bool | None
    reason: str
    contradicted: bool = False


def gives_expected(answer: str, expected: str, question: str) -> Found:
    """Whether ``answer`` says what ``expected`` says."""
    answer, expected = plain(answer), plain(expected)
    if _canonical(answer) == _canonical(expected):
        return Found(True, "it is the expected answer")
    if YES_NO.match(fold(expected)):
        return _yes_no(answer, expected, question)
    if _contains(answer, expected):
        return _contained(answer, expected, question)
    return _by_figures(answer, expected, question)


def _yes_no(answer: str, expected: str, question: str) -> Found:
    wanted, said = YES_NO.match(fold(expected)), YES_NO.match(fold(answer))
    positive = wanted is not None and wanted[0].strip(" .,;:!") not in _NO
    if said:
        same = (said[0].strip(" .,;:!") not in _NO) == positive
        return Found(same, "the same yes or no" if same else "the opposite yes or no", not same)
    if len(_clauses(answer)) == 1 and _share(_content(question), _content(answer)) >= 0.8:
        same = (_negated(answer) == _negated(question)) == positive
        return Found(same, "it affirms as expected" if same else "it says the opposite", not same)
    return Found(None, "no yes or no is to be read in it")


def _contained(answer: str, expected: str, question: str) -> Found:
    """The words are there: are they affirmed, and are they what is answered?"""
    holding = [each for each in _clauses(answer) if _contains(each, expected)]
    if holding and all(_negated(each) for each in holding):
        if not _negated(f"{expected} {question}"):
            return Found(False, "it denies the expected answer", contradicted=True)
        return Found(None, "whether it affirms the expected answer is not clear")
    if _contains(question, expected):
        # One of those the question names: it must be the one that the answer is about.
        wanted = re.escape(_canonical(expected))
        chosen = re.match(
            rf"(?:(?:the|le|la|l|it was|it is|c est) )?{wanted}(?! (?:and|et|or|ou) )",
            _canonical(answer),
        )
        if not chosen:
            return Found(None, "it names the expected answer among others")
    return Found(True, "it contains the expected answer")


def _by_figures(answer: str, expected: str, question: str) -> Found:
    wanted = figures(expected)
    asked = {figure.text for figure in figures(question)}
    given = [figure for figure in figures(answer) if figure.text not in asked]
    missing = [f for f in wanted if not any(same_figure(f, g) for g in given)]
    if _terms(answer).direction * _terms(expected).direction < 0:
        return Found(False, "a rise against a fall", contradicted=True)
    if missing and _unread(answer):
        return Found(None, f"“{missing[0].text}” may be among the figures it writes in its own way")
    if missing:
        rival = next((g for g in given if g.unit == missing[0].unit), None)
        if rival:
            return Found(False, f"“{rival.text}” instead of “{missing[0].text}”", contradicted=True)
        if len(expected.split()) <= 12:
            return Found(False, f"“{missing[0].text}” is not given")
        return Found(None, f"“{missing[0].text}” is not given as such")
    words = _content(expected, wanted) - _content(question)
    if wanted and len(words) <= 2:
        return Found(True, "the same figures")
    return _by_words(answer, expected, question, words)


def _by_words(answer: str, expected: str, question: str, words: set[str]) -> Found:
    words = words or _content(expected)
    its = _terms(expected)
    names = its.entities | its.openers
    shared = _share(words, _content(answer))
    if names and not its.words:
        if partial_ratio(_canonical(expected), _canonical(answer)) >= _ALIKE:
            return Found(True, "the same name")
    elif words and shared >= (_ENOUGH if len(words) > 2 else 1):
        speaking = [each for each in _clauses(answer) if _content(each) & words]
        if any(_negated(each) == _negated(expected) for each in speaking):
            return Found(True, "the expected answer in other words")
        return Found(False, "it denies the expected answer", contradicted=True)
    others = _names(answer) - {fold(name) for name in _names(question) | _names(expected)}
    if not shared and names and len(words) <= 4 and others:
        return Found(False, f"it names {min(others)!r} instead")
    return Found(None, "other words than the expected answer's")


def supported(claim: str, support: str, known: str, *, added: bool) -> Found:
    """Whether ``claim`` stands in ``support``, or merely repeats ``known`` (question, expected).

    ``added``: the expected answer is given already, so that other words are no paraphrase of it.
    """
    claim = plain(claim)
    ground = f"{support}\n{known}"
    if _contains(support, claim) or _contains(known, claim):
        return Found(True, "it stands in the support as it is")
    comparison = compare_figures(claim, support)
    if comparison.verdict is Agreement.CONTRADICTS:
        return Found(False, comparison.reason, contradicted=True)
    stated = figures(ground, parts=True)
    if comparison.verdict is not Agreement.AGREES:
        for figure in figures(claim):
            if not any(same_figure(figure, other) for other in stated):
                return Found(False, f"“{figure.text}” is nowhere in the support")
    ground_words = set(normalised(fold(ground)).split())
    for name in sorted(_names(claim)):
        if not all(_among(part, ground_words) for part in normalised(name).split()):
            return Found(False, f"“{name}” is nowhere in the support")
    words = _words(claim, figures(claim))
    if denied := _denied(claim, words, support):
        return Found(False, f"the support says the contrary: “{denied}”", contradicted=True)
    share = _share(words, _words(ground))
    if share >= _COVERED or not words:
        return Found(True, "its words stand in the support")
    if added and share < _BARE and len(words) >= 3:
        return Found(False, "nothing in the support speaks of it")
    return Found(None, "the support may say it in other words")


def statements(content: Iterable[str]) -> list[Claim]:
    """The claims of the parts of an answer that state something."""
    return [claim for part in content for claim in extract_claims(part)]


def same_figure(mine: Figure, its: Figure) -> bool:
    """Whether two figures state the same: unit alike, one value within what the other allows."""
    if mine.unit != its.unit or (mine.role and its.role and mine.role != its.role):
        return False
    if not (mine.readings and its.readings):
        pairs = [(a, b) for a, b in zip(mine.fields, its.fields, strict=True) if a and b]
        return bool(pairs) and all(a == b for a, b in pairs)
    return any(_meet(a, b) for a in mine.readings for b in its.readings)


def _meet(mine: Reading, its: Reading) -> bool:
    if mine.point is not None and its.point is not None:
        return mine.low <= its.point <= mine.high or its.low <= mine.point <= its.high
    if mine.point is not None:
        return _bounds(its, mine)
    if its.point is not None:
        return _bounds(mine, its)
    # Periods that overlap, or bounds of the same sense that coincide.
    if math.isfinite(mine.high - mine.low) and math.isfinite(its.high - its.low):
        return mine.low < its.high and its.low < mine.high
    return math.isclose(mine.low, its.low, rel_tol=1e-3) and math.isclose(
        mine.high, its.high, rel_tol=1e-3
    )


def _bounds(bound: Reading, exact: Reading) -> bool:
    """Whether a range holds a stated value, and, where it is open, ends at it."""
    if exact.point is None or not bound.low <= exact.point <= bound.high:
        return False
    end = bound.high if math.isfinite(bound.high) else bound.low
    return math.isfinite(bound.high - bound.low) or exact.low <= end <= exact.high


def _unread(text: str) -> bool:
    """Whether there are digits that no figure was read from."""
    shown = list(text)
    for figure in figures(text):
        shown[figure.start : figure.end] = " " * (figure.end - figure.start)
    return any(character.isdigit() for character in shown)


def _denied(claim: str, words: set[str], support: str) -> str | None:
    """The clause of the support that says the same words with or without "not"."""
    if len(words) < 2:
        return None
    best, passage = 0.0, ""
    for clause in _clauses(support):
        others = _words(clause)
        mutual = min(_share(words, others), _share(others, words))
        same = _negated(clause) == _negated(claim)
        if mutual > best or (mutual == best and same):
            best, passage = mutual, clause
    if best >= _COVERED and _negated(passage) != _negated(claim):
        return passage.strip()
    return None


_CLAUSE = re.compile(
    r"(?<=[.!?;:])\s+|(?<=[a-zà-ÿ)][.!?])(?=[A-ZÀ-Ý])|\n+|;"
    r"|,\s+(?=(?:but|while|whereas|mais|alors|tandis|et|and|however|cependant)\b)"
    r"|\s+(?=(?:but|mais|whereas|alors que|tandis que)\b)"
)


def _clauses(text: str) -> list[str]:
    return [part for part in _CLAUSE.split(text) if part and part.strip()]


def _canonical(text: str) -> str:
    return normalised(fold(text))


def _contains(text: str, expected: str) -> bool:
    wanted = _canonical(expected)
    return bool(wanted) and f" {wanted} " in f" {_canonical(text)} "


def _terms(text: str, found: Sequence[Figure] = ()) -> Terms:
    return terms(text, tuple((f.start, f.end) for f in found))


def _negated(text: str) -> bool:
    return _terms(text).negated


def _words(text: str, found: Sequence[Figure] = ()) -> set[str]:
    """What ``text`` is about: concepts of its weightier words, names among them."""
    about = _terms(text, found)
    return set(about.words) | {concept(name) for name in about.entities | about.openers}


def _content(text: str, found: Sequence[Figure] = ()) -> set[str]:
    """The concepts of all words of ``text`` but the commonest; the spans ``found`` left out."""
    shown = list(fold(text))
    for figure in found:
        shown[figure.start : figure.end] = " " * (figure.end - figure.start)
    words = normalised("".join(shown)).split()
    return {concept(word) for word in words if word not in _STOP and len(word) > 1}


def _names(text: str) -> set[str]:
    """Folded proper names; none where everything is in capitals."""
    return set() if text.isupper() else {fold(name) for name in _terms(text).entities}


def _share(words: set[str], others: set[str]) -> float:
    """The share of ``words`` that are among ``others``, inflections and typing slips allowed."""
    if not words:
        return 0.0
    return sum(_among(word, others) for word in words) / len(words)


def _among(word: str, others: set[str]) -> bool:
    return word in others or (
        len(word) >= 5
        and any(abs(len(other) - len(word)) <= 2 and ratio(word, other) >= 85 for other in others)
    )
