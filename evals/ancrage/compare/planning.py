"""``plan``: what it takes to see a change, in one screen."""

from dataclasses import dataclass

from rich import box
from rich.console import Group as Stack
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ancrage.errors import UsageError
from ancrage.report.text import counted
from ancrage.stats import labels_needed
from ancrage.stats import plan as needs
from ancrage.stats.units import FEWEST


@dataclass(frozen=True)
class Asked:
    """What is to be seen, and under which circumstances; see ``ancrage.stats.plan``.

    Raises:
        UsageError: the numbers make no sense.
    """

    rate: float
    detect: float
    studies: int | None
    alike: float
    steady: float
    modes: int
    alpha: float
    power: float

    def __post_init__(self) -> None:
        if not 0 < self.detect <= 1 - self.rate:
            raise UsageError(
                f"--detect {self.detect:g}: give a rise above 0 that {self.rate:g} can make"
            )
        if not 0 < self.alpha < 0.5 <= self.power < 1:
            raise UsageError(
                "--alpha lies between 0 and 0.5, --power from 0.5 up to, not including, 1"
            )
        if self.studies is not None and self.studies < FEWEST:
            raise UsageError(
                f"--studies {self.studies}: with fewer than {FEWEST} studies no test can be "
                "significant; leave it out to hold for these studies alone"
            )


def planned(asked: Asked) -> RenderableType:
    """The cases for several numbers of repeats, and the labels."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for name in ("Repeats of each side", "Cases", "Answers a side"):
        table.add_column(name, justify="right")
    found = needs(
        asked.rate, asked.detect, studies=asked.studies, alike=asked.alike, steady=asked.steady,
        level=asked.alpha / asked.modes, power=asked.power,
    )  # fmt: skip
    for need in found:
        known = need.cases is not None
        table.add_row(
            str(need.repeats),
            f"{need.cases:,}" if known else "none is enough",
            f"{need.answers:,}" if known else "–",
        )
    where = f" in {asked.studies} studies" if asked.studies else ""
    head = (
        f"To see a rate of {asked.rate:.1%} rise by {asked.detect * 100:g} points{where}, "
        f"{asked.power:.0%} of the time"
    )
    labels = labels_needed(asked.rate, asked.detect)
    few = max(labels, round(10 / asked.rate)) if asked.rate else labels
    return Stack(
        Text(head, "bold"),
        table,
        Text(
            f"Labels: {labels:,} cases drawn at random and labelled by a person pin the rate "
            f"itself down to ± {asked.detect * 100:g} points; about {few:,} hold ten that fail, "
            "the least to measure a judge by."
        ),
        Text(
            f"Assumed: {asked.steady:.0%} of failing cases fail again in a second run of the same "
            f"thing; changes within a study correlate by {asked.alike:g}; "
            f"{counted(asked.modes, 'mode')} share the level.",
            "dim",
        ),
    )
