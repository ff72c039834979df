"""The comparison as one HTML file that needs nothing else: no server, no network, no other file.

What differs between answers is computed here, word by word, against the first run; the answers
stand in compressed blocks that the page unpacks when one is opened or searched.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from markupsafe import Markup

from ancrage.compare import figures
from ancrage.compare.details import Detail, read_details
from ancrage.compare.model import Comparison, ModeComparison, Side, held_regressions, label
from ancrage.compare.results import Group, Results
from ancrage.domain import Finding, OutputState, Usage
from ancrage.files import write_atomic
from ancrage.report import page
from ancrage.report.text import difference, line, segments, visible
from ancrage.stats import Interval

TEXT_BUDGET = 30_000_000
"""Characters of answers kept in the page; cases that changed come first."""
LONGEST_DIFFERENCE = 20_000
"""Answers longer than this are shown without a word-by-word difference."""
LISTED = 50
"""Regressions listed before everything else."""
BLOCK = 64
"""Cases in a block."""

_WIDTH = 130
_EDGE = 5


def write_html(sides: Sequence[Group], comparisons: Sequence[Comparison], path: Path) -> None:
    """Write the page to ``path`` in one step; ``comparisons`` set each side against the first."""
    write_atomic(path, render(sides, comparisons), private=True)


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
        "anchor": figures.anchor,
        "anchors": figures.anchors,
    }
    style = page.inline("ancrage.report/report.css", "ancrage.compare/compare.css")
    script = page.inline("ancrage.report/shared.js", "ancrage.compare/compare.js")
    runs = [run for side in sides for run in side]
    cases = list(dict.fromkeys(case for run in runs for case in run.cases))
    questions = _questions(runs)
    first = _first(comparisons)
    titles = {mode.name: mode.title for run in runs for mode in run.modes.values()}
    kept = _kept(runs, comparisons, first)
    blocks = list(_blocks(runs, kept, titles))
    return environment.get_template("compare.html.j2").generate(
        names=[line(label(tuple(run.origin for run in side))) for side in sides],
        comparisons=comparisons,
        units=figures.units,
        policy=page.policy(style, script),
        style=style,
        script=script,
        chart=Chart(comparisons),
        first_total=len(first),
        first_cases=[
            {"id": case, "question": questions.get(case, ""), "modes": [titles[m] for m in modes]}
            for case, modes in list(first.items())[:LISTED]
        ],
        runs=[
            {"name": line(run.origin.name), "side": at, "figures": _figures(run)}
            for at, side in enumerate(sides)
            for run in side
        ],
        modes=_rows(comparisons),
        data=page.packed(_data(sides, comparisons, cases, questions, kept, blocks)),
        blocks=[(number, content) for number, (_, content) in enumerate(blocks)],
        repeats=[
            (mode.title, line(label(origins)), found)
            for comparison in comparisons
            for mode in comparison.modes
            for origins, found in (
                *(
                    ((comparison.first, mode.first_repeats),)
                    if comparison is comparisons[0]
                    else ()
                ),
                (comparison.second, mode.second_repeats),
            )
            if found
        ],
    )


def _first(comparisons: Sequence[Comparison]) -> dict[str, list[str]]:
    """The cases that stand before everything else, each with its modes, most modes first."""
    cases: dict[str, list[str]] = {}
    for mode, found in held_regressions(comparisons).items():
        for case in found:
            cases.setdefault(case, []).append(mode)
    return dict(sorted(cases.items(), key=lambda entry: -len(entry[1])))


def _figures(run: Results) -> list[str]:
    """One row of the table of runs; a dash where the record does not say."""
    ok = sum(state is OutputState.OK for state in run.states)
    read = list(run.anchors.values())
    used = list(run.usage.values())
    cost = [usage.cost for usage in used if usage.cost is not None]
    latency = [usage.latency for usage in used if usage.latency is not None]
    tokens = [
        [count for usage in used if (count := getattr(usage, name)) is not None]
        for name in ("input_tokens", "output_tokens")
    ]
    return [
        f"{ok}/{len(run.cases)}",
        *(
            f"{sum(count):,}" if read else "–"
            for count in (
                [answer.citations for answer in read],
                [answer.quotes for answer in read],
                [answer.held for answer in read],
                [not (answer.citations or answer.quotes) for answer in read],
            )
        ),
        f"{sum(cost):.4g}" if cost else "–",
        f"{np.median(latency):.2f} s" if latency else "–",
        *(f"{sum(counts):,}" if counts else "–" for counts in tokens),
    ]


def _questions(runs: Sequence[Results]) -> dict[str, str]:
    view = next((run.view for run in runs if run.view), None)
    if view is None:
        return {}
    return {case.id: line(case.input.question)[:140] for case in view.snapshot.cases()}


def _rows(comparisons: Sequence[Comparison]) -> list[list[ModeComparison]]:
    """For each failure mode its comparison in each of ``comparisons`` that has it."""
    rows: dict[str, list[ModeComparison]] = {}
    for comparison in comparisons:
        for mode in comparison.modes:
            rows.setdefault(mode.mode, []).append(mode)
    return list(rows.values())


def _data(
    sides: Sequence[Group],
    comparisons: Sequence[Comparison],
    cases: Sequence[str],
    questions: dict[str, str],
    kept: Sequence[str],
    blocks: "Sequence[tuple[int, Markup]]",
) -> dict[str, object]:
    """The matrix: for each mode and run one character a case."""
    runs = [run for side in sides for run in side]
    modes = {mode.name: mode for run in runs for mode in run.modes.values()}
    studies = {c: s or "" for run in runs for c, s in zip(run.cases, run.studies, strict=True)}
    position = {case: at for at, case in enumerate(cases)}
    held = sum(count for count, _ in blocks)
    return {
        "runs": [
            {"name": line(run.origin.name), "side": at}
            for at, side in enumerate(sides)
            for run in side
        ],
        "sides": [line(label(tuple(run.origin for run in side))) for side in sides],
        "modes": [[mode.name, line(mode.title)] for mode in modes.values()],
        "cases": [visible(case) for case in cases],
        "studies": [line(studies[case]) for case in cases],
        "questions": [questions.get(case, "") for case in cases],
        "outcomes": [[_codes(run, mode, cases) for run in runs] for mode in modes],
        "compared": [
            [any(m.mode == mode and not m.problem for m in found.modes) for found in comparisons]
            for mode in modes
        ],
        "kept": [position[case] for case in kept[:held]],
        "block": BLOCK,
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


def _kept(
    runs: Sequence[Results], comparisons: Sequence[Comparison], first: dict[str, list[str]]
) -> list[str]:
    """The cases whose answers are kept, most telling first, as far as the budget goes."""
    changed = (c for found in comparisons for c in (*found.newly_failing, *found.newly_passing))
    failing = (
        run.cases[at]
        for run in runs
        for mode in run.modes
        for at in np.flatnonzero(run.failures(mode) == 1).tolist()
    )
    rest = (case for run in runs for case in run.cases)
    return list(dict.fromkeys([*first, *changed, *failing, *rest]))


def _blocks(
    runs: Sequence[Results], kept: Sequence[str], titles: dict[str, str]
) -> Iterator[tuple[int, Markup]]:
    """Compressed answers, each block with how many cases it holds, until the budget is spent."""
    spent = 0
    for start in range(0, len(kept), BLOCK):
        cases = kept[start : start + BLOCK]
        details = [read_details(run, cases) for run in runs]
        spent += sum(len(detail.text) for found in details for detail in found.values())
        if spent > TEXT_BUDGET or not any(details):
            return
        yield len(cases), page.packed([_case(case, runs, details, titles) for case in cases])


def _case(
    case: str,
    runs: Sequence[Results],
    details: Sequence[dict[str, Detail]],
    titles: dict[str, str],
) -> list[dict[str, object] | None]:
    """What each run has of a case."""
    base = details[0].get(case)
    found: list[dict[str, object] | None] = []
    for run, known in zip(runs, details, strict=True):
        detail = known.get(case)
        if detail is None:
            found.append(None)
            continue
        found.append(
            {
                "question": visible(detail.case.input.question),
                "pieces": pieces(base.text if base else "", detail.text, detail.findings),
                "same": base is not None and base.text == detail.text,
                "reason": line(detail.reason or ""),
                "usage": _usage(run.usage.get(case)),
                "unscored": {m: line(why[case]) for m, why in run.reasons.items() if case in why},
                "findings": [_finding(finding, titles) for finding in detail.findings],
            }
        )
    return found


def pieces(
    base: str, text: str, findings: Sequence[Finding]
) -> list[tuple[str, str, tuple[int, ...]]]:
    """``text`` cut where it differs from ``base`` and where findings begin and end.

    Each piece is ``same``, ``added`` or ``removed`` (of ``base``, not in ``text``), its words, and
    the findings whose passage it lies in. All but the removed ones make up ``text``.
    """
    changes = [("same", text)]
    if base != text and base and max(len(base), len(text)) <= LONGEST_DIFFERENCE:
        changes = list(difference(base, text))
    if "".join(words for kind, words in changes if kind != "removed") != text:
        changes = [("same", text)]
    spans = [(finding.evidence.start, finding.evidence.end) for finding in findings]
    cut: list[tuple[str, str, tuple[int, ...]]] = []
    at = 0
    for kind, words in changes:
        if kind == "removed":
            cut.append((kind, visible(words), ()))
            continue
        inside = [(max(0, a - at), min(len(words), b - at)) for a, b in spans]
        kept = [n for n, (a, b) in enumerate(inside) if a < b]
        for segment in segments(words, [inside[n] for n in kept]):
            numbers = tuple(kept[n] for n in segment.spans)
            cut.append((kind, visible(segment.text), numbers))
        at += len(words)
    return cut


def _usage(usage: Usage | None) -> str:
    if usage is None:
        return ""
    parts = []
    if usage.latency is not None:
        parts.append(f"{usage.latency:.1f} s")
    if usage.input_tokens is not None or usage.output_tokens is not None:
        parts.append(f"{usage.input_tokens or 0:,} + {usage.output_tokens or 0:,} tokens")
    if usage.cost is not None:
        parts.append(f"cost {usage.cost:.4g}")
    return " · ".join(parts)


def _finding(finding: Finding, titles: dict[str, str]) -> dict[str, object]:
    source = finding.source_passage
    return {
        "title": line(titles.get(finding.mode, finding.mode)),
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
