"""Figures in words, the same on the terminal, in Markdown and on the page."""

from ancrage.compare.model import AnchorChange, Comparison, ModeComparison, Repeats, Side
from ancrage.stats import Interval


def percent(rate: float | None) -> str:
    """``12.0 %``; a dash when there is no rate."""
    return "–" if rate is None else f"{rate * 100:.1f} %"


def fraction(side: Side) -> str:
    """``12/100 = 12.0 %``; over repeats the count can be a fraction."""
    if side.rate is None:
        return f"0/{side.cases} scored"
    return f"{side.failing:.4g}/{side.scored} = {percent(side.rate)}"


def between(interval: Interval) -> str:
    """``[6.9, 20.0]`` in percent."""
    return f"[{interval.low * 100:.1f}, {interval.high * 100:.1f}]"


def points(change: float | None) -> str:
    """``+9.0``: a change in percentage points."""
    return "–" if change is None else f"{_signed(change)}"


def points_between(interval: Interval) -> str:
    """``[+3.1, +15.2]`` in percentage points."""
    return f"[{_signed(interval.low)}, {_signed(interval.high)}]"


def _signed(change: float) -> str:
    value = round(change * 100, 1)
    return "0.0" if value == 0 else f"{value:+.1f}".replace("-", "−")


def p_value(p: float | None) -> str:
    """``0.012``, ``< 0.001``, or a dash."""
    if p is None:
        return "–"
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def quiet(mode: ModeComparison) -> bool:
    """Whether there is nothing to say of a mode: compared, all scored, no failure anywhere."""
    sides = (mode.first, mode.second)
    return mode.problem is None and not any(s.failing or s.unscored or not s.scored for s in sides)


def units(comparison: Comparison) -> str:
    """``100 cases in 12 studies``, or ``100 cases``."""
    if comparison.clustered:
        return f"{comparison.cases} cases in {comparison.clusters} studies"
    return f"{comparison.cases} cases"


def anchor(change: AnchorChange) -> str:
    """``citations 412 → 380``; of a diagnosis, with the quotes that it is counted over."""
    if change.what.startswith("quotes ") and change.what != "quotes held":
        over = f"{change.first:.4g}/{change.first_of} → {change.second:.4g}/{change.second_of}"
        return f"{change.what} {over}"
    return f"{change.what} {change.first:.4g} → {change.second:.4g}"


def anchors(comparison: Comparison) -> str:
    """Every count of what anchors the answers, in one line."""
    answers = comparison.anchors[0].first_of if comparison.anchors else 0
    return f"{'; '.join(anchor(change) for change in comparison.anchors)} in {answers} answers"


def repeat_cells(found: Repeats) -> tuple[str, ...]:
    """Always pass, always fail, flip, missing, cases; pass^k and pass@k over all k repeats."""
    counts = (found.always_pass, found.always_fail, found.flips, found.missing, found.cases)
    shares = (found.pass_hat[found.repeats], found.pass_at[found.repeats])
    return (*map(str, counts), *map(percent, shares))
