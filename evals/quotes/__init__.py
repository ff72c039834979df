"""Quotes: where an answer quotes, and whether each quote is verbatim in what it cites."""

from evals.quotes.extract import Parsed, Quote, extract_quotes, parse_quotes
from evals.quotes.index import QuoteIndex
from evals.quotes.normalise import Normalised, canonical, normalise
from evals.quotes.verdict import Diagnosis, Verdict
from evals.quotes.verify import Match, Tier, find_passage

__all__ = [
    "Diagnosis",
    "Match",
    "Normalised",
    "Parsed",
    "Quote",
    "QuoteIndex",
    "Tier",
    "Verdict",
    "canonical",
    "extract_quotes",
    "find_passage",
    "normalise",
    "parse_quotes",
]
