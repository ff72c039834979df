"""A comparison and a gate's decision on the terminal, each in one screen."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.padding import Padding
from rich.text import Text

from ancrage.compare import figures
from ancrage.compare.gate import Decision, Outcome
from ancrage.compare.model import (
    ChangeVerdict,
    Comparison,
    ModeComparison,
    Side,
    held_regressions,
    label,
)
from ancrage.compare.results import Results
from ancrage.program import called
from ancrage.report.grid import Grid
from ancrage.report.payload import answer_text
from ancrage.report.text import difference, excerpt, line
from ancrage.runs import Item

CASES_SHOWN = 5
CASES_LISTED = 12
CONTEXT = 8
"""Words kept on each side of a change."""

_LOUD = "bold yellow"
_MARKS = {
    ChangeVerdict.WORSE: ("▲ worse", "bold red"),
    ChangeVerdict.BETTER: ("▼ better", "bold green"),
    ChangeVerdict.UNCHANGED: ("· no evidence", "dim"),
    ChangeVerdict.TOO_FEW: ("? too few", "yellow"),
    ChangeVerdict.UNEVEN: ("? one study", "yellow"),
    ChangeVerdict.NOT_COMPARED: ("✕ not compared", "bold yellow"),
}


def read_items(results: Results, cases: Iterable[str]) -> dict[str, Item]:
    """What ``results`` has of each of ``cases``; nothing for a baseline, which keeps no text."""
    view = results.view
    return {case: view.item(case) for case in cases if case in results.position} if view else {}


def overview(
    comparison: Comparison, details: Mapping[str, Item], *, shown: int = CASES_SHOWN
) -> RenderableType:
    """What changed, where, and whether it is more than noise.

    ``details`` has the second side's answers of the newly failing cases, where they can be had.
    """
    return Stack(*_parts(comparison, details, shown))


def held(comparisons: Sequence[Comparison]) -> RenderableType:
    """The cases that pass in the first run and fail in every later one: no chance of one run."""
    lines: list[RenderableType] = []
    for mode, cases in held_regressions(comparisons).items():
        shown = ", ".join(line(case) for case in cases[:CASES_LISTED])
        more = f" and {len(cases) - CASES_LISTED} more" if len(cases) > CASES_LISTED else ""
        lines.append(Text.assemble((f"  {mode} ({len(cases)})  ", "bold red"), shown + more))
    name = line(label(comparisons[0].first))
    later = f"every one of the {len(comparisons)} later runs"
    if not lines:
        return Text(f"No case passes in {name} and fails in {later}.\n", "green")
    return Stack(Text(f"Pass in {name}, fail in {later}", "bold"), *lines, Text())


def _parts(
    comparison: Comparison, details: Mapping[str, Item], shown: int
) -> Iterator[RenderableType]:
    yield Text.assemble(
        (line(label(comparison.first)), "bold"), " → ", (line(label(comparison.second)), "bold"),
        (f"  {comparison.cases} cases", "dim"),
    )  # fmt: skip
    for count, which in ((comparison.only_first, "first"), (comparison.only_second, "second")):
        if count:
            noun = "case is" if count == 1 else "cases are"
            yield Text(f"! {count} {noun} in the {which} but not in every run: left out", "yellow")
    if not comparison.cases:
        yield Text("! No case is in every run: nothing was compared, whatever stands below", _LOUD)
    for note in comparison.notes:
        yield Text(
            f"{'!' if note.serious else '·'} {line(note.text)}", "yellow" if note.serious else "dim"
        )
    yield Text()
    loud = [mode for mode in comparison.modes if not figures.quiet(mode)]
    if loud:
        yield _table(comparison, loud)
    silent = [mode.mode for mode in comparison.modes if figures.quiet(mode)]
    if silent:
        yield Text(f"No failure on either side, all scored: {', '.join(silent)}", "green")
    if not comparison.modes:
        yield Text(f"No failure mode was scored on either side: {called('score')}", "yellow")
    yield from _anchors(comparison)
    over = "modes" if comparison.family == 1 else f"modes of {comparison.family} comparisons"
    yield Text(
        f"95 % intervals, {figures.units(comparison)}; p: exact paired test by studies or by "
        f"cases, Holm-adjusted over {over}.\nNow: newly failing / newly passing. Would show: the "
        "smallest change that these cases would have\nshown four times in five. Unscored: the "
        "change if all that is unscored went one way, or the other.",
        "dim",
    )
    yield from _problems(loud)
    yield from _repeats(comparison)
    yield from _changed("Newly failing", comparison, details, shown)
    if comparison.newly_passing:
        names = ", ".join(line(case) for case in comparison.newly_passing[: 2 * shown])
        more = len(comparison.newly_passing) - 2 * shown
        yield Text.assemble(
            (f"\nNewly passing ({len(comparison.newly_passing)})  ", "bold green"),
            names + (f" and {more} more" if more > 0 else ""),
        )


def _table(comparison: Comparison, modes: Sequence[ModeComparison]) -> RenderableType:
    names = [line(label(origins))[:16] for origins in (comparison.first, comparison.second)]
    table = Grid("Failure mode", *names, "Change, points", whole=(1, 2))
    for mode in modes:
        mark, style = _MARKS[mode.verdict]
        table.add(
            Text.assemble(mode.mode, "\n", (mark, style), (_p(mode), "dim"), (_moved(mode), "dim")),
            _rate(mode.first),
            _rate(mode.second),
            _change(mode),
        )
    return table


def _p(mode: ModeComparison) -> str:
    if mode.adjusted_p is None:
        return ""
    p = f", p {figures.p_value(mode.adjusted_p)}"
    if mode.other_p is None:
        return p
    other = "cases" if mode.by == "studies" else "studies"
    return f"{p} by {mode.by} (by {other} {figures.p_value(mode.other_p)})"


def _moved(mode: ModeComparison) -> str:
    if mode.difference is None:
        return ""
    could = "none" if mode.detectable is None else f"{mode.detectable * 100:.1f}"
    return f"\nnow {len(mode.worse)}/{len(mode.better)}; would show {could}"


def _rate(found: Side) -> Text:
    text = Text(figures.fraction(found))
    if found.rate is not None:
        text.append(f"\n{figures.between(found.interval)}", "dim")
    if found.unscored:
        text.append(f"\n{found.unscored} unscored", "yellow")
    elif found.scored and found.bounds.low < found.bounds.high:
        text.append("\nunscored in some repeats", "yellow")
    return text


def _change(mode: ModeComparison) -> Text:
    if mode.difference is None:
        return Text("–")
    style = {ChangeVerdict.WORSE: "bold red", ChangeVerdict.BETTER: "bold green"}.get(
        mode.verdict, ""
    )
    text = Text.assemble((figures.points(mode.difference), style))
    text.append(f" {figures.points_between(mode.interval)}", "dim")
    if mode.bounds.low < mode.bounds.high:
        text.append(f"\nunscored: {figures.points_between(mode.bounds)}", "yellow")
    if mode.noise_floor is not None:
        text.append(f"\nnoise: ± {mode.noise_floor * 100:.1f}", "dim")
    if mode.judge_floor is not None:
        text.append(f"\njudge's noise: ± {mode.judge_floor * 100:.1f}", "dim")
    return text


def _anchors(comparison: Comparison) -> Iterator[RenderableType]:
    """What the answers cite and quote: no rate means anything without it."""
    if not comparison.anchors:
        return
    yield Text(f"\nWhat anchors the answers: {figures.anchors(comparison)}", "dim")
    for change in comparison.collapsed:
        yield Text(
            f"! {figures.anchor(change)}: what is not there cannot be wrong, so lower rates say "
            "nothing",
            "bold yellow",
        )


def _problems(modes: Sequence[ModeComparison]) -> Iterator[RenderableType]:
    for mode in modes:
        if mode.problem:
            yield Text(f"! {mode.mode}: {line(mode.problem)}", "yellow")
        if mode.caution:
            yield Text(f"! {mode.mode}: {mode.caution}", "yellow")
        if mode.ignored:
            yield Text(f"· {mode.mode}: {mode.ignored} ignored cases left out", "dim")


def _repeats(comparison: Comparison) -> Iterator[RenderableType]:
    rows = [
        (mode.mode, line(label(origins)), found)
        for mode in comparison.modes
        for origins, found in (
            (comparison.first, mode.first_repeats),
            (comparison.second, mode.second_repeats),
        )
        if found and (found.flips or found.missing or found.always_fail)
    ]
    if not rows:
        return
    yield Text("\nOver repeats", "bold")
    k = max(found.repeats for _, _, found in rows)
    counts = ("Always pass", "Always fail", "Flip", "Missing", "Cases")
    shares = (f"pass^{k}", f"pass@{k}")
    table = Grid("Failure mode", "Side", *counts, *shares, right=range(2, 9), whole=(7, 8))
    for mode, name, found in rows:
        table.add(mode, name, *figures.repeat_cells(found))
    yield table
    flaky = dict.fromkeys(case for _, _, found in rows for case in found.flaky)
    if flaky:
        shown = ", ".join(line(case) for case in list(flaky)[:10])
        more = f" and {len(flaky) - 10} more" if len(flaky) > 10 else ""
        yield Text(f"Flaky, most undecided first: {shown}{more}", "dim")


def _changed(
    title: str, comparison: Comparison, details: Mapping[str, Item], shown: int
) -> Iterator[RenderableType]:
    cases = comparison.newly_failing
    if not cases:
        return
    yield Text(f"\n{title} ({len(cases)})", "bold red")
    for case in cases[:shown]:
        modes = [mode.mode for mode in comparison.modes if case in set(mode.worse)]
        yield Text.assemble((f"  {line(case)}", "bold"), f"  {', '.join(modes)}")
        detail = details.get(case)
        for finding in [f for f in detail.findings if f.mode in modes][:1] if detail else ():
            assert detail is not None  # noqa: S101
            found = excerpt(
                answer_text(detail), finding.evidence.start, finding.evidence.end, around=40
            )
            yield Padding(
                Text.assemble(
                    (found.before, "dim"), (found.passage, "underline"), (found.after, "dim"),
                    f"  {line(finding.explanation)}",
                ),
                (0, 0, 0, 4),
            )  # fmt: skip
    rest = f"and {len(cases) - shown} more; " if len(cases) > shown else ""
    yield Text(f"  {rest}the answers side by side: --case ID, or --html FILE", "dim")


def side_by_side(name: str, sides: Sequence[tuple[str, Item | None]]) -> RenderableType:
    """One case: the question, then how the second answer differs from the first, word by word."""
    parts: list[RenderableType] = [Text(line(name), "bold")]
    questions = dict.fromkeys(detail.case.input.question for _, detail in sides if detail)
    parts += [Text(line(question), "italic") for question in questions]
    (first_name, first), *others = sides
    for other_name, other in others:
        parts.append(
            Text.assemble("\n", (line(first_name), "bold"), " → ", (line(other_name), "bold"))
        )
        if first is None or other is None:
            absent = first_name if first is None else other_name
            parts.append(Text(f"{line(absent)} keeps no answer to show", "yellow"))
            continue
        parts.append(words(answer_text(first), answer_text(other)))
        for heading, detail in ((first_name, first), (other_name, other)):
            if reason := detail.output.reason:
                parts.append(Text(f"{line(heading)}: {line(reason)}", "yellow"))
            for finding in detail.findings:
                found = excerpt(
                    answer_text(detail), finding.evidence.start, finding.evidence.end, around=30
                )
                parts.append(
                    Text.assemble(
                        (f"{line(heading)}  ", "dim"), (finding.mode, "bold red"), "  ",
                        (found.before, "dim"), (found.passage, "underline"), (found.after, "dim"),
                        f"  {line(finding.explanation)}",
                    )
                )  # fmt: skip
    return Stack(*parts)


def words(first: str, second: str) -> Text:
    """The second text with what it adds and drops; long stretches in common are cut."""
    if first == second:
        return Text("the answers are the same, word for word", "dim")
    text = Text()
    changes = difference(first, second)
    for at, (kind, part) in enumerate(changes):
        shown = line(part)
        text.append(" " if part[:1].isspace() else "")
        if not shown:
            continue
        if kind == "same":
            text.append(_cut(shown, start=at == 0, end=at == len(changes) - 1), "dim")
        elif kind == "removed":
            text.append(f"[-{shown}-]", "red strike")
        else:
            text.append(f"{{+{shown}+}}", "bold green")
        text.append(" " if part[-1:].isspace() else "")
    return text


def _cut(text: str, *, start: bool, end: bool) -> str:
    found = text.split(" ")
    if start:
        return " ".join(["…", *found[-CONTEXT:]]) if len(found) > CONTEXT else text
    if end:
        return " ".join([*found[:CONTEXT], "…"]) if len(found) > CONTEXT else text
    if len(found) <= 2 * CONTEXT:
        return text
    return " ".join([*found[:CONTEXT], "…", *found[-CONTEXT:]])


_OUTCOMES = {
    Outcome.FAILED: ("✕", "bold red"),
    Outcome.UNKNOWN: ("?", "bold yellow"),
    Outcome.PASSED: ("✓", "green"),
}


def decision(found: Decision) -> RenderableType:
    """The gate's answer, then the checks that failed, could not tell, and passed."""
    _, style = _OUTCOMES[found.outcome]
    against = f" against {line(label(found.baseline))}" if found.baseline else ""
    parts: list[RenderableType] = [
        Text.assemble((found.words, style), f"  {line(label(found.candidate))}{against}")
    ]
    telling = [*found.of(Outcome.FAILED), *found.of(Outcome.UNKNOWN)]
    moved = {m.mode for m in found.comparison.modes if m.difference} if found.comparison else set()
    passed = found.of(Outcome.PASSED)
    telling += [check for check in passed if check.name == "regression" and check.mode in moved]
    for check in telling:
        mark, style = _OUTCOMES[check.outcome]
        about = f"{check.name} {check.mode}" if check.mode else check.name
        parts.append(
            Text.assemble((f"{mark} {about}: ", style), line(check.message), overflow="fold")
        )
        if check.cases:
            shown = ", ".join(line(case) for case in check.cases[:8])
            more = len(check.cases) - 8
            parts.append(Text(f"    {shown}{f' and {more} more' if more > 0 else ''}", "dim"))
    quiet = Counter(check.name for check in passed if check not in telling)
    if quiet:
        mark, style = _OUTCOMES[Outcome.PASSED]
        listed = ", ".join(f"{name} × {n}" if n > 1 else name for name, n in quiet.items())
        parts.append(Text.assemble((f"{mark} pass: ", style), listed))
    parts += [Text(f"· {line(remark)}", "dim") for remark in found.remarks]
    return Stack(*parts)
