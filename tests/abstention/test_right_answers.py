"""Right answers: in other words, and not the ones that only look alike."""

import asyncio
import json
from pathlib import Path

import pytest

from ancrage.abstention.expected import gives_expected
from ancrage.abstention.support import Cause, judge
from ancrage.abstention.verifier import Checked
from ancrage.wrapping import bare
from tests.abstention.sense_cases import CASES

Q = "What is it?"
ALIKE = (
    ("Agnès Varda", "Varda"),
    ("Agnès Varda", "agnes varda"),
    ("3 M€", "3 millions d'euros"),
    ("30 jours", "Le délai est de trente jours."),
    ("2 years", "24 months"),
    ("1 h 35", "95 minutes"),
    ("14 h 30", "2:30 pm"),
    ("9:30 am", "At half past nine in the morning."),
    ("twice a year", "every six months"),
    ("50 km/h", "50 kilometres per hour"),
    ("C++", "It is written in C++."),
    ("0800 555 012", "0800555012"),
    ("2e", "au 2ème étage"),
    ("oui", "Tout à fait."),
    ("no", "Not at all, you pay."),
    ("aucun", "Zéro."),
    ("red, green and blue", "Blue, red and green."),
)
UNLIKE = (
    ("Agnès Varda", "e"),
    ("Marie Curie and Pierre Curie", "P"),
    ("3 M$", "3 M€"),
    ("5 €", "5 %"),
    ("-3", "+3"),
    ("-8 °C", "8 °C"),
    ("C++", "C"),
    ("C", "C++"),
    ("Java", "JavaScript"),
    ("30 € per year", "30 € per month"),
    ("42 %", "42 percentage points"),
    ("42 %", "0.42 %"),
    ("oui", "Si vous payez, non."),
    ("AX-70b", "AX-70c"),
    ("a profit of 2 million", "A loss of 2 million."),
    ("Nantes", "Pas à Nantes, mais à Angers."),
    ("Mme Perrin", "M. Perrin"),
    ("Bordeaux", "Toulouse"),
)


@pytest.mark.parametrize(("expected", "answer"), ALIKE)
def test_the_same_in_other_words(expected: str, answer: str) -> None:
    assert gives_expected(answer, expected, Q).holds is True


@pytest.mark.parametrize(("expected", "answer"), UNLIKE)
def test_another_thing_that_looks_alike(expected: str, answer: str) -> None:
    assert gives_expected(answer, expected, Q).holds is not True


def test_a_version_is_no_decimal() -> None:
    question = "Which version fixed it?"
    assert gives_expected("It was fixed in v2.10.", "2.10", question).holds is True
    assert gives_expected("2.1", "2.10", question).holds is False


@pytest.mark.parametrize(
    "wrapping",
    ["{} [1]", "Selon le document, {}", "Bonjour, {} N'hésitez pas à me recontacter.", "**{}**"],
)
@pytest.mark.parametrize("said", ["30 jours.", "Le délai est de 30 jours."])
async def test_what_surrounds_an_answer_does_not_fail_it(wrapping: str, said: str) -> None:
    support = "Un article peut être retourné sous 30 jours."
    verdict = await judge(wrapping.format(said), "Quel est le délai ?", "30 jours", support)
    assert verdict.right is True


@pytest.mark.parametrize(("question", "expected", "support", "answer", "faithful"), CASES)
async def test_on_its_support(
    question: str, expected: str, support: str, answer: str, faithful: str
) -> None:
    right = (await judge(answer, question, expected, support)).right
    assert right in {"yes": (True,), "no": (False,), "open": (None, True)}[faithful] or (
        faithful == "no" and right is None
    )


PATH = Path(__file__).with_name("data") / "right.jsonl"
OPEN_ROWS = 1
"""Right in words that only a verifier could tell."""


async def test_values_and_relations_of_many_kinds() -> None:
    rows = [json.loads(line) for line in PATH.open(encoding="utf-8")]
    found = [await judge(r["answer"], r["question"], r["expected"], "") for r in rows]
    said = [(row["answer"], v.right) for row, v in zip(rows, found, strict=True)]
    wrong = [s for s, row in zip(said, rows, strict=True) if (s[1] is True) != row["right"]]
    assert len(wrong) <= OPEN_ROWS, wrong
    assert all(right is None for _, right in wrong)


class _Scripted:
    name = "scripted"

    def __init__(self, verdict: "str | None") -> None:
        self.verdict, self.asked = verdict, 0

    async def check(self, premise: str, hypothesis: str) -> Checked:
        self.asked += 1
        return Checked.model_validate({"verdict": self.verdict, "reason": "as told"})


OPEN = ("The fence came down at dawn.", "What happened?", "The barrier was removed", "")


@pytest.mark.parametrize(
    ("said", "right", "cause"),
    [
        ("supported", True, None),
        ("unsupported", False, Cause.NOT_GIVEN),
        ("contradicted", False, Cause.CONTRADICTED),
        (None, None, Cause.UNVERIFIED),
    ],
)
async def test_a_verifier_settles_what_is_open(
    said: "str | None", right: "bool | None", cause: "Cause | None"
) -> None:
    assert (await judge(*OPEN)).cause is Cause.UNDECIDED
    verdict = await judge(*OPEN, _Scripted(said))
    assert (verdict.right, verdict.cause) == (right, cause)


def test_a_verifier_never_overrules_figures() -> None:
    verifier = _Scripted("supported")
    verdict = asyncio.run(judge("40 euros", "How much?", "30 euros", "", verifier))
    assert (verdict.right, verifier.asked) == (False, 0)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("25 June 2757", "25 June 1961"),
        ("33 November 1889", "14 November 1889"),
        ("Oui, depuis le 38 mai 2018.", "Oui, depuis le 25 mai 2018."),
    ],
)
def test_a_date_that_cannot_be_is_no_right_one(answer: str, expected: str) -> None:
    assert gives_expected(answer, expected, "When?").holds is False
    assert gives_expected(expected, expected, "When?").holds is True
    assert gives_expected("le 25/6/61", "25 June 1961", "When?").holds is not False


def test_entities_are_the_characters_that_they_stand_for() -> None:
    assert bare("Le d&eacute;lai&nbsp;est de 3&#160;jours &amp; 2 nuits, AT&T") == (
        "Le délai\u00a0est de 3\u00a0jours & 2 nuits, AT&T"
    )
