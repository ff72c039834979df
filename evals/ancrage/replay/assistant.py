"""The assistant under test: the one protocol through which it plugs in."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from inspect import iscoroutinefunction
from typing import Any, Protocol, runtime_checkable

from ancrage.config import Config
from ancrage.domain import Frozen, JsonValue, OutputState, Turn, Usage
from ancrage.errors import UsageError
from ancrage.llm import LLM, Tier, Tool
from ancrage.replay.frozen import FrozenTools

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
    """Over all calls of models that the answer took; None: those made through
    ``Conversation.llm``."""


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
    """The client to call it with, as ``LLM.conversation`` gives it: limits, budget, cache,
    retries and the repeat are its business."""
    tools: FrozenTools
    repeat: int = 0

    def messages(self) -> tuple[dict[str, JsonValue], ...]:
        """Production's order: system prompt, history, question.

        A tool's turn of the history is shown as the result of a call, since APIs take no other
        form; which call it was is not known any more.
        """
        messages: list[dict[str, JsonValue]] = []
        if self.system_prompt:
            messages.append({"role": "system", "content": self.system_prompt})
        for index, turn in enumerate(self.history):
            if turn.role == "tool":
                call_id = f"call_history_{index}"
                function: dict[str, JsonValue] = {"name": "earlier_tool", "arguments": "{}"}
                call: dict[str, JsonValue] = {
                    "id": call_id,
                    "type": "function",
                    "function": function,
                }
                messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
                messages.append({"role": "tool", "tool_call_id": call_id, "content": turn.content})
            else:
                messages.append({"role": turn.role, "content": turn.content})
        messages.append({"role": "user", "content": self.question})
        return tuple(messages)

    async def call_tool(self, name: str, arguments: Mapping[str, JsonValue] | str) -> JsonValue:
        """What production's tool answered to this call.

        Raises:
            OffWorld: no such call was recorded; the replay of this case ends there.
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


def load_assistant(config: Config) -> Assistant:
    """The assistant that the configuration names; the demonstration's by default.

    A plain ``async def`` is taken as a ``FunctionAssistant``.

    Raises:
        UsageError: it cannot be imported, or is not an assistant.
    """
    from ancrage.replay.function import FunctionAssistant

    options = config.table("assistant", AssistantOptions)
    found = _resolve(options.use, str(config.root))
    if iscoroutinefunction(found):
        found = FunctionAssistant(found)
    if not isinstance(found, Assistant):
        raise UsageError(
            f"[assistant] use = {options.use!r}: not an assistant; "
            "it needs name, tier, tools, system_prompt(context) and answer(conversation)"
        )
    if options.tier:
        found.tier = options.tier
    return found


def _resolve(use: str, root: str) -> Any:
    if ":" not in use:
        registered = entry_points(group=GROUP)
        if use not in registered.names:
            known = ", ".join(sorted(registered.names)) or "none installed"
            raise UsageError(
                f"[assistant] use = {use!r}: neither module:attribute nor an entry point "
                f"of {GROUP} ({known})"
            )
        try:
            return registered[use].load()
        except Exception as error:  # noqa: BLE001 - the module is the user's own code
            raise _not_found(use, error) from None
    module, _, attribute = use.partition(":")
    if root not in sys.path:
        sys.path.insert(0, root)
    try:
        found: Any = import_module(module)
        for part in attribute.split("."):
            found = getattr(found, part)
    except Exception as error:  # noqa: BLE001 - the module is the user's own code
        raise _not_found(use, error) from None
    return found


def _not_found(use: str, error: Exception) -> UsageError:
    return UsageError(f"[assistant] use = {use!r}: {type(error).__name__}: {error}")
