"""Calling language models: tiers, limiter, budget, cache, prices, structured output.

``LLM`` is the entry of code of ours: ``Request`` goes in, ``Completion`` or ``Structured`` comes
out. ``Models`` opens one where it is needed, for judges and scorers. ``http_client`` is the entry
of everybody else's: an HTTP client for the SDK of their choice. Both pass the ``Gateway``.
"""

from ancrage.llm.budget import Budget
from ancrage.llm.cache import Cache
from ancrage.llm.calls import Calls, recording
from ancrage.llm.client import LLM
from ancrage.llm.http import http_client, sync_http_client
from ancrage.llm.models import CACHE, Models
from ancrage.llm.prices import Price, Prices, read_prices
from ancrage.llm.recorded import recorded_parameters
from ancrage.llm.request import Completion, FunctionCall, JsonSchema, Request, Tool, add_usage
from ancrage.llm.structured import Structured, parse_json
from ancrage.llm.tiers import (
    Parameters,
    Tier,
    find_tier,
    read_tiers,
)

__all__ = [
    "CACHE",
    "LLM",
    "Budget",
    "Cache",
    "Calls",
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
    "http_client",
    "parse_json",
    "read_prices",
    "read_tiers",
    "recorded_parameters",
    "recording",
    "sync_http_client",
]
