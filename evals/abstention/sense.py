"""Whether an answer says what was expected, and nothing that its support does not.

Rules first: words by their meaning, figures and dates by their value, negation, yes and no. They
say ``None`` where they cannot tell; a verifier may then be asked.
"""

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from rapidfuzz.fuzz import ratio

from evals.abstention.cases import normalised
from evals.abstention.detect import fold
from evals.abstention.wording import YES_NO
from evals.claims import Agreement, Claim, compare_figures, extract_claims
from evals.claims.figures import Figure, Reading, figures
from evals.claims.markup import plain
from evals.claims.terms import Terms, concept, terms

SENSE_VERSION = "1.0.0"

_ENOUGH = 0.7
"""Share of the expected answer's words that an answer in other words must have."""
_COVERED, _BARE = 0.6, 0.34
"""Shares of a statement's words found in the support: enough, and too few."""
_NO = ("no", "non", "nope")


class Found(NamedTuple):
    """``holds`` is None where the rules cannot tell."""

    holds: bool | None
    reason: str
    contradicted: bool = False


def gives_expected(answer: str, expected: str, question: str) -> Found:
    """Whether ``answer`` says what ``expected`` says."""
    answer, expected = plain(answer), plain(expected)
    polar = _yes_no(answer, expected, question)
    if polar is not None:
        return polar
    holding = [s for s in _clauses(answer) if _contains(s, expected)]
    if holding:
        denied = all(_negated(s) for s in holding) and not _negated(f"{expected} {question}")
        if not denied:
            return Found(True, "it contains the expected answer")
        return Found(False, "it denies the expected answer", contradicted=True)
    return _by_figures(answer, expected, question)


def _yes_no(answer: str, expected: str, question: str) -> Found | None:
    wanted, said = YES_NO.match(fold(expected)), YES_NO.match(fold(answer))
    if not wanted:
        return None
    positive = wanted[0].strip(" .,;:!") not in _NO
    if said:
        same = (said[0].strip(" .,;:!") not in _NO) == positive
        return Found(same, "the same yes or no" if same else "the opposite yes or no", not same)
    shared = _share(_words(question), _words(answer))
    if shared >= 0.5:
        same = (_negated(answer) == _negated(question)) == positive
        return Found(same, "it affirms as expected" if same else "it says the opposite", not same)
    return Found(None, "no yes or no is to be read in it")


def _by_figures(answer: str, expected: str, question: str) -> Found:
    wanted = figures(expected)
    asked = figures(question)
    given = [f for f in figures(answer) if not any(f.text == q.text for q in asked)]
    missing = [f for f in wanted if not any(_agree(f, g) for g in given)]
    if missing:
        rival = next((g for g in given if g.unit == missing[0].unit), None)
        if rival:
            return Found(False, f"“{rival.text}” instead of “{missing[0].text}”", contradicted=True)
        if len(expected.split()) <= 12:
            return Found(False, f"“{missing[0].text}” is not given")
        return Found(None, f"“{missing[0].text}” is not given as such")
    words = _words(expected, wanted) - _words(question)
    if wanted and len(words) <= 2:
        return Found(True, "the same figures")
    return _by_words(answer, expected, question, words)


def _by_words(answer: str, expected: str, question: str, words: set[str]) -> Found:
    words = words or _words(expected)
    mine, its = _terms(answer), _terms(expected)
    shared = _share(words, _words(answer))
    if mine.direction * its.direction < 0:
        return Found(False, "a rise against a fall", contradicted=True)
    if words and shared >= (_ENOUGH if len(words) > 2 else 1):
        if any(_negated(s) == _negated(expected) for s in _clauses(answer) if _words(s) & words):
            return Found(True, "the expected answer in other words")
        return Found(False, "it denies the expected answer", contradicted=True)
    names = its.entities | its.openers
    others = _names(answer) - {fold(n) for n in _names(question) | _names(expected)}
    if not shared and names and len(words) <= 4 and others:
        return Found(False, f"it names {min(others)!r} instead")
    return Found(None, "other words than the expected answer's")


