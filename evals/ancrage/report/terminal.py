"""The report on the terminal; nothing an answer contains reaches it as a command."""

import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, TextIO, cast

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.padding import Padding
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ancrage.domain import Finding
from ancrage.program import called
from ancrage.report.data import Report, Section, rate, share
from ancrage.report.grid import Grid
from ancrage.report.payload import answer_text
from ancrage.report.text import diagnosis, excerpt, line, visible
from ancrage.runs import Item, ModeSummary

PIPED_WIDTH = 100
"""Columns when the output is not a terminal and ``COLUMNS`` says nothing."""
LEAST_WIDTH = 40
FINDINGS_SHOWN = 6
REASONS_SHOWN = 6
LONGEST = 240
"""Characters shown of a reason or an id, which can be anything."""


class _Console(Console):
    """A console on which no text, whoever wrote it, acts as a command to the terminal."""

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=visible(segment.text))


class _Workflow:
    """Standard output inside GitHub Actions, where no printed line acts as a command."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        """Write ``text``, the first colon of what would be a command replaced by its like."""
        tame = re.sub(r"(?m)^(\s*):(?=:)", "\\1\N{RATIO}", text).replace("##[", "#\N{RATIO}[")
        return self._file.write(tame)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def console(file: TextIO | None = None) -> Console:
    """A console that writes plain text, without colour codes, when it is not a terminal."""
    out = file or sys.stdout
    piped = not out.isatty()
    columns = os.environ.get("COLUMNS", "")
    width = max(int(columns), LEAST_WIDTH) if columns.isdecimal() else None
    return _Console(
        file=cast("TextIO", _Workflow(out)) if on_github() else out,
        width=width or (PIPED_WIDTH if piped else None),
        force_terminal=False if piped else None,
        color_system=None if piped else "auto",
        markup=False,
        emoji=False,
        highlight=False,
    )


def on_github() -> bool:
    """Whether this runs inside GitHub Actions, which takes some printed lines for commands."""
    return os.environ.get("GITHUB_ACTIONS") == "true"


def show(renderable: RenderableType, out: Console) -> None:
    """Print; without a terminal, lines end where their text ends."""
    if out.is_terminal:
        out.print(renderable)
        return
    with out.capture() as captured:
        out.print(renderable)
    for printed in captured.get().splitlines():
        out.file.write(printed.rstrip() + "\n")
    out.file.flush()


def overview(report: Report, html: Path | None = None) -> RenderableType:
    """The whole report: heading, one row a failure mode, totals, the worst answers."""
    return Group(*_parts(report, html))


def _parts(report: Report, html: Path | None) -> Iterator[RenderableType]:
    run = report.view.run
    yield Text.assemble(
        (line(run.name), "bold"),
        (f"  {line(run.kind)} · {run.created:%Y-%m-%d %H:%M} UTC", "dim"),
        (f" · snapshot {line(report.snapshot)} ({run.snapshot.hash[:12]})", "dim"),
    )
    if problem := report.incomplete:
        yield Text(f"{problem[0].upper()}{problem[1:]}.", "bold yellow")
    yield Text()
    if report.modes:
        yield _modes(report.modes)
        yield Text()
    else:
        yield Text(f"No evaluator has scored this run: {called('score RUN')}", "yellow")
    yield Text(f"{report.totals}; {report.with_findings} with at least one finding.")
    yield from _anchors(report)
    if report.modes:
        yield Text(
            "Rates are over scored answers, with Wilson's 95 % interval. "
            f"In each row, scored + unscored = {report.cases}.",
            "dim",
        )
    yield from _reasons(report)
    for section in report.sections:
        yield from _section(section)
    if report.worst:
        yield Text("\nWorst answers", "bold")
    for rank, item in enumerate(report.worst, start=1):
        yield _worst(rank, item)
    if html:
        yield Text.assemble("\nHTML report: ", (line(str(html)), "bold"), no_wrap=True)


def _anchors(report: Report) -> Iterator[RenderableType]:
    """How much was looked at: the answers that are anchored, and how quotes fail."""
    anchors = report.view.anchors
    if anchors.read:
        table = Table.grid(padding=(0, 2, 0, 0))
        table.add_row("Perfectly anchored answers", share(anchors.perfect, anchors.read))
        table.add_row("Answers that cite nothing", share(anchors.silent, anchors.read))
        table.add_row("Quotes that fail", report.quotes)
        yield table
        kinds = " + ".join(f"{count} {line(why)}" for why, count in anchors.diagnoses.items())
        yield Text(
            f"Read in {anchors.read} answers: {anchors.citations} citations ({report.references}); "
            f"{anchors.quotes} quotes, {anchors.held} of them held against a message"
            + (f"; {report.failing_quotes} fail = {kinds}" if kinds else ""),
            "dim",
        )
    if said := report.unread.sentence:
        yield Text(f"{said[0].upper()}{line(said[1:])}", "bold yellow")
        if lines := report.unread.configuration(report.view.snapshot):
            yield Text("These lines of evals.toml would read them:", "yellow")
            yield Padding(Text(lines), (0, 0, 0, 4))


def _modes(rows: Sequence[ModeSummary]) -> RenderableType:
    grid = Grid(
        "Failure mode", "Answers", "Findings", "Rate", "Unscored",
        right=(1, 2, 4), whole=(3,), spare=(1,),
    )  # fmt: skip
    for row in rows:
        grid.add(
            row.mode.name,
            Text(str(row.failing), _style(row)),
            f"{row.total:g}",
            Text(rate(row), _style(row)),
            Text(str(row.unscored), "yellow" if row.unscored else ""),
        )
    return grid


def _style(row: ModeSummary) -> str:
    return "bold red" if row.failing else "green"


def _reasons(report: Report) -> Iterator[RenderableType]:
    """Each reason for not scoring once, with the modes that it holds for."""
    reasons: dict[tuple[str, int], list[str]] = {}
    for row in report.modes:
        for why, count in row.reasons.items():
            reasons.setdefault((why, count), []).append(row.mode.name)
    if not reasons:
        return
    yield Text("\nUnscored", "bold")
    ranked = sorted(reasons.items(), key=lambda entry: -entry[0][1] * len(entry[1]))
    for (why, count), modes in ranked[:REASONS_SHOWN]:
        where = "every mode" if len(modes) == len(report.modes) else ", ".join(modes)
        noun = "answer" if count == 1 else "answers"
        yield Padding(Text(f"{count} {noun}, {where}: {_brief(why)}"), (0, 0, 0, 2))
    if (hidden := len(reasons) - REASONS_SHOWN) > 0:
        yield Padding(Text(f"and {hidden} other reasons, in the HTML report", "dim"), (0, 0, 0, 2))


def _section(section: Section) -> Iterator[RenderableType]:
    """The section's table; markup is for the HTML report alone."""
    if not section.rows:
        return
    yield Text(f"\n{section.title}", "bold")
    if not section.header:
        for cells in section.rows:
            yield Padding(Text("  ".join(map(line, cells))), (0, 0, 0, 2))
        return
    grid = Grid(*section.header)
    for cells in section.rows:
        grid.add(*cells)
    yield grid


