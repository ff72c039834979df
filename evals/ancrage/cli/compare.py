"""Know change from noise: ``compare``, ``gate``, ``baseline`` and ``history``."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ancrage.cli.shell import Count, Share, Size, command
from ancrage.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from rich.console import RenderableType

    from ancrage.compare.results import Group

_REFERENCE = "its id, the beginning of it, its folder, a group of repeats, or baseline:NAME"


@command(
    help={
        "first": f"The reference: {_REFERENCE}.",
        "second": f"What to compare with it: {_REFERENCE}.",
        "also": "Further runs to compare with the first.",
        "case": "Show one case side by side instead: its id (default: the overview).",
        "cluster": "Independent units: study, case or auto (default: auto, studies from 6 on).",
        "alpha": "Chance of any false alarm over all modes.",
        "worst": "How many newly failing cases to print.",
        "html": "File to write the comparison to as one HTML page (default: none).",
        "json": "File to write the figures to as JSON (default: none).",
        "open": "Open the HTML page in the browser.",
    },
    example="compare baseline:main latest",
)
def compare(
    first: str,
    second: str,
    *also: str,
    case: str = "",
    cluster: str = "auto",
    alpha: Share = 0.05,
    worst: Size = 5,
    html: str = "",
    json: str = "",
    open: bool = False,
) -> ExitCode:
    """Say what changed between runs, beyond noise.

    Exits 3 when a run is incomplete: what there is of it is compared.
    """
    from ancrage.compare.details import read_details
    from ancrage.compare.paired import check_options
    from ancrage.compare.paired import compare as compare_groups
    from ancrage.compare.terminal import overview
    from ancrage.report.terminal import console, show

    units = check_options(cluster, alpha)
    sides = [_side(reference) for reference in (first, second, *also)]
    if case:
        show(_one_case(case, sides), console())
        return ExitCode.OK
    found = [compare_groups(sides[0], side, cluster=units, alpha=alpha) for side in sides[1:]]
    out = console()
    for each, side in zip(found, sides[1:], strict=True):
        details = read_details(side[0], each.newly_failing[:worst])
        show(overview(each, details, shown=worst), out)
    if json:
        from pydantic import TypeAdapter

        from ancrage.compare.model import Comparison

        _write(json, TypeAdapter(list[Comparison]).dump_json(found, indent=1).decode())
    if html or open:
        from ancrage.compare.html import write_html

        path = Path(html or "compare.html")
        _folder_exists("html", path)
        write_html(sides, found, path)
        out.print(f"HTML page: {path}", soft_wrap=True)
        if open:
            import webbrowser

            webbrowser.open(path.resolve().as_uri())
    complete = all(each.origin.state == "complete" for side in sides for each in side)
    return ExitCode.OK if complete else ExitCode.INCOMPLETE


@command(
    help={
        "run": "Run to decide on: its id, the beginning of it, its folder, or a group of repeats.",
        "policy": "Policy file (default: the table [gate] of the configuration).",
        "baseline": "Baseline to compare with, or none (default: the policy's, main).",
        "markdown": "File to write a Markdown summary to, added to its end (default: none).",
        "junit": "File to write JUnit XML to (default: none).",
        "json": "File to write the whole decision to as JSON (default: none).",
        "github": "Print GitHub annotations (default: only inside GitHub Actions).",
    },
)
def gate(
    run: str,
    policy: str = "",
    baseline: str = "",
    markdown: str = "",
    junit: str = "",
    json: str = "",
    github: bool = False,
) -> ExitCode:
    """Decide whether a run may ship.

    Exits 0 to ship, 1 not to, 3 when it cannot be told.

    An empty or incomplete run, unscored cases beyond what the policy allows, and a missing
    baseline are never a reason to ship.
    """
    from ancrage.compare import outputs
    from ancrage.compare.baseline import find_reference
    from ancrage.compare.gate import decide
    from ancrage.compare.policy import load_policy
    from ancrage.compare.terminal import decision
    from ancrage.config import load
    from ancrage.report.terminal import console, on_github, show

    config = load()
    rules = load_policy(config, Path(policy) if policy else None)
    found = decide(rules, _side(run), find_reference(baseline or rules.baseline, config.root))
    show(decision(found), console())
    if markdown:
        _write(markdown, outputs.markdown(found), append=True)
    if junit:
        _write(junit, outputs.junit(found))
    if json:
        _write(json, found.model_dump_json(indent=1) + "\n")
    if github or on_github():
        for each in outputs.annotations(found):
            sys.stdout.write(f"{each}\n")
    return found.exit_code


@command(
    help={
        "action": "set records a run as the baseline; show prints what a baseline holds.",
        "subject": "For set, the run or group of repeats; for show, the baseline's name.",
        "name": "Name to record under (default: main).",
    },
)
def baseline(action: str, subject: str, name: str = "main") -> ExitCode:
    """Record a run as a named baseline, or show one.

    A baseline is baselines/NAME.json, to commit with the code.
    """
    from ancrage.compare.baseline import load_baseline, unpack, write_baseline
    from ancrage.compare.terminal import baseline_overview
    from ancrage.config import load
    from ancrage.report.terminal import console, show

    root = load().root
    if action == "set":
        side = _side(subject)
        unfinished = [each.origin.id for each in side if each.origin.state != "complete"]
        if unfinished:
            raise UsageError(f"{unfinished[0]} is not complete; a baseline must be")
        path = write_baseline(name, side, root)
        console().print(f"Recorded {subject} as {path}; commit it.", soft_wrap=True)
    elif action == "show":
        found = load_baseline(subject, root)
        show(baseline_overview(subject, found.recorded, unpack(found)), console())
    else:
        raise UsageError(f"{action!r}: give set RUN or show NAME")
    return ExitCode.OK


@command(
    help={
        "mode": "Failure mode to follow run by run (default: a line for every mode).",
        "kind": "Only runs of this kind, such as audit or replay (default: all).",
        "last": "How many of the newest runs.",
        "plot": "File to draw the rates to: PNG, SVG or PDF (default: none).",
    }
)
def history(mode: str = "", kind: str = "", last: Count = 20, plot: str = "") -> ExitCode:
    """Show each failure mode's rate over time."""
    from ancrage.compare.history import modes_of, read_history, summary, table, trend
    from ancrage.compare.history import plot as draw
    from ancrage.report.terminal import console, show

    if last < 1:
        raise UsageError(f"--last {last}: give 1 or more")
    runs, unreadable = read_history(kind=kind or None, last=last)
    known = modes_of(runs)
    if mode and mode not in known:
        raise UsageError(f"no run was scored for {mode!r}; known: {', '.join(known) or 'none'}")
    out = console()
    show(table(mode, trend(runs, mode)) if mode else summary(runs), out)
    for problem in unreadable:
        out.print(f"left out: {problem}", soft_wrap=True)
    if plot:
        path = Path(plot)
        _folder_exists("plot", path)
        draw({each: trend(runs, each) for each in ([mode] if mode else known)}, path)
        out.print(f"Plot: {path}", soft_wrap=True)
    return ExitCode.OK


def _side(reference: str) -> "Group":
    from ancrage.compare.baseline import read_baseline
    from ancrage.compare.results import find_group
    from ancrage.config import load

    if reference.startswith("baseline:"):
        return read_baseline(reference.removeprefix("baseline:"), load().root)
    return find_group(reference)


def _one_case(case: str, sides: "Sequence[Group]") -> "RenderableType":
    from ancrage.compare.details import read_cases, read_details
    from ancrage.compare.terminal import side_by_side

    if not any(case in each.position for side in sides for each in side):
        raise UsageError(f"no run has a case {case!r}")
    named = [
        (each.origin.name, read_details(each, [case]).get(case)) for side in sides for each in side
    ]
    cases = [found for side in sides for found in read_cases(side[0], [case]).values()]
    return side_by_side(cases[0] if cases else None, case, named)


def _folder_exists(option: str, path: Path) -> None:
    if not path.parent.is_dir():
        raise UsageError(f"--{option} {path}: the folder {path.parent} does not exist")


def _write(file: str, text: str, *, append: bool = False) -> None:
    path = Path(file)
    try:
        with path.open("a" if append else "w", encoding="utf-8") as out:
            out.write(text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


tasks = (compare, gate, baseline, history)
