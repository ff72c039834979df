"""The extractor, on labelled answers and on anything at all."""

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.claims import extract_claims
from tests.claims.labelled import answers, measure


def texts(answer: str) -> list[str]:
    return [claim.text for claim in extract_claims(answer)]


def statements(answer: str) -> list[str]:
    return [claim.statement for claim in extract_claims(answer)]


def test_labelled_answers_are_many_and_bilingual() -> None:
    labelled = answers()
    languages = [answer.id.split("-")[0] for answer in labelled]
    assert languages.count("fr") >= 50
    assert languages.count("en") >= 50
    assert len({answer.text for answer in labelled}) == len(labelled)


def test_claims_of_the_labelled_answers() -> None:
    labelled = answers()
    result = measure(labelled, [extract_claims(answer.text) for answer in labelled])
    assert result.precision >= 0.95
    assert result.recall >= 0.95
    assert result.coverage >= 0.98
    assert result.entailment >= 0.95


@given(
    st.text(
        alphabet=st.sampled_from(list("ab .!?:;«»\"“”'()[]|-*#>\n\t 1,é\u00a0`~_")), max_size=120
    )
)
def test_any_text_gives_exact_ordered_passages(text: str) -> None:
    claims = extract_claims(text)
    assert all(claim.text == text[claim.start : claim.end] and claim.text for claim in claims)
    assert all(a.end <= b.start for a, b in itertools.pairwise(claims))
    assert claims == extract_claims(text)


@given(st.text(max_size=200))
def test_any_characters_are_read(text: str) -> None:
    assert all(claim.text == text[claim.start : claim.end] for claim in extract_claims(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   \n",
        "Bonjour !",
        "Pourquoi ?",
        "Je ne sais pas.",
        "I don't know.",
        "# Titre",
        "Voici :\n```\nx = 1.\n```",
        "---",
        "Cliquez sur « Valider », puis attendez.",
        "Click the button below.",
        "The rain of the night\nHas fallen in the light\nThe wind of the day\nHas taken it away",
        "Bonjour,\nN'hésitez pas à revenir vers moi.\nCordialement,",
    ],
)
def test_what_asserts_nothing_gives_no_claim(text: str) -> None:
    assert extract_claims(text) == ()


def test_references_are_kept_in_the_passage_and_left_out_of_the_statement() -> None:
    (claim,) = extract_claims("« Trop cher » [R-012, M-0034] revient souvent [Q3].")
    assert claim.text == "« Trop cher » [R-012, M-0034] revient souvent [Q3]."
    assert claim.statement == "« Trop cher » revient souvent."


def test_brackets_left_empty_by_references_go_too() -> None:
    assert statements(
        "Le prix monte (voir [R-1, M-2]) et le délai (  [R-1, M-3], idem) aussi."
    ) == ["Le prix monte (voir) et le délai (idem) aussi."]


def test_marked_elisions_and_links_are_not_references() -> None:
    assert statements("Il dit « oui […] bientôt » dans [le guide 2](https://x.fr).") == [
        "Il dit « oui […] bientôt » dans le guide 2."
    ]


def test_a_quote_is_never_cut() -> None:
    assert texts("Elle dit : « Non. Jamais ! Vraiment ? » à tous. Fin du sujet.") == [
        "Elle dit : « Non. Jamais ! Vraiment ? » à tous.",
        "Fin du sujet.",
    ]


def test_an_opening_follows_the_clauses_it_governs() -> None:
    assert statements("In 2021, sales rose by 3% and the margin fell by 2%.") == [
        "In 2021, sales rose by 3%",
        "In 2021: the margin fell by 2%.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "Marie a quitté Lyon et a trouvé un poste à Nantes.",
            ["Marie a quitté Lyon", "Marie a trouvé un poste à Nantes."],
        ),
        (
            "Marie Curie, who was born in Warsaw, discovered radium and won two Nobel Prizes.",
            [
                "Marie Curie was born in Warsaw",
                "Marie Curie discovered radium",
                "Marie Curie won two Nobel Prizes.",
            ],
        ),
        (
            "Marie Curie, qui est née à Varsovie, a découvert le radium et a reçu deux prix Nobel.",
            [
                "Marie Curie est née à Varsovie",
                "Marie Curie a découvert le radium",
                "Marie Curie a reçu deux prix Nobel.",
            ],
        ),
        (
            "Acme employs 12 people. It opened in 2001 and has offices in Rome.",
            ["Acme employs 12 people.", "Acme: It opened in 2001", "Acme: It has offices in Rome."],
        ),
        # Where a pronoun could stand for something else, nothing is carried.
        ("Acme bought a firm. It has 12 clients.", ["Acme bought a firm.", "It has 12 clients."]),
        ("The firm closed in May and it reopened in June.",) * 2,
        ("The law says that banks pay and are fined.",) * 2,
    ],
)
def test_claims_say_one_thing_of_a_subject_that_is_carried_along(
    text: str, expected: list[str] | str
) -> None:
    assert statements(text) == ([expected] if isinstance(expected, str) else expected)


def test_a_title_and_what_surrounds_an_answer_are_no_claims() -> None:
    answer = (
        "Bonjour,\n\nRésultats de l'enquête\n\n<answer>Le prix est de 12 €.</answer>\n\n"
        "Sources : doc1.pdf\n\nCordialement,\nL'équipe"
    )
    (claim,) = extract_claims(answer)
    assert claim.text == "Le prix est de 12 €." == answer[claim.start : claim.end]


def test_nested_items_carry_lead_and_parents() -> None:
    answer = "On note :\n- Prix :\n  - trop haut\n- Délai long\n"
    assert statements(answer) == ["On note: Prix: trop haut", "On note: Délai long"]


def test_a_table_row_carries_its_header() -> None:
    answer = "| Ville | Part |\n|---|---|\n| Lyon | 45 % |\n|  |  |\n"
    assert statements(answer) == ["Ville: Lyon; Part: 45 %"]


def test_windows_line_ends_keep_their_offsets() -> None:
    answer = "Le prix monte.\r\n\r\n- un point précis\r\n- un autre point\r\n"
    assert texts(answer) == ["Le prix monte.", "un point précis", "un autre point"]


def test_a_long_answer_is_read_whole() -> None:
    answer = "Le prix est de 3,5 € et la remise est de 2 %. " * 4000
    assert len(extract_claims(answer)) == 8000


@pytest.mark.parametrize(
    "part",
    [
        "*a ",
        "_a ",
        "[",
        "[1 ",
        "![](",
        "la x est y; ",
        "« un » dit. ",
        "> mot.\n",
        "|c|d 1|\n",
        "(\0",
    ],
)
def test_hostile_text_is_read_in_linear_time(part: str) -> None:
    """Work, not seconds: ten times the text may not take anything like a hundred times as long."""

    def spent(length: int) -> float:
        text, times = part * (length // len(part)), []
        for _ in range(3):
            began = time.process_time()
            extract_claims(text)
            times.append(time.process_time() - began)
        return min(times)

    assert spent(60_000) < 40 * max(spent(6_000), 0.002)
