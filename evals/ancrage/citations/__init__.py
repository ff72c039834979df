"""References to questions and quotes with their ids, as answers write them."""

from ancrage.citations.grammar import CitationsConfig, Grammar, compile_grammar, load_grammar
from ancrage.citations.model import (
    Citation,
    Citations,
    Pair,
    QuotedPassage,
    Token,
    UnreadableAnswer,
)
from ancrage.citations.parse import parse

__all__ = [
    "Citation",
    "Citations",
    "CitationsConfig",
    "Grammar",
    "Pair",
    "QuotedPassage",
    "Token",
    "UnreadableAnswer",
    "compile_grammar",
    "load_grammar",
    "parse",
]
