"""The assistant under test: the one protocol through which it plugs in."""

import sys
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from inspect import isfunction
from typing import Protocol, runtime_checkable

from ancrage.config import Config
from ancrage.domain import Frozen, JsonValue, OutputState, Turn, Usage
from ancrage.errors import UsageError
from ancrage.llm import LLM, Tier, Tool
from ancrage.plugins import load_object
from ancrage.replay.frozen import FrozenTools
from ancrage.replay.history import messages_of

DEMO = "ancrage.replay.demo:assistant"
GROUP = "ancrage.assistants"


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


class AssistantOptions(Frozen):
    """The table ``[assistant]``."""

    use: str = DEMO
    """``package.module:attribute``, or the name of an entry point of the group
    ``ancrage.assistants``."""
    tier: str | None = None
    """Instead of the tier that the assistant names itself."""
    untouched: tuple[str, ...] = ()
    """Models that the assistant also calls, for other ends than the answer: their calls go out
    as the assistant's own client makes them."""


def load_assistant(config: Config) -> Assistant:
    """The assistant that the configuration names; the demonstration's by default.

    A plain function, blocking or not, is taken as a ``FunctionAssistant``.

    Raises:
        UsageError: it cannot be imported, or is not an assistant.
    """
    from ancrage.replay.function import FunctionAssistant

    options = config.table("assistant", AssistantOptions)
    if (root := str(config.root)) not in sys.path:
        sys.path.insert(0, root)
    found = load_object(options.use, setting="[assistant] use", group=GROUP)
    if isfunction(found):
        found = FunctionAssistant(found)
    if not isinstance(found, Assistant):
        raise UsageError(
            f"[assistant] use = {options.use!r}: not an assistant; "
            "it needs name, tier, tools, system_prompt(context) and answer(conversation)"
        )
    if options.tier and options.tier != found.tier:
        found = copy(found)
        try:
            object.__setattr__(found, "tier", options.tier)
        except (AttributeError, TypeError) as error:
            raise UsageError(f"[assistant] tier cannot be set on {options.use}: {error}") from None
    return found
