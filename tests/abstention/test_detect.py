"""Abstention by meaning: facts one by one, then the adversarial corpus and real answers."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.abstention import detect
from tests.abstention.adversarial import Item, items

ABSTAINING = (
    "Je ne sais pas.",
    "JE NE SAIS PAS",
    "le document ne le précise pas",
    "not stated in the context",
    "I’m sorry, but I can’t answer that.",
    "I'm sorry…",
    "L'information n’est pas disponible dans le contexte fourni.",
    "Abstention.",
    "« Je ne sais pas. »",
    "**Le document ne le précise pas.**",
    "> The text does not say.",
    "The text does not say why. It only covers the opening.",
    "Je ne sais pas. Contactez la mairie.",
    "The document does not mention this; you may want to ask the author.",
)
ANSWERING = (
    "sans abstention : 3 M€",
    "No abstention: 3 M€.",
    "Je ne m'abstiens pas : c'est 1998.",
    "Le taux d'abstention était de 54 %.",
    "L'abstention a progressé.",
    'The witness said "I don\'t know".',
    "Le maire a répondu : « le document ne le précise pas ».",
    "I'm not sure, but I think it opened in 1998.",
    "Je ne suis pas certain, mais c'est sans doute Nantes.",
    "The document does not say. However, it was 1998.",
    "Le document ne le précise pas. C'était en 1998.",
    "It opened in 1998. The document does not say why.",
    "It opened in 1998, although the exact day is not specified in the document.",
    "Paul ne sait pas nager.",
    "Paul does not know how to swim.",
    "The committee abstained.",
    "Ce n'est pas que je ne sais pas : c'est 1998.",
    "1998",
    "Non.",
    "The event is officially known as the Games.",
    "Consultez le site officiel.",
    "S'il ne répond pas au document, écrivez-lui.",
)


@pytest.mark.parametrize("answer", ABSTAINING)
def test_abstains(answer: str) -> None:
    assert detect(answer).abstained is True


@pytest.mark.parametrize("answer", ANSWERING)
def test_answers(answer: str) -> None:
    assert detect(answer).abstained is False


GROUNDS = (
    "The survey was put to parents only, so I can't say how teachers feel.",
    "I can't tell you, because the leaflet deals with adults.",
    "The text tells of the opening in 1934, but says nothing of the closure.",
    "Le texte ne le dit pas. Il décrit :\n\n- la faune,\n- les sentiers.",
)


@pytest.mark.parametrize("answer", GROUNDS)
def test_the_ground_of_a_refusal_and_what_is_read_instead_are_no_answer(answer: str) -> None:
    assert detect(answer).abstained is True


def test_an_absence_is_the_answer_where_what_is_lacking_is_asked() -> None:
    answer = "The form does not mention the date of birth."
    assert detect(answer, "What is missing from the form?").abstained is False
    assert detect(answer, "What is the date of birth?").abstained is True
    assert detect("The text doesn't say.", "What is missing from the form?").abstained is True
    limits = "The study has two limits:\n- the sample is small\n- ages are not recorded"
    assert detect(limits, "What are the limits of the study?").abstained is False


@pytest.mark.parametrize("answer", ["", "  \n", "…", "Bonjour !", "Great question."])
def test_says_nothing_either_way(answer: str) -> None:
    assert detect(answer).abstained is None


def test_a_refusal_is_an_answer_where_absence_is_what_is_asked() -> None:
    question = "Le contrat mentionne-t-il une pénalité ?"
    assert detect("Non, le contrat ne mentionne aucune pénalité.", question).abstained is False
    assert detect("Le contrat ne mentionne aucune pénalité.", question).abstained is False
    asked = "Quelle pénalité le contrat prévoit-il ?"
    assert detect("Le contrat ne mentionne aucune pénalité.", asked).abstained is True
    unknown = "On ne sait pas qui l'a commandée."
    assert detect(unknown, "Qui l'a commandée ?").abstained is True
    assert detect(unknown, "Qui l'a commandée ?", "on ne sait pas").abstained is False


def test_the_evidence_is_a_passage_of_the_answer() -> None:
    answer = "Merci. Je ne sais pas qui l'a fondée."
    read = detect(answer)
    assert read.evidence is not None
    assert answer[read.evidence.start : read.evidence.end] == read.evidence.text
    assert read.evidence.text == "Je ne sais pas qui l'a fondée."


@given(st.text(max_size=200))
def test_any_text_is_read(text: str) -> None:
    read = detect(text)
    for passage in read.content:
        assert text[passage.start : passage.end] == passage.text


@pytest.mark.parametrize("piece", ["the text says, ", "a but ", "le document ne ", "a: ", "in "])
def test_a_very_long_answer_is_read(piece: str) -> None:
    assert detect(piece * 5_000).abstained is not True


def f1(chosen: list[Item]) -> float:
    read = [(item.abstains, detect(item.answer, item.question, item.expected)) for item in chosen]
    right = sum(abstains and found.abstained is True for abstains, found in read)
    wrong = sum(abstains != (found.abstained is True) for abstains, found in read)
    return 2 * right / (2 * right + wrong)


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("language", ["fr", "en"])
def test_adversarial_corpus(language: str, held_out: bool) -> None:
    chosen = [i for i in items() if i.language == language and i.held_out is held_out]
    assert len(chosen) > 350
    assert {item.abstains for item in chosen} == {True, False}
    assert f1(chosen) >= 0.97


def test_the_corpus_is_large_and_the_word_alone_fails_on_it() -> None:
    corpus = list(items())
    assert len(corpus) >= 1_500
    assert len({(item.question, item.answer) for item in corpus}) == len(corpus)
    found = sum("abstention" in item.answer.lower() for item in corpus if item.abstains)
    assert found / sum(item.abstains for item in corpus) < 0.1


def natural(half: str) -> list[dict[str, Any]]:
    path = Path(__file__).parent / "data" / "natural.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [row for row in rows if row["half"] == half]


def test_the_halves_of_the_natural_answers_are_drawn_by_hash() -> None:
    for half, parity in (("tune", 0), ("held", 1)):
        for row in natural(half):
            text = f"{row['question']}\n{row['answer']}"
            assert hashlib.sha256(text.encode()).digest()[0] % 2 == parity


@pytest.mark.parametrize(("half", "bound"), [("tune", 0.97), ("held", 0.9)])
def test_natural_answers(half: str, bound: float) -> None:
    rows = natural(half)
    read = [(row["abstains"], detect(row["answer"], row["question"]).abstained) for row in rows]
    right = sum(abstains and found is True for abstains, found in read)
    wrong = sum(abstains != (found is True) for abstains, found in read)
    assert len(rows) > 120
    assert 2 * right / (2 * right + wrong) >= bound


def test_no_real_answer_is_taken_for_an_abstention(shared: Path) -> None:
    answers = [
        (qa["question"], qa["answers"][0]["text"])
        for path in sorted((shared / "data" / "piaf-fr").glob("*.json"))
        for document in json.loads(path.read_text(encoding="utf-8"))["data"]
        for paragraph in document["paragraphs"]
        for qa in paragraph["qas"]
        if qa["answers"]
    ]
    for path in sorted((shared / "data" / "halueval-qa").glob("*.json")):
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        answers += [(row["question"], row["right_answer"]) for row in rows]
    assert len(answers) > 1_500
    assert [a for q, a in answers if detect(a, q).abstained is not False] == []
