"""The report as one HTML file that needs nothing else: no server, no network, no other file."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from markupsafe import Markup

from ancrage.report import page
from ancrage.report.data import Report, interval, rate
from ancrage.report.payload import body, row, script_json
from ancrage.report.sources import Shelves
from ancrage.report.text import line
from ancrage.runs import ModeSummary
from ancrage.studies import Studies


def write_html(report: Report, path: Path) -> None:
    """Write the report to ``path``, streaming its answers, and in one step."""
    page.write(render(report), path)


def render(report: Report) -> Iterator[str]:
    """The HTML, piece by piece; memory holds one answer at a time."""
    environment = page.environment("ancrage.report")
    environment.filters |= {"line": line, "rate": rate}
    style = page.inline("ancrage.report/report.css")
    script = page.inline("ancrage.report/shared.js", "ancrage.report/report.js")
    return environment.get_template("report.html.j2").generate(
        report=report,
        run=report.view.run,
        policy=page.policy(style, script),
        style=style,
        script=script,
        chart=Chart(report.modes),
        modes=script_json(
            {
                row.mode.name: [line(row.mode.title), line(row.mode.definition)]
                for row in report.modes
            }
        ),
        answers=_answers(report),
    )


def _answers(report: Report) -> Iterator[tuple[Markup, Markup]]:
    """For each case, what the list shows of it and what its page shows, as JSON."""
    shelves = Shelves(Studies(report.view.snapshot))
    for number, item in enumerate(report.view.items(), start=1):
        yield script_json(row(item, number)), script_json(body(item, shelves.of(item)))


class Chart:
    """Where each rate and its interval lie on one scale, from 0 to the highest end of any."""

    width = 160

    def __init__(self, modes: Sequence[ModeSummary]) -> None:
        highest = max((interval(each)[1] for each in modes if each.scored), default=1.0)
        self.top = next((top for top in (0.05, 0.1, 0.25, 0.5) if highest <= top), 1.0)

    def at(self, fraction: float) -> str:
        """The abscissa of a rate, in pixels."""
        return f"{4 + (self.width - 8) * fraction / self.top:.1f}"

    def whisker(self, each: ModeSummary) -> tuple[str, str, str]:
        """The abscissae of the interval's low end, the rate, and the high end."""
        low, high = interval(each)
        return self.at(low), self.at(each.rate or 0.0), self.at(high)
