"""The assistant under test: the one protocol through which it plugs in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from ancrage.domain import Frozen, JsonValue, OutputState, Turn, Usage
from ancrage.llm import LLM, Tier, Tool
from ancrage.replay.frozen import FrozenTools
from ancrage.replay.history import messages_of


class Reply(Frozen):
    """How the assistant's answer to one question ended."""

    state: OutputState
    text: str = ""
    reason: str | None = None
    """Set unless ``state`` is ``ok``."""
    finish_reason: str | None = None
    usage: Usage | None = None
    """Over all calls of models that the answer took; None: those that passed the replay."""


@dataclass(frozen=True)
class Conversation:
    """One question as production met it, with the world frozen around it."""

    system_prompt: str
    history: Sequence[Turn]
    question: str
    context: Mapping[str, JsonValue]
    tier: Tier
    """The model to call, where, and with which parameters."""
    llm: LLM
    """A client to call it with, for assistants that bring none of their own."""
    tools: FrozenTools
    repeat: int = 0

    def messages(self) -> tuple[dict[str, JsonValue], ...]:
        """Production's order: system prompt, history as it was sent, question."""
        opening: list[dict[str, JsonValue]] = []
        if self.system_prompt:
            opening.append({"role": "system", "content": self.system_prompt})
        earlier, _ = messages_of(self.history, self.tier.api)
        return (*opening, *earlier, {"role": "user", "content": self.question})

    async def call_tool(self, name: str, arguments: Mapping[str, JsonValue] | str) -> JsonValue:
        """What production's tool answered to this call.

        Raises:
            UnrecordedCall: no such call was recorded; the replay of this case ends there.
            ToolFailed: the tool failed in production; it fails alike.
        """
        return self.tools.call(name, arguments)


@runtime_checkable
class Assistant(Protocol):
    """What production puts in front of its users, as a replay needs to see it.

    ``ToolCallingAgent`` and ``FunctionAssistant`` cover the two common forms; anything with these
    five members will do.
    """

    name: str
    tier: str
    """The tier of the configuration that production uses; ``[tiers.NAME]``."""
    tools: tuple[Tool, ...]

    def system_prompt(self, context: Mapping[str, JsonValue]) -> str:
        """The system prompt that the code gives today; the empty string where there is none."""
        ...

    async def answer(self, conversation: Conversation) -> Reply:
        """Answer the question. What goes wrong is a state of the reply."""
        ...
