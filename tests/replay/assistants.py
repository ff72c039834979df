"""Assistants that tests put under test, by dotted path."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from ancrage.domain import JsonValue
from ancrage.llm import Request, Tool
from ancrage.replay import Conversation, FunctionAssistant, ToolCallingAgent

COUNT = Tool(
    name="count_theme",
    description="How many messages speak of a theme.",
    parameters={
        "type": "object",
        "properties": {
            "theme": {"type": "string"},
            "question": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
        },
        "required": ["theme"],
    },
)


def prompt(context: Mapping[str, JsonValue]) -> str:
    return f"Réponds à propos de {context['study']}."


agent = ToolCallingAgent("agent", prompt=prompt, tools=[COUNT])


async def _ask(
    question: str, call_tool: Callable[..., Awaitable[Any]], conversation: Conversation
) -> str:
    number = question.split()[1]
    counted = await call_tool("count_theme", {"theme": f"t{number}"})
    completion = await conversation.llm.complete(
        Request(
            tier=conversation.tier,
            messages=(*conversation.messages(), {"role": "user", "content": f"{counted}"}),
        )
    )
    return completion.text


function = FunctionAssistant(_ask, prompt=prompt)


async def plain(question: str, history: list[dict[str, str]], **others: Any) -> str:
    """The simplest thing that can be an assistant; it calls no model."""
    return f"{question} {len(history)} {sorted(others)}"


not_an_assistant = 3
