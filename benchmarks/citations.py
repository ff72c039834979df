"""Does each citation reach its quote, on real messages; and is parsing linear, whatever the answer?

Run ``python -m benchmarks.citations``. Answers of three quotes are laid out in many ways over the
messages of the real survey: exact ones must be clean, with their citations moved round by one
every quote must fail, with one word altered one quote must fail. Each hostile shape is parsed at
length n and 8 n; the ratio of the times is 8 when parsing is linear and 64 when it is quadratic.
"""

import csv
import random
import time
from collections.abc import Callable
from pathlib import Path

from ancrage.checks import load_checks
from ancrage.citations import parse
from ancrage.config import Config
from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Message,
    Output,
    OutputState,
    Provenance,
    Study,
)
from ancrage.evaluator import Subject
from ancrage.ids import IdPolicy
from ancrage.studies import IndexedStudy

SURVEY = Path(__file__).resolve().parents[2] / "shared" / "data" / "survey" / "messages.csv"

Item = tuple[str, str, str]
"""Respondent, message, words."""


def _lines(form: str, join: str = "\n") -> Callable[[list[Item]], str]:
    def layout(items: list[Item]) -> str:
        return join.join(
            form.format(r=r, m=m, q=q, n=n) for n, (r, m, q) in enumerate(items, start=1)
        )

    return layout


_FIELDS = _lines('{{"quote": "{q}", "source": "[{r}, {m}]"}}', ", ")

LAYOUTS: dict[str, Callable[[list[Item]], str]] = {
    "bullets, citation last": _lines("- « {q} » [{r}, {m}]"),
    "bullets, citation first": _lines("- [{r}, {m}]: « {q} »"),
    "bullets, citation first, no colon": _lines("* [{r}, {m}] “{q}”"),
    "bullets, bold citation": _lines("- **[{r}, {m}]** — “{q}”"),
    "bullets, respondent and message": _lines("- {r} ({m}) : « {q} »"),
    "bullets, a verb": _lines("- [{r}, {m}] explains: “{q}”"),
    "bullets, a theme before": _lines("- **Theme {n}**: “{q}” [{r}, {m}]."),
    "numbers, citation first": _lines("{n}. [{r}, {m}] “{q}”"),
    "numbers, parentheses": _lines("{n}) “{q}” ({r}, {m})"),
    "lines, citation first": _lines("[{r}, {m}] « {q} »"),
    "citation on the line above": _lines("[{r}, {m}]\n« {q} »", "\n\n"),
    "citation on the line below": _lines("« {q} »\n\n[{r}, {m}]", "\n\n"),
    "nested, source below": _lines("- Theme {n}\n  - « {q} »\n  - Source : [{r}, {m}]"),
    "nested, citation above": _lines("- {r} [{m}] :\n  - “{q}”"),
    "block quotes, attribution in": _lines("> {q}\n> — [{r}, {m}]", "\n\n"),
    "block quotes, attribution after": _lines("> {q}\n\n— [{r}, {m}]", "\n\n"),
    "block quotes, speaker": _lines("> **{r}:** “{q}” [{m}]", "\n\n"),
    "block quotes, led": _lines("Point {n} [{r}, {m}]:\n\n> {q}", "\n\n"),
    "table, source last": lambda items: (
        "| Verbatim | Source |\n|---|---|\n" + _lines("| « {q} » | [{r}, {m}] |")(items)
    ),
    "table, source first": lambda items: (
        "| Source | Verbatim |\n|---|---|\n" + _lines("| {r}, {m} | “{q}” |")(items)
    ),
    "footnotes": lambda items: (
        _lines("“{q}”[^{n}]", " and ")(items) + "\n\n" + _lines("[^{n}]: {r}, {m}")(items)
    ),
    "one sentence": _lines("“{q}” [{r}, {m}]", ", "),
    "one sentence, citations first": _lines("[{r}, {m}] says “{q}”", "; "),
    "tags": _lines('<cite id="{m}">{q}</cite>', " "),
    "links": _lines("[“{q}”](#{m})", " "),
    "HTML list": lambda items: f"<ul>{_lines('<li>“{q}” [{r}, {m}]</li>', '')(items)}</ul>",
    "entities": _lines("- &laquo;&nbsp;{q}&nbsp;&raquo; [{r}, {m}]"),
    "<q>": _lines("<q>{q}</q> [{r}, {m}]", "\n\n"),
    "Japanese marks": _lines("「{q}」 [{r}, {m}]", "\n\n"),
    "TeX marks": _lines("- ``{q}'' [{r}, {m}]"),
    "mixed marks": _lines('- “{q}" [{r}, {m}]'),
    "unclosed marks": _lines("- « {q} [{r}, {m}]"),
    "dialogue": _lines("— {q} [{r}, {m}]", "\n\n"),
    "JSON": lambda items: "[" + _FIELDS(items) + "]",
}


