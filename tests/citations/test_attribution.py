"""Which citation is whose, told by the structure of the answer; and what quotes nobody."""

import pytest

from ancrage.anchors import anchors
from ancrage.checks import load_checks
from ancrage.citations import UnreadableAnswer, parse
from ancrage.config import Config
from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Message,
    Output,
    OutputState,
    Provenance,
    Question,
    Study,
)
from ancrage.evaluator import Subject
from ancrage.ids import IdPolicy
from ancrage.studies import IndexedStudy

WORDS = {
    "M-1": ("R-1", "The app is fast and I like it"),
    "M-2": ("R-2", "Delivery takes far too long"),
    "M-3": ("R-3", "on attend 15 jours au guichet"),
}
SOURCE = IndexedStudy(
    Study(
        id="s",
        questions=(
            Question(
                ref="Q1",
                text="Que pensez-vous de notre application mobile au quotidien ?",
                options=("Plutôt satisfait de tout", "Pas du tout"),
            ),
        ),
        messages=tuple(
            Message(id=key, respondent_id=who, text=text) for key, (who, text) in WORDS.items()
        ),
    ),
    IdPolicy(),
)
CHECKS = load_checks(Config(None, {}))
FAST, LONG, WAIT = (text for _, text in WORDS.values())


def subject(text: str) -> Subject:
    case = Case(
        id="c",
        study_id="s",
        input=CaseInput(question="Que disent-ils ?"),
        output=Answer(text=text),
        provenance=Provenance(source="test"),
    )
    return Subject(case, Output(case_id="c", state=OutputState.OK, answer=case.output), SOURCE)


def cited(text: str) -> list[list[str]]:
    """For each quote the messages given to it."""
    return [
        [token.text for citation in quote.citations for token in citation.messages]
        for quote in parse(text).quotes
    ]


def modes(text: str) -> list[str]:
    one = subject(text)
    return sorted(finding.mode for check in CHECKS for finding in check.function(one))


