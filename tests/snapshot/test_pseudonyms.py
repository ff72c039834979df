"""Pseudonyms: nobody is left, nobody is confused, and quotes stay verbatim."""

import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ancrage.citations.grammar import CitationsConfig, compile_grammar
from ancrage.config import Config
from ancrage.domain import Answer, Case, CaseInput, Message, Provenance, Study, ToolCall, Turn
from ancrage.errors import UsageError
from ancrage.ids import IdIndex, IdPolicy
from ancrage.snapshot.manifest import PseudonymMode
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.rewrite import Rewriter

KEY = "a key for the tests"


def study_of(*ids: str) -> Study:
    return Study(
        id="S",
        messages=tuple(
            Message(id=f"M-{rank:04}", respondent_id=each, text="x")
            for rank, each in enumerate(ids)
        ),
    )


def rewriter(
    *ids: str,
    mode: PseudonymMode = PseudonymMode.RESPONDENTS,
    key: str = KEY,
    names: tuple[str, ...] = (),
) -> Rewriter:
    return Rewriter(Pseudonymiser(mode, key, names), study_of(*ids) if ids else None)


def pseudonyms(*ids: str, key: str = KEY) -> dict[str, str]:
    study = study_of(*ids)
    hidden = rewriter(*ids, key=key).study(study)
    return {
        before.respondent_id: after.respondent_id
        for before, after in zip(study.messages, hidden.messages, strict=True)
    }


@pytest.mark.parametrize(
    "written",
    [
        "R-012",
        "R012",
        "R12",
        "r-12",
        "R_12",
        "R‑012",
        "R–12",
        "R−012",
        "R 12",
        "R.12",
        "r 012",
        "R - 012",
        "R#12",
        "Ｒ-０１２",
        "R\u200b-012",
        "R-\u200d12",
    ],
)
def test_however_an_answer_writes_an_id_it_gets_the_same_pseudonym(written: str) -> None:
    ids = ("R-012", "R-013")
    assert rewriter(*ids).text(f"voir {written}, donc") == f"voir {pseudonyms(*ids)['R-012']}, donc"


def test_words_before_a_number_name_a_respondent() -> None:
    ids = ("R-012", "R-013")
    hidden = pseudonyms(*ids)["R-012"]
    text = rewriter(*ids).text("La répondante n° 12 et le participant 12 ; respondents 12 times")
    assert text == f"La répondante n° {hidden} et le participant {hidden} ; respondents 12 times"


@pytest.mark.parametrize("word", ["répondant-", "participant·e ", "Respondent_"])
def test_words_of_a_respondent_in_any_form(word: str) -> None:
    ids = ("R-012", "R-013")
    assert rewriter(*ids).text(f"{word}12") == word + pseudonyms(*ids)["R-012"]


def test_numbers_of_several_respondents_go_and_counts_stay() -> None:
    ids = ("R-012", "R-013", "R-014")
    rewrite, hidden = rewriter(*ids), pseudonyms(*ids)
    one, two, three = (hidden[each] for each in ids)
    assert (
        rewrite.text("les répondantes 12, 13 et 14.") == f"les répondantes {one}, {two} et {three}."
    )
    assert rewrite.text("respondents 12 and 13 say") == f"respondents {one} and {two} say"
    for text in ("respondents 12 and 99", "participants 12 ou 13 ans", "les répondants 12"):
        assert rewrite.text(text) == text


def test_invented_id_stays_invented_and_one() -> None:
    rewrite = rewriter("R-012", "R-013")
    one, two = rewrite.text("R-999"), rewrite.text("r999")
    assert one == two
    assert one not in pseudonyms("R-012", "R-013").values()
    assert "999" not in rewrite.text("R-999").removeprefix("R-") or one != "R-999"


def test_two_ids_that_read_alike_stay_two() -> None:
    known = pseudonyms("R-12", "R-012")
    assert len(set(known.values())) == 2
    rewrite = rewriter("R-12", "R-012")
    assert rewrite.text("R-12") == known["R-12"]
    assert rewrite.text("R-012") == known["R-012"]
    assert rewrite.text("R12") not in known.values(), "which of the two it means is unknown"


@pytest.mark.parametrize(
    "text",
    [
        "En 2012, 12 % des 134 répondants (M-0034) [Q3] ont dit 12.",
        "AR12 R12a xR-012 R-012x",
        "PR-012 rue 12",
        "",
    ],
)
def test_other_text_is_left_alone(text: str) -> None:
    assert rewriter("R-012", "R-013").text(text) == text


