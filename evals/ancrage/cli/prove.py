"""Plant faults on purpose, and see what the checks find: ``prove``."""

from pathlib import Path
from typing import TYPE_CHECKING

from ancrage.cli.scoring import Calls
from ancrage.cli.shell import Count, Size, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ancrage.prove.trial import Wrong
    from ancrage.studies import Studies


@command(
    help={
        "snapshot": "Folder of the snapshot to plant in (default: the newest in snapshots/).",
        "kinds": "Kinds to plant, commas between (default: all).",
        "shapes": "Shapes to write answers in, commas between (default: all).",
        "per-cell": "Answers that each kind is planted in, for each shape and language.",
        "seed": "Another number plants in other answers.",
        "judges": "Judges to measure too: none, three, one, or names.",
        "html": "File to write the matrix to as one HTML page (default: none).",
        "json": "File to write every cell to as JSON (default: none).",
        "markdown": "File to write the tables to as Markdown (default: none).",
        "keep": "Name to keep the smallest wrong inputs under, as a run in .ancrage/prove.",
        "dry-run": "Say how many answers would be planted and scored, and stop.",
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
    seed: Size = 0,
    judges: str = "none",
    html: str = "",
    json: str = "",
    markdown: str = "",
    keep: str = "",
    concurrency: Count = 8,
    calls: Calls = Calls(),
) -> ExitCode:
    """Measure the checks: plant faults and harmless edits in clean answers.

    Exits 1 when a kind falls below its floor in [prove].
    """
    from ancrage.config import load
    from ancrage.evaluators import select
    from ancrage.files import write_atomic
    from ancrage.prove import find_hosts, page, run_trial, terminal
    from ancrage.prove.settings import load_kinds, read_settings
    from ancrage.prove.shapes import SHAPES
    from ancrage.prove.shrink import smallest
    from ancrage.prove.summary import by_kind, by_shape
    from ancrage.report.terminal import console, show
    from ancrage.runs.progress import track
    from ancrage.snapshot import newest_snapshot, open_snapshot
    from ancrage.studies import Studies

    config = load()
    settings = read_settings(config)
    chosen = load_kinds(settings, kinds)
    wanted = [name.strip() for name in shapes.split(",") if name.strip()] or list(SHAPES)
    if unknown := [name for name in wanted if name not in SHAPES]:
        raise UsageError(f"--shapes {unknown[0]!r}: known are {', '.join(SHAPES)}")
    models = calls.models(concurrency) if judges != "none" else None
    evaluators = select(judges, models=models, config=config)
    data = open_snapshot(snapshot or newest_snapshot())
    studies = Studies(data, config)
    checks = select(config=config)
    hosts, answers = find_hosts(data, studies, checks)
    if not hosts:
        raise UsageError(
            f"{data.path}: none of its {answers} answers is clean and quotes a message, so there "
            "is nothing to plant in"
        )
    out = console()
    if calls.dry_run:
        languages = len({draft.language for draft in hosts})
        most = len(chosen) * len(wanted) * per_cell * languages
        out.print(f"At most {most:,} planted answers, from {len(hosts)} clean ones of {answers}.")
        return ExitCode.OK
    with track("Planting", len(chosen) * len(wanted)) as advance:
        trial = run_trial(
            hosts,
            answers,
            studies,
            evaluators,
            chosen,
            shapes=wanted,
            per_cell=per_cell,
            seed=seed,
            progress=advance,
        )
    rows, by = by_kind(trial, chosen, settings), by_shape(trial, chosen)
    for part in terminal.overview(trial, rows, by):
        show(part, out)
    wrongs = smallest(trial.wrong, studies, checks) if judges == "none" else list(trial.wrong[:10])
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
        out.print(f"{row.name}: {terminal.share(row)} is below its floor, {row.floor:.1%}")
    return ExitCode.BELOW_GATE if short else ExitCode.OK


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