@pytest.mark.parametrize(
    "text",
    [
        f"- [R-1, M-1]: « {FAST} »\n- [R-2, M-2]: « {LONG} »",
        f"* « {FAST} » [R-1, M-1]\n* « {LONG} » [R-2, M-2]",
        f"1. [R-1, M-1] “{FAST}”\n2. [R-2, M-2] “{LONG}”",
        f"- **[R-1, M-1]** : “{FAST}”\n- **[R-2, M-2]** : “{LONG}”",
        f"- **R-1 (M-1)**: “{FAST}”\n- **R-2 (M-2)**: “{LONG}”",
        f"- R-1 [M-1]: “{FAST}”\n- R-2 [M-2]: “{LONG}”",
        f"- [R-1, M-1] says “{FAST}”\n- [R-2, M-2] says “{LONG}”",
        f"- A\n  - « {FAST} »\n  - Id : [R-1, M-1]\n- B\n  - « {LONG} »\n  - Id : [R-2, M-2]",
        f"- [R-1, M-1]\n  - « {FAST} »\n- [R-2, M-2]\n  - « {LONG} »",
        f"[R-1, M-1]\n« {FAST} »\n\n[R-2, M-2]\n« {LONG} »",
        f"[R-1, M-1] « {FAST} », [R-2, M-2] « {LONG} »",
        f"« {FAST} »\n\n[R-1, M-1]\n\n« {LONG} »\n\n[R-2, M-2]",
        f"Rapide [R-1, M-1] :\n\n> {FAST}\n\nLent [R-2, M-2] :\n\n> {LONG}",
        f"> {FAST}\n> — [R-1, M-1]\n\n> {LONG}\n> — [R-2, M-2]",
        f"> **R-1:** “{FAST}” [M-1]\n\n> **R-2:** “{LONG}” [M-2]",
        f"| Id | Verbatim |\n|---|---|\n| [R-1, M-1] | « {FAST} » |\n| [R-2, M-2] | « {LONG} » |",
        f"| Qui | Verbatim | Id |\n|---|---|---|\n| R-1 | {FAST} | M-1 |\n| R-2 | {LONG} | M-2 |",
        f"<ul><li>[R-1, M-1] « {FAST} »</li><li>[R-2, M-2] « {LONG} »</li></ul>",
        f"<table><tr><td>« {FAST} »<td>[R-1, M-1]</tr><tr><td>« {LONG} »<td>[R-2, M-2]</table>",
        f'<cite id="M-1">{FAST}</cite> et <cite id="M-2">{LONG}</cite>',
        f"« {FAST} »[^1] et « {LONG} »[^2]\n\n[^1]: R-1, M-1\n[^2]: R-2, M-2",
        f"[« {FAST} »](#M-1) puis [« {LONG} »](#M-2)",
        f'[{{"quote": "{FAST}", "id": "M-1"}}, {{"quote": "{LONG}", "id": "M-2"}}]',
        f'```json\n{{"verbatim": "{FAST}", "source": "[R-1, M-1]"}}\n```\n\n« {LONG} » [R-2, M-2]',
        f"— {FAST} [R-1, M-1]\n— {LONG} [R-2, M-2]",
        f"« {FAST} [R-1, M-1]\n\n« {LONG} [R-2, M-2]",
        f"「{FAST}」[R-1, M-1] et <q>{LONG}</q> [R-2, M-2]",
        f"``{FAST}'' [R-1, M-1] et << {LONG} >> [R-2, M-2]",
        f"&laquo;&nbsp;{FAST}&nbsp;&raquo; [R-1, M-1]<br>&quot;{LONG}&quot; [R-2, M-2]",
        f'“{FAST} " [R-1, M-1] et „{LONG}" [R-2, M-2]',
    ],
)
def test_each_quote_has_its_own_message(text: str) -> None:
    assert cited(text) == [["M-1"], ["M-2"]]
    assert modes(text) == []
    assert modes(text.replace("far too long", "far too short")) == ["non_verbatim_quote"]
    swapped = text.replace("M-1", "M-0").replace("M-2", "M-1").replace("M-0", "M-2")
    assert modes(swapped).count("non_verbatim_quote") == 2


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"* « {WAIT} » [R-1, M-1]\n* [R-3, M-3] évoque aussi le délai.", ["non_verbatim_quote"]),
        (f"* « {FAST} »\n* « {LONG} » [R-2, M-2]", ["uncited_quote"]),
        (f"> {FAST}\n>\n> — [R-1, M-1]", []),
        ("> The app is fast\n>\n> and I like it\n> — [R-1, M-1]", []),
        ("> The app is fast\nand I like it\n> — [R-1, M-1]", []),
        (f"R-3 : « {FAST} » (M-1)", ["wrong_respondent_id"]),
        (f"Selon R-3, « {FAST} » [M-1]", ["wrong_respondent_id"]),
        (f"« {FAST} » [R-3] [M-1]", ["wrong_respondent_id"]),
        (f"« {FAST} » et « {LONG} » [R-1, R-2, M-1, M-2]", []),
        (f"« {WAIT} » [R-3, M-1]", ["non_verbatim_quote"]),
        (f"« {FAST} » [R-1, M-1], [R-2, M-2]", ["non_verbatim_quote"]),
        ("‘The apps’ [R-1, M-1] et ‘takes far too longs’ [R-2, M-2]", ["non_verbatim_quote"] * 2),
    ],
)
def test_what_each_check_says(text: str, expected: list[str]) -> None:
    assert modes(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "À « Que pensez-vous de notre application mobile au quotidien ? », R-1 dit oui [R-1, M-1].",
        "R-1 a coché « Plutôt satisfait de tout » [R-1, M-1].",
        "Le thème « rapidité de l'application mobile » revient souvent [R-1, M-1].",
        "Dans le livre « Le temps long des guichets fermés », rien de tel [R-1, M-1].",
        "The so-called “fast lane for absolutely everyone” is mentioned once [R-1, M-1].",
        "Le produit « Compte Jeune Sans Aucun Frais » plaît [R-1, M-1].",
        "On pourrait demander : « Combien de jours attendez-vous au guichet ? »",
        "Personne ne dit « je trouve cela vraiment parfait ».",
        "Rien de tel au [Q4 2024].",
    ],
)
def test_marks_that_quote_nobody(text: str) -> None:
    assert modes(text) == []
    assert anchors(subject(text)).quotes == ()


def test_the_anchors_of_an_answer_count_what_was_looked_at() -> None:
    found = anchors(subject(f"« {FAST} » [R-1, M-1], [Q1], « {LONG} » [R-2, M-9] et “rien”[7]."))
    assert (found.citations, found.references, found.messages, found.held) == (3, 1, 2, 1)
    first, second = found.quotes[:2]
    assert (first.rule, first.tier, first.source_id) == ("right after", "T0", "M-1")
    assert (second.cited, second.tier) == ((), None)
    assert found.unrecognised == {"[1]": 1}


def test_a_text_with_more_marks_than_any_answer_is_unreadable() -> None:
    with pytest.raises(UnreadableAnswer, match="20,000 quotation marks"):
        parse('"' * 20_000)
