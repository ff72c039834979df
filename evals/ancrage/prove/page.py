"""The matrix as one HTML file, and as Markdown for docs/proof.md."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ancrage.files import write_atomic
from ancrage.prove.model import Kind
from ancrage.prove.replays import WorldTrial
from ancrage.prove.shapes import write
from ancrage.prove.summary import Row, pick
from ancrage.prove.terminal import (
    EDIT_COLUMNS,
    FAULT_COLUMNS,
    columns,
    share,
    share_of_all,
    world_rows,
)
from ancrage.prove.trial import Trial, Wrong


def write_html(
    path: Path,
    trial: Trial,
    kinds: Sequence[Kind],
    rows: Sequence[Row],
    wrongs: Sequence[Wrong],
) -> None:
    """Write the page to ``path``: kinds by shapes, kinds by modes, and the smallest inputs."""
    shapes = list(dict.fromkeys(cell.shape for cell in trial.cells))
    _write(
        path,
        "prove.html.j2",
        trial=trial,
        rows=rows,
        shapes=shapes,
        modes=sorted({mode for cell in trial.cells for mode in cell.found}),
        cells={(kind.name, shape): pick(trial, kind, shape) for kind in kinds for shape in shapes},
        wrongs=[(wrong, write(wrong.draft, wrong.shape), sources(wrong)) for wrong in wrongs],
    )


def _write(path: Path, template: str, **values: Any) -> None:
    from ancrage.report import page

    names = {"share": share_of_all, "plain": plain}
    write_atomic(path, page.stream("ancrage.prove", template, names, **values), private=True)


def plain(name: str) -> str:
    """A name without underscores."""
    return name.replace("_", " ")


def sources(wrong: Wrong) -> dict[str, str]:
    """The messages that the units of an input quote, by id."""
    return {unit.message: wrong.draft.message_text(unit) for unit in wrong.draft.units}


def markdown(trial: Trial, rows: Sequence[Row], shapes: Sequence[Row]) -> Iterator[str]:
    """The tables, line by line."""
    yield f"{trial.hosts} clean answers of {trial.answers}, each planted many times over."
    yield ""
    for heading, good, known, some in (
        ("fault", "found", FAULT_COLUMNS, [row for row in rows if row.is_fault]),
        ("harmless edit", "left alone", EDIT_COLUMNS, [row for row in rows if not row.is_fault]),
    ):
        shown = columns(some, known)
        yield f"| {heading} | {good} | {' | '.join(shown)} |"
        yield f"|---|---|{'---|' * len(shown)}"
        for row in some:
            counts = " | ".join(str(getattr(row, name)) for name in shown.values())
            yield f"| `{row.name}` {row.definition} | {share(row)} | {counts} |"
        yield ""
    yield "| shape | faults found | harmless left alone |"
    yield "|---|---|---|"
    shares = {(row.name, row.is_fault): share_of_all(row) for row in shapes}
    for name in dict.fromkeys(row.name for row in shapes):
        yield f"| {name} | {shares.get((name, True), '–')} | {shares.get((name, False), '–')} |"


def write_world(path: Path, trial: WorldTrial) -> None:
    """Write the matrix of the world's faults to ``path`` as one HTML page."""
    _write(path, "world.html.j2", trial=trial, rows=list(world_rows(trial)))


def world_markdown(trial: WorldTrial) -> Iterator[str]:
    """The matrix of the world's faults, line by line."""
    yield f"{trial.clean} of {trial.tried} cases replay as they were recorded."
    yield ""
    yield "| fault of the world | must be said by | said by | cases | |"
    yield "|---|---|---|---|---|"
    for name, definition, *cells in world_rows(trial):
        yield f"| `{name}` {definition} | {' | '.join(cells)} |"
