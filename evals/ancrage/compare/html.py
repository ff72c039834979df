"""The comparison as one HTML file that needs nothing else: no server, no network, no other file."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ancrage.compare import figures
from ancrage.compare.details import Detail, read_details
from ancrage.compare.model import Comparison, ModeComparison, Side, label
from ancrage.compare.results import Group, Results
from ancrage.domain import Finding, OutputState
from ancrage.report import page
from ancrage.report.payload import script_json
from ancrage.report.text import line, visible
from ancrage.stats import Interval

TEXT_BUDGET = 30_000_000
"""Characters of answers kept in the page; cases that changed come first."""

_WIDTH = 130
_EDGE = 5


def write_html(sides: Sequence[Group], comparisons: Sequence[Comparison], path: Path) -> None:
    """Write the page to ``path`` in one step; ``comparisons`` set each side against the first."""
    page.write(render(sides, comparisons), path)


def render(sides: Sequence[Group], comparisons: Sequence[Comparison]) -> Iterator[str]:
    """The HTML, piece by piece."""
    environment = page.environment("ancrage.compare")
    environment.filters |= {
        "line": line,
        "percent": figures.percent,
        "fraction": figures.fraction,
        "between": figures.between,
        "points": figures.points,
        "points_between": figures.points_between,
        "p": figures.p_value,
    }
    style = page.inline("ancrage.report/report.css", "ancrage.compare/compare.css")
    script = page.inline("ancrage.report/shared.js", "ancrage.compare/compare.js")
    runs = [each for side in sides for each in side]
    cases = _cases(runs)
    return environment.get_template("compare.html.j2").generate(
        names=[line(label(tuple(each.origin for each in side))) for side in sides],
        comparisons=comparisons,
        units=figures.units,
        policy=page.policy(style, script),
        style=style,
        script=script,
        chart=Chart(comparisons),
        modes=_rows(comparisons),
        data=script_json(_data(sides, comparisons, cases)),
        details=_details(runs, cases, comparisons),
        repeats=[
            (mode.title, line(label(origins)), found)
            for each in comparisons
            for mode in each.modes
            for origins, found in (
                *(((each.first, mode.first_repeats),) if each is comparisons[0] else ()),
                (each.second, mode.second_repeats),
            )
            if found
        ],
    )


def _rows(comparisons: Sequence[Comparison]) -> list[list[ModeComparison]]:
    """For each failure mode its comparison in each of ``comparisons`` that has it."""
    rows: dict[str, list[ModeComparison]] = {}
    for each in comparisons:
        for mode in each.modes:
            rows.setdefault(mode.mode, []).append(mode)
    return list(rows.values())


def _cases(runs: Sequence[Results]) -> list[str]:
    """Every case of any run."""
    return list(dict.fromkeys(case for each in runs for case in each.cases))


def _data(
    sides: Sequence[Group], comparisons: Sequence[Comparison], cases: Sequence[str]
) -> dict[str, object]:
    """The matrix: for each mode and run one character a case."""
    runs = [each for side in sides for each in side]
    modes = {mode.name: mode for each in runs for mode in each.modes.values()}
    head = next((run.view for run in runs if run.view), None)
    questions = {case.id: case for case in head.snapshot.cases()} if head else {}
    studies = {c: s or "" for each in runs for c, s in zip(each.cases, each.studies, strict=True)}
    return {
        "runs": [
            {
                "id": line(each.origin.id),
                "name": line(each.origin.name),
                "side": at,
                "created": f"{each.origin.created:%Y-%m-%d %H:%M} UTC",
            }
            for at, side in enumerate(sides)
            for each in side
        ],
        "sides": [line(label(tuple(each.origin for each in side))) for side in sides],
        "modes": [[mode.name, line(mode.title)] for mode in modes.values()],
        "cases": [visible(case) for case in cases],
        "studies": [line(studies[case]) for case in cases],
        "questions": [
            line(questions[case].input.question)[:140] if case in questions else ""
            for case in cases
        ],
        "outcomes": [[_codes(each, mode, cases) for each in runs] for mode in modes],
        "compared": [
            [any(m.mode == mode and not m.problem for m in each.modes) for each in comparisons]
            for mode in modes
        ],
    }


def _codes(results: Results, mode: str, cases: Sequence[str]) -> str:
    """``0`` passes, ``1`` fails, ``u`` unscored, ``m`` has no answer, ``-`` is not in the run."""
    failures = results.failures(mode)
    looked_for = mode in results.modes
    codes = []
    for case in cases:
        at = results.position.get(case)
        if at is None or not looked_for:
            codes.append("-")
        elif not np.isnan(failures[at]):
            codes.append("1" if failures[at] else "0")
        else:
            codes.append("u" if results.states[at] is OutputState.OK else "m")
    return "".join(codes)


def _details(
    runs: Sequence[Results], cases: Sequence[str], comparisons: Sequence[Comparison]
) -> Iterator[tuple[int, Markup]]:
    """For each case kept, its number and its answers in every run, as JSON."""
    position = {case: at for at, case in enumerate(cases)}
    changed = (c for each in comparisons for c in (*each.newly_failing, *each.newly_passing))
    failing = (
        each.cases[at]
        for each in runs
        for mode in each.modes
        for at in np.flatnonzero(each.failures(mode) == 1).tolist()
    )
    wanted = list(dict.fromkeys((*changed, *failing)))
    details = [read_details(each, wanted) for each in runs]
    spent = 0
    for case in wanted:
        found = [each.get(case) for each in details]
        spent += sum(len(each.text) for each in found if each)
        if spent > TEXT_BUDGET:
            return
        reasons = [
            {mode: line(why[case]) for mode, why in each.reasons.items() if case in why}
            for each in runs
        ]
        yield (
            position[case],
            script_json([_detail(each, why) for each, why in zip(found, reasons, strict=True)]),
        )


def _detail(detail: Detail | None, reasons: dict[str, str]) -> dict[str, object] | None:
    if detail is None:
        return None
    return {
        "text": visible(detail.text),
        "reason": line(detail.reason or ""),
        "unscored": reasons,
        "findings": [_finding(each) for each in detail.findings],
    }


def _finding(finding: Finding) -> dict[str, object]:
    source = finding.source_passage
    return {
        "mode": finding.mode,
        "start": finding.evidence.start,
        "end": finding.evidence.end,
        "explanation": visible(finding.explanation),
        "tier": line(finding.tier or ""),
        "source": line(finding.source_id or ""),
        "passage": visible(source.text) if source else "",
    }


class Chart:
    """Where rates and differences lie: one scale for all rates, one for all differences."""

    width = _WIDTH

    def __init__(self, comparisons: Sequence[Comparison]) -> None:
        modes = [mode for each in comparisons for mode in each.modes]
        highs = [s.interval.high for m in modes for s in (m.first, m.second) if s.scored]
        self.top = next((t for t in (0.05, 0.1, 0.25, 0.5) if max(highs, default=1) <= t), 1.0)
        spans = [max(abs(e) for e in m.interval) for m in modes if m.difference is not None]
        self.reach = next((t for t in (0.05, 0.1, 0.25, 0.5) if max(spans, default=1) <= t), 1.0)

    def rate(self, side: Side) -> tuple[str, str, str]:
        """The abscissae of the low end, the rate and the high end."""
        low, high = side.interval
        return (
            self._at(low / self.top),
            self._at((side.rate or 0) / self.top),
            self._at(high / self.top),
        )

    def change(self, interval: Interval, difference: float) -> tuple[str, str, str]:
        """The same of a difference; 0 lies in the middle."""
        low, at, high = (
            self._at((each / self.reach + 1) / 2)
            for each in (interval.low, difference, interval.high)
        )
        return low, at, high

    def _at(self, share: float) -> str:
        return f"{_EDGE + (_WIDTH - 2 * _EDGE) * min(1.0, max(0.0, share)):.1f}"
