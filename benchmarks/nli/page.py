"""The benchmark's tables as Markdown."""

from collections.abc import Sequence

from benchmarks.nli.bench import Figure, Result, Row

_COLUMNS = (
    "accuracy", "precision", "recall", "f1", "hallucination_rate", "responses", "responses_left",
)  # fmt: skip
_TITLES = ("Accuracy", "Precision", "Recall", "F1", "Rate after", "Responses told", "Left")
_CHOSEN = (
    "always wrong", "word overlap", "argmax", "one cut on 1 − p(entailed)", "paper, k = 0.7",
    "calibrated, FNR ≤ 0.2",
)  # fmt: skip


def cell(figure: Figure | None) -> str:
    """A measure as ``.712 [.690, .733]``; a dash where it is undefined."""
    if figure is None or figure.value is None:
        return "–"
    return f"{_short(figure.value)} [{_short(figure.low)}, {_short(figure.high)}]"


def _short(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}".removeprefix("0")


def cells(row: Row) -> list[str]:
    """One row of a table of methods."""
    if row.missing:
        return [row.method, *("not run" for _ in _COLUMNS), "–", "–", row.missing]
    figures = [cell(row.measures.get(name)) for name in _COLUMNS]
    return [row.method, *figures, _short(row.auc), str(row.undecided), row.note]


HEADER = ["Method", *_TITLES, "AUC", "Undecided", "Note"]


def summary(result: Result) -> str:
    """One paragraph on the data: what was used, left out, and how it is grouped."""
    dropped = ", ".join(f"{n} {reason}" for reason, n in result.dropped.items()) or "nothing"
    return (
        f"{result.claims} claims in {result.responses} responses ({result.wrong} wrong) after "
        f"{result.tuning_claims} claims for tuning; grouping: {result.grouping}; left out: "
        f"{dropped}; unscored: {result.unscored}."
    )


def compact(results: Sequence[Result]) -> str:
    """One table of all data sets: the methods that matter, one line each."""
    header = [
        "set, claims (wrong)",
        "method",
        "AUC",
        "accuracy",
        "F1",
        "responses told right",
        "left",
    ]
    lines = [header, ["---"] * len(header)]
    for result in results:
        title = f"{result.dataset}, {result.claims} ({result.wrong})"
        for row in result.rows:
            if row.method in _CHOSEN:
                values = [
                    row.measures.get(name) for name in ("accuracy", "responses", "responses_left")
                ]
                accuracy, told, left = (_short(v.value) if v else "not run" for v in values)
                lines.append(
                    [
                        title,
                        row.method,
                        _short(row.auc),
                        accuracy,
                        cell(row.measures.get("f1")),
                        told,
                        left,
                    ]
                )
                title = ""
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def tables(result: Result) -> dict[str, tuple[list[str], list[list[str]]]]:
    """Every table of one data set: header and rows, by title."""
    taxonomy = [
        [method, error, *(str(kinds.get(kind, 0)) for kind in _KINDS)]
        for method, errors in result.taxonomy.items()
        for error, kinds in errors.items()
    ]
    return {
        "Methods": (HEADER, [cells(row) for row in result.rows]),
        "Ablation": (HEADER, [cells(row) for row in result.ablation]),
        "k sweep (paper)": (["k", *HEADER[1:]], [cells(row) for row in result.sweep]),
        "Errors by kind of claim": (["Method", "Error", *_KINDS], taxonomy),
    }


_KINDS = ("temporal", "numeric", "substitution", "rare fact")


def markdown(result: Result) -> str:
    """The tables of one data set."""
    parts = [f"## {result.dataset}", summary(result)]
    for title, (header, rows) in tables(result).items():
        lines = [header, ["---"] * len(header), *rows]
        parts += [f"### {title}", "\n".join(f"| {' | '.join(line)} |" for line in lines)]
    return "\n\n".join(parts) + "\n"
