"""The matrix as one HTML file, and as Markdown for docs/proof.md."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from ancrage.files import write_atomic
from ancrage.prove.model import Kind
from ancrage.prove.shapes import write
from ancrage.prove.summary import Row, pick
from ancrage.prove.terminal import share
from ancrage.prove.trial import Trial, Wrong


def write_html(
    path: Path,
    trial: Trial,
    kinds: Sequence[Kind],
    rows: Sequence[Row],
    wrongs: Sequence[Wrong],
) -> None:
    """Write the page to ``path``: kinds by shapes, kinds by modes, and the smallest inputs."""
    from ancrage.report import page

    shapes = list(dict.fromkeys(cell.shape for cell in trial.cells))
    modes = sorted({mode for cell in trial.cells for mode in cell.found})
    text = page.stream(
        "ancrage.prove",
        "prove.html.j2",
        {"share": share, "plain": plain},
        trial=trial,
        rows=rows,
        shapes=shapes,
        modes=modes,
        cells={(kind.name, shape): pick(trial, kind, shape) for kind in kinds for shape in shapes},
        wrongs=[(wrong, write(wrong.draft, wrong.shape), sources(wrong)) for wrong in wrongs],
    )
    write_atomic(path, text, private=True)


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
    yield "| fault | found | by the right mode | by another | missed | unscored |"
    yield "|---|---|---|---|---|---|"
    for row in (row for row in rows if row.is_fault):
        counts = f"{row.right} | {row.other} | {row.missed} | {row.unscored}"
        yield f"| `{row.name}` {row.definition} | {share(row)} | {counts} |"
    yield ""
    yield "| harmless edit | left alone | false alarms |"
    yield "|---|---|---|"
    for row in (row for row in rows if not row.is_fault):
        yield f"| `{row.name}` {row.definition} | {share(row)} | {row.other} |"
    yield ""
    yield "| shape | faults found | harmless left alone |"
    yield "|---|---|---|"
    shares = {(row.name, row.is_fault): share(row) for row in shapes}
    for name in dict.fromkeys(row.name for row in shapes):
        yield f"| {name} | {shares.get((name, True), '–')} | {shares.get((name, False), '–')} |"
