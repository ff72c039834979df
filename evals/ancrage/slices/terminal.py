"""What stands out in a run, and the rates by one field, on the terminal."""

from collections.abc import Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from ancrage.report.data import share
from ancrage.report.grid import Grid
from ancrage.report.text import line
from ancrage.slices.find import Found, looked_at

_CASES = 6


def standing_out(found: Found) -> RenderableType:
    """One sentence a finding, its cases, and how much was looked at."""
    looked = Text(looked_at(found), "dim")
    if not found.findings:
        return Stack(Text("Nothing stands out.", "green"), looked) if found.looked else looked
    parts: list[RenderableType] = [Text("Where failures live", "bold")]
    for finding in found.findings:
        parts.append(
            Text.assemble(
                ("▲ ", "bold red"), line(finding.sentence), (f"  p {finding.p:.3f}", "dim")
            )
        )
        cases = ", ".join(line(case) for case in finding.cases[:_CASES])
        more = len(finding.cases) - _CASES
        parts.append(Text(f"    {cases}{f' and {more} more' if more > 0 else ''}", "dim"))
    return Stack(*parts, looked)


def rates(field: str, rows: Sequence[tuple[str, str, int, int]]) -> RenderableType:
    """The rate of each mode by the values of ``field``; modes that never fail are left out."""
    failing = {mode for _, mode, count, _ in rows if count}
    table = Grid(field, "Failure mode", "Rate", right=(2,), whole=(2,))
    for value, mode, count, scored in rows:
        if mode in failing:
            table.add(
                value, mode, share(count, scored, interval=False) if scored else "none scored"
            )
    quiet = sorted({mode for _, mode, _, _ in rows} - failing)
    parts: list[RenderableType] = [table]
    if quiet:
        parts.append(Text(f"Never failing: {', '.join(map(line, quiet))}", "green"))
    return Stack(*parts)