def _messages() -> list[Item]:
    with SURVEY.open(encoding="utf-8") as file:
        return [
            (f"R-{number:04d}", f"M-{number:04d}", " ".join(row["text"].split()))
            for number, row in enumerate(csv.DictReader(file), start=1)
            if 5 <= len(row["text"].split()) <= 40
            and not set(row["text"]) & set('"“”«»‘[]{}()|<>&*_`\\—')
        ]


def attribution(answers: int = 40) -> None:
    """Print, for each layout, what the checks say of ``answers`` answers of three quotes."""
    rng = random.Random(11)
    known = _messages()
    messages = tuple(Message(id=m, respondent_id=r, text=q) for r, m, q in known)
    source = IndexedStudy(Study(id="s", messages=messages), IdPolicy())
    checks = [
        check
        for check in load_checks(Config(None, {}))
        if check.name in ("non_verbatim_quote", "uncited_quote", "malformed_citation")
    ]

    def findings(text: str) -> int:
        case = Case(
            id="c",
            study_id="s",
            input=CaseInput(question="?"),
            output=Answer(text=text),
            provenance=Provenance(source="benchmark"),
        )
        output = Output(case_id="c", state=OutputState.OK, answer=case.output)
        subject = Subject(case, output, source)
        return sum(len(tuple(check.function(subject))) for check in checks)

    totals = [0, 0, 0]
    print("of each layout: exact quotes flagged, moved quotes missed, altered quotes missed")
    for name, layout in LAYOUTS.items():
        flagged = moved = altered = 0
        for _ in range(answers):
            items = rng.sample(known, 3)
            flagged += findings(layout(items))
            turned = [
                (r, m, q) for (r, m, _), (_, _, q) in zip(items, items[1:] + items[:1], strict=True)
            ]
            moved += max(0, 3 - findings(layout(turned)))
            words = items[1][2].split()
            words[len(words) // 2] = "turquoise"
            items[1] = (*items[1][:2], " ".join(words))
            altered += findings(layout(items)) == 0
        for index, count in enumerate((flagged, moved, altered)):
            totals[index] += count
        if flagged or moved or altered:
            print(f"    {name}: {flagged}, {moved}, {altered}")
    size = answers * len(LAYOUTS)
    print(
        f"{len(LAYOUTS)} layouts: {totals[0]} of {3 * size} exact quotes flagged, {totals[1]} of "
        f"{3 * size} moved quotes missed, {totals[2]} of {size} altered quotes missed"
    )


SHAPES: dict[str, Callable[[int], str]] = {
    "opening brackets": lambda n: "[" * n,
    "closing brackets": lambda n: "]" * n,
    "opening guillemets": lambda n: "« " * n,
    "nested quotes": lambda n: "« a " * (n // 2) + "» " * (n // 2),
    "straight quotes": lambda n: '" ' * n,
    "apostrophes": lambda n: "l'" * n,
    "unclosed ids": lambda n: "[R-1, M-1 " * n,
    "one long bracket": lambda n: "[" + "R-1, M-1; " * n + "]",
    "one long token": lambda n: "[M-" + "0" * n + "]",
    "dashes": lambda n: "[M" + "-" * n + "1]",
    "quotes and brackets": lambda n: "« a b » [R-1, M-1] " * n,
    "quotes without": lambda n: "« quatre mots sans crochet » " * n,
    "pipes": lambda n: "|" * n + "\n" + "| a " * n,
    "blank lines": lambda n: "\n" * n + " \n" * n,
    "spaces after a quote": lambda n: "« a »" + " " * n,
    "rows of a table": lambda n: "| « a » | R-1 | M-1 |\n" * n,
    "emphasis": lambda n: "*_" * n,
    "parentheses": lambda n: "(R-1 " * n,
    "one long row": lambda n: "| " + "« a » [R-1, M-1] | " * n,
    "respondents before": lambda n: "R-1 (M-1) " * n,
    "footnotes": lambda n: "« a »[^1] " * n + "\n[^1]: R-1, M-1" * n,
    "attributions": lambda n: "> a\n> — [R-1, M-1]\n" * n,
    "tags": lambda n: "« a »" + "<br>" * n + "« b »" + "<b" * n,
}


def seconds(text: str) -> float:
    """The best of three timings of one parse."""
    best = float("inf")
    for _ in range(3):
        start = time.perf_counter()
        parse(text)
        best = min(best, time.perf_counter() - start)
    return best


def main(size: int = 150) -> None:
    """Print what attribution gets wrong, one line a hostile shape, and the worst growth."""
    if SURVEY.is_file():
        attribution()
    worst = 0.0
    for name, shape in SHAPES.items():
        short, long = seconds(shape(size)), seconds(shape(8 * size))
        growth = long / short
        worst = max(worst, growth)
        rate = len(shape(8 * size)) / long / 1e6
        print(f"{name:22} x8 in length: x{growth:5.1f} in time, {rate:7.2f} M characters/s")
    print(f"worst growth x{worst:.1f} (linear: x8, quadratic: x64)")


if __name__ == "__main__":
    main()
