"""What passes as verbatim (T0 to T3), and what must not."""

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from ancrage.quotes import QuoteIndex, QuoteTier, find_passage
from tests.quotes.generators import messages

MESSAGE = (
    "Je ne suis pas mécontent du tout de l’outil, il coûte 12,5\u00a0€ par mois… "
    "L’équipe de M. Roux est top ! On attend 1 250 réponses, −5 % en 10² jours, coût ≥ 3 €."
)


@pytest.mark.parametrize(
    ("quote", "tier"),
    [
        ("il coûte 12,5\u00a0€ par mois", "T0"),
        ("L’équipe de M. Roux est top !", "T0"),
        ("il coûte 12,5 € par mois...", "T1"),
        ("L'équipe de M. Roux est top!", "T1"),
        ("L’équipe de **M. Roux** est top !", "T1"),
        ("On attend 1250 réponses, -5 % en 10² jours, coût >= 3 €", "T1"),
        ("Il coûte 12,5\u00a0€ par mois", "T2"),
        ("il coûte 12,5\u00a0€ par mois.", "T2"),
        ("l'équipe de M. Roux est top.", "T2"),
        ("Je ne suis pas mécontent […] L’équipe de M. Roux est top", "T3"),
        ("Je ne suis pas mécontent (...) L’équipe de M. Roux est top", "T3"),
        ("Je ne suis pas mécontent … L’équipe de M. Roux est top", "T3"),
        ("Je ne suis pas mécontent du tout de [ce logiciel], il coûte", "T3"),
        ("[…] il coûte 12,5 € par mois", "T3"),
        ("il coûte [sic] 12,5 € par mois", "T3"),
        ("[I]l coûte 12,5 € par mois", "T3"),
        ("Je ne suis pas mécontent du tout de l'[application], il coûte", "T3"),
    ],
)
def test_passes(quote: str, tier: str) -> None:
    match = find_passage(quote, MESSAGE)
    assert match is not None
    assert match.tier == tier
    assert MESSAGE[match.start : match.end].strip() == MESSAGE[match.start : match.end]
    verdict = QuoteIndex([("M1", MESSAGE)]).verify(quote, ["M1"])
    assert (verdict.passed, verdict.tier, verdict.source_id) == (True, tier, "M1")
    assert (verdict.source_start, verdict.source_end) == (match.start, match.end)


@pytest.mark.parametrize(
    "quote",
    [
        "",
        "   ",
        "…",
        "[…]",
        "!",
        "content du tout",  # cut out of « mécontent »
        "il coûte 5 € par mois",
        "5\u00a0€ par mois",  # cut out of 12,5
        "250 réponses",  # cut out of 1 250
        "5 % en 10² jours",  # without its sign
        "On attend 1 250 réponses, −5 % en 10",  # without its exponent
        "On attend 1 250 réponses, −5 % en 102 jours",
        "coût ≤ 3 €",
        "= 3 €",
        "Je suis mécontent du tout de l’outil",
        "L’équipe de M. Rous est top",
        "Je ne suis pas mécontent […] est top",  # a fragment of less than 12 characters
        "L’équipe de M. Roux est top […] Je ne suis pas mécontent",  # in another order
        "On attend [12] réponses, −5 % en 10² jours",
        "Je ne suis pas mécontent L’équipe de M. Roux est top",  # an unmarked cut
        "JE NE SUIS PAS",
    ],
)
def test_does_not_pass(quote: str) -> None:
    assert find_passage(quote, MESSAGE) is None
    assert not QuoteIndex([("M1", MESSAGE)]).verify(quote, ["M1"]).passed


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        ("10", "10²"),
        ("cafe", "cafe\u0301 noir"),
        ("I can", "I can't do it"),
        ("payé", "un congé non-payé"),
        ("👩", "👩\u200d🚀"),
        ("👍", "👍🏿"),
        ("12 personnes", "112 personnes"),
        ("12", "12:30"),
        ("possible", "im\u00adpossible"),
        ("5 °C", "−5 °C"),
        ("plus de 5", "plus de 5%"),
        ("plus de 5", "plus de 5\u00a0% des gens"),
        ("j'en ai 10", "j'en ai 10+"),
        ("note A", "note A+"),
        (
            "tout le monde [n'est pas] content du délai annoncé",
            "tout le monde est content du délai annoncé",
        ),
        (
            "[Nobody] recommends this product to a friend",
            "Everybody recommends this product to a friend",
        ),
        ("[12] personnes attendent encore leur colis", "personnes attendent encore leur colis"),
        ("il faut attendre son colis [12 jours]", "il faut attendre son colis"),
        ("alpha", "le taux α"),
        ("α", "le taux alpha"),
        ("OMS", "l'Organisation mondiale de la santé"),
        ("x", ""),
    ],
)
def test_a_quote_is_not_cut_out_of_something_longer(quote: str, message: str) -> None:
    assert find_passage(quote, message) is None


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        ("équipe", "l'équipe"),
        ("👍", "super 👍"),
        ("ラーメン", "昨日ラーメンを食べた"),
        ("ok", "112 ok"),
        ("the team", "the team's work"),
        ("❤️", "je ❤ ça"),
        ("2 et 3", "1, 2 et 3"),
        ("un a", "un a+b"),
        ("[Nos clients] attendent encore leur colis", "Ils attendent encore leur colis"),
        ("[12 personnes] attendent encore leur colis", "Les 12 attendent encore leur colis"),
        ("[Nobody] in my team recommends it", "No one, nobody in my team recommends it"),
    ],
)
def test_a_fair_cut_passes(quote: str, message: str) -> None:
    assert find_passage(quote, message) is not None


