"""Verbatim words whose cut or bracket says something else, and cuts that do not."""

import csv
from pathlib import Path

import pytest

from ancrage.quotes import QuoteIndex
from tests.quotes.reversals import Made, harmless, reversals


def kind(quote: str, message: str, around: str = "") -> str | None:
    """What the quote distorts; the quote must be one whose words are the message's."""
    index = QuoteIndex([("M", message)])
    verdict = index.verify(quote, ["M"])
    if verdict.passed:
        found = index.distorted(quote, verdict, around)
    else:
        loose = index.loosely(quote, ["M"], around)
        assert loose, verdict.explanation
        found = loose[1]
    if found is None:
        return None
    assert message[found.start : found.end]
    return found.kind


@pytest.mark.parametrize(
    ("message", "quote", "expected"),
    [
        ("I don't think that AI should decide for me.", "AI should decide for me", "negation"),
        ("We do not like waiting in line", "We do […] like waiting in line", "negation"),
        ("je ne suis pas content du tout", "je ne suis [vraiment] content du tout", "negation"),
        ("more people always trust this", "[less] people always trust this", "quantity"),
        ("more people always trust this", "more people [rarely] trust this", "quantity"),
        ("on habite à Lyon depuis dix ans", "on habite à [Paris] depuis dix ans", "name"),
        ("cela nous coûte quinze euros", "cela nous coûte [douze euros]", "quantity"),
        ("acceptable for all of us", "acceptable for all of us[, except me]", "condition"),
        ("Is it acceptable for all?", "Is it acceptable for all.", "question"),
        ("< 5 ans d'attente", "5 ans d'attente", "quantity"),
        ("on roule à 2 km/h ici", "on roule à 2 km", "quantity"),
        ("it costs US$5 a day", "$5 a day", "quantity"),
        ("Maybe the wifi is faster upstairs", "the wifi is faster upstairs", "hedge"),
        ("If fares drop I'd sell my scooter", "I'd sell my scooter", "condition"),
        ("Je viens le lundi, sauf en août.", "Je viens le lundi", "condition"),
        ("L'appli est bien mais lente", "L'appli est [mal] mais lente", "word"),
        ("reminded me of a good latte", "reminded me of a [bad] latte", "word"),
        ("On m'a répondu avant la fin", "On m'a répondu [après] la fin", "word"),
        ("We got great service here", "[terrible] service here", "word"),
        ("The staff like the new desk", "The staff [hate] the new desk", "word"),
        ("Moins cher que les autres pots", "[Plus] cher que les autres pots", "quantity"),
        ("Few of my friends trust it at all", "my friends trust it at all", "quantity"),
        ("Il a fallu moins de 3 jours pour ça", "3 jours pour ça", "quantity"),
    ],
)
def test_what_a_cut_or_a_bracket_changes(message: str, quote: str, expected: str) -> None:
    assert kind(quote, message) == expected


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("The app is slow, but I like it.", "I like it"),
        (
            "Je n'ai rien reçu, et le service client est injoignable.",
            "le service client est injoignable",
        ),
        ("Par contre les bornes tombent en panne", "les bornes tombent en panne"),
        ("The showers are freezing and only 2 of the 6 lockers close", "The showers are freezing"),
        (
            "He was rude to my mother all day long",
            "[The driver] was rude to my mother all day long",
        ),
        ("Why would I pay for that?", "Why would I pay for that"),
        (
            "I like it a lot. If it breaks I call. They come at once.",
            "I like it a lot. […] They come at once.",
        ),
    ],
)
def test_a_harmless_cut(message: str, quote: str) -> None:
    assert kind(quote, message) is None


@pytest.mark.parametrize(
    ("message", "quote"),
    [
        ("I think it is far too slow at home", "I think [the app] is far too slow"),
        ("The first decisions I'd delegate to AI", "The first decisions [she]'d delegate"),
        ("Le matin je prends le bus pour venir", "Le matin [il prenait] le bus pour venir"),
        ("on adore ce nouveau pot, il ferme bien", "on adore [cet emballage], il ferme bien"),
        ("I have worked with Marie since May", "I have worked with [a colleague] since May"),
        ("I have worked at tesco since last year", "I have worked at [company] since last year"),
        ("there was definately a smell in there", "there was [definitely] a smell in there"),
        ("El producto lo compré en la tienda ayer", "El producto [la crema] compré en la tienda"),
        ("the app is slow on my phone", "[T]he app is slow [sic] on my phone"),
    ],
)
def test_a_bracket_that_resolves_adapts_or_corrects(message: str, quote: str) -> None:
    assert kind(quote, message) is None


def test_the_sentence_can_give_back_what_the_cut_dropped() -> None:
    message = "I don't think that AI should decide for me."
    quote = "AI should decide for me"
    assert kind(quote, message, "Nobody here accepts that") is None
    assert kind(quote, message, "Soutien sans condition") == "negation"


def judged(made: list[Made]) -> tuple[int, list[str]]:
    """How many quotes are found distorted, and which."""
    found = []
    for one in made:
        index = QuoteIndex([("M", one.message)])
        verdict = index.verify(one.quote, ["M"])
        loose = None if verdict.passed else index.loosely(one.quote, ["M"])
        bad = index.distorted(one.quote, verdict) if verdict.passed else loose and loose[1]
        if bad:
            found.append(f"{one.kind}: {one.quote!r}: {bad.explanation}")
    return len(found), found


def test_planted_reversals_and_harmless_cuts_of_the_real_survey(shared: Path) -> None:
    with (shared / "data/survey/messages.csv").open(encoding="utf-8") as file:
        messages = [row["text"] for row in csv.DictReader(file) if len(row["text"].split()) >= 5]
    planted = reversals(messages, 60, seed=5)
    count, _ = judged(planted)
    assert len(planted) >= 400
    assert count >= 0.95 * len(planted)
    cuts = harmless(messages, 100, seed=6)
    alarms, shown = judged(cuts)
    assert len(cuts) >= 1_000
    assert alarms <= 0.01 * len(cuts), shown
