"""Plant faults on purpose, and see what the checks find: ``prove``."""

from pathlib import Path
from typing import TYPE_CHECKING

from ancrage.cli.scoring import Calls
from ancrage.cli.shell import Count, Size, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ancrage.config import Config
    from ancrage.domain import Case
    from ancrage.evaluator import Evaluator
    from ancrage.llm import Models
    from ancrage.prove import Draft, Kind, Panel
    from ancrage.prove.trial import Wrong
    from ancrage.snapshot import Snapshot
    from ancrage.studies import Studies


@command(
    help={
        "snapshot": "Folder of the snapshot to plant in (default: the newest in snapshots/).",
        "kinds": "Kinds to plant, commas between (default: all).",
        "shapes": "Shapes to write answers in, commas between (default: all).",
        "per-cell": "Answers that each kind is planted in, for each shape and language; with "
        "--replay, cases for each fault.",
        "replay": "Plant faults in the world of a replay instead, with the project's assistant "
        "and an endpoint that acts out production, and see whether the run says so.",
        "seed": "Another number plants in other answers.",
        "judges": "Judges to measure too, beside the code: none, three, one, or names.",
        "scorers": "Scorers to measure on what answers say, as the project configures them: "
        "abstention, support, lexical, verify, or none (default: abstention, support and verify "
        "in code alone).",
        "labels": "File of human labels, CSV or JSONL, that overrule what the checks say of the "
        "answers to plant in; can be repeated.",
        "html": "File to write the matrix to as one HTML page (default: none).",
        "json": "File to write every cell to as JSON (default: none).",
        "markdown": "File to write the tables to as Markdown (default: none).",
        "keep": "Name to keep the smallest wrong inputs under, as a run in .ancrage/prove.",
        "dry-run": "Say how many answers would be planted and what judges would cost, and stop.",
        "concurrency": "Calls under way at once.",
    },
    positional=("snapshot",),
    example="prove snapshots/demo --html proof.html",
)
def prove(
    snapshot: str = "",
    kinds: str = "",
    shapes: str = "",
    per_cell: Count = 6,
    replay: bool = False,
    seed: Size = 0,
    judges: str = "none",
    scorers: str = "",
    labels: "list[str] | None" = None,
    html: str = "",
    json: str = "",
    markdown: str = "",
    keep: str = "",
    concurrency: Count = 8,
    calls: Calls = Calls(),
) -> ExitCode:
    """Measure the checks: plant faults and harmless edits in clean answers.

    Exits 1 when a kind falls below its floor in [prove], 3 when only for want of scores (a budget
    spent); with --replay, 1 when a fault goes unsaid.
    """
    from ancrage.calibration import read_labels
    from ancrage.config import load
    from ancrage.evaluators import select
    from ancrage.files import write_atomic
    from ancrage.prove import Panel, find_hosts, page, run_trial, terminal
    from ancrage.prove.settings import load_kinds, read_settings
    from ancrage.prove.shapes import SHAPES
    from ancrage.prove.shrink import smallest
    from ancrage.prove.summary import by_kind, by_shape
    from ancrage.prove.trial import Look
    from ancrage.report.terminal import console, show
    from ancrage.runs.progress import track
    from ancrage.snapshot import newest_snapshot, open_snapshot
    from ancrage.studies import Studies

    config = load()
    if replay:
        data = open_snapshot(snapshot or newest_snapshot())
        return _replay(data, config, kinds, per_cell, html, markdown)
    settings = read_settings(config)
    chosen = load_kinds(settings, kinds)
    wanted = [name.strip() for name in shapes.split(",") if name.strip()] or list(SHAPES)
    if unknown := [name for name in wanted if name not in SHAPES]:
        raise UsageError(f"--shapes {unknown[0]!r}: known are {', '.join(SHAPES)}")
    models = calls.models(concurrency)
    checks = select(config=config)
    panel = Panel(
        checks,
        _scorers(scorers, config, models),
        select(judges, config=config, models=models)[len(checks) :],
    )
    data = open_snapshot(snapshot or newest_snapshot())
    studies = Studies(data, config)
    said = read_labels(Path(name) for name in labels or ())
    hosts, answers = find_hosts(data, studies, panel.code, said.labels)
    if not hosts:
        raise UsageError(
            f"{data.path}: none of its {answers} answers is clean, so there is nothing to plant in"
        )
    out = console()
    for fault in said.refused:
        out.print(f"refused: {fault}", style="yellow")
    if calls.dry_run:
        return _estimate(panel, studies, hosts, chosen, wanted, per_cell, seed)
    with track("Planting", len(chosen) * len(wanted)) as advance:
        trial = run_trial(
            hosts,
            answers,
            studies,
            panel,
            chosen,
            shapes=wanted,
            per_cell=per_cell,
            seed=seed,
            progress=advance,
        )
    rows, by = by_kind(trial, chosen, settings), by_shape(trial, chosen)
    for part in terminal.overview(trial, rows, by):
        show(part, out)
    look = Look(Panel(panel.checks, panel.scorers), studies)
    wrongs = list(trial.wrong[:10]) if panel.models else smallest(trial.wrong, look)
    if keep and wrongs:
        kept = _keep(keep, wrongs, studies)
        out.print(f"The smallest inputs that went wrong: {called('show')} CASE {kept} --why")
    if html:
        page.write_html(Path(html), trial, chosen, rows, wrongs)
        out.print(f"HTML page: {html}", soft_wrap=True)
    if json:
        from pydantic import TypeAdapter

        from ancrage.prove import Cell

        cells = TypeAdapter(tuple[Cell, ...]).dump_json(trial.cells, indent=1)
        write_atomic(Path(json), cells + b"\n")
    if markdown:
        write_atomic(Path(markdown), "\n".join(page.markdown(trial, rows, by)) + "\n")
    short = [row for row in rows if row.falls_short]
    for row in short:
        why = f", and {row.unscored} could not be scored" if row.undecided else ""
        out.print(
            f"{row.name}: {terminal.share(row)} lies below its floor, "
            f"{row.floor:.1%}, with its whole 95 % interval{why}"
        )
    if short and all(row.undecided for row in short):
        return ExitCode.INCOMPLETE
    return ExitCode.BELOW_GATE if short else ExitCode.OK


