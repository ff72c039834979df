"""What a run must satisfy to ship: the ``[gate]`` table, or a policy file of its own."""

import tomllib
from datetime import date
from pathlib import Path
from typing import Annotated

from pydantic import Field, ValidationError

from ancrage.config import Config
from ancrage.domain import Frozen
from ancrage.errors import UsageError, describe

Share = Annotated[float, Field(ge=0, le=1)]


class Ignore(Frozen):
    """A case that the gate leaves out, until a day on which someone must look again."""

    case: str
    mode: str = "*"
    """A failure mode, or ``*`` for all of them."""
    until: date
    """The last day on which the entry holds."""
    reason: str = Field(min_length=1)


class Minimum(Frozen):
    """The table ``[gate.minimum]``; below any of these the gate is inconclusive."""

    cases: int = Field(default=30, ge=1)
    """The fewest cases, for the run and, once ignored cases are out, for every mode."""
    coverage: Share = 0.95
    """The smallest share of cases scored, for every mode."""
    citations: int = Field(default=1, ge=0)
    """The fewest citations and quotes, together, in the whole run; 0 for assistants that do not
    cite."""
    quotes_per_answer: float | None = Field(default=None, ge=0)
    """The fewest quotes held against a message, on average over the answers."""


DOUBT = 4
"""From ``alpha`` up to so many times it, what looks worse is inconclusive."""


class Policy(Frozen):
    """Every check of the gate; a check that cannot be made is inconclusive, never passed."""

    baseline: str | None = "main"
    """Name of the baseline to compare with; "" for none."""
    modes: tuple[str, ...] = ()
    """The failure modes that count; all that were scored on either side when empty."""
    ceilings: dict[str, Share] = {}
    """The highest rate allowed, by mode: 0.05 for 5 %."""
    alpha: float = Field(default=0.05, gt=0, lt=0.25)
    """The chance of blocking by mistake, over all modes together. What looks worse and is neither
    shown at this level nor dismissed at four times as much is inconclusive."""
    margin: float | None = Field(default=None, ge=0, lt=1)
    """The largest regression one can live with. When set, a mode passes only if the interval of
    its difference lies below it, whatever the unscored cases are."""
    minimum: Minimum = Minimum()
    """How much must have been looked at for anything to be said."""
    ignore: tuple[Ignore, ...] = ()

    def active(self, today: date) -> tuple[Ignore, ...]:
        """The entries of the ignore list that hold on a day."""
        return tuple(entry for entry in self.ignore if today <= entry.until)

    def expired(self, today: date) -> tuple[Ignore, ...]:
        """The entries that hold no more: their cases count again."""
        return tuple(entry for entry in self.ignore if today > entry.until)


def load_policy(config: Config, path: Path | None = None) -> Policy:
    """The policy of the file ``path``, else of the configuration's ``[gate]`` table.

    Raises:
        UsageError: the file cannot be read, or a field is unknown or out of range.
    """
    if path is None:
        return config.table("gate", Policy)
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: not valid TOML: {error}") from None
    if stray := table.keys() & Policy.model_fields.keys() if "gate" in table else ():
        raise UsageError(f"{path}: {min(stray)} stands outside of [gate] and would not count")
    try:
        return Policy.model_validate(table.get("gate", table))
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}") from None
