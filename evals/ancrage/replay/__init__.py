"""Replay: the real conversation, its world frozen, with today's prompt and production's parameters.

``ToolCallingAgent`` and ``FunctionAssistant`` make an assistant; ``Replay`` produces its outputs.
"""

from ancrage.replay.agent import ToolCallingAgent
from ancrage.replay.assistant import Assistant, Conversation, Reply
from ancrage.replay.cases import regenerate
from ancrage.replay.frozen import FrozenTools, ToolFailed, UnrecordedCall
from ancrage.replay.function import FunctionAssistant
from ancrage.replay.load import load_assistant
from ancrage.replay.mock import Mock, read_mock
from ancrage.replay.plan import Plan, Settings, make_plan
from ancrage.replay.producer import Replay

__all__ = [
    "Assistant",
    "Conversation",
    "FrozenTools",
    "FunctionAssistant",
    "Mock",
    "Plan",
    "Replay",
    "Reply",
    "Settings",
    "ToolCallingAgent",
    "ToolFailed",
    "UnrecordedCall",
    "load_assistant",
    "make_plan",
    "read_mock",
    "regenerate",
]