def _scorers(names: str, config: "Config", models: "Models") -> "list[Evaluator]":
    """Those named, as the project configures them; else all that work by code alone."""
    from ancrage.config import Config
    from ancrage.evaluators import select

    if names == "none":
        return []
    own = names or "abstention,support,verify"
    found = select("none", own, config if names else Config(None, {}), models=models)
    wanted = {name.strip() for name in own.split(",")}
    return [evaluator for evaluator in found if evaluator.name in wanted]


def _estimate(
    panel: "Panel",
    studies: "Studies",
    hosts: "Sequence[Draft]",
    kinds: "Sequence[Kind]",
    shapes: "Sequence[str]",
    per_cell: int,
    seed: int,
) -> ExitCode:
    """Say how many answers would be planted, and what showing them to models would take."""
    import asyncio
    from collections.abc import AsyncIterator

    from ancrage.evaluator import Subject
    from ancrage.judges.terminal import estimates
    from ancrage.llm import read_prices
    from ancrage.llm.estimate import Caller, estimate
    from ancrage.prove.model import known
    from ancrage.prove.trial import planted, planted_case
    from ancrage.report.terminal import console, show
    from ancrage.runs import recorded

    cases = []
    used: dict[str, Case] = {}
    for kind in kinds:
        for shape in shapes if known(panel.modes, kind) else ():
            for host, draft, _ in planted(kind, hosts, shape, per_cell, seed):
                cases.append(planted_case(draft, shape))
                used[host.case.id] = host.case
    out = console()
    out.print(f"{len(cases):,} planted answers, from {len(hosts)} clean ones.")
    callers = [one for one in (*panel.judges, *panel.scorers) if isinstance(one, Caller)]

    async def subjects() -> AsyncIterator[Subject]:
        for case in (*used.values(), *cases):
            yield studies.subject(case, await recorded(case))

    prices = read_prices(studies.config)
    show(estimates(asyncio.run(estimate(callers, subjects(), prices)), prices.currency), out)
    return ExitCode.OK


def _replay(
    data: "Snapshot", config: "Config", names: str, per_fault: int, html: str, markdown: str
) -> ExitCode:
    """The matrix of the world's faults, said by what."""
    import logging

    from ancrage.files import write_atomic
    from ancrage.prove import page, terminal
    from ancrage.prove.replays import prove_world
    from ancrage.prove.world import FAULTS
    from ancrage.replay import load_assistant
    from ancrage.report.terminal import console, show

    wanted = [name.strip() for name in names.split(",") if name.strip()]
    if unknown := [name for name in wanted if name not in {fault.name for fault in FAULTS}]:
        raise UsageError(f"--kinds: no fault of the world is named {unknown[0]!r}")
    logging.getLogger("ancrage.llm").setLevel(logging.ERROR)  # failures that are planted
    found = prove_world(data, load_assistant(config), config, wanted, per_fault)
    if not found.clean:
        raise UsageError(
            f"{data.path}: none of {found.tried} cases replays as it was recorded, so that nothing "
            f"can be told: {found.trouble}"
        )
    for part in terminal.world(found):
        show(part, console())
    if html:
        page.write_world(Path(html), found)
    if markdown:
        write_atomic(Path(markdown), "\n".join(page.world_markdown(found)) + "\n")
    return ExitCode.BELOW_GATE if found.unsaid else ExitCode.OK


def _keep(name: str, wrongs: "Sequence[Wrong]", studies: "Studies") -> Path:
    """The folder of an audit of the inputs that went wrong, apart from the project's own runs."""
    from ancrage.api import audit
    from ancrage.prove.trial import planted_case
    from ancrage.snapshot import write_snapshot

    home = Path(".ancrage") / "prove"
    path = home / "snapshots" / name
    cases = (
        planted_case(wrong.draft, wrong.shape).model_copy(
            update={"id": f"{wrong.kind.name}-{wrong.shape}"}
        )
        for wrong in wrongs
    )
    write_snapshot(path, cases, studies.snapshot.study, source="prove")
    return audit(path, name=name, root=home / "runs", config=studies.config).folder.path


tasks = (prove,)
