"""What a comparison says, as frozen models: the terminal, the page and the gate all show these."""

from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

from ancrage.compare.results import Origin
from ancrage.domain import Frozen
from ancrage.stats import Interval


class ChangeVerdict(StrEnum):
    """What the paired test allows one to say of a mode."""

    WORSE = "worse"
    BETTER = "better"
    UNCHANGED = "no evidence of change"
    TOO_FEW = "too few changes to tell"
    """So few units moved that no outcome of the test could have been significant."""
    UNEVEN = "one study decides"
    """Significant, but by one of few studies: no test is safe then."""
    NOT_COMPARED = "not compared"


class Side(Frozen):
    """One side of a comparison for one mode; ``cases == scored + unscored``."""

    cases: int
    scored: int
    """Cases with at least one scored repeat: the denominator."""
    unscored: int
    failing: float
    """Cases that fail; over repeats, the sum of the shares of repeats that fail."""
    rate: float | None
    interval: Interval
    """95 % interval of the rate, cases clustered by study."""
    bounds: Interval
    """The rate if every unscored verdict passed, and if every one failed."""


class Repeats(Frozen):
    """How one side's cases fared over its repeats, for one mode."""

    repeats: int
    cases: int
    always_pass: int
    always_fail: int
    flips: int
    missing: int
    flip_rate: float | None
    pass_hat: dict[int, float | None]
    """pass^k by k, over the cases scored at least k times; None when there is none."""
    pass_at: dict[int, float | None]
    noise: float | None
    """Standard deviation of one case's outcome between repeats, model and judge together."""
    model_noise: float | None
    """The model's part of it; None unless answers were also judged several times."""
    judge_noise: float | None
    """Standard deviation between verdicts on one answer; None when none was judged twice."""
    flaky: tuple[str, ...]
    """Cases that flip, most undecided first."""


class ModeComparison(Frozen):
    """One failure mode, second side against first."""

    mode: str
    title: str
    definition: str
    evaluator: str
    first: Side
    second: Side
    verdict: ChangeVerdict
    problem: str | None = None
    """Why the mode cannot be compared, in one line."""
    pairs: int
    """Cases scored on both sides: the denominator of the difference."""
    difference: float | None
    """Second rate − first rate over the pairs; above 0 is worse."""
    interval: Interval
    bounds: Interval
    """The difference under the best and the worst outcome of everything unscored."""
    cautious: Interval
    """The interval whatever the unscored are: its low end in the best case, its high end in the
    worst. ``interval`` itself when nothing is unscored."""
    p_value: float | None
    adjusted_p: float | None
    """Holm-adjusted over all modes compared, in all comparisons made together."""
    by: str = "cases"
    """What test and interval take as independent: ``studies`` or ``cases``."""
    other_p: float | None = None
    """The p-value, unadjusted, under the other choice; None when there is no other."""
    units: int
    """Independent units (studies, or cases) that moved."""
    detectable: float | None
    """The smallest true difference that would have shown, four times in five, adjusted for the
    other modes; None when none could have."""
    needed: int | None = None
    """Cases that would settle, four times in five, whether a change of this size is real."""
    caution: str | None = None
    """Why neither p-value nor interval is safe, when that is so."""
    noise_floor: float | None
    """What two runs of the same thing stay within, 95 % of the time, as the repeats measured it."""
    judge_floor: float | None
    """The part of that floor which comes from the judge alone; None when none was judged twice."""
    worse: tuple[str, ...]
    """Cases newly failing (with repeats: failing more often), largest change first."""
    better: tuple[str, ...]
    both_fail: int
    ignored: int = 0
    """Cases that the policy's ignore list takes out of this mode."""
    first_repeats: Repeats | None = None
    second_repeats: Repeats | None = None


class AnchorChange(Frozen):
    """One count of what anchors the answers, on both sides: a rate of 0 must be earned."""

    what: str
    """``citations``, ``quotes``, ``quotes held``, ``different quotes``, ``answers that cite
    nothing``, or a diagnosis of failing quotes."""
    first: float
    second: float
    first_of: int
    """What ``first`` is counted over: answers, or for a diagnosis quotes held."""
    second_of: int
    collapsed: bool = False
    """So much less that lower rates of failure say nothing."""


class Note(Frozen):
    """Something that differs between the sides and bears on how to read the rest."""

    text: str
    serious: bool
    """The sides are not strictly comparable; otherwise only good to know."""


class Comparison(Frozen):
    """Everything there is to say of two sides; each side is a run or the repeats of one."""

    first: tuple[Origin, ...]
    second: tuple[Origin, ...]
    made: datetime
    notes: tuple[Note, ...]
    cases: int
    """Cases that both sides have."""
    only_first: int
    """Cases of the first side that some other run lacks; they are not compared."""
    only_second: int
    clustered: bool
    """Whether there are studies enough to be independent units."""
    clusters: int
    """Studies when ``clustered``, else cases."""
    alpha: float
    modes: tuple[ModeComparison, ...]
    anchors: tuple[AnchorChange, ...] = ()
    family: int = 1
    """Comparisons made together, over which p-values are adjusted."""

    @property
    def newly_failing(self) -> tuple[str, ...]:
        """Cases worse in at least one mode, without duplicates."""
        return tuple(dict.fromkeys(case for mode in self.modes for case in mode.worse))

    @property
    def newly_passing(self) -> tuple[str, ...]:
        """Cases better in at least one mode, without duplicates."""
        return tuple(dict.fromkeys(case for mode in self.modes for case in mode.better))

    @property
    def collapsed(self) -> tuple[AnchorChange, ...]:
        """What anchors the answers far less than before."""
        return tuple(change for change in self.anchors if change.collapsed)


def label(side: tuple[Origin, ...]) -> str:
    """What to call a side: the run's name, or the group's with its number of repeats."""
    if len(side) == 1:
        return side[0].name
    return f"{side[0].group or side[0].name} ({len(side)} runs)"


def held_regressions(comparisons: Sequence[Comparison]) -> dict[str, tuple[str, ...]]:
    """By mode, the cases worse in every one of ``comparisons``; modes without one are left out."""
    found = {}
    for mode in comparisons[0].modes if comparisons else ():
        later = [
            set(other.worse)
            for comparison in comparisons[1:]
            for other in comparison.modes
            if other.mode == mode.mode and other.problem is None
        ]
        if len(later) == len(comparisons) - 1:
            cases = tuple(case for case in mode.worse if all(case in worse for worse in later))
            if cases:
                found[mode.mode] = cases
    return found
