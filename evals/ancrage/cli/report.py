"""Read a run: ``report`` and ``show``."""

from pathlib import Path

from ancrage.cli.shell import Size, command
from ancrage.errors import ExitCode, UsageError


@command(
    help={
        "run": "Run to report on: its id, its beginning, or its folder (default: the latest).",
        "html": "File to write the HTML report to (default: report.html in the run's folder).",
        "open": "Open the HTML report in the browser.",
        "worst": "How many of the worst answers to print.",
    },
    positional=("run",),
    example="report latest --open",
)
def report(
    run: str = "",
    html: str = "",
    open: bool = False,
    worst: Size = 5,
) -> ExitCode:
    """Print a run's findings and write them as HTML.

    Exits 3 when the run, or its scoring, is incomplete: what there is of it is reported.
    """
    from ancrage.report.terminal import print_run
    from ancrage.runs import find_run

    folder = find_run(run)
    path = Path(html) if html else folder.path / "report.html"
    if not path.parent.is_dir():
        raise UsageError(f"--html {html}: the folder {path.parent} does not exist")
    if path.is_dir():
        raise UsageError(f"--html {html}: is a folder; name a file in it")
    found = print_run(folder, worst=worst, html=path)
    if open:
        import webbrowser

        webbrowser.open(path.resolve().as_uri())
    return ExitCode.INCOMPLETE if found.incomplete else ExitCode.OK


@command(
    help={
        "case": "Case to show: its id, or an unambiguous beginning of it.",
        "run": "Run to read: its id, its beginning, or its folder (default: the latest).",
        "mode": "Show only the findings of this failure mode (default: all).",
    },
    positional=("run",),
    example="show bank-024",
)
def show(case: str, run: str = "", mode: str = "") -> ExitCode:
    """Show one answer with every finding in place."""
    from ancrage.report.show import find_answer, render
    from ancrage.report.terminal import console
    from ancrage.report.terminal import show as display
    from ancrage.runs import RunView, find_run

    out = console()
    display(render(find_answer(RunView(find_run(run)), case, mode or None), out), out)
    return ExitCode.OK


tasks = (report, show)
