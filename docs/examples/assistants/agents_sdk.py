"""An assistant on the OpenAI Agents SDK, over the Responses API."""

import json
from typing import Any

from agents import (
    Agent,
    RunContextWrapper,
    Runner,
    function_tool,
    set_default_openai_client,
    set_tracing_disabled,
)
from openai import AsyncOpenAI

from ancrage.llm import http_client

client = AsyncOpenAI(http_client=http_client())  # the one line
set_default_openai_client(client, use_for_tracing=False)
set_tracing_disabled(True)


@function_tool
async def count_theme(context: RunContextWrapper[Any], theme: str) -> str:
    """How many messages speak of a theme."""
    return json.dumps(await context.context("count_theme", {"theme": theme}))


agent = Agent(name="analyst", model="gpt-5-mini", tools=[count_theme])


async def answer(question, history, system_prompt, call_tool):
    found = await Runner.run(
        agent.clone(instructions=system_prompt),
        [*history, {"role": "user", "content": question}],
        context=call_tool,
    )
    return found.final_output
