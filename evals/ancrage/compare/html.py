"""The comparison as a page: the cases of all runs side by side, and the figures below them."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import median

import numpy as np

from ancrage.compare import figures
from ancrage.compare.model import Comparison, ModeComparison, held_regressions, label
from ancrage.compare.results import Group, Results
from ancrage.domain import OutputState
from ancrage.files import write_atomic
from ancrage.report import page
from ancrage.report.index import Column, Entry, Index, Standing, pack
from ancrage.report.text import line
from ancrage.studies import Studies

_WIDTH = 105
"""Of the drawings, in pixels."""


def write_html(sides: Sequence[Group], comparisons: Sequence[Comparison], path: Path) -> None:
    """Write the page to ``path`` in one step; ``comparisons`` set each side against the first."""
    write_atomic(path, render(sides, comparisons), private=True)


def render(sides: Sequence[Group], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The HTML, piece by piece."""
    columns = [(run, Column(run.origin.name, at)) for at, side in enumerate(sides) for run in side]
    runs = [run for run, _ in columns]
    cases = list(dict.fromkeys(case for run in runs for case in run.cases))
    titles = {mode.name: mode.title for run in runs for mode in run.modes.values()}
    names = [line(label(tuple(run.origin for run in side))) for side in sides]
    rows = _rows(comparisons)
    compared = {
        mode: [any(m.mode == mode and not m.problem for m in found.modes) for found in comparisons]
        for mode in titles
    }
    index = Index([column for _, column in columns], names, titles, len(cases), compared)
    modes = [mode for row in rows for _, mode in row]
    scored = [side for mode in modes for side in (mode.first, mode.second) if side.scored]
    changes = [abs(end) for m in modes if m.difference is not None for end in m.interval]
    questions = _questions(runs)
    return page.stream(
        "ancrage.compare",
        "compare.html.j2",
        {
            "percent": figures.percent,
            "fraction": figures.fraction,
            "between": figures.between,
            "points": figures.points,
            "points_between": figures.points_between,
            "p": figures.p_value,
            "anchor": figures.anchor,
            "anchors": figures.anchors,
        },
        packed=pack(index, _entries(runs, cases, questions)),
        names=names,
        comparisons=comparisons,
        units=figures.units,
        modes=rows,
        rates=page.Scale(0, page.reach(side.interval.high for side in scored), _WIDTH),
        changes=page.Scale(-page.reach(changes), page.reach(changes), _WIDTH),
        held=[
            {"id": case, "question": questions.get(case, ""), "modes": [titles[m] for m in found]}
            for case, found in _held(comparisons).items()
        ],
        runs=[(column.name, *_taken(run)) for run, column in columns],
        repeats=list(_repeats(comparisons)),
    )


def _held(comparisons: Sequence[Comparison]) -> dict[str, list[str]]:
    """The cases that newly fail in every later run, each with its modes, most modes first."""
    cases: dict[str, list[str]] = {}
    for mode, found in held_regressions(comparisons).items():
        for case in found:
            cases.setdefault(case, []).append(mode)
    return dict(sorted(cases.items(), key=lambda entry: -len(entry[1])))


def _taken(run: Results) -> list[str]:
    """What a run has and took; a dash where the record does not say."""
    ok = sum(state is OutputState.OK for state in run.states)
    read, used = list(run.anchors.values()), list(run.usage.values())
    cost = [usage.cost for usage in used if usage.cost is not None]
    latency = [usage.latency for usage in used if usage.latency is not None]
    tokens = (
        [usage.input_tokens for usage in used if usage.input_tokens is not None],
        [usage.output_tokens for usage in used if usage.output_tokens is not None],
    )
    counts = (
        [answer.citations for answer in read],
        [answer.quotes for answer in read],
        [answer.held for answer in read],
        [not (answer.citations or answer.quotes) for answer in read],
    )
    return [
        f"{ok}/{len(run.cases)}",
        *(f"{sum(count):,}" if read else "–" for count in counts),
        f"{sum(cost):.4g}" if cost else "–",
        f"{median(latency):.2f} s" if latency else "–",
        *(f"{sum(count):,}" if count else "–" for count in tokens),
    ]


def _questions(runs: Sequence[Results]) -> dict[str, str]:
    view = next((run.view for run in runs if run.view), None)
    return {case.id: case.input.question for case in view.snapshot.cases()} if view else {}


def _rows(comparisons: Sequence[Comparison]) -> list[list[tuple[int, ModeComparison]]]:
    """By failure mode, its comparison for each later side that has it, with the side's number."""
    rows: dict[str, list[tuple[int, ModeComparison]]] = {}
    for number, comparison in enumerate(comparisons, start=1):
        for mode in comparison.modes:
            rows.setdefault(mode.mode, []).append((number, mode))
    return list(rows.values())


def _repeats(comparisons: Sequence[Comparison]) -> Iterator[tuple[str, ...]]:
    """How cases fared over the repeats of each side."""
    for comparison in comparisons:
        for mode in comparison.modes:
            sides = [(comparison.second, mode.second_repeats)]
            if comparison is comparisons[0]:
                sides.insert(0, (comparison.first, mode.first_repeats))
            for origins, found in sides:
                if found:
                    yield mode.title, label(origins), *figures.repeat_cells(found)


def _entries(
    runs: Sequence[Results], cases: Sequence[str], questions: dict[str, str]
) -> Iterator[Entry]:
    """Each of ``cases`` with what each run says and answered."""
    sources = {run.view.snapshot.path: Studies(run.view.snapshot) for run in runs if run.view}
    studies = {c: s or "" for run in runs for c, s in zip(run.cases, run.studies, strict=True)}
    for case in cases:
        items = [
            (item := run.view.item(case), sources[run.view.snapshot.path].of(item.case))
            if run.view and case in run.position
            else None
            for run in runs
        ]
        standings = [_standing(run, case) for run in runs]
        yield Entry(case, questions.get(case, ""), studies[case], standings, items)


def _standing(run: Results, case: str) -> Standing | None:
    at = run.position.get(case)
    if at is None:
        return None
    values = {mode: float(column[at]) for mode, column in run.values.items()}
    read = run.anchors.get(case)
    return Standing(
        state=run.states[at],
        scores={mode: None if np.isnan(value) else value for mode, value in values.items()},
        reasons={
            mode: run.reasons.get(mode, {}).get(case, "not scored")
            for mode, value in values.items()
            if np.isnan(value)
        },
        fails=tuple(sorted(read.diagnoses)) if read else (),
        silent=read is not None and not read.citations,
    )
