"""What ``prove`` prints."""

from collections.abc import Iterator, Sequence

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from ancrage.prove.summary import Row
from ancrage.prove.trial import Trial


def overview(trial: Trial, kinds: Sequence[Row], shapes: Sequence[Row]) -> Iterator[RenderableType]:
    """The tables of faults, of harmless edits, and of shapes, and what could not be tried."""
    yield Text(
        f"{trial.hosts} of {trial.answers} answers are clean, quote a message, and were planted in."
    )
    yield _faults([row for row in kinds if row.is_fault])
    yield _harmless([row for row in kinds if not row.is_fault])
    yield _shapes(shapes)
    if trial.not_applied:
        yield Text(f"No answer could take: {', '.join(trial.not_applied)}.")
    if trial.unowned:
        yield Text(f"Nobody looks for: {', '.join(trial.unowned)}.")


def share(row: Row) -> str:
    """``71/72 = 98.6 % [92.5, 99.8]``."""
    low, high = row.interval
    return f"{row.good}/{row.tried} = {100 * row.rate:.1f} % [{100 * low:.1f}, {100 * high:.1f}]"


def _faults(rows: Sequence[Row]) -> Table:
    table = Table("Fault", box=None, pad_edge=False)
    for heading in ("Found", "right mode", "another", "missed", "unscored"):
        table.add_column(heading, justify="right")
    for row in rows:
        table.add_row(
            Text(row.name, "bold red" if row.falls_short else ""),
            share(row),
            str(row.right),
            str(row.other),
            str(row.missed),
            str(row.unscored),
        )
    return table


def _harmless(rows: Sequence[Row]) -> Table:
    table = Table("Harmless edit", box=None, pad_edge=False)
    for heading in ("Left alone", "false alarms"):
        table.add_column(heading, justify="right")
    for row in rows:
        style = "bold red" if row.falls_short else ""
        table.add_row(Text(row.name, style), share(row), str(row.other))
    return table


def _shapes(rows: Sequence[Row]) -> Table:
    table = Table("Shape", box=None, pad_edge=False)
    table.add_column("Faults found", justify="right")
    table.add_column("Harmless left alone", justify="right")
    shares = {(row.name, row.is_fault): share(row) for row in rows}
    for name in dict.fromkeys(row.name for row in rows):
        table.add_row(name, shares.get((name, True), "–"), shares.get((name, False), "–"))
    return table
