"""Calling language models: tiers, limiter, budget, cache, prices, structured output.

``LLM`` is the one entry; ``Request`` goes in, ``Completion`` or ``Structured`` comes out.
``Models`` opens one where it is needed, for judges and scorers.
"""

from evals.llm.budget import Budget
from evals.llm.cache import Cache
from evals.llm.client import LLM
from evals.llm.models import CACHE, Models
from evals.llm.prices import Price, Prices, read_prices
from evals.llm.request import Completion, FunctionCall, JsonSchema, Request, Tool, add_usage
from evals.llm.structured import Structured, parse_json
from evals.llm.tiers import (
    Parameters,
    Tier,
    find_tier,
    read_tiers,
    recorded_parameters,
)

__all__ = [
    "CACHE",
    "LLM",
    "Budget",
    "Cache",
    "Completion",
    "FunctionCall",
    "JsonSchema",
    "Models",
    "Parameters",
    "Price",
    "Prices",
    "Request",
    "Structured",
    "Tier",
    "Tool",
    "add_usage",
    "find_tier",
    "parse_json",
    "read_prices",
    "read_tiers",
    "recorded_parameters",
]
