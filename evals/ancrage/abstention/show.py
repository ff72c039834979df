"""Evaluations and comparisons on the terminal."""

from collections.abc import Sequence

from rich import box
from rich.console import RenderableType
from rich.table import Table

from ancrage.abstention.cases import CaseFile
from ancrage.abstention.compare import Moved, Paired
from ancrage.abstention.model import Group, QAEvaluation, Rate
from ancrage.report.terminal import console, show
from ancrage.report.text import line

_SHOWN = 20
"""Rows of a list of cases; the rest is in the file."""

_WIDEST = 80


def print_cases(file: CaseFile) -> None:
    """Counts by group, then every fault and warning."""
    table = _table("group", "answerable", "must abstain", "total")
    total = [0, 0]
    for name, counts in file.counts.items():
        row = [counts["answerable"], counts["must abstain"]]
        total = [a + b for a, b in zip(total, row, strict=True)]
        table.add_row(line(name), *map(str, row), str(sum(row)))
    if len(file.counts) != 1:
        table.add_row("all", *map(str, total), str(sum(total)))
    _show(f"{line(str(file.path))}: {len(file.cases)} usable cases", table)
    for kind, words in (("error", file.faults), ("warning", file.warnings)):
        for each in words:
            _show(f"{kind}: {line(each)}")


def print_evaluation(evaluation: QAEvaluation) -> None:
    """The line of the score, both groups, the 2×2 and every failed case."""
    e = evaluation
    failed = f"[{', '.join(repr(i) if isinstance(i, str) else str(i) for i in e.failed_cases)}]"
    _show(f"total={e.total} faithful={e.faithful} score={e.score:.2f} failed_cases={failed}")
    if e.unscored_cases:
        high = (e.faithful + len(e.unscored_cases)) / e.total
        _show(f"{len(e.unscored_cases)} unscored: if all were faithful, score={high:.2f}")
    if e.missing_cases:
        _show(f"INCOMPLETE: {len(e.missing_cases)} of {e.total} cases have no answer; they count")
    rule = f"rule {e.rule.name} {e.rule.version}"
    verifier = f", verifier {e.rule.verifier}" if e.rule.verifier else ""
    temperature = "not sent" if e.temperature is None else f"{e.temperature:g}"
    _show(f"model {line(e.model)}, temperature {temperature}; {rule}{line(verifier)}", "")
    groups = _table("cases", "total", "faithful", "failed", "missing", "unscored", "score, 95 %")
    for name, group in {**e.groups, **e.by_group}.items():
        groups.add_row(line(name.replace("_", " ")), *_counts(group), _rate(group.score))
    matrix = _table("", "answered", "abstained", "neither", "missing", "total")
    for name, row in (
        ("answerable", e.abstention.matrix.answerable),
        ("must abstain", e.abstention.matrix.must_abstain),
    ):
        cells = (row.answered, row.abstained, row.unread, row.missing, row.total)
        matrix.add_row(name, *map(str, cells))
    _show(groups, "", matrix, "")
    a = e.abstention
    if a.balanced_accuracy is None:
        _show("balanced accuracy: none, one of the two groups has no case")
    else:
        _show(f"balanced accuracy {a.balanced_accuracy:.3f} ({a.low:.3f}–{a.high:.3f})")
    _show(
        f"false answers {_rate(a.false_answers)} of the cases that must abstain",
        f"false refusals {_rate(a.false_refusals)} of the answerable cases",
    )
    bad = [r for r in e.results if r.faithful is not True]
    if bad:
        table = _table("case", "cause", "question", "answer", "why")
        for r in bad[:_SHOWN]:
            table.add_row(
                line(str(r.id)),
                str(r.cause),
                _short(r.question),
                _short(r.answer),
                line(r.reason),
            )
        _show("", table)
    _more(len(bad))


def print_comparison(paired: Paired, first: str, second: str) -> None:
    """Counts that add up, the difference with its interval, and every case that moved."""
    p = paired
    table = _table("cases", "count")
    for name, count in (
        ("faithful in both", p.both),
        (f"only in {first}", p.only_first),
        (f"only in {second}", p.only_second),
        ("in neither", p.neither),
        ("compared", p.compared),
        ("unscored on a side", p.unscored),
        ("not in both", len(p.unpaired)),
    ):
        table.add_row(line(name), str(count))
    _show(table)
    if p.difference is not None:
        _show(
            f"difference {p.difference:+.3f} ({p.low:+.3f} to {p.high:+.3f}), "
            f"exact McNemar p = {p.p_value:.3g}"
        )
        if p.smallest_p_value > 0.05:
            _show("too few cases moved for any p below 0.05")
    print_moved((*p.lost, *p.won), first, second)


def print_moved(moved: Sequence[Moved], first: str, second: str) -> None:
    """One row a case whose verdict is another."""
    if not moved:
        _show("no verdict moved")
        return
    table = _table("case", first, second, "question")
    for m in moved[:_SHOWN]:
        table.add_row(line(str(m.id)), m.before, m.after, _short(m.question))
    _show(f"{len(moved)} verdicts moved", table)
    _more(len(moved))


def _short(text: str) -> str:
    text = line(text)
    return text if len(text) <= _WIDEST else text[: _WIDEST - 1] + "…"


def _more(count: int) -> None:
    if count > _SHOWN:
        _show(f"… and {count - _SHOWN} more in the evaluation")


def _counts(group: Group) -> tuple[str, ...]:
    counts = (group.total, group.faithful, group.failed, group.missing, group.unscored)
    return tuple(map(str, counts))


def _rate(rate: Rate) -> str:
    if rate.rate is None:
        return "–"
    return f"{rate.count}/{rate.total} = {rate.rate:.2f} ({rate.low:.2f}–{rate.high:.2f})"


def _table(*columns: str) -> Table:
    table = Table(box=box.SIMPLE, pad_edge=False, show_edge=False)
    for i, column in enumerate(columns):
        numeric = column in ("total", "answered", "abstained", "count", "faithful", "failed")
        table.add_column(line(column), justify="right" if i and numeric else "left")
    return table


def _show(*parts: RenderableType) -> None:
    out = console()
    for part in parts:
        show(part, out)
