"""Why a quote fails, in words that an analyst can act on."""

import pytest

from ancrage.quotes import QuoteIndex, QuoteVerdict

MESSAGES = {
    "M-0001": "Je ne suis pas content du délai, on attend 15 jours alors que Karim avait promis 3.",
    "M-0002": "The app is slow but the support team answered within 2 days and it helped me a lot.",
    "M-0003": "",
    "M-0004": "Oui",
    "M-0005": (
        "L’accueil est parfait. La chambre donnait sur la cour, le lit était correct et la salle "
        "de bain assez grande pour deux. Le petit déjeuner manquait de fruits frais."
    ),
    "M-0006": "The support team answered within 2 days, great!",
    "M-0007": "Le parking est trop petit, j’ai dû me garer à 10² mètres.",
}


@pytest.fixture(scope="module")
def index() -> QuoteIndex:
    return QuoteIndex(MESSAGES.items(), {"M-0001": "fr", "M-0002": "en"})


def part(verdict: QuoteVerdict) -> str:
    assert verdict.source_id is not None
    assert verdict.source_start is not None
    assert verdict.source_end is not None
    return MESSAGES[verdict.source_id][verdict.source_start : verdict.source_end]


@pytest.mark.parametrize(
    ("quote", "source_id", "edit", "kind"),
    [
        ("on attend 16 jours", "M-0001", ("replaced", "16", "15"), "a number"),
        ("Je suis content du délai", "M-0001", ("omitted", "", "pas"), "a negation"),
        ("Karl avait promis 3", "M-0001", ("replaced", "Karl", "Karim"), "a name"),
        ("garer à 102 mètres", "M-0007", ("replaced", "102", "10²"), "a number"),
        ("The app is very slow", "M-0002", ("added", "very", ""), ""),
        ("le lit était confortable et", "M-0005", ("replaced", "confortable", "correct"), ""),
    ],
)
def test_altered_shows_the_difference(
    index: QuoteIndex, quote: str, source_id: str, edit: tuple[str, str, str], kind: str
) -> None:
    verdict = index.verify(quote, [source_id])
    assert (verdict.tier, verdict.diagnosis, verdict.source_id) == ("T4", "altered", source_id)
    assert edit in verdict.difference
    assert f"({kind})" in verdict.explanation if kind else "(" not in verdict.explanation
    assert source_id in verdict.explanation


def test_altered_gives_the_whole_passage_even_longer_than_the_quote(index: QuoteIndex) -> None:
    verdict = index.verify("the support team answered and it helped me", ["M-0002"])
    assert verdict.tier == "T4"
    assert part(verdict) == "the support team answered within 2 days and it helped me"


@pytest.mark.parametrize(("one", "other"), [("15", "16"), ("pas ", ""), ("Karim", "Karin")])
def test_a_tiny_edit_of_a_long_quote_never_passes(index: QuoteIndex, one: str, other: str) -> None:
    quote = MESSAGES["M-0001"].replace(one, other, 1)
    verdict = index.verify(quote, ["M-0001"])
    assert (verdict.tier, verdict.passed) == ("T4", False)


def test_two_messages_joined_are_altered(index: QuoteIndex) -> None:
    verdict = index.verify("Je ne suis pas content du délai, le lit était correct", ["M-0001"])
    assert (verdict.tier, verdict.diagnosis) == ("T4", "altered")
    assert "joins words of M-0001 and M-0005 without marking the cut" in verdict.explanation
    assert verdict.holders == ("M-0001", "M-0005")


def test_far_parts_of_one_message_joined_are_altered(index: QuoteIndex) -> None:
    verdict = index.verify(
        "L'accueil est parfait. Le petit déjeuner manquait de fruits frais.", ["M-0005"]
    )
    assert (verdict.tier, verdict.diagnosis) == ("T4", "altered")
    assert "joins distant parts of M-0005 without marking the cut" in verdict.explanation


def test_an_edit_beside_a_marked_cut_is_shown_alone(index: QuoteIndex) -> None:
    verdict = index.verify("La chambre donnait sur la mer […] manquait de fruits frais", ["M-0005"])
    assert verdict.tier == "T4"
    assert verdict.difference == (("replaced", "mer", "cour"),)


