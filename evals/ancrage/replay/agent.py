"""An OpenAI tool-calling agent, over Chat Completions or Responses as its tier says."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ancrage.domain import JsonValue, OutputState
from ancrage.llm import Request, Tool
from ancrage.replay.assistant import Conversation, Reply
from ancrage.replay.frozen import ToolFailed


class ToolCallingAgent:
    """The usual loop: ask the model, answer its tool calls, until it answers in words.

    Args:
        prompt: renders the system prompt from a case's context, as production's code does.
        max_turns: calls of the model for one answer; more is a failure.
        render: how production writes a tool's output for the model (default: text as it is,
            anything else as JSON).
        render_error: how it writes a tool's failure.
    """

    def __init__(
        self,
        name: str,
        *,
        prompt: Callable[[Mapping[str, JsonValue]], str],
        tools: Sequence[Tool] = (),
        tier: str = "standard",
        max_turns: int = 10,
        render: Callable[[str, JsonValue], str] | None = None,
        render_error: Callable[[str, str], str] | None = None,
    ) -> None:
        self.name = name
        self.tier = tier
        self.tools = tuple(tools)
        self.max_turns = max_turns
        self._prompt = prompt
        self._render = render or _as_json
        self._render_error = render_error or _as_error

    def system_prompt(self, context: Mapping[str, JsonValue]) -> str:
        return self._prompt(context)

    async def answer(self, conversation: Conversation) -> Reply:
        messages: list[dict[str, JsonValue]] = list(conversation.messages())
        for _ in range(self.max_turns):
            completion = await conversation.llm.complete(
                Request(tier=conversation.tier, messages=tuple(messages), tools=self.tools)
            )
            if not completion.ok or not completion.tool_calls:
                return Reply(
                    state=completion.state,
                    text=completion.text,
                    reason=completion.reason,
                    finish_reason=completion.finish_reason,
                )
            messages.append(completion.message())
            for call in completion.tool_calls:
                try:
                    output = await conversation.call_tool(call.name, call.arguments)
                    content = self._render(call.name, output)
                except ToolFailed as failure:
                    content = self._render_error(call.name, str(failure))
                result: dict[str, Any] = {
                    "role": "tool",
                    "tool_call_id": call.id,
                    "content": content,
                }
                messages.append(result)
        return Reply(
            state=OutputState.FAILED,
            reason=f"still calling tools after {self.max_turns} turns",
        )


def _as_json(_: str, output: JsonValue) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False)


def _as_error(_: str, error: str) -> str:
    return json.dumps({"error": error}, ensure_ascii=False)
