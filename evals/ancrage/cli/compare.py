"""Know change from noise: ``compare``, ``gate``, ``history`` and ``plan``."""

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
        "alpha": "Chance of any false alarm over all modes and all runs compared.",
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

    Exits 3 when a run is incomplete: what there is of it is compared; and when nothing could be
    compared.
    """
    from ancrage.compare.paired import check_options, compare_all
    from ancrage.compare.terminal import held, overview, read_items
    from ancrage.report.terminal import console, show

    units = check_options(cluster, alpha)
    sides = [_side(reference) for reference in (first, second, *also)]
    if case:
        show(_one_case(case, sides), console())
        return ExitCode.OK
    found = compare_all(sides, cluster=units, alpha=alpha)
    out = console()
    if len(found) > 1:
        show(held(found), out)
    for comparison, side in zip(found, sides[1:], strict=True):
        details = read_items(side[0], comparison.newly_failing[:worst])
        show(overview(comparison, details, shown=worst), out)
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
    complete = all(run.origin.state == "complete" for side in sides for run in side)
    told = complete and all(any(mode.pairs for mode in one.modes) for one in found)
    return ExitCode.OK if told else ExitCode.INCOMPLETE


@command(
    help={
        "run": "Run to decide on: its id, the beginning of it, its folder, or a group of repeats.",
        "policy": "Policy file (default: the table [gate] of the configuration).",
        "baseline": "Baseline to compare with, or none (default: the policy's, main).",
        "save": "Record the run as the baseline of this name instead, baselines/NAME.json.",
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
    save: str = "",
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
    from ancrage.compare.baseline import find_reference, write_baseline
    from ancrage.compare.gate import decide
    from ancrage.compare.policy import load_policy
    from ancrage.compare.terminal import decision
    from ancrage.config import load
    from ancrage.report.terminal import console, on_github, show

    config = load()
    if save:
        side = _side(run)
        path = write_baseline(save, side, config.root)
        ids = ", ".join(one.origin.id for one in side)
        console().print(f"Recorded {ids} as {path}; commit it.", soft_wrap=True)
        return ExitCode.OK
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
        for annotation in outputs.annotations(found):
            sys.stdout.write(f"{annotation}\n")
    return found.exit_code


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

    runs, unreadable = read_history(kind=kind or None, last=last)
    known = modes_of(runs)
    if mode and mode not in known:
        raise UsageError(f"no run was scored for {mode!r}; known: {', '.join(known) or 'none'}")
    out = console()
    ascii_only = out.options.ascii_only
    show(table(mode, trend(runs, mode)) if mode else summary(runs, ascii_only=ascii_only), out)
    for problem in unreadable:
        out.print(f"left out: {problem}", soft_wrap=True)
    if plot:
        path = Path(plot)
        _folder_exists("plot", path)
        draw({name: trend(runs, name) for name in ([mode] if mode else known)}, path)
        out.print(f"Plot: {path}", soft_wrap=True)
    return ExitCode.OK


@command(
    help={
        "rate": "The failure rate before, such as .05.",
        "detect": "The rise that must be seen, such as .05 for five points.",
        "studies": "How many studies the cases come from (default: cases are independent).",
        "alike": "How alike the changes of two cases of one study are, a correlation.",
        "steady": "Share of failing cases that fail again when the same thing runs once more.",
        "modes": "Failure modes in which a change is looked for.",
        "alpha": "Chance of any false alarm over all modes.",
        "power": "Chance of seeing the rise when it is there.",
    },
    example="plan --rate .05 --detect .05 --studies 40",
)
def plan(
    rate: Share = 0.05,
    detect: Share = 0.05,
    studies: Size = 0,
    alike: Share = 0.02,
    steady: Share = 0.5,
    modes: Count = 1,
    alpha: Share = 0.05,
    power: Share = 0.8,
) -> None:
    """Say how many cases and labels it takes to see a change."""
    from ancrage.compare.planning import Asked, planned
    from ancrage.report.terminal import console, show

    out = console()

    asked = Asked(
        rate=rate, detect=detect, studies=studies or None, alike=alike, steady=steady,
        modes=modes, alpha=alpha, power=power,
    )  # fmt: skip
    with out.status("drawing and comparing runs"):
        answer = planned(asked)
    show(answer, out)


def _side(reference: str) -> "Group":
    from ancrage.compare.baseline import read_baseline
    from ancrage.compare.results import find_group
    from ancrage.config import load

    if reference.startswith("baseline:"):
        return read_baseline(reference.removeprefix("baseline:"), load().root)
    return find_group(reference)


def _one_case(case: str, sides: "Sequence[Group]") -> "RenderableType":
    from ancrage.compare.terminal import read_items, side_by_side

    runs = [run for side in sides for run in side]
    if not any(case in run.position for run in runs):
        raise UsageError(f"no run has a case {case!r}")
    named = [(run.origin.name, read_items(run, [case]).get(case)) for run in runs]
    return side_by_side(case, named)


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


tasks = (compare, gate, history, plan)
