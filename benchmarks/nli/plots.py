"""The benchmark's plots, as PNG files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from ancrage.errors import UsageError
from ancrage.nli.thresholds import paper
from benchmarks.nli.bench import Result, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def _figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UsageError("plots need matplotlib: pip install 'ancrage[plots]'") from None
    return Figure(figsize=(width, height), layout="constrained", dpi=120)


def dead_zone(path: Path) -> Path:
    """The share of contradictions that the paper's rule corrects, by how many of a response's
    claims are contradicted: with equally sure claims, none below k²/(1 + k²)."""
    figure = _figure(7, 4)
    axes = figure.add_subplot()
    n = 40
    for k in (0.3, 0.5, 0.7, 1.0):
        shares, caught = [], []
        for wrong in range(1, n):
            rows = np.tile([0.95, 0.03, 0.02], (n, 1))
            rows[:wrong] = [0.02, 0.03, 0.95]
            decided = paper(rows, np.array([n]), k).decisions
            shares.append(wrong / n)
            caught.append(float((decided[:wrong] == 2).mean()))
        (line,) = axes.plot(shares, caught, drawstyle="steps-mid", label=f"k = {k}")
        axes.axvline(k * k / (1 + k * k), color=line.get_color(), linestyle=":", linewidth=1)
    axes.set_xlabel("share of the response's claims that are contradicted (all at p = 0.95)")
    axes.set_ylabel("share of them corrected")
    axes.set_title("Dead zone of τ = µ + kσ")
    axes.legend(title="dotted: k²/(1 + k²)")
    figure.savefig(path)
    return path


def f1_bars(result: Result, path: Path) -> Path:
    """F1 of every method with its interval."""
    rows = [row for row in result.rows if _value(row, "f1") is not None]
    figure = _figure(7, 0.4 * len(rows) + 1)
    axes = figure.add_subplot()
    positions = np.arange(len(rows))
    values = np.array([_value(row, "f1") for row in rows], dtype=float)
    low = np.array([row.measures["f1"].low for row in rows], dtype=float)
    high = np.array([row.measures["f1"].high for row in rows], dtype=float)
    axes.barh(positions, values, color="#7a9cc6")
    axes.errorbar(values, positions, xerr=[values - low, high - values], fmt="none", ecolor="black")
    axes.set_yticks(positions, [row.method for row in rows])
    axes.invert_yaxis()
    axes.set_xlim(0, 1)
    axes.set_xlabel("F1 of calling wrong claims wrong, 95 % interval over responses")
    axes.set_title(result.dataset)
    figure.savefig(path)
    return path


def sweep(results: Sequence[Result], path: Path) -> Path:
    """Precision, recall and F1 of the paper's rule by k, one panel a data set."""
    figure = _figure(3 * len(results), 3)
    panels = figure.subplots(1, len(results), sharey=True, squeeze=False)[0]
    for axes, result in zip(panels, results, strict=True):
        for name in ("precision", "recall", "f1"):
            axes.plot(
                [float(row.method) for row in result.sweep],
                [np.nan if (v := _value(row, name)) is None else v for row in result.sweep],
                marker="o",
                label=name,
            )
        axes.set_title(result.dataset, fontsize=9)
        axes.set_xlabel("k")
        axes.set_ylim(0, 1)
    panels[0].legend()
    figure.savefig(path)
    return path


def kinds(result: Result, path: Path) -> Path:
    """Errors by kind of claim, stacked, one bar a method and sort of error."""
    figure = _figure(8, 4.5)
    axes = figure.add_subplot()
    bars = [(f"{m}: {e}", k) for m, errors in result.taxonomy.items() for e, k in errors.items()]
    start = np.zeros(len(bars))
    for kind in ("temporal", "numeric", "substitution", "rare fact"):
        widths = np.array([counts.get(kind, 0) for _, counts in bars], dtype=float)
        axes.barh(range(len(bars)), widths, left=start, label=kind)
        start += widths
    axes.set_yticks(range(len(bars)), [name for name, _ in bars])
    axes.invert_yaxis()
    axes.set_xlabel(f"claims of {result.claims}")
    axes.set_title(result.dataset)
    axes.legend()
    figure.savefig(path)
    return path


def latency(stages: Mapping[str, Sequence[float]], path: Path) -> Path:
    """Milliseconds of an answer by stage: the median, and a line to the 95th percentile."""
    figure = _figure(7, 0.5 * len(stages) + 1)
    axes = figure.add_subplot()
    middle, high = (np.array([np.quantile(v, q) for v in stages.values()]) for q in (0.5, 0.95))
    axes.barh(range(len(stages)), middle, xerr=[np.zeros(len(stages)), high - middle])
    axes.set_yticks(range(len(stages)), list(stages))
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("processor time an answer, ms (log): median, line to the 95th percentile")
    figure.savefig(path)
    return path


def _value(row: Row, name: str) -> float | None:
    figure = row.measures.get(name)
    return figure.value if figure else None
