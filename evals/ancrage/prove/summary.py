"""The cells of a trial, added up by kind and by shape, and held against the floors."""

from collections import Counter
from collections.abc import Iterable, Sequence

from ancrage.domain import Frozen
from ancrage.prove.model import Kind
from ancrage.prove.settings import ProveSettings
from ancrage.prove.trial import Cell, Trial
from ancrage.stats.intervals import wilson


class Row(Frozen):
    """Some cells together, of one kind or of one shape."""

    name: str
    is_fault: bool
    definition: str = ""
    tried: int
    right: int
    other: int
    missed: int
    unscored: int
    not_claimed: int
    by_judges: int
    by_mode: dict[str, int] = {}
    floor: float | None = None

    @property
    def good(self) -> int:
        """Answers that came out as they should: found, or rightly left alone."""
        return self.right + self.other if self.is_fault else self.right

    @property
    def claimed(self) -> int:
        """Answers that somebody claims to judge: the denominator of every share."""
        return self.tried - self.not_claimed

    @property
    def rate(self) -> float:
        """The share of ``claimed`` that came out as it should; NaN where nothing is claimed."""
        return self.good / self.claimed if self.claimed else float("nan")

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of ``rate``."""
        return wilson(self.good, self.claimed)

    @property
    def falls_short(self) -> bool:
        """Whether even the upper end of ``interval`` lies below the floor of the kind."""
        return self.floor is not None and self.claimed > 0 and self.interval[1] < self.floor

    @property
    def undecided(self) -> bool:
        """Whether it falls short for no other reason than answers that could not be scored."""
        if not self.falls_short:
            return False
        return wilson(self.good + self.unscored, self.claimed)[1] >= (self.floor or 0)


def by_kind(trial: Trial, kinds: Sequence[Kind], settings: ProveSettings) -> list[Row]:
    """One row a kind that was planted, in the order of ``kinds``."""
    rows = []
    for kind in kinds:
        cells = [cell for cell in trial.cells if cell.kind == kind.name]
        if cells:
            rows.append(
                _row(kind.name, kind.is_fault, cells, kind.definition, settings.floor(kind))
            )
    return rows


def by_shape(trial: Trial, kinds: Sequence[Kind]) -> list[Row]:
    """Two rows a shape: its faults, and its harmless edits."""
    faults = {kind.name for kind in kinds if kind.is_fault}

    def rows(name: str) -> Iterable[Row]:
        cells = [cell for cell in trial.cells if cell.shape == name]
        for is_fault in (True, False):
            some = [cell for cell in cells if (cell.kind in faults) == is_fault]
            if some:
                yield _row(name, is_fault, some)

    shapes = dict.fromkeys(cell.shape for cell in trial.cells)
    return [row for name in shapes for row in rows(name)]


def pick(trial: Trial, kind: Kind, shape: str) -> Row | None:
    """The cells of one kind in one shape, as a row; None where there are none."""
    cells = [cell for cell in trial.cells if (cell.kind, cell.shape) == (kind.name, shape)]
    return _row(kind.name, kind.is_fault, cells) if cells else None


_COUNTS = ("tried", "right", "other", "missed", "unscored", "not_claimed", "by_judges")


def _row(
    name: str,
    is_fault: bool,
    cells: Sequence[Cell],
    definition: str = "",
    floor: float | None = None,
) -> Row:
    by_mode: Counter[str] = Counter()
    for cell in cells:
        by_mode.update(cell.found)
    return Row(
        name=name,
        is_fault=is_fault,
        definition=definition,
        **{name: sum(getattr(cell, name) for cell in cells) for name in _COUNTS},
        by_mode=dict(by_mode),
        floor=floor,
    )
