"""What is planted, and where: an answer taken apart at its quotes, and kinds of changes to it."""

import random
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Self

from ancrage.domain import Case, FailureMode
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

    def with_unit(self, at: int, **changes: Any) -> Self:
        """The draft with one unit changed."""
        units = list(self.units)
        units[at] = replace(units[at], **changes)
        return replace(self, units=tuple(units))

    def message_text(self, unit: Unit) -> str:
        """The whole message that a unit quotes."""
        found = self.source.message(unit.message)
        return found.text if found else ""


Plant = Callable[[Draft, random.Random], Draft | None]
"""Gives the changed draft; None where the change does not apply to it."""


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

    @property
    def is_fault(self) -> bool:
        """Whether something must be found."""
        return bool(self.modes)


def fault(*modes: str) -> Callable[[Plant], Kind]:
    """Declare the decorated function as a kind of fault that one of ``modes`` must find."""

    def declare(plant: Plant) -> Kind:
        return _kind(plant, modes)

    return declare


def harmless(plant: Plant) -> Kind:
    """Declare the decorated function as an edit that must raise nothing."""
    return _kind(plant, ())


def _kind(plant: Plant, modes: tuple[str, ...]) -> Kind:
    name = getattr(plant, "__name__", "kind").strip("_")
    return Kind(name, plant, modes, " ".join((plant.__doc__ or "").split()))


def known(modes: tuple[FailureMode, ...], kind: Kind) -> bool:
    """Whether the evaluators own a mode that can find ``kind``."""
    return not kind.is_fault or bool({mode.name for mode in modes} & set(kind.modes))
