"""A failure mode's rate over runs, and where the series breaks because something else changed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from ancrage.compare import figures
from ancrage.compare.model import Side
from ancrage.compare.pairing import outcomes, side, unit_codes
from ancrage.compare.results import Results, read_results
from ancrage.domain import RunState
from ancrage.errors import UsageError
from ancrage.program import called
from ancrage.report.grid import Grid
from ancrage.report.text import line
from ancrage.runs import RUNS, list_runs
from ancrage.stats.units import FEWEST

_BAR = 20
_SPARKS = "▁▂▃▄▅▆▇█"
_ASCII_SPARKS = "_.-=oO#"


@dataclass(frozen=True)
class Point:
    """One run in the history of a mode."""

    results: Results
    side: Side
    breaks: tuple[str, ...]
    """What else changed since the point before: the two are not strictly comparable."""


def read_history(
    root: Path = RUNS, *, kind: str | None = None, last: int = 20
) -> tuple[list[Results], list[str]]:
    """The newest ``last`` runs, oldest first, and in words those that cannot be read.

    Raises:
        UsageError: there is no run.
    """
    folders = [each for each in list_runs(root) if kind in (None, each.run.kind)]
    if not folders:
        what = f"{kind} run" if kind else "run"
        raise UsageError(f"no {what} in {root}/; make one: {called('experiment')}")
    read, unreadable = [], []
    for folder in folders[-last:]:
        try:
            read.append(read_results(folder))
        except UsageError as error:
            unreadable.append(f"{folder.path.name}: {error}")
    return read, unreadable


def trend(runs: Sequence[Results], mode: str) -> list[Point]:
    """The points of ``mode``, one for each run that was scored for it."""
    points: list[Point] = []
    for results in runs:
        if mode not in results.modes:
            continue
        codes = unit_codes(results.cases, results.studies)
        clustered = len(set(codes.tolist())) >= FEWEST
        found = side(outcomes((results,), mode, results.cases), codes if clustered else None)
        before = points[-1].results if points else None
        points.append(Point(results, found, tuple(_breaks(before, results, mode))))
    return points


def modes_of(runs: Sequence[Results]) -> list[str]:
    """Every mode that any of the runs was scored for."""
    return list(dict.fromkeys(mode for each in runs for mode in each.modes))


def _breaks(before: Results | None, after: Results, mode: str) -> Iterator[str]:
    if before is None:
        return
    if before.origin.snapshot != after.origin.snapshot:
        yield "other data"
    old, new = before.modes[mode], after.modes[mode]
    if (old.evaluator, old.version) != (new.evaluator, new.version):
        yield "other evaluator version"


def table(mode: str, points: Sequence[Point]) -> RenderableType:
    """One mode over the runs, a line each, with its interval drawn."""
    top = max((p.side.interval.high for p in points if p.side.scored), default=1.0) or 1.0
    rows = Grid(
        "Date", "Run", "Rate", "95 %", f"0 … {figures.percent(top)}", "", whole=(0, 2, 3, 4)
    )
    for point in points:
        origin, found = point.results.origin, point.side
        remarks = [*point.breaks, *_short(point)]
        rows.add(
            f"{origin.created:%Y-%m-%d %H:%M}",
            line(origin.name),
            figures.fraction(found),
            figures.between(found.interval) if found.scored else "",
            _bar(found, top),
            Text(", ".join(remarks), "yellow"),
        )
    return Stack(Text(mode, "bold"), rows)


def _short(point: Point) -> Iterator[str]:
    """What a run's rate does not rest on."""
    state = point.results.origin.state
    if state is not RunState.COMPLETE:
        yield state.value
    if point.side.unscored:
        yield f"{point.side.unscored} unscored"


def _bar(found: Side, top: float) -> Text:
    if found.rate is None:
        return Text("")
    low, at, high = (
        min(_BAR - 1, int(value / top * _BAR))
        for value in (found.interval.low, found.rate, found.interval.high)
    )
    return Text(
        "".join("●" if i == at else "─" if low <= i <= high else " " for i in range(_BAR)), "cyan"
    )


def summary(runs: Sequence[Results], *, ascii_only: bool = False) -> RenderableType:
    """Every mode in one line: its first and newest rate, the course between them, and what the
    newest lacks."""
    rows = Grid("Failure mode", "Runs", "First", "Newest", "Course", "", right=(1, 2, 3))
    breaks = False
    for mode in modes_of(runs):
        points = trend(runs, mode)
        broken = sum(bool(point.breaks) for point in points)
        remarks = [f"{broken} break{'s' if broken > 1 else ''}"] if broken else []
        remarks += _short(points[-1])
        breaks |= bool(broken)
        rows.add(
            mode,
            str(len(points)),
            figures.percent(points[0].side.rate),
            figures.percent(points[-1].side.rate),
            Text(_spark(points, ascii_only=ascii_only)),
            Text(", ".join(remarks), "yellow"),
        )
    told = "A break: the data or the evaluator's version changed, so that rates before and after"
    how = called("history --mode MODE")
    return (
        Stack(rows, Text(f"{told} it do not compare; {how} says where.", "dim")) if breaks else rows
    )


def _spark(points: Sequence[Point], *, ascii_only: bool) -> str:
    steps = _ASCII_SPARKS if ascii_only else _SPARKS
    top = max((point.side.rate or 0.0 for point in points), default=0.0) or 1.0
    return "".join(
        " " if point.side.rate is None
        else steps[min(len(steps) - 1, int(point.side.rate / top * len(steps)))]
        for point in points
    )  # fmt: skip


def plot(trends: dict[str, Sequence[Point]], path: Path) -> None:
    """Draw the rates with their intervals to ``path`` (PNG, SVG or PDF by its suffix).

    A hollow point follows a break: other data, or another version of the evaluator.

    Raises:
        UsageError: matplotlib is not installed, or cannot write such a file.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("--plot needs matplotlib: pip install 'ancrage[plots]'") from None
    figure = Figure(figsize=(8, 1.2 + 2.2 * len(trends)), layout="constrained")
    axes = figure.subplots(len(trends), 1, squeeze=False, sharex=True)[:, 0]
    for axis, (mode, points) in zip(axes, trends.items(), strict=True):
        scored = [point for point in points if point.side.rate is not None]
        times = [point.results.origin.created for point in scored]
        rates = [100 * (point.side.rate or 0.0) for point in scored]
        below = [r - 100 * p.side.interval.low for r, p in zip(rates, scored, strict=True)]
        above = [100 * p.side.interval.high - r for r, p in zip(rates, scored, strict=True)]
        axis.errorbar(times, rates, yerr=[below, above], color="#1c4f7c", marker="o", capsize=3)
        broken = [at for at, point in enumerate(scored) if point.breaks]
        axis.plot(
            [times[at] for at in broken], [rates[at] for at in broken],
            linestyle="none", marker="o", markerfacecolor="white", color="#1c4f7c", zorder=3,
        )  # fmt: skip
        axis.set_title(mode, loc="left", fontsize=10)
        axis.set_ylabel("% of scored")
        axis.set_ylim(bottom=0)
        axis.spines[["top", "right"]].set_visible(False)
    figure.autofmt_xdate()
    try:
        figure.savefig(path, dpi=150)
    except (OSError, ValueError) as error:
        raise UsageError(f"--plot {path}: {error}") from None
