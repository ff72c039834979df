"""Any ``async def answer(question, history, …)`` as an assistant."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from ancrage.domain import Answer, JsonValue, OutputState
from ancrage.errors import UsageError
from ancrage.llm import Tool
from ancrage.replay.assistant import Conversation, Reply

ARGUMENTS = (
    "question",
    "history",
    "system_prompt",
    "context",
    "model",
    "parameters",
    "call_tool",
    "conversation",
)


class FunctionAssistant:
    """Calls a function with those of these arguments that its signature names::

        question: str                      history: list of {"role": …, "content": …}
        system_prompt: str                 context: what the case's prompt is rendered from
        model: str                         parameters: as they are to be sent
        call_tool: async (name, arguments) -> recorded output
        conversation: all of it, the client included

    The function returns the answer's text, an ``Answer``, or a ``Reply``. One that calls a model
    through a client of its own is outside budget, cache and limiter; ``conversation.llm`` is not.

    Args:
        prompt: renders the system prompt from a case's context; none: the empty prompt.

    Raises:
        UsageError: the function needs an argument that is none of these.
    """

    def __init__(
        self,
        function: Callable[..., Awaitable[Any]],
        *,
        name: str | None = None,
        prompt: Callable[[Mapping[str, JsonValue]], str] | None = None,
        tools: Sequence[Tool] = (),
        tier: str = "standard",
    ) -> None:
        self.name = name or str(getattr(function, "__name__", "assistant"))
        self.tier = tier
        self.tools = tuple(tools)
        self._function = function
        self._prompt = prompt
        parameters = inspect.signature(function).parameters
        self._takes_all = any(each.kind is each.VAR_KEYWORD for each in parameters.values())
        self._takes = set(parameters)
        unknown = [
            each.name
            for each in parameters.values()
            if each.default is each.empty
            and each.kind not in (each.VAR_KEYWORD, each.VAR_POSITIONAL)
            and (each.name not in ARGUMENTS or each.kind is each.POSITIONAL_ONLY)
        ]
        if unknown:
            raise UsageError(
                f"{self.name} takes {unknown[0]!r}, which a replay does not have; "
                f"it has {', '.join(ARGUMENTS)}"
            )

    def system_prompt(self, context: Mapping[str, JsonValue]) -> str:
        return self._prompt(context) if self._prompt else ""

    async def answer(self, conversation: Conversation) -> Reply:
        offered: dict[str, Any] = {
            "question": conversation.question,
            "history": [turn.model_dump() for turn in conversation.history],
            "system_prompt": conversation.system_prompt,
            "context": dict(conversation.context),
            "model": conversation.tier.model,
            "parameters": conversation.tier.stated(),
            "call_tool": conversation.call_tool,
            "conversation": conversation,
        }
        taken = {name: offered[name] for name in offered if self._takes_all or name in self._takes}
        answer = await self._function(**taken)
        if isinstance(answer, Reply):
            return answer
        if isinstance(answer, str):
            answer = Answer(text=answer)
        if not isinstance(answer, Answer):
            raise TypeError(f"{self.name} returned {type(answer).__name__}, not a text")
        if not answer.text.strip():
            return Reply(
                state=OutputState.EMPTY, reason="the answer has no content", usage=answer.usage
            )
        return Reply(
            state=OutputState.OK,
            text=answer.text,
            finish_reason=answer.finish_reason,
            usage=answer.usage,
        )
