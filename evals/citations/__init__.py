"""References to questions and quotes with their ids, as answers write them."""

from evals.citations.grammar import CitationsConfig, Grammar, compile_grammar, load_grammar
from evals.citations.model import Citation, Citations, Pair, QuotedPassage, Token
from evals.citations.parse import parse

__all__ = [
    "Citation",
    "Citations",
    "CitationsConfig",
    "Grammar",
    "Pair",
    "QuotedPassage",
    "Token",
    "compile_grammar",
    "load_grammar",
    "parse",
]
