"""What a bracket within a quote says in place of the respondent's words.

A bracket may resolve a pronoun, adapt a verb, name a noun; it distorts where another adjective,
adverb, verb or preposition takes the place of the respondent's.
"""

import re

from ancrage.quotes.inflection import same_word, stands_for_others, tokens
from ancrage.quotes.language import detect
from ancrage.quotes.normalise import canonical
from ancrage.quotes.turns import CONDITIONS, GOVERNS, NUMBER, SCALES, SENTENCE

_TOLD = 2_000
"""Characters that tell a text's language."""
_NAME = re.compile(r"(?<![\w'])[A-ZÀ-Þ][\w'-]+")
_SMALL = "if when what some all most si quand avec sur"
_NO_NAMES = frozenset(_SMALL.split())
_POINTING = (
    "the this that these those my your his her its our their le la les l ce cet cette ces mon ma"
    " mes ton ta tes son sa ses notre nos votre vos leur leurs"
)
_POINTS = frozenset(_POINTING.split())
"""What leads to a noun that is known already: ``my boss``, which a bracket may name."""
_REDACTED = re.compile(
    r"(?:pr[ée])?noms?|(?:first |last |full )?names?|company|employer|entreprise|société|employeur"
    r"|city|town|ville|place|lieu|brand|marque|e-?mail|phone|téléphone|address|adresse"
    r"|(?:redact|anonymi[sz]|remov|delet)ed|anonymisée?|masquée?|supprimée?|inaudible|illisible"
    r"|illegible|unclear|x+|\W+",
    re.IGNORECASE,
)


def in_bracket(bracket: str, replaced: str, text: str) -> tuple[str, str] | None:
    """What differs in kind between a bracket and the words it stands for in ``text``."""
    said = canonical(bracket)
    for kind, pattern in (*GOVERNS, ("condition", CONDITIONS)):
        if bool(pattern.search(replaced)) != bool(pattern.search(said)):
            shown = replaced if pattern.search(replaced) else said
            if kind == "negation" and pattern.search(said) and not pattern.search(replaced):
                return kind, shown.strip()
            if pattern.search(replaced) or kind != "hedge":
                return kind, shown.strip()
    mine = {word.lower() for word in SCALES.findall(said)}
    theirs = {word.lower() for word in SCALES.findall(replaced)}
    if mine != theirs and (theirs or (mine and replaced.strip())):
        return "quantity", replaced.strip() or said
    mine = {word.lower() for word in NUMBER.findall(said)}
    theirs = {word.lower() for word in NUMBER.findall(replaced)}
    if mine != theirs and (theirs or mine):
        return "quantity", replaced.strip() or said
    mine, theirs = _names(said), _names(replaced)
    if theirs and mine and not (mine & theirs):
        return "name", replaced.strip()
    return ("word", replaced.strip()) if _says_otherwise(said, replaced, text) else None


def _says_otherwise(said: str, replaced: str, text: str) -> bool:
    """Whether the bracket takes the place of a word that it neither resolves, inflects nor names.

    Known of French and English alone.
    """
    mine, theirs = tokens(said), tokens(replaced)
    left = [
        at
        for at, word in enumerate(theirs)
        if not stands_for_others(word) and not any(same_word(word, other) for other in mine)
    ]
    if not left or "…" in said or _REDACTED.fullmatch(said):
        return False
    if len(_names(replaced)) == len(left) or _is_named(theirs, left, mine, said[:1].isupper()):
        return False
    return detect(text[:_TOLD]) in (None, "fr", "en")


def _is_named(theirs: list[str], left: list[int], mine: list[str], named: bool) -> bool:
    """Whether what is replaced is one noun phrase that points to something known, and what
    replaces it is a noun phrase too."""
    first, last = left[0], left[-1]
    pointed = first > 0 and theirs[first - 1] in _POINTS and last - first <= 1
    ends = last + 1 == len(theirs) or stands_for_others(theirs[last + 1])
    return pointed and ends and bool(mine) and (named or stands_for_others(mine[0]))


def in_edge_bracket(bracket: str, edge: str, *, before: bool) -> tuple[str, str] | None:
    """A bracket at an edge of the quote against the words of the message beside it."""
    stops = [match.span() for match in SENTENCE.finditer(edge)]
    if before:
        beside = edge[stops[-1][1] :] if stops else edge
    else:
        beside = edge[: stops[0][0]] if stops else edge
    said = canonical(bracket)
    size = max(3, len(said.split()) + 2)
    words = beside.split()
    near = " ".join(words[-size:] if before else words[:size])
    for kind, pattern in (*GOVERNS, ("condition", CONDITIONS)):
        denied = pattern.search(near)
        if bool(denied) != bool(pattern.search(said)):
            return kind, near or said
    mine = {word.lower() for word in SCALES.findall(said)}
    theirs = {word.lower() for word in SCALES.findall(near)}
    if mine and mine != theirs:
        return "quantity", near or said
    numbers = {word.lower() for word in NUMBER.findall(said)}
    if (
        numbers
        and numbers != (counted := {word.lower() for word in NUMBER.findall(near)})
        and counted
    ):
        return "quantity", near
    names, known = _names(said), _names(near)
    if names and known and not (names & known):
        return "name", near
    neighbour = words[-1 if before else 0] if words else ""
    if len(tokens(said)) == len(tokens(neighbour)) == 1 and not stands_for_others(said.lower()):
        return ("word", neighbour) if _says_otherwise(said, neighbour, edge) else None
    return None


def _names(text: str) -> set[str]:
    """The capitalised words of ``text`` that are no pronoun, article or other small word."""
    found = {name: name.split("'")[0].lower() for name in _NAME.findall(text)}
    return {
        name for name, word in found.items() if not (stands_for_others(word) or word in _NO_NAMES)
    }