@pytest.mark.parametrize(
    "each",
    ["Reb28d425", "3f2a9c1e-77b0-4c1d-9e2f-aa01bb02cc03", "anna@exemple.fr", "P-0042",
     "zoé", "U0001ABCD", "(7)abc"],
)  # fmt: skip
def test_ids_of_any_form_are_found_in_text_and_fields(each: str) -> None:
    rewrite, known = rewriter(each), pseudonyms(each)[each]
    assert known != each
    assert rewrite.text(f"« mots » [{each}, M-0000] ({each}).") == (
        f"« mots » [{known}, M-0000] ({known})."
    )
    assert rewrite.json({"who": [each], each: None}) == {"who": [known], known: None}


@pytest.mark.parametrize(
    "each", ["anna12", "anna-7f3a9b2c11", "mario.rossi1984", "jean-dupont-1985"]
)
def test_a_name_in_an_id_does_not_survive(each: str) -> None:
    hidden = pseudonyms(each, "R-012", "R-013")[each]
    assert re.fullmatch(r"R-[1-9]{10}", hidden)
    assert rewriter(each, "R-012").text(f"{each} et {each.upper()}").count("R-") == 2


def test_letters_of_a_code_are_not_a_prefix() -> None:
    """The letters that happen to open a code are part of it, and go."""
    hidden = pseudonyms("Racfada52", "R0a1b2c3d", "R12345678")
    assert not hidden["Racfada52"].startswith("Racfada")
    assert re.fullmatch(r"R[1-9a-f]{8}", hidden["Racfada52"])


def test_bare_numbers_are_ids_only_where_they_are_cited() -> None:
    rewrite, known = rewriter("12", "1042"), pseudonyms("12", "1042")
    assert rewrite.text("12 % de 1042") == "12 % de 1042"
    assert rewrite.text("« a » [12, M-0000] [12]") == f"« a » [{known['12']}, M-0000] [12]"
    assert rewrite.text('{"respondent_id": 12, "n": 12}') == (
        f'{{"respondent_id": {known["12"]}, "n": 12}}'
    )
    assert rewrite.json({"respondent_id": 12, "count": 12, "respondents": 12}) == {
        "respondent_id": known["12"],
        "count": 12,
        "respondents": 12,
    }


id_forms = st.from_regex(r"(R-?|P_)[0-9]{1,4}|R[0-9a-f]{8}|[a-z]{3,8}", fullmatch=True)


@settings(deadline=None, max_examples=60)
@given(st.lists(id_forms, unique=True, min_size=1))
def test_pseudonyms_are_as_many_as_ids_and_parse_as_ids(ids: list[str]) -> None:
    known = pseudonyms(*ids)
    assert len(set(known.values())) == len(ids)
    assert set(known.values()).isdisjoint(ids)
    index = IdIndex(known.values(), IdPolicy())
    grammar = compile_grammar(CitationsConfig())
    for each, hidden in known.items():
        assert index.find(hidden.lower()) == hidden, "unique even when presentation is ignored"
        if not each.startswith("P"):
            assert grammar.kind(hidden) == "respondent"


def test_key_decides_and_the_same_key_repeats() -> None:
    one, again = pseudonyms("R-012"), pseudonyms("R-012")
    other = pseudonyms("R-012", key="another key for it")
    assert one == again != other
    random = Rewriter(Pseudonymiser(PseudonymMode.RESPONDENTS), study_of("R-012"))
    assert random.text("R-012") not in ("R-012", one["R-012"])


def test_same_person_in_two_studies_and_in_none() -> None:
    hidden = Pseudonymiser(PseudonymMode.RESPONDENTS, KEY)
    texts = {
        Rewriter(hidden, study).text("R-012")
        for study in (study_of("R-012"), study_of("R-011", "R-012"), study_of("R-7"), None)
    }
    assert len(texts) == 1


