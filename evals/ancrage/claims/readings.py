"""What one figure allows: the interval that its precision, bounds and approximations leave."""

import math
import re
from dataclasses import dataclass

from ancrage.claims.lexicon import LEXICON


@dataclass(frozen=True)
class FigureReading:
    """What a figure allows: any value of the closed interval; ``point`` is the one it states."""

    low: float
    high: float
    point: float | None = None

    @property
    def bound(self) -> int:
        """1 for a lower bound alone, -1 for an upper one, 0 for neither."""
        return (self.high == math.inf) - (self.low == -math.inf)

    @property
    def edge(self) -> float:
        """The end of a bound."""
        return self.low if self.bound > 0 else self.high


@dataclass(frozen=True)
class Figure:
    """A number or a date of a text, in the base unit of its dimension."""

    start: int
    end: int
    text: str
    unit: str
    """``percent``, ``EUR``, ``length``, ``date``, …; ``count`` when what follows is a noun."""
    readings: tuple[FigureReading, ...]
    noun: str = ""
    """For counts: the word counted."""
    role: str = ""
    """``from`` or ``to`` in a change or a period, ``by`` for the change itself."""
    rounded: FigureReading | None = None
    """A wider reading for numbers that look rounded without saying so, such as 1,200."""
    fields: tuple[int | None, int | None, int | None] = (None, None, None)
    """Year, month and day of a date, where stated."""
    size: float = 1.0
    """Of the unit as written, in base units: 3600 for an hour."""
    denied: bool = False
    """Whether the text says that it is not this figure: "not 2019 but 2021"."""


_BEFORE = tuple(
    (
        sign,
        re.compile(
            rf"(?:^|(?<![\w'])|(?<=[ (~<>≤≥≈]))(?:{'|'.join(patterns)})[ ]?"
            r"(?:the |les |des |la |an? )?[€$£]?$",
            re.IGNORECASE,
        ),
    )
    for sign, patterns in LEXICON["before"].items()
)


_FOLLOWING = tuple(
    (sign, re.compile(rf"[ ]?(?:{'|'.join(patterns)})(?!\w)", re.IGNORECASE))
    for sign, patterns in LEXICON["after"].items()
)


_BEYOND = 1e-6
"""By how much, relatively, "more than 50" excludes 50 itself."""


def exact(point: float, step: float) -> FigureReading:
    """``point`` to half of its last stated digit, ``step``, on either side."""
    return FigureReading(point - step / 2, point + step / 2, point)


def sign_of(text: str, start: int, end: int) -> str:
    """The bound or approximation that the words around a number express."""
    before = text[max(0, start - 30) : start]
    signs: list[str] = [sign for sign, pattern in _FOLLOWING if pattern.match(text, end)]
    signs += [sign for sign, pattern in _BEFORE if pattern.search(before)]
    return signs[0] if signs else ""


def place_of(value: float) -> float:
    """The place of the last digit of ``value`` that is not zero: 100 for 1,200."""
    if value == 0 or value != int(value):
        return 1.0
    digits = str(int(value))
    return float(10 ** (len(digits) - len(digits.rstrip("0"))))


def allowed(point: float, step: float, place: float, sign: str) -> FigureReading:
    """What ``point`` allows under ``sign``: ≤ ≥ > < bound it, ~ and <~ approximate it.

    An approximation reaches to half of the last digit that is not zero (``place``), within 5 to
    10 % of the value.
    """
    size = abs(point)
    slack = max(step / 2, 0.05 * size, min(place / 2, 0.1 * size))
    match sign:
        case "~":
            return FigureReading(point - slack, point + slack, point)
        case "<~":
            return FigureReading(point - slack, point + step / 2, point)
        case ">":
            return FigureReading(point + _BEYOND * max(1.0, size), math.inf)
        case "≥":
            return FigureReading(point, math.inf)
        case "<":
            return FigureReading(-math.inf, point - _BEYOND * max(1.0, size))
        case "≤":
            return FigureReading(-math.inf, point)
    return exact(point, step)
