"""What surrounds an answer is taken off, and what it says stays."""

import pytest

from ancrage.wrapping import bare, unwrap

SAID = (
    "Je ne sais pas.",
    "30 jours.",
    "Es steht nicht im Text.",
    "It was not in 2019 but in 2021.",
)
WRAPPINGS = (
    "{} [1]",
    "{} [R-012, M-0034]",
    "{}\n\nSources: doc1.pdf",
    "{}\n\n**Sources :**\n- a.pdf\n- b.pdf",
    "{} (source : contrat.pdf)",
    "I understand your question. {}",
    "Bonjour,\n\n{}\n\nCordialement,\nL'équipe",
    "Hello! {} Let me know if you need anything else!",
    "Danke für Ihre Frage. {} Mit freundlichen Grüßen",
    "<answer>{}</answer>",
    "<think>perhaps 12</think>\n{}",
    '{{"answer": "{}", "sources": ["doc1.pdf"]}}',
    '```json\n{{"réponse": "{}"}}\n```',
    "**Answer:** {}",
    "As an AI language model, {}",
    "Selon le document fourni, {}",
    "According to the provided context, {}",
)


@pytest.mark.parametrize("wrapping", WRAPPINGS)
@pytest.mark.parametrize("said", SAID)
def test_a_wrapping_goes_and_the_words_stay(said: str, wrapping: str) -> None:
    assert bare(wrapping.format(said)) == said


def test_every_character_knows_its_place() -> None:
    answer = '{"answer": "<b>D\\u00e9lai :</b> 30\\njours [1]", "note": ""}'
    found = unwrap(answer)
    assert found.text == "Délai : 30\njours"
    start = found.text.index("jours")
    assert answer[slice(*found.span(start, start + 5))] == "jours"
    assert answer[slice(*found.span(1, 2))] == "\\"


@pytest.mark.parametrize("answer", ["Bien sûr !", "Sources: a.pdf", "[1]", "", "Merci.", "Sure."])
def test_an_answer_is_never_emptied(answer: str) -> None:
    assert unwrap(answer).text == answer


@pytest.mark.parametrize(
    "answer",
    [
        "Sorry, no.",
        "12 m² et 3 km²",
        "If you need a permit, ask the town hall.",
        "In 2021, sales fell.",
        "Selon Marie, c'est faux.",
        "Mercier a signé.",
    ],
)
def test_what_says_something_stays(answer: str) -> None:
    assert unwrap(answer).text == answer
