"""Whether two figures are about the same thing, told by names, words, units and uniqueness.

No list of synonyms can hold every wording. So the lists only help or forbid (a shared concept
aligns, two different known concepts do not), and a wording that no list knows aligns when the rest
leaves little choice: the names of the claim stand by the context's figure, a plain word or a
second name is shared, and no other figure of the context could be meant.
"""

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from ancrage.claims.lexicon import LEXICON
from ancrage.claims.places import FigureInContext
from ancrage.claims.terms import concept

_MEASURES = frozenset(f"#{name}" for name in LEXICON["measures"].split())
_EVENTS = frozenset(LEXICON["events"].split())
_VAGUE = _MEASURES | {"#change", "#study"}
_COUNTED = ("count", "ordinal")
_PREFIX = 5
"""Letters that two stems share when they are forms of one word: rénover, rénovation."""


def comparable(place: FigureInContext, other: FigureInContext) -> bool:
    """Whether unit, role, thing counted and names allow the figures to be compared at all."""
    mine, its = place.figure, other.figure
    if mine.unit != its.unit or (its.role and mine.role and mine.role != its.role):
        return False
    if _counted(place, other) is None:
        return False
    names = _names(other)
    known = {concept(name) for name in names} | names
    if any(name not in names and concept(name) not in known for name in place.about.entities):
        return False
    openers = place.about.openers
    return (
        bool(place.about.entities)
        or not openers
        or any(w in names or concept(w) in known or concept(w).startswith("#") for w in openers)
    )


def alignment(place: FigureInContext, other: FigureInContext, *, only: bool = False) -> float:
    """How far two comparable figures are about the same thing, from 0 (not) to about 2.

    ``only`` says that no other figure of the context is comparable with the claim's.
    """
    counted = _counted(place, other)
    if counted is None:
        return 0
    local = place.nearby.words | {concept(w) for w in place.nearby.openers - other.names}
    local = undirected(local or place.about.words)
    its_words = undirected(other.about.words | {concept(w) for w in other.about.openers})
    shared = matched(local, its_words)
    no_choice = only and _no_choice(place, other, local, shared)
    if _another_event(place, other) and not (no_choice and _says_more(place, local - shared)):
        return 0
    alike = not local or (
        len(shared) / len(local) >= 0.5 and not (shared < local and shared <= _MEASURES)
    )
    if not alike and not no_choice:
        return 0
    named = place.about.entities | place.about.openers
    if not local and not named & _names(other) and not counted:
        return 0
    close = len(matched(local, undirected(other.nearby.words))) / len(local) if local else 1.0
    named = place.nearby.entities | place.nearby.openers
    here = other.nearby.entities | other.nearby.openers
    named_close = len(named & here) / len(named) if named else 0.5
    same_role = place.figure.role == other.figure.role
    return 0.1 + close + 0.5 * named_close + 0.25 * counted + 0.25 * same_role


def counts_a_part(place: FigureInContext, other: FigureInContext) -> bool:
    """Whether the claim counts some of what the context counts in all: it alone says more."""
    local = undirected(place.nearby.words)
    its_words = undirected(other.nearby.words)
    own = local - matched(local, undirected(other.about.words))
    said_more = any(not word.startswith("#") for word in own)
    return place.figure.unit == "count" and said_more and not its_words - matched(its_words, local)


def _no_choice(
    place: FigureInContext,
    other: FigureInContext,
    local: AbstractSet[str],
    shared: AbstractSet[str],
) -> bool:
    """Whether unknown wordings are about the same thing all the same: see the module."""
    named = (place.about.entities | place.about.openers) & _names(other)
    if not named:
        return False
    counted = {concept(f.noun) for f in (place.figure, other.figure) if f.noun}
    if all(word.startswith("#") for word in shared) and len(named) < 2:
        return False
    its_words = undirected(other.nearby.words)
    mine_alone = {w for w in local - shared if w.startswith("#")} - _VAGUE - counted
    its_alone = {w for w in its_words - local if w.startswith("#")} - _VAGUE - counted
    return not (mine_alone and its_alone)


def _another_event(place: FigureInContext, other: FigureInContext) -> bool:
    """Whether the context counts what happened to things, and the claim, it seems, all of them."""
    happened = _EVENTS & other.nearby.words
    return place.figure.unit == "count" and bool(happened - place.about.words)


def _says_more(place: FigureInContext, own: AbstractSet[str]) -> bool:
    """Whether the claim's ``own`` words may name the same event: one in no list, none known."""
    return not _EVENTS & place.about.words and any(not word.startswith("#") for word in own)


def matched(words: AbstractSet[str], among: AbstractSet[str]) -> frozenset[str]:
    """The ``words`` that stand ``among`` others, as such or in another form."""
    forms = {word[:_PREFIX] for word in among if len(word) >= _PREFIX and word[0] != "#"}
    return frozenset(
        word
        for word in words
        if word in among or (len(word) >= _PREFIX and word[0] != "#" and word[:_PREFIX] in forms)
    )


def undirected(words: Iterable[str]) -> frozenset[str]:
    """Rises and falls are about the same thing: a change."""
    return frozenset("#change" if word in ("#rise", "#fall") else word for word in words)


def _names(other: FigureInContext) -> frozenset[str]:
    return other.names | other.about.words | other.about.entities | other.about.openers


def _counted(place: FigureInContext, other: FigureInContext) -> float | None:
    """1 when both figures count the same, 0 when they count nothing, None when that differs.

    A figure without a noun counts what the other counts when its sentence speaks of it.
    """
    mine, its = place.figure, other.figure
    if mine.unit not in _COUNTED or not (mine.noun or its.noun):
        return 0
    if mine.noun and its.noun:
        return 1 if concept(mine.noun) == concept(its.noun) else None
    if mine.unit == "ordinal":
        return None
    bare, noun = (place, its.noun) if its.noun else (other, mine.noun)
    return 0 if concept(noun) in bare.about.words else None
