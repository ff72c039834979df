"""An assistant on pydantic-ai."""

import json
from typing import Any

from pydantic_ai import Agent, RunContext
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider

from ancrage.llm import http_client

provider = OpenAIProvider(http_client=http_client())  # the one line
agent = Agent(OpenAIChatModel("gpt-5-mini", provider=provider), deps_type=Any)


@agent.tool
async def count_theme(context: RunContext[Any], theme: str) -> str:
    """How many messages speak of a theme."""
    return json.dumps(await context.deps("count_theme", {"theme": theme}))


async def answer(question, system_prompt, call_tool):
    found = await agent.run(question, instructions=system_prompt, deps=call_tool)
    return found.output
