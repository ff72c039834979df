"""What each part of the tool has to say of a run, put together as one report."""

from pathlib import Path
from typing import TYPE_CHECKING

SLICED = 500
"""Answers up to which every report says where failures live."""

if TYPE_CHECKING:
    from ancrage.report.data import Report, Section
    from ancrage.runs import RunFolder, RunView


def read(folder: "RunFolder", *, worst: int = 5, sections: "tuple[Section, ...]" = ()) -> "Report":
    """The report of a run with the sections of its replay and of its judges.

    Raises:
        UsageError: the run or its snapshot cannot be read.
    """
    from ancrage.report.data import read_report
    from ancrage.runs import RunView

    view = RunView(folder)
    found = (*sections, *_of_slices(view), *_of_replay(view), *_of_judges(view))
    return read_report(view, worst=worst, sections=found)


def write(
    folder: "RunFolder",
    *,
    worst: int = 5,
    html: Path | None = None,
    sections: "tuple[Section, ...]" = (),
) -> "Report":
    """The same, written as HTML; by default into the run's folder."""
    from ancrage.report.html import write_html

    report = read(folder, worst=worst, sections=sections)
    write_html(report, html or folder.path / "report.html")
    return report


def print_run(folder: "RunFolder", *, worst: int = 5, html: Path | None = None) -> "Report":
    """The same, written as HTML and printed."""
    from ancrage.report.terminal import console, overview, show

    report = write(folder, worst=worst, html=html)
    show(overview(report, html or folder.path / "report.html"), console())
    return report


def next_step(report: "Report") -> str:
    """What to look at next, in one line."""
    from ancrage.program import called
    from ancrage.runs import list_runs

    steps = [called(f"show {report.worst[0].case.id}")] if report.worst else []
    steps.append(called("report --open"))
    if len(list_runs(report.view.folder.path.parent)) > 1:
        steps.append(called("compare latest~1 latest"))
    return f"Next: {' · '.join(steps)}"


def _of_slices(view: "RunView") -> "tuple[Section, ...]":
    """Which parts of the run stand out; of large runs only ``report --by auto`` says it."""
    if view.snapshot.manifest.counts.kept > SLICED:
        return ()
    from ancrage.slices import find
    from ancrage.slices.section import slices_section

    return (slices_section(find(view)),)


def _of_replay(view: "RunView") -> "tuple[Section, ...]":
    """How a replay was done: prompts, parameters, the frozen world."""
    if "replay" not in view.run.details:
        return ()
    from ancrage.replay.summary import replay_sections

    return replay_sections(view.folder)


def _of_judges(view: "RunView") -> "tuple[Section, ...]":
    """What there is to say of the judges that scored the run; nothing is loaded without any."""
    if not any("judge" in info.details for info, _ in view.evaluators.values()):
        return ()
    from ancrage.calibration.section import judge_sections

    return judge_sections(view)
