"""Calling language models: tiers, limiter, budget, cache, prices, structured output.

``LLM`` is the one entry; ``Request`` goes in, ``Completion`` or ``Structured`` comes out.
``Models`` opens one where it is needed, for judges and scorers.
"""

from ancrage.llm.budget import Budget
from ancrage.llm.cache import Cache
from ancrage.llm.client import LLM
from ancrage.llm.models import CACHE, Models
from ancrage.llm.prices import Price, Prices, read_prices
from ancrage.llm.request import Completion, FunctionCall, JsonSchema, Request, Tool, add_usage
from ancrage.llm.structured import Structured, parse_json
from ancrage.llm.tiers import (
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
