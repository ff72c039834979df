"""Answers in which nothing was read are said to be, with the lines that would read them."""

import json
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest

from ancrage.domain import Message, Study
from tests.builders import case, snapshot
from tests.cli.test_commands import run

ODD = 'Le bus est en retard <msg n="M-0034"/>.'


def test_lines_that_read_what_was_not_read(tmp_path: Path) -> None:
    texts = [ODD, ODD, "On le dit {M-0034}.", "Je ne sais pas.", ""]
    snapshot(tmp_path / "snapshots" / "s", [case(text, id=f"c{n}") for n, text in enumerate(texts)])
    text = run("experiment", "--run-name", "r", "--judges", "none", cwd=tmp_path).stdout
    assert "No citation was read in 3 answers" in text
    assert "<tag" in text
    assert "{…} (1)." in " ".join(text.split())
    _, _, after = text.partition("These lines of evals.toml would read them:\n")
    lines = "\n".join(row[4:] for row in after.splitlines() if row.startswith("    "))
    configuration = lines.partition("\n\n")[0]
    (tmp_path / "evals.toml").write_text(configuration, encoding="utf-8")
    assert tomllib.loads(configuration)["citations"]["tags"] == ["msg"]
    page = run("report", "r", "--html", "-", cwd=tmp_path).stdout
    assert "no citation was read in 3 answers" in page
    assert "tags = [&#34;msg&#34;]" in page

    run("experiment", "--run-name", "again", "--judges", "none", cwd=tmp_path)
    figures = json.loads(run("report", "again", "--json", "-", cwd=tmp_path).stdout)
    assert figures["anchors"]["citations"] == 2
    assert figures["anchors"]["unread_answers"] == 1


def test_nothing_is_said_where_nothing_looks_like_a_citation(tmp_path: Path) -> None:
    snapshot(tmp_path / "snapshots" / "s", [case("Je ne sais pas.")])
    ended = run("experiment", "--judges", "none", cwd=tmp_path)
    assert "Answers that cite nothing   1/1" in ended.stdout
    assert "Nothing was read" not in ended.stdout


@pytest.mark.parametrize(
    ("who", "message", "written"),
    [
        ("client-{}", "verbatim_{}", "(client-{n}, verbatim_{n})"),
        ("Client {}", "Verbatim {}", "(Client {n}, Verbatim {n})"),
        ("client-93521632{}", "verbatim_{}", "(client-93521632{n}, verbatim_{n})"),
        ("R-{}", "M{}", "[M{n}]"),
        ("R-{}", "M-{}", "(R-{n}; M-{n})"),
    ],
)
def test_what_is_proposed_reads_the_messages(
    who: str, message: str, written: str, tmp_path: Path
) -> None:
    words = ["le site est clair et rapide", "la livraison est trop lente", "le prix est correct"]
    study = Study(
        id="app",
        messages=tuple(
            Message(id=message.format(n), respondent_id=who.format(n), text=text)
            for n, text in enumerate(words, 11)
        ),
    )
    cases = [
        case(f"On dit « {text} » {written.format(n=n)}.", id=f"c{n}")
        for n, text in enumerate(words, 11)
    ]
    snapshot(tmp_path / "snapshots" / "s", cases, [study])
    told = run("experiment", "--run-name", "r", "--judges", "none", cwd=tmp_path).stdout
    _, proposed, after = told.partition("These lines of evals.toml would read them:\n")
    rows = takewhile(lambda row: row.startswith("    "), after.splitlines())
    lines = "\n".join(row[4:] for row in rows)
    (tmp_path / "evals.toml").write_text(lines, encoding="utf-8")
    run("experiment", "--run-name", "again", "--judges", "none", cwd=tmp_path)
    figures = json.loads(run("report", "again", "--json", "-", cwd=tmp_path).stdout)
    anchors = figures["anchors"]
    assert (anchors["citations"], anchors["held"]) == (3, 3), (proposed, lines, figures["modes"])
    failing = {mode["mode"]["name"]: mode["failing"] for mode in figures["modes"]}
    assert not any(failing.values()), (lines, failing)