def test_a_marked_cut_in_the_wrong_order_says_so(index: QuoteIndex) -> None:
    verdict = index.verify("manquait de fruits frais […] L’accueil est parfait.", ["M-0005"])
    assert verdict.tier == "T4"
    assert "must stay in order" in verdict.explanation


def test_elsewhere_names_every_message_that_has_it(index: QuoteIndex) -> None:
    verdict = index.verify("the support team answered within 2 days", ["M-0001"])
    assert (verdict.tier, verdict.diagnosis, verdict.passed) == ("T6", "elsewhere", False)
    assert verdict.holders == ("M-0002", "M-0006")
    assert "M-0002 and 1 more" in verdict.explanation
    assert part(verdict) == "the support team answered within 2 days"


def test_elsewhere_also_finds_elided_and_typographic_variants(index: QuoteIndex) -> None:
    assert index.verify("L'accueil est parfait", ["M-0001"]).holders == ("M-0005",)
    elided = index.verify("L'accueil est parfait […] manquait de fruits frais", ["M-0001"])
    assert elided.holders == ("M-0005",)


def test_elsewhere_is_capped() -> None:
    index = QuoteIndex((f"M{i}", "rien à signaler pour moi") for i in range(500))
    verdict = QuoteIndex([("X", "autre chose")]).verify("rien à signaler pour moi", ["X"])
    assert verdict.tier == "T7"
    verdict = index.verify("rien à signaler pour moi", [])
    assert len(verdict.holders) == 20
    assert "19+ more" in verdict.explanation


def test_without_ids_words_are_looked_for_everywhere_and_nothing_passes(index: QuoteIndex) -> None:
    assert index.verify("The app is slow", []).tier == "T6"
    assert index.verify("The app is slow", ["M-9999"]).tier == "T6"
    altered = index.verify("The app is slow but the support team answered within 3 days", [])
    assert (altered.tier, altered.source_id) == ("T4", "M-0002")


def test_an_altered_quote_of_another_message_is_traced(index: QuoteIndex) -> None:
    quote = "La chambre donnait sur la cour, le lit était parfait et la salle de bain assez grande"
    verdict = index.verify(quote, ["M-0007"])
    assert (verdict.tier, verdict.source_id) == ("T4", "M-0005")
    assert "M-0005, which is not cited" in verdict.explanation


def test_absent(index: QuoteIndex) -> None:
    verdict = index.verify("Il faudrait plus de bancs dans le jardin public", ["M-0001"])
    assert (verdict.tier, verdict.diagnosis) == ("T7", "absent")
    assert verdict.source_start is None


@pytest.mark.parametrize("quote", ["", " ", "\u00a0", "...", "« »", "\u200b"])
@pytest.mark.parametrize("ids", [["M-0001"], ["M-0003"], []])
def test_an_empty_quote_never_passes(index: QuoteIndex, quote: str, ids: list[str]) -> None:
    verdict = index.verify(quote, ids)
    assert (verdict.tier, verdict.passed, verdict.explanation) == (
        "T7",
        False,
        "The quote is empty.",
    )


def test_an_empty_message_never_lets_a_quote_pass(index: QuoteIndex) -> None:
    verdict = index.verify("Tout est inventé ici, vraiment", ["M-0003"])
    assert (verdict.tier, verdict.passed) == ("T7", False)
    assert "M-0003, is empty" in verdict.explanation


def test_a_duplicate_id_is_reported_and_the_first_text_kept() -> None:
    index = QuoteIndex([("M1", "un texte"), ("M1", "un texte"), ("M1", "un autre")])
    assert index.duplicates == ["M1"]
    assert index.verify("un texte", ["M1"]).passed
    assert not index.verify("un autre", ["M1"]).passed


def test_hostile_quotes_are_diagnosed_in_bounded_time() -> None:
    """Would take minutes if the alignment were not bounded."""
    index = QuoteIndex([("M1", "mot " * 20_000), ("M2", "a" * 50_000)])
    for quote in ("mot mut " * 5_000, "a b " * 5_000, "[x] " * 2_000 + "mot", "mot […] " * 2_000):
        assert not index.verify(quote, ["M1", "M2"]).passed
