"""Replay: the real conversation, its world frozen, with today's prompt and production's parameters.

``ToolCallingAgent`` and ``FunctionAssistant`` make an assistant; ``Replay`` produces its outputs.
"""

from evals.replay.agent import ToolCallingAgent
from evals.replay.assistant import Assistant, Conversation, Reply, load_assistant
from evals.replay.cases import regenerate
from evals.replay.frozen import FrozenTools, OffWorld, ToolFailed
from evals.replay.function import FunctionAssistant
from evals.replay.mock import Mock, read_mock
from evals.replay.plan import Plan, Settings, make_plan
from evals.replay.producer import Replay

__all__ = [
    "Assistant",
    "Conversation",
    "FrozenTools",
    "FunctionAssistant",
    "Mock",
    "OffWorld",
    "Plan",
    "Replay",
    "Reply",
    "Settings",
    "ToolCallingAgent",
    "ToolFailed",
    "load_assistant",
    "make_plan",
    "read_mock",
    "regenerate",
]