def test_every_part_of_a_case_is_rewritten() -> None:
    case = Case(
        id="c1",
        study_id="S",
        input=CaseInput(
            question="Que dit R12 ?",
            history=(Turn(role="user", content="R-012 ?"),),
            tool_calls=(
                ToolCall(
                    name="read",
                    arguments={"ids": ["R-012"]},
                    output={"rows": [{"by": "R-012", "n": 12}], "R-012": "r-12"},
                    error="no R-012",
                ),
            ),
            system_prompt="About R-012",
            context={"who": "R-012"},
        ),
        output=Answer(text="« mots » [R-012, M-0000]"),
        provenance=Provenance(source="test"),
        metadata={"who": "R 012"},
    )
    known = pseudonyms("R-012")["R-012"]
    hidden = rewriter("R-012").case(case)
    written = hidden.model_dump_json()
    assert re.search(r"R[- ]?0?12", written, re.IGNORECASE) is None
    assert written.count(known) == 11
    assert '"n":12' in written


PERSONAL = {
    "email": ["anna.martin+x@exemple.co.uk", "Anna@Exemple.FR", "élodie@société.fr"],
    "phone": [
        "06 12 34 56 78", "06.12.34.56.78", "0612345678", "+33 6 12 34 56 78",
        "+33 (0)6 12 34 56 78", "0033612345678", "06\u202f12\u202f34\u202f56\u202f78",
        "+44 20 7946 0958", "+1 (415) 555-2671", "415-555-2671", "020 7946 0958 ext. 23",
        "01 42 68 53 00 poste 412", "+32 475 12 98 40",
    ],
    "url": [
        "https://exemple.fr/reset?token=abc", "https://u:p@exemple.fr/", "http://x.fr/#k=1",
        "https://x.fr/s/9f8e7d6c5b4a39281706f5e4", "instagram.com/anna.bakes",
        "https://people.exemple.edu/~anna/",
    ],
    "handle": ["@anna_b33", "@anna@piaille.exemple"],
    "ip": ["86.142.9.201", "2001:db8:85a3::8a2e:370:7334"],
    "address": [
        "12 bis, rue des Lilas, 69003 Lyon", "8 impasse des Mésanges\n31200 Toulouse",
        "482 Birchwood Ave, Apt 3B, Dayton, OH 45402", "20 Station Lane, York YO1 7HU", "BP 41",
    ],
    "ssn": ["123-97-1141"],
    "nino": ["ck 23 98 64 a"],
    "iban": ["FR76 3000 6000 0112 3456 7890 189", "DE89370400440532013000"],
    "card": ["4242 4242 4242 4242", "4111-1111-1111-1111", "378282246310005"],
    "nir": ["2 55 08 14 168 025 38", "255081416802538", "1 84 12 2A 123 456"],
    "name": ["Anna Martin", "anna martin", "Nguyễn"],
}  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "found"), [(kind, found) for kind, all_ in PERSONAL.items() for found in all_]
)
def test_personal_details_go(kind: str, found: str) -> None:
    rewrite = rewriter("R-012", mode=PseudonymMode.TEXT, names=("Anna Martin", "Nguyễn"))
    text = rewrite.text(f"Écrire à {found}, merci. « {found} »")
    hidden = re.escape(kind.upper()) + r"-[a-z]{10}"
    match = re.fullmatch(rf"Écrire à ({hidden}), merci. « ({hidden}) »", text)
    assert match, text
    assert match[1] == match[2]
    assert rewriter("R-012").text(found) == found, "only when asked"


def test_the_same_number_written_differently_is_the_same() -> None:
    rewrite = rewriter(mode=PseudonymMode.TEXT)
    ways = [
        "06 12 34 56 78",
        "0612345678",
        "+33612345678",
        "+33 (0)6.12.34.56.78",
        "0033 612345678",
    ]
    assert len({rewrite.text(way) for way in ways}) == 1
    assert rewrite.text("06 12 34 56 79") != rewrite.text("06 12 34 56 78")


def test_a_date_told_to_be_a_birth_goes_wherever_it_stands() -> None:
    told = Message(id="M-1", respondent_id="R-1", text="Je suis née à Lyon le 14/07/1986.")
    study = Study(id="s", title="", messages=(told,))
    rewrite = Rewriter(Pseudonymiser(PseudonymMode.TEXT, key="0123456789abcdef"), study)
    hidden = rewrite.study(study).messages[0].text
    assert "1986" not in hidden
    assert rewrite.text("« le 14/07/1986 »").strip("« »") in hidden
    assert rewrite.text("le 15/07/1986") == "le 15/07/1986"


