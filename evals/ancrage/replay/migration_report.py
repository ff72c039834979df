"""The migration report: tables of text, for the terminal and for the page alike."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from ancrage.compare.model import ModeComparison, Repeats, Side
from ancrage.replay.migration import FATES, Migration, in_words, points
from ancrage.report.data import Section

if TYPE_CHECKING:
    from rich.console import RenderableType

_NAMES = {
    "always_pass": "always pass",
    "always_fail": "always fail",
    "flip": "flip",
    "missing": "missing",
}

Row = tuple[str, ...]


def tables(found: Migration) -> Iterator[Section]:
    """The report's parts: verdict, cases by fate, failure modes, answers and cost."""
    a, b = found.first.model, found.second.model
    yield Section("Verdict", header=("",), rows=tuple((each,) for each in verdict(found)))
    yield Section(
        f"Cases by fate ({a} downwards, {b} across; a case passes when every mode does)",
        header=("", *(_NAMES[each] for each in FATES), "cases"),
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
        yield (_NAMES[a], *(str(row[b]) for b in FATES), str(sum(row.values())))
    second = found.fates(second=True)
    yield ("cases", *(str(second[b]) for b in FATES), str(found.cases))


def _mode(each: ModeComparison) -> Row:
    if each.difference is None:
        change = "–"
    else:
        low, high = (points(bound) for bound in each.interval)
        change = f"{points(each.difference)} [{low}, {high}]"
    p = "–" if each.adjusted_p is None else f"{each.adjusted_p:.3g}"
    words = each.problem or each.verdict.value
    return (each.title, _rate(each.first), _rate(each.second), change, p, words)


def _rate(side: Side) -> str:
    if side.rate is None:
        return f"0 of {side.cases} scored"
    words = f"{side.failing:g}/{side.scored} = {side.rate * 100:.1f} %"
    return words + (f", {side.unscored} unscored" if side.unscored else "")


def _repeats(found: Repeats | None, side: Side) -> str:
    if found is None:
        return f"{side.cases} cases, one run"
    return (
        f"{found.always_pass} + {found.always_fail} + {found.flips} + {found.missing} "
        f"= {found.cases}"
    )


def _measures(found: Migration) -> Iterator[Row]:
    both = (found.first, found.second)

    def row(name: str, words: Sequence[str]) -> Row:
        return (name, *words)

    def number(value: float | None, form: str = ".0f", unit: str = "") -> str:
        return "unknown" if value is None else f"{value:{form}}{unit}"

    yield row("Repeats", [str(each.repeats) for each in both])
    yield row(
        "Outputs by state",
        [", ".join(f"{count} {state}" for state, count in each.states.items()) for each in both],
    )
    yield row("Answer length, characters (median)", [number(each.characters) for each in both])
    yield row("Tool calls an answer (mean)", [number(each.tool_calls, ".2f") for each in both])
    yield row("Citations an answer (mean)", [number(each.citations, ".2f") for each in both])
    yield row("Quotes an answer (mean)", [number(each.quotes, ".2f") for each in both])
    yield row(
        "Cited quotes that are verbatim",
        [
            f"{each.faithful_quotes}/{each.cited_quotes}"
            + (f" = {each.fidelity * 100:.1f} %" if each.fidelity is not None else "")
            for each in both
        ],
    )
    yield row("Latency a case, s (median)", [number(each.latency, ".2f") for each in both])
    yield row("Latency a case, s (95th percentile)", [number(each.slow, ".2f") for each in both])
    yield row("Tokens in", [number(each.input_tokens, ",.0f") for each in both])
    yield row("Tokens out", [number(each.output_tokens, ",.0f") for each in both])
    yield row("Cost", [number(each.cost, ".4f", f" {each.currency}") for each in both])


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
