"""Where a text quotes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.quotes import extract_quotes, parse_quotes


def inner(text: str) -> list[str]:
    return [text[quote.inner_start : quote.inner_end] for quote in extract_quotes(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Elle dit « Le produit est bien » [R-1, M-2].", ["Le produit est bien"]),
        ("«\u00a0oui\u202f»", ["oui"]),
        ("“curly” and „tief“ and ‟high” and ‹ simple ›", ["curly", "tief", "high", "simple"]),
        ("»Wort« und „Wort“ und ‚Wort‘", ["Wort", "Wort", "Wort"]),
        ("“typed with one key“", ["typed with one key"]),
        ("”så här” sade hon", ["så här"]),
        ('un "mot" et "deux mots"', ["mot", "deux mots"]),
        ("les 'vrais mots' et ‘les autres’", ["vrais mots", "les autres"]),
        ("« il a dit “non” hier »", ["il a dit “non” hier", "non"]),
        ('"a "b" c"', ['a "b" c', "b"]),
        ("« première\nseconde »", ["première\nseconde"]),
        ("« première\r\nseconde »", ["première\r\nseconde"]),
        ("« … »", ["…"]),
        ("« »", [""]),
        ('""', [""]),
        ("**« gras »** et « *maigre* » et «**tout**»", ["gras", "maigre", "tout"]),
        ('**"bold"** and *"slanted"*', ["bold", "slanted"]),
        ("‘l’équipe’ et « l’équipe »", ["l’équipe", "l’équipe"]),
        ("‘the students’ books are nice’", ["the students’ books are nice"]),
        ("('in brackets')", ["in brackets"]),
        ("l'\"outil\" et d'« autres »", ["outil", "autres"]),
        ('mot " espacé " mot', ["espacé"]),
        ("« 50% (approx »", ["50% (approx"]),
        ('un écran de 24" et "un mot"', ["un mot"]),
        ('"un écran de 24" plat" est là', ['un écran de 24" plat']),
        ("« un « dans » un »", ["un « dans » un", "dans"]),
        ("- « un »\n- « deux »", ["un", "deux"]),
        ("| « un » | « deux » |", ["un", "deux"]),
    ],
)
def test_finds(text: str, expected: list[str]) -> None:
    assert inner(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "l'équipe est contente de l'outil",
        "l’équipe est contente de l’outil d’hier",
        "aujourd'hui, c'est l'été, n'est-ce pas",
        "rock 'n' roll in the '90s, 'twas good",
        "the students' books and the dogs' beds",
        'un tuyau de 5" et un autre de 3"',
        "5' 10\" de haut",
        "« ouvert sans fin",
        "fin sans début »",
        "« d'un paragraphe\n\nà l'autre »",
        "« d'un paragraphe\r\n \r\nà l'autre »",
        "“une famille »",
        "« une famille”",
        '<a href="x">',
        "",
    ],
)
def test_finds_nothing(text: str) -> None:
    assert inner(text) == []


def test_families_never_mix() -> None:
    text = "« a ” b » et “ c » d ”"
    assert inner(text) == ["a ” b", "c » d"]
    assert [quote.family for quote in extract_quotes(text)] == ["«»", "“”"]


def test_an_unclosed_mark_does_not_hide_the_quotes_after_it() -> None:
    text = "« jamais fermé et « fermé » puis “ouvert\n\n“bon”"
    parsed = parse_quotes(text)
    assert [text[q.inner_start : q.inner_end] for q in parsed.quotes] == ["fermé", "bon"]
    assert [text[at] for at in parsed.unpaired] == ["«", "“"]


def test_a_straight_mark_without_partner_is_reported() -> None:
    text = 'il dit "oui puis rien\n- "bon"'
    parsed = parse_quotes(text)
    assert [text[q.inner_start : q.inner_end] for q in parsed.quotes] == ["bon"]
    assert parsed.unpaired == (7,)


def test_each_repeated_passage_has_its_own_offsets() -> None:
    text = "« oui » puis « oui » et « oui »"
    starts = [quote.inner_start for quote in extract_quotes(text)]
    assert starts == [2, 15, 26]


def test_a_long_quote_is_not_capped() -> None:
    words = "mot " * 5_000
    assert inner(f"« {words}»") == [words.strip()]


def test_a_block_quote_with_marks_of_its_own_counts_once() -> None:
    assert inner("> « Le produit est bien » [R-1, M-2]") == ["Le produit est bien"]
    assert inner("> [!NOTE]\n") == []


marked = st.text(st.sampled_from("«»“”„‟‘’‚‹›\"' \n\u00a0ab5s*_>[].-"), max_size=80)


@given(marked)
def test_spans_are_valid_and_nest(text: str) -> None:
    parsed = parse_quotes(text)
    open_ends: list[int] = []
    for quote in parsed.quotes:
        assert 0 <= quote.start <= quote.inner_start <= quote.inner_end <= quote.end <= len(text)
        if quote.family != ">":
            assert quote.family == text[quote.start] + text[quote.end - 1]
            while open_ends and open_ends[-1] <= quote.start:
                open_ends.pop()
            assert not open_ends or quote.end <= open_ends[-1]
            open_ends.append(quote.end)
            assert "\n\n" not in text[quote.start : quote.end]
    used = {q.start for q in parsed.quotes} | {q.end - 1 for q in parsed.quotes if q.family != ">"}
    assert used.isdisjoint(parsed.unpaired)


@pytest.mark.parametrize(
    "piece", [*"«»“”„‘’‹\"'", '« " ', "'a ", '"a', "*", "\n", "\n ", "> ", "> a\n", "[", "« a » "]
)
def test_hostile_input_is_read_in_linear_time(piece: str) -> None:
    """Would take minutes if the parser looked back or ahead without bound."""
    text = "« " + piece * (150_000 // len(piece))
    assert len(parse_quotes(text).quotes) <= len(text)


def test_a_pair_of_single_marks_is_not_crossed() -> None:
    assert [quote.family for quote in extract_quotes('‘“’"')] == ["‘’"]
    assert [quote.family for quote in extract_quotes('“‘" 5’')] == ['“"']
