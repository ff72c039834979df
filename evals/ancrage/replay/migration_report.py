"""The migration report: tables of text, for the terminal and for the page alike."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ancrage.compare import figures
from ancrage.compare.model import ModeComparison, Repeats, Side
from ancrage.replay.migration import FATES, Migration, in_words
from ancrage.report.data import Section, share

if TYPE_CHECKING:
    from rich.console import RenderableType

Row = tuple[str, ...]


def tables(found: Migration) -> Iterator[Section]:
    """The report's parts: verdict, cases by fate, failure modes, answers and cost."""
    a, b = found.first.model, found.second.model
    yield Section("Verdict", header=("",), rows=tuple((each,) for each in verdict(found)))
    yield Section(
        f"Cases by fate ({a} downwards, {b} across; a case passes when every mode does)",
        header=("", *(fate.replace("_", " ") for fate in FATES), "cases"),
        rows=tuple(_moves(found)),
    )
    yield Section(
        f"Failure modes: {b} against {a}",
        header=("Mode", a, b, "Difference, points", "p (Holm)", "Verdict"),
        rows=tuple(_mode(each) for each in (found.overall, *found.modes)),
    )
    if found.first.repeats > 1 or found.second.repeats > 1:
        yield Section(
            "Failure modes over repeats: always pass + always fail + flip + missing = cases",
            header=("Mode", a, b),
            rows=tuple(
                (
                    each.title,
                    _repeats(each.first_repeats, each.first),
                    _repeats(each.second_repeats, each.second),
                )
                for each in (found.overall, *found.modes)
            ),
        )
    yield Section("Answers and cost", header=("", a, b), rows=tuple(_measures(found)))


def verdict(found: Migration) -> Sequence[str]:
    """The verdict in words, and what else differs."""
    return (in_words(found), *(f"Note: {note}." for note in found.notes))


def _moves(found: Migration) -> Iterator[Row]:
    for a in FATES:
        row = found.moves[a]
        yield (a.replace("_", " "), *(str(row[b]) for b in FATES), str(sum(row.values())))
    second = found.fates(second=True)
    yield ("cases", *(str(second[b]) for b in FATES), str(found.cases))


def _mode(each: ModeComparison) -> Row:
    change = figures.points(each.difference)
    if each.difference is not None:
        change += f" {figures.points_between(each.interval)}"
    words = each.problem or each.verdict.value
    sides = (_rate(each.first), _rate(each.second))
    return (each.title, *sides, change, figures.p_value(each.adjusted_p), words)


def _rate(side: Side) -> str:
    return figures.fraction(side) + (f", {side.unscored} unscored" if side.unscored else "")


def _repeats(found: Repeats | None, side: Side) -> str:
    if found is None:
        return f"{side.cases} cases, one run"
    return (
        f"{found.always_pass} + {found.always_fail} + {found.flips} + {found.missing} "
        f"= {found.cases}"
    )


def _measures(found: Migration) -> Iterator[Row]:
    both = (found.first, found.second)
    yield "Repeats", *(str(side.repeats) for side in both)
    states = (side.states.items() for side in both)
    yield "Outputs by state", *(", ".join(f"{n} {state}" for state, n in s) for s in states)
    for name, field, form in _MEASURES:
        yield name, *(_number(getattr(side, field), form) for side in both)
    quotes = (share(side.faithful_quotes, side.cited_quotes, interval=False) for side in both)
    yield "Cited quotes that are verbatim", *quotes
    yield "Cost", *(_number(side.cost, ".4f", f" {side.currency}") for side in both)


_MEASURES = (
    ("Answer length, characters (median)", "characters", ".0f"),
    ("Tool calls an answer (mean)", "tool_calls", ".2f"),
    ("Citations an answer (mean)", "citations", ".2f"),
    ("Quotes an answer (mean)", "quotes", ".2f"),
    ("Latency a case, s (median)", "latency", ".2f"),
    ("Latency a case, s (95th percentile)", "slow", ".2f"),
    ("Tokens in", "input_tokens", ",.0f"),
    ("Tokens out", "output_tokens", ",.0f"),
)


def _number(value: float | None, form: str, unit: str = "") -> str:
    return "unknown" if value is None else f"{value:{form}}{unit}"


def render(found: Migration) -> "RenderableType":
    """The report for the terminal."""
    from rich.console import Group
    from rich.text import Text

    from ancrage.report.grid import Grid
    from ancrage.report.text import line

    parts: list[RenderableType] = []
    for section in tables(found):
        parts.append(Text(f"\n{line(section.title)}", "bold"))
        if section.title == "Verdict":
            parts += [Text(line(row[0])) for row in section.rows]
            continue
        grid = Grid(*section.header, right=range(1, len(section.header)))
        for row in section.rows:
            grid.add(*row)
        parts.append(grid)
    return Group(*parts)
