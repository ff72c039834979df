"""Quotes: where an answer quotes, and whether each quote is verbatim in what it cites."""

from ancrage.quotes.extract import Parsed, Quote, extract_quotes, parse_quotes
from ancrage.quotes.index import QuoteIndex
from ancrage.quotes.normalise import Normalised, canonical, normalise
from ancrage.quotes.verdict import Diagnosis, QuoteVerdict
from ancrage.quotes.verify import Match, QuoteTier, find_passage

__all__ = [
    "Diagnosis",
    "Match",
    "Normalised",
    "Parsed",
    "Quote",
    "QuoteIndex",
    "QuoteTier",
    "QuoteVerdict",
    "canonical",
    "extract_quotes",
    "find_passage",
    "normalise",
    "parse_quotes",
]