def test_a_literal_ellipsis_is_tried_before_an_elision() -> None:
    match = find_passage("bof… rien de plus", "bof... rien de plus")
    assert match is not None
    assert match.tier == QuoteTier.TYPOGRAPHIC


def test_the_gap_of_an_elision_is_bounded() -> None:
    near, far = "mot " * 100, "mot " * 200
    quote = "le début du message […] la fin du message"
    assert find_passage(quote, f"le début du message {near}la fin du message")
    assert find_passage(quote, f"le début du message {far}la fin du message") is None


def test_a_fragment_may_repeat_before_the_gap_fits() -> None:
    text = "le début du message " + "mot " * 200 + "le début du message et la fin du message"
    match = find_passage("le début du message […] la fin du message", text)
    assert match is not None
    assert match.start == text.rindex("le début")


def test_an_elision_does_not_reach_into_another_message() -> None:
    index = QuoteIndex([("M1", "Le premier message est long."), ("M2", "Le second message aussi.")])
    verdict = index.verify("Le premier message […] second message aussi", ["M1", "M2"])
    assert not verdict.passed


@pytest.mark.parametrize(
    ("quote", "message", "word"),
    [
        (
            "Je recommande ce […] vraiment à ma sœur",
            "Je recommande ce produit, non pas vraiment à ma sœur",
            "non",
        ),
        (
            "I would do this […] again next summer",
            "I would do this, but not here, again next summer",
            "not",
        ),
        ("recommend this tool", "I would not recommend this tool", "not"),
        ("je recommande", "je recommande pas ce produit", "pas"),
    ],
)
def test_a_negation_left_out_is_a_warning(quote: str, message: str, word: str) -> None:
    match = find_passage(quote, message)
    assert match is not None
    assert any(f"“{word}”" in warning for warning in match.warnings)


def test_a_quote_with_its_negation_has_no_warning() -> None:
    match = find_passage("ne suis pas mécontent", MESSAGE)
    assert match is not None
    assert match.warnings == ()


def test_the_best_of_several_messages_counts() -> None:
    index = QuoteIndex([("M1", "C’est l’été"), ("M2", "C'est l'été"), ("M3", "")])
    verdict = index.verify("C'est l'été", ["M3", "unknown", "M1", "M2"])
    assert (verdict.tier, verdict.source_id) == ("T0", "M2")


def test_markup_of_a_block_quote_is_not_part_of_the_words() -> None:
    assert find_passage("sur deux\n> lignes", "sur deux\nlignes")


def test_asterisks_of_a_product_are_not_markup() -> None:
    assert find_passage("2*3*4", "234") is None
    assert find_passage("2*3*4", "soit 2*3*4 cases")


@given(st.sampled_from(messages()), st.data())
def test_any_run_of_words_is_exact(message: str, data: st.DataObject) -> None:
    words = message.split(" ")
    start = data.draw(st.integers(0, len(words) - 1))
    end = data.draw(st.integers(start + 1, len(words)))
    assume(not (words[start].isdecimal() and start and words[start - 1][-1:].isdecimal()))
    assume(not (end < len(words) and words[end][:3].isdecimal() and words[end - 1].isdecimal()))
    quote = " ".join(words[start:end])
    assume(any(character.isalnum() for character in quote))
    match = find_passage(quote, message)
    assert match is not None
    assert match.tier == QuoteTier.EXACT
    assert message[match.start : match.end] == quote


@settings(deadline=None)  # the language model is loaded on the way
@given(st.text(max_size=40), st.text(max_size=60))
def test_any_text_gets_a_verdict(quote: str, message: str) -> None:
    verdict = QuoteIndex([("M1", message)]).verify(quote, ["M1"])
    assert verdict.passed == (verdict.diagnosis is None) == verdict.tier.passes
    if verdict.source_start is not None and verdict.source_end is not None:
        assert 0 <= verdict.source_start <= verdict.source_end <= len(message)
