"""The report of one run as a page."""

from collections.abc import Iterator
from pathlib import Path

from ancrage.files import write_atomic
from ancrage.report import page
from ancrage.report.data import Report, interval, rate, share
from ancrage.report.index import Column, Entry, Index, Standing, pack
from ancrage.runs.progress import track
from ancrage.studies import Studies

SHORT = 1000
"""Pages of fewer answers are written before anyone could ask how far they are."""


def write_html(report: Report, path: Path) -> None:
    """Write the report to ``path``, streaming its answers, and in one step."""
    if report.cases < SHORT:
        write_atomic(path, render(report), private=True)
        return
    with track("Writing the page", report.cases) as advance:
        write_atomic(path, render(report, advance), private=True)


def render(report: Report, advance: page.Advance = lambda: None) -> Iterator[str]:
    """The HTML, piece by piece; memory holds one block of answers, and a line for each answer."""
    modes = {row.mode.name: row.mode.title for row in report.modes}
    index = Index([Column(report.title)], [report.title], modes, report.cases)
    return page.stream(
        "ancrage.report",
        "report.html.j2",
        {"rate": rate, "share": share, "interval": interval},
        packed=pack(index, _entries(report), advance),
        report=report,
        run=report.view.run,
        anchors=report.view.anchors,
        scale=page.Scale(0, page.reach(interval(row)[1] for row in report.modes if row.scored)),
    )


def _entries(report: Report) -> Iterator[Entry]:
    studies = Studies(report.view.snapshot)
    for item in report.view.items():
        case = item.case
        yield Entry(
            id=case.id,
            question=case.input.question,
            study=case.study_id or "",
            standings=[Standing.of(item)],
            answers=[(item, studies.of(case))],
        )
