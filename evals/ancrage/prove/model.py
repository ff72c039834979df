"""What is planted, and where: an answer taken apart at its quotes, and kinds of changes to it."""

import random
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self

from ancrage.domain import Case, FailureMode, OutputState
from ancrage.studies import IndexedStudy


@dataclass(frozen=True)
class Unit:
    """One quote of an answer with the bracket that cites its message."""

    words: str
    """The quoted words, as they will stand in the answer."""
    message: str
    """The id of the message, as the study has it."""
    respondent: str
    cite: str | None
    """The bracket as it will stand; None where it is taken away."""
    marks: tuple[str, str] = ("« ", " »")

    @property
    def quoted(self) -> str:
        """The words between their marks."""
        return f"{self.marks[0]}{self.words}{self.marks[1]}"


@dataclass(frozen=True)
class UnitPlace:
    """Where a unit stands in the answer that it was taken from, in code points."""

    quote: tuple[int, int]
    """From the opening mark to after the closing one."""
    cite: tuple[int, int]


@dataclass(frozen=True)
class Draft:
    """An answer that can be changed and written in several shapes."""

    case: Case
    source: IndexedStudy
    text: str
    """The answer as it was."""
    units: tuple[Unit, ...]
    places: tuple[UnitPlace, ...]
    language: str
    before: str = ""
    """What is put before the whole, whatever its shape."""
    after: str = ""
    whole: Callable[[str], str] | None = None
    """What is done to the whole text at the end, such as another kind of spaces."""
    raised: frozenset[str] = frozenset()
    """Modes that find something in the answer as it was, where a person calls it clean."""

    def with_unit(self, at: int, **changes: Any) -> Self:
        """The draft with one unit changed."""
        units = list(self.units)
        units[at] = replace(units[at], **changes)
        return replace(self, units=tuple(units))

    def message_text(self, unit: Unit) -> str:
        """The whole message that a unit quotes."""
        found = self.source.message(unit.message)
        return found.text if found else ""

    def own_words(self) -> str:
        """The answer with its quotes, brackets and code blanked out, at the same offsets."""
        spans = [match.span() for match in _NOT_OWN.finditer(self.text)]
        for place in self.places:
            spans += [place.quote, place.cite]
        text = self.text
        for start, end in spans:
            text = text[:start] + " " * (end - start) + text[end:]
        return text

    def replaced(self, start: int, end: int, words: str) -> Self:
        """The draft that says ``words`` in the place of ``text[start:end]``, outside its quotes."""
        return self.rewritten(self.text[:start] + words + self.text[end:])

    def rewritten(self, text: str) -> Self:
        """The draft with another text altogether, written as it is."""
        return replace(self, text=text, units=(), places=())


_NOT_OWN = re.compile(r"\[[^\]\n]*\]|«[^»]*»|“[^”]*”|\"[^\"\n]*\"|`[^`]*`|(?m:^>.*$|^\s*\d+[.)]\s)")

OTHER_SHAPES = (
    "sentences",
    "bullets",
    "bullets_first",
    "bold_first",
    "numbered",
    "table",
    "block_quotes",
    "footnotes",
)
"""The shapes that an answer is written in besides its own."""

Plant = Callable[[Draft, random.Random], Draft | None]
"""Gives the changed draft; None where the change does not apply to it."""


Claimant = Literal["code", "models", "nobody"]


@dataclass(frozen=True)
class Kind:
    """One kind of change: a fault that a mode must find, or a harmless edit that none may."""

    name: str
    plant: Plant = field(repr=False)
    modes: tuple[str, ...] = ()
    """The modes that may own it, the right one first; empty for a harmless edit."""
    definition: str = ""
    not_in: tuple[str, ...] = ()
    """Shapes in which the change is no fault, such as ids without brackets in a table."""
    needs_quotes: bool = True
    """Whether it is planted in quotes; if not, also in answers that quote nobody, as they are."""
    claimed_by: Claimant = "code"
    """Who says that it finds this. What is not found where its claimant does not look counts as
    *not claimed*, which no floor holds against anybody."""

    @property
    def is_fault(self) -> bool:
        """Whether something must be found."""
        return bool(self.modes)


def fault(
    *modes: str, needs_quotes: bool = True, claimed_by: Claimant = "code"
) -> Callable[[Plant], Kind]:
    """Declare the decorated function as a kind of fault that one of ``modes`` must find.

    A mode is that of an evaluator, or a state that an answer ends in (``empty``, ``truncated``).
    """

    def declare(plant: Plant) -> Kind:
        name, definition = _described(plant)
        kind = Kind(name, plant, modes, definition, (), needs_quotes, claimed_by)
        return kind if needs_quotes else replace(kind, not_in=OTHER_SHAPES)

    return declare


def harmless(plant: Plant) -> Kind:
    """Declare the decorated function as an edit that must raise nothing."""
    name, definition = _described(plant)
    return Kind(name, plant, (), definition)


def _described(plant: Plant) -> tuple[str, str]:
    name = getattr(plant, "__name__", "kind").strip("_")
    return name, " ".join((plant.__doc__ or "").split())


def known(modes: Iterable[FailureMode], kind: Kind) -> bool:
    """Whether the evaluators, or the run itself, own a mode that can find ``kind``."""
    names = {mode.name for mode in modes} | set(OutputState)
    return not kind.is_fault or kind.claimed_by == "nobody" or bool(names & set(kind.modes))
