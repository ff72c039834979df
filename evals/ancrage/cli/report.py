"""Read a run: ``report`` and ``show``."""

from pathlib import Path
from typing import TYPE_CHECKING

from ancrage.cli.shell import Size, command
from ancrage.cli.shield import print_utf8
from ancrage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ancrage.runs import RunFolder


@command(
    help={
        "run": "Run to report on: its id, its beginning, or its folder (default: the latest).",
        "html": "File to write the HTML report to, - prints it (default: report.html in the "
        "run's folder).",
        "json": "File to write the figures to as JSON, - prints them (default: none).",
        "open": "Open the HTML report in the browser.",
        "worst": "How many of the worst answers to print.",
        "by": "Say instead where failures live: auto looks through all fields and pairs of them, "
        "or the rates by one field, such as study (default: no).",
    },
    positional=("run",),
    example="report latest --by auto",
)
def report(
    run: str = "",
    html: str = "",
    json: str = "",
    open: bool = False,
    worst: Size = 5,
    by: str = "",
) -> ExitCode:
    """Print a run's findings and write them as HTML.

    Exits 3 when the run, or its scoring, is incomplete, or an evaluator failed: what there is of it
    is reported.
    """
    from rich.text import Text

    from ancrage.cli.reporting import read
    from ancrage.cli.scoring import shortfalls_of
    from ancrage.files import write_atomic
    from ancrage.report.html import render, write_html
    from ancrage.report.terminal import console, overview
    from ancrage.report.terminal import show as display
    from ancrage.runs import find_run

    if html == json == "-":
        raise UsageError("--html - and --json - both print: give one")
    folder = find_run(run)
    if by:
        return _by(folder, by)
    path = Path(html) if html not in ("", "-") else folder.path / "report.html"
    if not path.parent.is_dir():
        raise UsageError(f"--html {html}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise UsageError(f"--html {html}: is a folder; name a file in it")
    found = read(folder, worst=worst)
    shortfalls = shortfalls_of(found.view)
    ended = ExitCode.INCOMPLETE if found.incomplete or shortfalls else ExitCode.OK
    if html == "-":
        print_utf8(render(found))
        return ended
    write_html(found, path)
    if json == "-":
        print_utf8([found.figures()])
    else:
        display(overview(found, path), console())
        for said in shortfalls:
            display(Text(f"Incomplete: {said}.", "bold yellow"), console())
    if json not in ("", "-"):
        write_atomic(Path(json), found.figures())
    if open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return ended


def _by(folder: "RunFolder", field: str) -> ExitCode:
    from ancrage.report.terminal import console, show
    from ancrage.runs import RunView
    from ancrage.slices import by_field, find
    from ancrage.slices.terminal import rates, standing_out

    view = RunView(folder)
    if field == "auto":
        show(standing_out(find(view)), console())
    else:
        show(rates(field, by_field(view, field)), console())
    return ExitCode.OK if view.run.state == "complete" else ExitCode.INCOMPLETE


@command(
    help={
        "case": "Case to show: its id, or an unambiguous beginning of it.",
        "run": "Run to read: its id, its beginning, or its folder (default: the latest).",
        "mode": "Show only the findings of this failure mode (default: all).",
        "why": "Show how the answer was read: which bracket went to which quote, by which rule.",
    },
    positional=("run",),
    example="show bank-024",
)
def show(case: str, run: str = "", mode: str = "", why: bool = False) -> ExitCode:
    """Show one answer with every finding in place."""
    from ancrage.report.show import explain, find_answer, render
    from ancrage.report.terminal import console
    from ancrage.report.terminal import show as display
    from ancrage.runs import RunView, find_run

    out = console()
    shown = find_answer(RunView(find_run(run)), case, mode or None)
    display(explain(shown) if why else render(shown, out), out)
    return ExitCode.OK


tasks = (report, show)