def supported(claim: str, support: str, known: str) -> Found:
    """Whether ``claim`` stands in ``support``, or merely repeats ``known`` (question, expected)."""
    claim = plain(claim)
    comparison = compare_figures(claim, support)
    if comparison.verdict is Agreement.CONTRADICTS:
        return Found(False, comparison.reason, contradicted=True)
    ground = f"{support}\n{known}"
    stated = figures(ground, parts=True)
    for figure in figures(claim):
        if not any(_agree(figure, other) for other in stated):
            return Found(False, f"“{figure.text}” is nowhere in the support")
    ground_words = set(normalised(fold(ground)).split())
    for name in sorted(_names(claim)):
        if not _among(name, ground_words):
            return Found(False, f"“{name}” is nowhere in the support")
    words = _words(claim, figures(claim))
    if denied := _denied(claim, words, support):
        return Found(False, f"the support says the contrary: “{denied}”", contradicted=True)
    share = _share(words, _words(ground))
    if share >= _COVERED or not words:
        return Found(True, "its words stand in the support")
    if share < _BARE and len(words) >= 3:
        return Found(False, "nothing in the support speaks of it")
    return Found(None, "the support may say it in other words")


def statements(content: Iterable[str]) -> list[Claim]:
    """The claims of the parts of an answer that state something."""
    return [claim for part in content for claim in extract_claims(part)]


def _denied(claim: str, words: set[str], support: str) -> str | None:
    """The clause of the support that says the same words with or without "not"."""
    if len(words) < 2:
        return None
    best, passage = 0.0, ""
    for clause in _clauses(support):
        share = _share(words, _words(clause))
        if share > best or (share == best and _negated(clause) == _negated(claim)):
            best, passage = share, clause
    if best >= 0.8 and _negated(passage) != _negated(claim):
        return passage.strip()
    return None


_CLAUSE = re.compile(
    r"(?<=[.!?;:])\s+|\n+|,\s+(?=(?:but|while|whereas|mais|alors|tandis|et|and|however|cependant)\b)"
    r"|\s+(?=(?:but|mais|whereas|alors que|tandis que)\b)"
)


def _clauses(text: str) -> list[str]:
    return [part for part in _CLAUSE.split(text) if part and part.strip()]


def _contains(text: str, expected: str) -> bool:
    wanted = normalised(fold(expected))
    return bool(wanted) and f" {wanted} " in f" {normalised(fold(text))} "


def _terms(text: str, found: Sequence[Figure] = ()) -> Terms:
    return terms(text, tuple((f.start, f.end) for f in found))


def _negated(text: str) -> bool:
    return _terms(text).negated


def _words(text: str, found: Sequence[Figure] = ()) -> set[str]:
    """What ``text`` is about: concepts of its content words, names among them."""
    about = _terms(text, found)
    return set(about.words) | {concept(name) for name in about.entities | about.openers}


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
        and any(abs(len(o) - len(word)) <= 2 and ratio(word, o) >= 85 for o in others)
    )


def _agree(mine: Figure, its: Figure) -> bool:
    """Whether two figures can be the same: unit alike, intervals that meet."""
    if mine.unit != its.unit:
        return False
    if not (mine.readings and its.readings):
        pairs = list(zip(mine.fields, its.fields, strict=True))
        return any(a is not None and a == b for a, b in pairs) and not any(
            a is not None and b is not None and a != b for a, b in pairs
        )
    return any(_meet(a, b) for a in mine.readings for b in its.readings)


def _meet(mine: Reading, its: Reading) -> bool:
    if mine.point is not None and its.point is not None:
        return mine.low <= its.point <= mine.high or its.low <= mine.point <= its.high
    return mine.low <= its.high and its.low <= mine.high
