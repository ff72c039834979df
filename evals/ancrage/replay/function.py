"""Any function ``answer(question, history, …)`` as an assistant."""

import asyncio
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ancrage.domain import Answer, JsonValue, OutputState
from ancrage.errors import UsageError
from ancrage.llm import Tool
from ancrage.replay.assistant import Conversation, Reply
from ancrage.replay.history import messages_of

ARGUMENTS = (
    "question",
    "history",
    "system_prompt",
    "context",
    "model",
    "parameters",
    "messages",
    "call_tool",
    "conversation",
)


class FunctionAssistant:
    """Calls a function with those of these arguments that its signature names::

        question: str                      history: the earlier messages, as they were sent
        system_prompt: str                 context: what the case's prompt is rendered from
        model: str                         parameters: as they are to be sent
        messages: system prompt, history and question, as they are to be sent
        call_tool: (name, arguments) -> recorded output; awaited in an ``async def``
        conversation: all of it, ``conversation.llm`` included

    The function returns the answer's text, an ``Answer``, or a ``Reply``. An ``async def`` runs in
    the event loop, a plain ``def`` in a thread. Its calls of models count, with limits, budget,
    cache and retries, when its client is made with ``ancrage.llm.http_client()`` (or, in a plain
    ``def``, ``sync_http_client()``); those of other clients nobody sees.

    Args:
        prompt: renders the system prompt from a case's context; none: the function puts its own
            in front of ``messages``, and nothing is sent or compared for it.

    Raises:
        UsageError: the function needs an argument that is none of these.
    """

    def __init__(
        self,
        function: Callable[..., Any],
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
        self._takes_all = any(
            parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()
        )
        self._takes = set(parameters)
        unknown = [
            parameter.name
            for parameter in parameters.values()
            if parameter.default is parameter.empty
            and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
            and (parameter.name not in ARGUMENTS or parameter.kind is parameter.POSITIONAL_ONLY)
        ]
        if unknown:
            raise UsageError(
                f"{self.name} takes {unknown[0]!r}, which a replay does not have; "
                f"it has {', '.join(ARGUMENTS)}"
            )

    @property
    def puts_its_own_prompt(self) -> bool:
        """Whether the function's own code holds its prompt: none was given to render."""
        return self._prompt is None

    def system_prompt(self, context: Mapping[str, JsonValue]) -> str:
        return self._prompt(context) if self._prompt else ""

    async def answer(self, conversation: Conversation) -> Reply:
        in_loop = inspect.iscoroutinefunction(self._function)
        offered: dict[str, Any] = {
            "question": conversation.question,
            "history": messages_of(conversation.history, conversation.tier.api)[0],
            "system_prompt": conversation.system_prompt,
            "context": dict(conversation.context),
            "model": conversation.tier.model,
            "parameters": conversation.tier.stated(),
            "messages": list(conversation.messages()),
            "call_tool": conversation.call_tool if in_loop else conversation.tools.call,
            "conversation": conversation,
        }
        taken = {name: offered[name] for name in offered if self._takes_all or name in self._takes}
        answer = (
            await self._function(**taken)
            if in_loop
            else await asyncio.to_thread(self._function, **taken)
        )
        if inspect.isawaitable(answer):
            answer = await answer
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
