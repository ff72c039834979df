"""What ``prove`` prints."""

from collections.abc import Iterator, Mapping, Sequence

from rich.console import RenderableType
from rich.text import Text

from ancrage.prove.replays import WorldTrial
from ancrage.prove.summary import Row
from ancrage.prove.trial import Trial
from ancrage.report import data
from ancrage.report.grid import Grid


def overview(trial: Trial, kinds: Sequence[Row], shapes: Sequence[Row]) -> Iterator[RenderableType]:
    """The tables of faults, of harmless edits, and of shapes, and what could not be tried."""
    yield Text(f"{trial.hosts} of {trial.answers} answers are clean and were planted in.")
    yield _kinds([row for row in kinds if row.is_fault], "Fault", FAULT_COLUMNS)
    yield _kinds([row for row in kinds if not row.is_fault], "Harmless edit", EDIT_COLUMNS)
    yield _shapes(shapes)
    if trial.not_applied:
        yield Text(f"No answer could take: {', '.join(trial.not_applied)}.")
    if trial.unowned:
        yield Text(f"Nobody looks for: {', '.join(trial.unowned)}.")


def share(row: Row) -> str:
    """``71/72 = 98.6 % [92.5, 99.8]``: of what is claimed, what came out as it should."""
    return data.share(row.good, row.claimed) if row.claimed else "–"


def share_of_all(row: Row) -> str:
    """``share``, and how many plantings stand outside it because nobody claims to find them."""
    return share(row) + (f", {row.not_claimed} not claimed" if row.not_claimed else "")


FAULT_COLUMNS = {
    "right mode": "right",
    "another": "other",
    "judges alone": "by_judges",
    "missed": "missed",
    "unscored": "unscored",
    "not claimed": "not_claimed",
}
"""The columns of the table of faults, and which count of a row each shows."""
EDIT_COLUMNS = {"false alarms": "other", "judges alone": "by_judges"}


def columns(rows: Sequence[Row], known: Mapping[str, str]) -> dict[str, str]:
    """``known`` without the columns that hold nothing but zeros, what went wrong aside."""
    return {
        title: name
        for title, name in known.items()
        if title in ("missed", "false alarms") or any(getattr(row, name) for row in rows)
    }


def _kinds(rows: Sequence[Row], what: str, known: Mapping[str, str]) -> RenderableType:
    shown = columns(rows, known)
    found = "Found" if known is FAULT_COLUMNS else "Left alone"
    grid = Grid(what, found, *shown, right=range(1, 2 + len(shown)), whole=(1,))
    for row in rows:
        style = "bold red" if row.falls_short else ""
        counts = (str(getattr(row, name)) for name in shown.values())
        grid.add(Text(row.name, style), share(row), *counts)
    return grid


def _shapes(rows: Sequence[Row]) -> RenderableType:
    grid = Grid("Shape", "Faults found", "Harmless left alone", right=(1, 2))
    shares = {(row.name, row.is_fault): share_of_all(row) for row in rows}
    for name in dict.fromkeys(row.name for row in rows):
        grid.add(name, shares.get((name, True), "–"), shares.get((name, False), "–"))
    return grid


WORLD_COLUMNS = ("Fault of the world", "Must be said by", "Said by", "Cases", "")


def world_rows(trial: WorldTrial) -> Iterator[tuple[str, str, str, str, str, str]]:
    """Name, definition, what must say it, what did, of how many cases, and the verdict."""
    for one in trial.outcomes:
        said = ", ".join(f"{sign} ({n})" for sign, n in one.signs.items()) or "nothing"
        verdict = "said" if one.said else "UNSAID" if one.claimed else "not claimed"
        if not one.expected:
            verdict = "left alone" if one.said else "FALSE ALARM"
        if not one.cases:
            verdict = "no case can take it"
        expected = one.expected or "nothing"
        expected = expected if one.claimed else "nobody"
        yield one.name, one.definition, expected, said, str(one.cases), verdict


def world(trial: WorldTrial) -> Iterator[RenderableType]:
    """The matrix of the world's faults."""
    yield Text(f"{trial.clean} of {trial.tried} cases replay as they were recorded.")
    grid = Grid(*WORLD_COLUMNS, right=(3,))
    for name, _, *cells, verdict in world_rows(trial):
        grid.add(name, *cells, Text(verdict, "bold red" if verdict.isupper() else ""))
    yield grid
