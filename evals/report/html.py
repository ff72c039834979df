"""The report as one HTML file that needs nothing else: no server, no network, no other file."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from evals.report.data import Report, interval, rate
from evals.report.payload import body, row, script_json
from evals.report.sources import Shelves
from evals.report.text import line
from evals.runs import ModeSummary
from evals.source import Sources

_STATIC = files("evals.report") / "static"


def write_html(report: Report, path: Path) -> None:
    """Write the report to ``path``, streaming its answers, and in one step."""
    draft = path.with_name(path.name + ".tmp")
    with draft.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(render(report))
    draft.replace(path)


def render(report: Report) -> Iterator[str]:
    """The HTML, piece by piece; memory holds one answer at a time."""
    environment = Environment(
        loader=PackageLoader("evals.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"line": line, "rate": rate}
    style, script = _inline("report.css"), _inline("report.js")
    return environment.get_template("report.html.j2").generate(
        report=report,
        run=report.view.run,
        policy=f"default-src 'none'; style-src {_digest(style)}; script-src {_digest(script)}; "
        "base-uri 'none'; form-action 'none'",
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
    shelves = Shelves(Sources(report.view.snapshot))
    for number, item in enumerate(report.view.items(), start=1):
        yield script_json(row(item, number)), script_json(body(item, shelves.of(item)))


def _inline(name: str) -> Markup:
    text = (_STATIC / name).read_text(encoding="utf-8")
    if "</" in text:
        raise ValueError(f"{name} would close the element that holds it")
    return Markup(text)  # noqa: S704  our own file


def _digest(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


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
