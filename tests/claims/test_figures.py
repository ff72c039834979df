# ruff: noqa: E501 - one case a line reads best
"""What single figures allow, and how they are compared."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.claims import Agreement, compare_figures
from ancrage.claims.figures import figures
from ancrage.claims.numerals import SPACES, numerals, value_of
from tests.claims.perturbations import words

AGREES, CONTRADICTS, OPEN = Agreement.AGREES, Agreement.CONTRADICTS, Agreement.NOT_COMPARABLE


def points(text: str) -> list[float | None]:
    return [figure.readings[0].point for figure in figures(text)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 234,5 €", 1234.5),
        ("1\u202f234,5\u00a0€", 1234.5),
        ("$1,234.5", 1234.5),
        ("1.234.567,8 €", 1234567.8),
        ("3,2 M€", 3.2e6),
        ("£3.2m", 3.2e6),
        ("12,5 millions d'euros", 12.5e6),
        ("1,4 Md€", 1.4e9),
        ("120 k€", 120e3),
        ("deux cent trente-quatre personnes", 234),
        ("two hundred and thirty-four people", 234),
        ("quatre-vingt-dix-sept personnes", 97),
        ("soixante et onze personnes", 71),
        ("nonante-trois personnes", 93),
        ("trois millions d'habitants", 3e6),
        ("a hundred people", 100),
        ("une vingtaine de clients", 20),
        ("trois sur quatre", 75),
        ("12 répondants sur 40", 30),
        ("one in five", 20),
        ("2/3 des clients", 200 / 3),
        ("la moitié des clients", 50),
        ("3 km", 3000),
        ("90 minutes", 5400),
        ("18 mois", 18),
        ("2 ans", 24),
    ],
)
def test_values(text: str, value: float) -> None:
    assert points(text) == [pytest.approx(value)]


@pytest.mark.parametrize(
    "text",
    [
        "COVID-19",
        "le F16",
        "la version v2",
        "1. Prix",
        "[R-012, M-0034]",
        "un produit neuf.",
        "l'un des deux, non",
    ],
)
def test_labels_and_articles_are_no_figures(text: str) -> None:
    from ancrage.claims.markup import plain

    assert [f for f in figures(plain(text)) if f.text != "deux"] == []


@given(st.integers(2, 999), st.sampled_from(["fr", "en"]))
def test_numbers_in_words_are_read_back(number: int, language: str) -> None:
    (found,) = numerals(words(number, language).translate(SPACES) + " clients")
    assert found.values == (float(number),)


@given(st.lists(st.sampled_from(["cent", "vingt", "deux", "et", "mille", "sept"]), max_size=6))
def test_any_run_of_number_words_is_a_number_or_not(run: list[str]) -> None:
    assert value_of(run) is None or value_of(run) >= 0  # type: ignore[operator]


@given(st.text(alphabet="0123456789 ,.'%€kM–-àentreplusde\u00a0", max_size=40))
def test_any_text_is_read(text: str) -> None:
    assert all(0 <= f.start < f.end <= len(text) for f in figures(text))


CASES = [
    ("Le taux est de 12 %.", "Le taux est de 12,4 %.", AGREES),
    ("Le taux est de 12,4 %.", "Le taux est de 12 %.", OPEN),
    ("Le taux est de 13 %.", "Le taux est de 12 %.", CONTRADICTS),
    ("Le taux est d'environ 13 %.", "Le taux est de 12,6 %.", AGREES),
    ("Le taux est de près de 20 %.", "Le taux est de 12,6 %.", CONTRADICTS),
    ("Plus de 50 clients ont répondu.", "53 clients ont répondu.", AGREES),
    ("Plus de 50 clients ont répondu.", "50 clients ont répondu.", CONTRADICTS),
    ("Au moins 50 clients ont répondu.", "50 clients ont répondu.", AGREES),
    ("At most 50 clients replied.", "53 clients replied.", CONTRADICTS),
    ("53 clients ont répondu.", "Plus de 50 clients ont répondu.", OPEN),
    ("45 clients ont répondu.", "Plus de 50 clients ont répondu.", CONTRADICTS),
    ("Entre 10 et 20 clients ont répondu.", "15 clients ont répondu.", AGREES),
    ("Between 10 and 20 clients replied.", "25 clients replied.", CONTRADICTS),
    ("10–20 clients replied.", "15 clients replied.", AGREES),
    ("Un tiers des clients ont répondu.", "33 % des clients ont répondu.", AGREES),
    ("La moitié des clients ont répondu.", "33 % des clients ont répondu.", CONTRADICTS),
    ("Three out of four clients replied.", "75% of clients replied.", AGREES),
    ("Three out of four clients replied.", "60 of the 100 clients replied.", CONTRADICTS),
    ("La ville compte 1 200 habitants.", "La ville compte 1 234 habitants.", OPEN),
    ("La ville compte 1 900 habitants.", "La ville compte 1 234 habitants.", CONTRADICTS),
    ("Le trajet dure 1,5 heure.", "Le trajet dure 90 minutes.", AGREES),
    ("Le trajet dure 2 heures.", "Le trajet dure 45 minutes.", CONTRADICTS),
    ("Le lot pèse 3 kg.", "Le lot pèse 3 g.", CONTRADICTS),
    ("Le lot coûte 3 €.", "Le lot pèse 3 kg.", OPEN),
    ("Acme opened in March 2021.", "Acme opened on 12 March 2021.", AGREES),
    ("Acme opened on 12 March 2021.", "Acme opened in March 2021.", OPEN),
    ("Acme opened in April 2021.", "Acme opened on 12 March 2021.", CONTRADICTS),
    ("Acme opened on 12/03/2021.", "Acme opened on 3 December 2021.", AGREES),
    ("Acme a ouvert le 12 mars.", "Acme a ouvert le 12 mars 2021.", AGREES),
    ("Acme a ouvert le 13 mars.", "Acme a ouvert le 12 mars 2021.", CONTRADICTS),
    ("Acme opened in the 1990s.", "Acme opened in 1994.", AGREES),
    ("Acme opened in the 19th century.", "Acme opened in 1994.", CONTRADICTS),
    ("Acme opened before 2000.", "Acme opened in 1994.", AGREES),
    ("Acme opened before 1990.", "Acme opened in 1994.", CONTRADICTS),
    ("Acme a ouvert au premier trimestre 2021.", "Acme a ouvert le 12 mars 2021.", AGREES),
    ("La séance ouvre à 14h30.", "La séance ouvre à 15h30.", CONTRADICTS),
    ("The session opens at 2:30 pm.", "The session opens at 14:30.", AGREES),
    ("La réunion a lieu lundi.", "La réunion a lieu mardi.", CONTRADICTS),
    ("Les ventes ont baissé de 5 %.", "Les ventes ont augmenté de 5 %.", CONTRADICTS),
    ("Sales fell by 5%.", "Sales rose by 5%.", CONTRADICTS),
    ("Le budget est passé de 3 à 5 M€.", "Le budget est passé de 5 à 3 M€.", CONTRADICTS),
    ("Lyon compte 45 élus.", "Lyon compte 45 élus et Nantes compte 30 élus.", AGREES),
    # A value that stands anywhere in the context is not contradicted: only a reader can tell.
    ("Nantes compte 45 élus.", "Lyon compte 45 élus et Nantes compte 30 élus.", OPEN),
    ("Nantes compte 46 élus.", "Lyon compte 45 élus et Nantes compte 30 élus.", CONTRADICTS),
    # Bounds are compared as bounds.
    ("Acme prête jusqu'à 750 €.", "Acme prête jusqu'à 750 €.", AGREES),
    ("Acme prête jusqu'à 7 500 000 €.", "Acme prête jusqu'à 750 €.", OPEN),
    ("Acme prête jusqu'à 500 €.", "Acme prête jusqu'à 750 €.", CONTRADICTS),
    ("At least 16 clients replied.", "At least 21 clients replied.", OPEN),
    ("At least 26 clients replied.", "At least 21 clients replied.", CONTRADICTS),
    ("Up to 7,500 clients replied.", "At Acme 53 clients replied.", OPEN),
    ("Acme opened before 2000.", "Acme opened before 1990.", OPEN),
    # Signs, halves, compound durations.
    ("La température de Lyon est de 8 °C.", "La température de Lyon est de -8 °C.", CONTRADICTS),
    ("La température de Lyon est de moins 8 °C.", "La température de Lyon est de −8 °C.", AGREES),
    ("Lyon counts half a million inhabitants.", "Lyon counts 500,000 inhabitants.", AGREES),
    ("Lyon compte un demi-million d'habitants.", "Lyon compte 300 000 habitants.", CONTRADICTS),
    ("Lyon compte un million et demi d'habitants.", "Lyon compte 1 500 000 habitants.", AGREES),
    ("The Acme study lasted two years.", "The Acme study lasted 18 months.", CONTRADICTS),
    ("The Acme study lasted a year and a half.", "The Acme study lasted 18 months.", AGREES),
    ("The Acme study lasted two years.", "The Acme study lasted 24 months.", AGREES),
    ("The Acme film lasts 1 hour 35.", "The Acme film lasts 95 minutes.", AGREES),
    ("Le film Acme dure 1 h 35.", "Le film Acme dure 95 minutes.", AGREES),
    ("Le film Acme dure 1 h 35.", "Le film Acme dure 115 minutes.", CONTRADICTS),
    ("The Acme film lasts 2 hours and 10 minutes.", "The Acme film lasts 130 minutes.", AGREES),
    # Where a change starts, where it ends, by how much.
    ("Sales of Acme fell to 12%.", "Sales of Acme fell from 12% to 8%.", CONTRADICTS),
    ("Sales of Acme fell from 12%.", "Sales of Acme fell from 12% to 8%.", AGREES),
    ("Les ventes d'Acme ont augmenté à 5 %.", "Les ventes d'Acme ont augmenté de 5 %.", OPEN),
    # Ordinals in words, other currencies, what is denied.
    ("Acme is the seventh company of France.", "Acme is the 9th company of France.", CONTRADICTS),
    ("Acme est la septième entreprise de France.", "Acme est la 7e entreprise de France.", AGREES),
    ("Acme a coûté 3 M$.", "Acme a coûté 3 M€.", CONTRADICTS),
    ("Acme a coûté 3,3 M$.", "Acme a coûté 3 M€.", OPEN),
    ("Acme opened in 2019.", "Acme opened not in 2019 but in 2021.", CONTRADICTS),
    ("Acme opened in 2021.", "Acme opened not in 2019 but in 2021.", AGREES),
    ("Acme n'a pas ouvert en 2019 mais en 2021.", "Acme a ouvert en 2021.", AGREES),
    ("Nantes compte 45 élus.", "Lyon compte 30 élus.", OPEN),
    ("En 2020, le budget était de 4 M€.", "En 2021, le budget était de 5 M€.", OPEN),
    ("En 2020, le budget était de 5 M€.", "En 2021, le budget était de 5 M€.", CONTRADICTS),
    ("Le prix n'est pas de 12 €.", "Le prix est de 15 €.", OPEN),
    ("Les clients sont satisfaits.", "12 clients sont satisfaits.", OPEN),
    ("Acme compte 45 salariés.", "", OPEN),
    ("Sales were 3,200 units.", "Sales were 3.2 thousand units.", AGREES),
    # Clauses part once between two figures: "Tom" and "Zack" are both of the second.
    ("Ann Wilk joined Rage in 1991.", "Wilk began with Greta in 1990, and joined Rage with Tom and Zack in 1991.", AGREES),
    # The context states the claim's figure as near: only a reader can tell.
    ("Moonlight's filming began in 2015.", "Filmed in Miami, Florida, beginning in 2015, Moonlight premiered at the Telluride Film Festival on September 2, 2016.", OPEN),
    # An ordinal ranks its noun.
    ("Funnybot is the second episode of the season.", "Funnybot aired on the first night of the season.", OPEN),
    ("Funnybot is the second episode of the season.", "Funnybot is the first episode of the season.", CONTRADICTS),
    # A number counts what the other counts, or something else.
    ("The town of Acme had 208,800 in 2016.", "The town of Acme is 20 mi east of Leeds.", OPEN),
    # A part is held against no whole.
    ("140 employees walked out at the Acme plant.", "Acme has 207 employees across its plants.", OPEN),
    ("140 salariés de l'usine Acme ont débrayé.", "L'usine Acme a licencié 207 salariés.", CONTRADICTS),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "context", "verdict"), CASES)
def test_comparison(claim: str, context: str, verdict: Agreement) -> None:
    result = compare_figures(claim, context)
    assert result.verdict is verdict, result.reason
    assert result.reason


def test_the_deciding_sentence_is_shown() -> None:
    result = compare_figures(
        "Acme compte 45 salariés.", "Acme vend des vélos. Acme compte 54 salariés. Elle recrute."
    )
    assert result.verdict is CONTRADICTS
    assert (result.claimed, result.found) == ("45", "54")
    assert result.passage == "Acme compte 54 salariés."


def test_a_run_of_digits_is_no_number_and_crashes_nothing() -> None:
    long = "9" * 320
    assert figures(f"{long} clients, le {long}e, {long}.{long} %") == ()
    assert compare_figures(f"Acme a {long} clients.", "Acme a 12 clients.").verdict is OPEN


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_two_texts_are_compared(claim: str, context: str) -> None:
    assert compare_figures(claim, context).verdict in set(Agreement)


@given(st.sampled_from(CASES))
def test_a_claim_never_contradicts_itself(case: tuple[str, str, Agreement]) -> None:
    assert compare_figures(case[0], case[0]).verdict is not CONTRADICTS


def test_a_context_without_end_of_sentence_is_read_in_linear_time() -> None:
    """Work, not seconds: eight times the context may not take sixty times as long."""

    def spent(count: int) -> float:
        context = ", ".join(f"in {1990 + i % 30} the sales were {i} clients" for i in range(count))
        began = time.process_time()
        compare_figures("The sales were 7 clients.", context)
        return time.process_time() - began

    spent(50)
    assert spent(1600) < 25 * max(spent(200), 0.002)
