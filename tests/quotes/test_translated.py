"""A quote in another language than its message: precision and recall on written pairs.

Rows with an even number were looked at while the rules were tuned, the others only counted.
"""

import csv
import random
from itertools import permutations
from pathlib import Path

import pytest

from ancrage.quotes import QuoteIndex
from tests.quotes.generators import edits, messages, parallel

ROWS = parallel()
HALVES = {"tuned on": ROWS[::2], "held out": ROWS[1::2]}


def tier(quote: str, message: str, language: str | None) -> str:
    return QuoteIndex([("M1", message)], {"M1": language}).verify(quote, ["M1"]).tier


@pytest.mark.parametrize("half", HALVES)
@pytest.mark.parametrize("known", [True, False], ids=["language known", "language unknown"])
def test_recall_and_precision(half: str, known: bool) -> None:
    rows = HALVES[half]
    pairs = [(row[a], row[b], b) for row in rows for a, b in permutations(row, 2)]
    assert len(pairs) >= 200
    found = sum(tier(a, b, language if known else None) == "T5" for a, b, language in pairs)
    false = 0
    for i, row in enumerate(rows):
        for language, quote in row.items():
            for step in (1, 5, 9):
                message = rows[(i + step) % len(rows)][language]
                false += tier(quote, message, language if known else None) == "T5"
    assert found / len(pairs) >= 0.95
    assert found / (found + false) >= 0.98


def test_edits_in_the_same_language_are_not_translations() -> None:
    made = list(edits(messages(), 600, seed=11))
    same = [(quote, message) for kind, quote, message in made if kind not in CROSSING]
    assert sum(tier(quote, message, None) == "T5" for quote, message in same) == 0


CROSSING = {"stitched", "elided wrongly"}


def test_real_answers_in_one_language_are_not_translations(shared: Path) -> None:
    with (shared / "data/survey/messages.csv").open(encoding="utf-8") as file:
        texts = [row["text"] for row in csv.DictReader(file)]
    rng = random.Random(5)
    english = [text for text in texts if text.isascii() and 5 <= len(text.split()) <= 60]
    pairs = [rng.sample(english, 2) for _ in range(400)]
    assert sum(tier(quote, message, None) == "T5" for quote, message in pairs) <= 2


@pytest.mark.parametrize(
    ("quote", "message"),
    [
        ("ok merci", "thanks ok"),
        ("super", "great"),
        ("RAS, tout va bien", "All good, nothing to say"),
        ("le feedback du manager était really bad", "le feedback du manager is really bad"),
        ("the onboarding was great", "L'onboarding était cool. The onboarding was good, really."),
        ("Paul et Marie, 12 rue Foch", "Paul and Marie, 12 rue Foch"),
    ],
)
def test_short_and_mixed_texts_are_not_called_translations(quote: str, message: str) -> None:
    assert tier(quote, message, None) != "T5"


def test_metadata_tells_the_language_of_a_short_message() -> None:
    quote = "Everything was perfect for me"
    assert tier(quote, "Alles perfekt", None) != "T5"
    assert tier(quote, "Alles perfekt", "de") == "T5"
    assert tier(quote, "Alles perfekt", "de-CH") == "T5"


def test_a_message_in_the_quotes_language_overrides_wrong_metadata() -> None:
    message = "The delivery was late and nobody told me why it happened"
    assert tier("Nobody ever explains anything around here to us", message, "fr") != "T5"


def test_a_made_up_quote_much_longer_than_the_message_is_no_translation() -> None:
    quote = " ".join(["The delivery was late and nobody told me why it had happened."] * 4)
    assert tier(quote, "La livraison était en retard hier", "fr") == "T7"


def test_the_explanation_names_both_languages() -> None:
    verdict = QuoteIndex([("M7", ROWS[0]["fr"])]).verify(ROWS[0]["en"], ["M7"])
    assert verdict.diagnosis == "translated"
    assert "English" in verdict.explanation
    assert "M7 in French" in verdict.explanation