def _worst(rank: int, item: Item) -> RenderableType:
    findings = item.findings
    count = len(findings)
    heading = Text.assemble(
        (f"{rank:>2}. {_brief(item.case.id)}", "bold"),
        f"  {count} finding{'s' if count > 1 else ''}",
        (f" · {_brief(item.case.study_id)}" if item.case.study_id else "", "dim"),
        (f" · {line(item.case.input.question)[:90]}", "dim"),
    )
    parts: list[RenderableType] = [heading]
    parts += [
        Padding(_finding(each, answer_text(item)), (0, 0, 0, 4))
        for each in findings[:FINDINGS_SHOWN]
    ]
    if count > FINDINGS_SHOWN:
        hint = f"and {count - FINDINGS_SHOWN} more: {called('show')} {line(item.case.id)}"
        parts.append(Padding(Text(hint, "dim"), (0, 0, 0, 4)))
    return Group(*parts)


def _brief(text: str) -> str:
    shown = line(text)
    return shown if len(shown) <= LONGEST else shown[:LONGEST] + " …"


def label(finding: Finding) -> Text:
    """The finding's mode, then its tier and what the tier means."""
    verdict = " ".join(part for part in (line(finding.tier or ""), diagnosis(finding)) if part)
    return Text.assemble(
        (line(finding.mode), "bold red"), (f"  {verdict}" if verdict else "", "magenta")
    )


def _finding(finding: Finding, text: str) -> RenderableType:
    """The finding's label, its passage within its context, and the explanation."""
    evidence = finding.evidence
    found = excerpt(text, evidence.start, evidence.end)
    shown = Text.assemble(
        (found.before, "dim"), "▸", (found.passage, "underline"), "◂", (found.after, "dim")
    )
    if not found.passage:
        shown = Text("the answer as a whole", "dim")
    return Group(
        label(finding),
        Padding(shown, (0, 0, 0, 2)),
        Padding(Text(line(finding.explanation)), (0, 0, 0, 2)),
    )
