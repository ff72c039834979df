"""The report as one HTML file that needs nothing else: no server, no network, no other file.

An index of all answers stands in it compressed, and the answers themselves in compressed blocks,
which the page unpacks when one of them is opened or searched.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from ancrage.files import write_atomic
from ancrage.report import page
from ancrage.report.data import Report, interval, rate, share
from ancrage.report.payload import body, row
from ancrage.report.text import TIERS, line
from ancrage.runs import ModeSummary
from ancrage.runs.progress import track
from ancrage.studies import Studies

BLOCK = 128
"""Answers in a block."""
SHORT = 1000
"""Pages of fewer answers are written before anyone could ask how far they are."""


def write_html(report: Report, path: Path) -> None:
    """Write the report to ``path``, streaming its answers, and in one step."""
    if report.cases < SHORT:
        write_atomic(path, render(report), private=True)
        return
    with track("Writing the page", report.cases) as advance:
        write_atomic(path, render(report, advance), private=True)


def render(report: Report, advance: "page.Advance" = lambda: None) -> Iterator[str]:
    """The HTML, piece by piece; memory holds one block of answers, and a line for each answer."""
    environment = page.environment("ancrage.report")
    environment.filters |= {"line": line, "rate": rate, "share": share}
    style = page.inline("ancrage.report/report.css")
    script = page.inline("ancrage.report/shared.js", "ancrage.report/report.js")
    reasons = list(dict.fromkeys(why for mode in report.modes for why in mode.reasons))
    return environment.get_template("report.html.j2").generate(
        report=report,
        run=report.view.run,
        anchors=report.view.anchors,
        policy=page.policy(style, script),
        style=style,
        script=script,
        chart=Chart(report.modes),
        reasons=reasons,
        packed=_packed(report, reasons, advance),
    )


def _packed(
    report: Report, reasons: Sequence[str], advance: "page.Advance"
) -> Iterator[tuple[str, Markup]]:
    """The blocks of answers in order, each as ``("block", …)``, and last ``("index", …)``."""
    studies = Studies(report.view.snapshot)
    numbers = {why: number for number, why in enumerate(reasons)}
    rows: list[dict[str, object]] = []
    bodies: list[dict[str, object]] = []
    for item in report.view.items():
        rows.append(row(item, numbers))
        bodies.append(body(item, studies.of(item.case)))
        advance()
        if len(bodies) == BLOCK:
            yield "block", page.packed(bodies)
            bodies.clear()
    if bodies:
        yield "block", page.packed(bodies)
    modes = {each.mode.name: line(each.mode.title) for each in report.modes}
    index = {"modes": modes, "tiers": TIERS, "block": BLOCK, "rows": rows}
    yield "index", page.packed(index)


class Chart:
    """Where each rate and its interval lie on one scale, from 0 to the highest end of any."""

    width = 160

    def __init__(self, modes: Sequence[ModeSummary]) -> None:
        highest = max((interval(mode)[1] for mode in modes if mode.scored), default=1.0)
        self.top = next((top for top in (0.05, 0.1, 0.25, 0.5) if highest <= top), 1.0)

    def at(self, fraction: float) -> str:
        """The abscissa of a rate, in pixels."""
        return f"{4 + (self.width - 8) * fraction / self.top:.1f}"

    def whisker(self, mode: ModeSummary) -> tuple[str, str, str]:
        """The abscissae of the interval's low end, the rate, and the high end."""
        low, high = interval(mode)
        return self.at(low), self.at(mode.rate or 0.0), self.at(high)
