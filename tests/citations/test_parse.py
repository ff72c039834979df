"""The citation grammar, on what models really write."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.citations import CitationsConfig, compile_grammar, parse
from ancrage.errors import UsageError


def pairs(text: str) -> list[list[tuple[str | None, str | None]]]:
    """For each quote, the (respondent, message) pairs attached to it."""
    return [
        [
            (p.respondent.text if p.respondent else None, p.message.text if p.message else None)
            for c in quote.citations
            for p in c.pairs
        ]
        for quote in parse(text).quotes
    ]


ONE = [[("R-012", "M-0034")]]


@pytest.mark.parametrize(
    "text",
    [
        "« très cher » [R-012, M-0034]",
        "“too dear” [R-012, M-0034].",
        '"too dear" [R-012, M-0034]',
        "« très cher »[R-012,M-0034]",
        "« très cher ». [R-012, M-0034]",
        "**« très cher »** [R-012, M-0034]",
        "*« très cher »*\u00a0: [R-012 ; M-0034]",
        "_“too dear”_ **[R-012 | M-0034]**",
        "« très cher » 【R-012, M-0034】",
        "« très cher » ［R-012，M-0034］",
        "« très cher » [R‑012, M–0034]",
        "« très cher » (R-012, M-0034)",
        "« très cher » ([R-012, M-0034])",
        "« très cher » [R-012 (M-0034)]",
        "« très cher » [répondante R-012, message M-0034]",
        "« très cher » [R-012 — M-0034]",
        "« très cher » [M-0034, R-012]",
        "« très cher »\n[R-012, M-0034]",
        "[R-012, M-0034] : « très cher »",
        "- [R-012, M-0034] — “too dear”",
        "« très cher [R-012, M-0034] »",
        "| « très cher » | R-012 | M-0034 |",
        "| R-012 | M-0034 | « très cher » |",
        "« c'est vraiment très cher », dit une cliente de longue date [R-012, M-0034]",
        "“it is far too dear for me” (woman, 34) [R-012, M-0034]",
        "« très cher » — R-012 (M-0034)",
        "**R-012** [M-0034] : « très cher »",
        "« très cher » (répondante R-012, message M-0034)",
        "« très cher » [[R-012, M-0034]]",
        "« très cher » [[R-012, M-0034](https://example.org/m/34)]",
        r"« très cher » \[R-012, M-0034\]",
        "« très cher » <sup>[R-012, M-0034]</sup>",
        "- [R-012, M-0034] :\n  « très cher »",
        "**[R-012, M-0034]**\n> « très cher »",
        "Une cliente [R-012, M-0034] explique : « c'est vraiment très cher »",
        "As R-012 (M-0034) puts it, “it is far too dear for me”.",
        "« très cher »[^1]\n\n[^1]: R-012, M-0034",
        "« très cher »[^b]\n\n[^b]: [R-012, M-0034]",
        "« très cher » [1].\n\nSources\n[1] R-012, M-0034",
        "« très cher » ²\n\n² répondante R-012, message M-0034",
        "> très cher\n> — [R-012, M-0034]",
        "> très cher\r\n> — [R-012, M-0034]\r\n",
        "> très cher\n>\n> — R-012 (M-0034)",
        "> « très cher »\n> [R-012, M-0034]",
        "> *très cher*\n> -- [R-012, M-0034]",
        "> c'est vraiment très cher\n> — une cliente [R-012, M-0034]",
        "> très cher\n\n[R-012, M-0034]",
        "« très cher » (traduction : “too dear”) [R-012, M-0034]",
        "« très cher » [R-012, M-0034] (translated: “far too dear for me”)",
    ],
)
def test_one_quote_with_its_pair(text: str) -> None:
    # Dashes are read as "-", whichever the model wrote.
    assert pairs(text) == ONE
    assert all(citation.fault is None for citation in parse(text).citations)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("« a b » [R-1, M-2; R-5, M-9]", [("R-1", "M-2"), ("R-5", "M-9")]),
        ("« a b » [R-1, M-2][R-5, M-9]", [("R-1", "M-2"), ("R-5", "M-9")]),
        ("« a b » [R-1, M-2] [R-5, M-9]", [("R-1", "M-2"), ("R-5", "M-9")]),
        ("« a b » [R-1, M-2], [R-5, M-9]", [("R-1", "M-2"), ("R-5", "M-9")]),
        ("« a b » [R-1, M-2] et [R-5, M-9]", [("R-1", "M-2"), ("R-5", "M-9")]),
        ("« a b » [R-1, M-2] / [R-5, M-9]", [("R-1", "M-2"), ("R-5", "M-9")]),
        ("« a b » [R-1, M-2, M-3]", [("R-1", "M-2"), ("R-1", "M-3")]),
        ("« a b » [M-2, R-1, M-3, R-4]", [("R-1", "M-2"), ("R-4", "M-3")]),
        ("« a b » [M-2]", [(None, "M-2")]),
        ("« a b » [R-1]", [("R-1", None)]),
        ("« a b » [R1 M2]", [("R1", "M2")]),
        ("« a b » [r-1, m-2]", [("r-1", "m-2")]),
        ("« a b » [R 1, M 2]", [("R 1", "M 2")]),
        ("« a b » [R-1-M-2]", [("R-1", "M-2")]),
        ("« a b » [Reb28d425, M1-0001]", [("Reb28d425", "M1-0001")]),
    ],
)
def test_several_ids(text: str, expected: list[tuple[str | None, str | None]]) -> None:
    assert pairs(text) == [expected]


def test_two_quotes_joined_by_and_share_their_bracket() -> None:
    assert pairs("« très cher » et « trop lent » [R-1, M-2]") == [[("R-1", "M-2")]] * 2


def test_a_scare_quote_far_from_the_bracket_does_not_take_it() -> None:
    text = "Le mot « bug » revient souvent au moment de payer [R-1, M-2]."
    assert pairs(text) == [[]]


def test_a_bracket_belongs_to_the_quote_before_it_not_to_the_next() -> None:
    assert pairs("« un » [R-1, M-1] « deux » [R-2, M-2]") == [[("R-1", "M-1")], [("R-2", "M-2")]]


@pytest.mark.parametrize("blank", ["\n\n", "\r\n\r\n", "\n \t\n"])
def test_a_bracket_alone_in_the_next_paragraph_is_of_the_quote_alone_before_it(blank: str) -> None:
    assert pairs(f"« très cher »{blank}[R-1, M-2]") == [[("R-1", "M-2")]]


@pytest.mark.parametrize("blank", ["\n\n", "\r\n\r\n", "\n \t\n"])
def test_a_paragraph_break_parts_quote_and_bracket(blank: str) -> None:
    assert pairs(f"« très cher »{blank}Un autre avis existe aussi [R-1, M-2].") == [[]]


def test_a_bracket_that_leads_to_the_next_quote_is_not_shared() -> None:
    text = "« un » [R-1, M-1] et [R-2, M-2] : « deux »"
    assert pairs(text) == [[("R-1", "M-1")], [("R-2", "M-2")]]


def test_a_bracket_that_has_its_quote_does_not_introduce_another() -> None:
    text = "« très cher » [R-1, M-1] ajoute : « ça ne vaut pas le prix »"
    assert pairs(text) == [[("R-1", "M-1")], []]


def test_two_quotes_introduced_by_one_bracket_share_it() -> None:
    text = "R-1 [M-1] dit « c'est bien trop cher » et « bien trop lent »."
    assert pairs(text) == [[("R-1", "M-1")]] * 2


@pytest.mark.parametrize(
    "text",
    [
        "| Qui | Où | Quoi |\n|---|---|---|\n| R-1 | M-1 | « un » |\n| R-2 | M-2 | « deux » |",
        "| « un » / « deux » | [R-1, M-1] / [R-2, M-2] |",
        "| « un »<br>« deux » | [R-1, M-1]<br>[R-2, M-2] |",
        "| [R-1, M-1]<br>[R-2, M-2] | « un »<br>« deux » |",
        "| « un » [R-1, M-1] | « deux » [R-2, M-2] |",
        "| « un » [R-1, M-1]\n| « deux » [R-2, M-2]",
        "« un »[^1] et « deux »[^2]\n\n[^1]: R-1, M-1\n[^2]: R-2, M-2",
        "> un [R-1, M-1]\r\n> deux [R-2, M-2]\r\n",
    ],
)
def test_each_quote_has_its_own_pair(text: str) -> None:
    assert pairs(text) == [[("R-1", "M-1")], [("R-2", "M-2")]]


def test_a_footnote_without_ids_cites_nothing() -> None:
    assert pairs("« très cher »[^1]\n\n[^1]: le barème de 2024") == [[]]


@pytest.mark.parametrize(
    ("text", "refs"),
    [
        ("d'après [Q3]", ["Q3"]),
        ("[Q1, Q2] et [Q3][Q4]", ["Q1", "Q2", "Q3", "Q4"]),
        ("[Q1-Q4]", ["Q1", "Q4"]),
        ("[Q1 & Q2]", ["Q1", "Q2"]),
        ("【Q7】", ["Q7"]),
        ("(Q3) in prose, Q4 alone, [Q5](http://x)", ["Q5"]),
        ("[voir Q2]", ["Q2"]),
    ],
)
def test_references_to_questions(text: str, refs: list[str]) -> None:
    assert [t.text for c in parse(text).citations for t in c.questions] == refs


@pytest.mark.parametrize(
    "text",
    [
        "une liste [1] et [2, 3]",
        "[sic] et […] et [...]",
        "- [ ] à faire\n- [x] fait",
        "[un lien](https://example.org/M-12)",
        "une surface (12 m2), un ratio [M/F], R&D, [M-F]",
        "« très cher » [traduit]",
        "f(x) = [a, b[ et ]c, d]",
        "(Q3 2024)",
    ],
)
def test_other_brackets_are_prose(text: str) -> None:
    assert parse(text).citations == ()


@pytest.mark.parametrize(
    ("text", "passage"),
    [
        ("« a b » [R-012 M-]", "[R-012 M-]"),
        ("« a b » [R-, M-]", "[R-, M-]"),
        ("« a b » [R-012, M-OO34]", "[R-012, M-OO34]"),
        ("« a b » [R-xx, M-xxxx]", "[R-xx, M-xxxx]"),
        ("« a b » [R-012, M-?]", "[R-012, M-?]"),
        ("« a b » []", "[]"),
        ("« a b » [R, M]", "[R, M]"),
        ("« a b » [R-012, M-0034", "[R-012, M-0034"),
        ("« a b » [R-012, M-0034\nsuite", "[R-012, M-0034"),
        ("« a b » [R-012, M-0034 et « c d » [R-1, M-2]", "[R-012, M-0034"),
        ("« a b » R-012, M-0034", "R-012, M-0034"),
        ("« a b » — R-012, M-0034.", "R-012, M-0034"),
        ("« a b » [R012M0034]", "[R012M0034]"),
    ],
)
def test_what_means_to_cite_and_cannot_be_read_is_at_fault(text: str, passage: str) -> None:
    faulty = [each for each in parse(text).citations if each.fault]
    assert [each.text for each in faulty] == [passage]
    assert text[faulty[0].start : faulty[0].end] == passage


@pytest.mark.parametrize(
    "text",
    ["R-012, M-0034 : « très cher »", "> très cher\n> — R-012, M-0034"],
)
def test_ids_without_brackets_are_at_fault_before_a_quote_too(text: str) -> None:
    (quote,) = parse(text).quotes
    (citation,) = quote.citations
    assert citation.text == "R-012, M-0034"
    assert citation.fault == "the ids stand without brackets"


@pytest.mark.parametrize(
    "text", ["« “très cher” » [R-1, M-1]", "« *“très cher”* » [R-1, M-1]", "“« très cher »” [M-1]"]
)
def test_marks_within_marks_are_one_quote(text: str) -> None:
    (quote,) = parse(text).quotes
    assert quote.text == text[quote.inner_start : quote.inner_end] == "très cher"
    assert quote.citations


def test_a_dialogue_in_a_block_quote_is_no_attribution() -> None:
    text = "> — Ça va ?\n> — Non, c'est cassé. [R-1, M-1]"
    assert [quote.text for quote in parse(text).quotes] == ["— Ça va ?\n> — Non, c'est cassé."]


def test_block_quotes() -> None:
    text = (
        "> Le produit est bien [R-1, M-2]\n> et *simple* [R-1, M-3]\n\n"
        "texte\n\n> sur deux\n> lignes\n"
    )
    quotes = parse(text).quotes
    words = ["Le produit est bien", "et *simple*", "sur deux\n> lignes"]
    assert [quote.text for quote in quotes] == words
    assert [quote.family for quote in quotes] == [">"] * 3


def test_numeric_citations_by_configuration() -> None:
    grammar = compile_grammar(CitationsConfig(message=r"\d+", attempt=r"\d+[a-z]+"))
    parsed = parse("« a » [1,2,3] « b » [1,2][3] « c » [999] et 5 [4x]", grammar)
    cited = [[t.text for c in q.citations for t in c.messages] for q in parsed.quotes]
    assert cited == [["1", "2", "3"], ["1", "2", "3"], ["999"]]
    assert [c.text for c in parsed.citations if c.fault] == ["[4x]"]


def test_a_parser_of_your_own() -> None:
    grammar = compile_grammar(CitationsConfig(parser="tests.citations.test_parse:shouting"))
    assert parse("anything", grammar) == parse("« MINE » [R-1, M-1]")


def shouting(text: str) -> object:
    """A user's parser, found by its dotted path."""
    return parse("« MINE » [R-1, M-1]")


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (CitationsConfig(message="M("), "message"),
        (CitationsConfig(message=r"(M)\1"), "RE2"),
        (CitationsConfig(parser="nowhere:f"), "nowhere"),
        (CitationsConfig(parser="ancrage:f"), "parser"),
    ],
)
def test_a_grammar_that_cannot_be_used_says_why(config: CitationsConfig, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        compile_grammar(config)


ALPHABET = "«»“”\"'’[]()【】RMQrmq0123456789-–,; \n*_|>…é\u00a0😀O"


@given(st.text(alphabet=ALPHABET, max_size=200))
def test_every_offset_stands_and_nothing_raises(text: str) -> None:
    parsed = parse(text)
    for citation in parsed.citations:
        assert text[citation.start : citation.end] == citation.text
    for quote in parsed.quotes:
        assert quote.start <= quote.inner_start <= quote.inner_end <= quote.end
        assert text[quote.inner_start : quote.inner_end] == quote.text


@given(st.text(alphabet=ALPHABET, max_size=60), st.text(alphabet=ALPHABET, max_size=60))
def test_a_well_formed_citation_is_found_in_any_surroundings(before: str, after: str) -> None:
    text = f"{before}\n\n« tout va bien » [R-012, M-0034]\n\n{after}"
    found = [q for q in parse(text).quotes if q.text == "tout va bien"]
    assert [t.text for q in found for c in q.citations for t in c.messages] == ["M-0034"]


@pytest.mark.parametrize("accent", ["&eacute;", "&#233;", "&#xE9;"])
@pytest.mark.parametrize(
    "form",
    [
        "&laquo; {} &raquo; [R-001, M-0001]",
        "“{}” [R-001, M-0001]",
        "> {}\n>\n> — [R-001, M-0001]",
        "| Verbatim | Source |\n|---|---|\n| {} | [R-001, M-0001] |",
        "- [R-001, M-0001] : &laquo;&nbsp;{}&nbsp;&raquo;",
    ],
)
def test_an_entity_that_ends_a_quote_is_whole(form: str, accent: str) -> None:
    words = f"l'opercule {accent}tait d{accent}coll{accent}"
    (quote,) = parse(form.format(words)).quotes
    assert quote.text == words


def test_a_list_in_a_block_quote_takes_the_citation_below_it() -> None:
    quote = parse(
        "> - planning the menu for the week.\n> - the groceries.\n>\n> — [R-1, M-2]"
    ).quotes
    assert [(one.text, [cited.text for cited in one.citations]) for one in quote] == [
        ("planning the menu for the week.", ["[R-1, M-2]"]),
        ("the groceries.", ["[R-1, M-2]"]),
    ]
    assert not any(one.citations for one in parse("- « a b c d e »\n\n> [R-1, M-2]").quotes)


def test_a_block_quote_that_introduces_words_takes_the_line_below() -> None:
    text = (
        "> Ma fille a dit « on dirait un nuage ».\n>\n> — [R-001, M-0001]\n\n"
        "> un nuage\n>\n> — [R-002, M-0002]"
    )
    cited = [quote.citations[0].text for quote in parse(text).quotes]
    assert cited == ["[R-001, M-0001]", "[R-002, M-0002]"]


@pytest.mark.parametrize(
    ("bracket", "fault"),
    [
        ("(client-10, verbatim_19)", None),
        ("(client-10, verbatm_19)", "verbatm_19"),
        ("(client-10, verbatim_l9)", "verbatim_l9"),
        ("(client-10, verbatim-19)", "verbatim-19"),
    ],
)
def test_ids_of_ones_own_have_malformed_forms(bracket: str, fault: str | None) -> None:
    grammar = compile_grammar(CitationsConfig(message=r"verbatim_\d+", respondent=r"client-\d+"))
    (citation,) = parse(f"« Livreur souriant et rapide » {bracket}", grammar).citations
    assert (citation.fault is None) == (fault is None)
    assert (fault or "") in (citation.fault or "")


@pytest.mark.parametrize("aside", ["(version 2)", "(client fidèle)", "(verbatims)", "(cli-2)"])
def test_asides_are_no_malformed_ids(aside: str) -> None:
    grammar = compile_grammar(CitationsConfig(message=r"verbatim_\d+", respondent=r"client-\d+"))
    assert parse(f"Rapide {aside}.", grammar).citations == ()