@pytest.mark.parametrize(
    "text",
    [
        "12 345 678 habitants, 1 234 567,89 €, 2026-01-31 12:30:00, 50 % de 3 598",
        "https://www.exemple.fr/page, exemple.fr et @quelqu'un, 3 x 4 = 12, version 1.2.3.4",
        "1234567812345678 n'est pas une carte",
        "FR76 3000 6000 0112 3456 7890 188 est faux",
        "M-0034 [Q3] 10-20-30 (06) 1.06 0.12.34",
        "Annabelle Martinez",
        "@media (max-width: 600px), @dataclass, npm i @types/node@20.1.0, 5 pm @ 3",
        "version 10.4.2.1, 127.0.0.1, 255.255.255.0, à 12:30:45, INV-2023-000457",
        "000-12-3456, QQ123456C, réunion le 12/03/2024, lots 12 34 56 78 90, le 3919",
    ],
)
def test_figures_and_plain_addresses_stay(text: str) -> None:
    assert rewriter(mode=PseudonymMode.TEXT, names=("Anna", "Martin")).text(text) == text


words = st.sampled_from(
    ["le", "prix", "R-012", "r13", "R‑99", "est", "12", "%", "(voir", "M-0001),", "Anna", "Martin,",
     "anna@exemple.fr", "«cher»", "06.12.34.56.78", "FR7630006000011234567890189", "😀", "l'outil",
     "répondant", "Reb28d425", "https://x.fr/?t=1", "1042", "c'est…", "[x]"]
)  # fmt: skip


@settings(deadline=None, max_examples=400)
@given(
    before=st.lists(words, max_size=8),
    quote=st.lists(words, min_size=1, max_size=8),
    after=st.lists(words, max_size=8),
    mode=st.sampled_from([PseudonymMode.RESPONDENTS, PseudonymMode.TEXT]),
)
def test_a_verbatim_quote_stays_verbatim(
    before: list[str], quote: list[str], after: list[str], mode: PseudonymMode
) -> None:
    """Quotes cut at spaces, at any place of a message that holds every kind of detail."""
    # A cut between "répondant" and its number leaves a bare number, which nothing can know.
    message = " ".join([*before, "|", *quote, "|", *after])
    passage = " ".join(quote)
    rewrite = rewriter("R-012", "R-013", "Reb28d425", "1042", mode=mode, names=("Anna Martin",))
    answer = rewrite.text(f"Il dit « {passage} » [R-012, M-0000].")
    quoted = answer.removeprefix("Il dit « ").rpartition(" » [")[0]
    assert quoted in rewrite.text(message)


def test_quote_is_verbatim_next_to_other_details() -> None:
    rewrite = rewriter("R-012", mode=PseudonymMode.TEXT)
    message = "R-012 a écrit : appelez le 06 12 34 56 78 ou anna@x.fr !"
    quote = "appelez le 06 12 34 56 78 ou anna@x.fr"
    assert rewrite.text(quote) in rewrite.text(message)
    altered = "appelez le 06 12 34 56 79 ou anna@x.fr"
    assert rewrite.text(altered) not in rewrite.text(message), "a defect stays a defect"


@pytest.mark.parametrize(
    "unit",
    ["a", "1", "1 ", "a.", "R-", "R-1 ", "[", "[1,", "@", "a@", "+1", "A1", "A1 ", "répondant "],
)
def test_hostile_text_does_not_run_away(unit: str) -> None:
    """Half a million characters: anything worse than linear would not come back."""
    rewrite = rewriter("12", "R-012", "Reb28d425", mode=PseudonymMode.TEXT, names=("Anna",))
    repeats = 500_000 // len(unit)
    assert rewrite.text(unit * repeats) == rewrite.text(unit) * repeats


def test_names_and_key_of_the_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "names.txt").write_text("\ufeffZoé\r\n\r\nLéa\n", encoding="utf-8")
    config = Config(tmp_path / "evals.toml", {"pseudonyms": {"names_file": "names.txt"}})
    monkeypatch.setenv("ANCRAGE_PSEUDONYM_KEY", KEY)
    hidden = Pseudonymiser.configured(PseudonymMode.TEXT, config)
    assert Rewriter(hidden, study_of("R-012")).text("Zoé R-012") == rewriter(
        "R-012", mode=PseudonymMode.TEXT, names=("Zoé",)
    ).text("Zoé R-012")
    assert hidden.summary().key == "environment"
    assert hidden.summary().replaced == {"name": 1, "respondent": 1}
    monkeypatch.setenv("ANCRAGE_PSEUDONYM_KEY", "short")
    with pytest.raises(UsageError, match="at least 16"):
        Pseudonymiser.configured(PseudonymMode.TEXT, config)
