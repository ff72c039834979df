"""An assistant on the OpenAI SDK, Chat Completions with a tool."""

import json

from openai import AsyncOpenAI

from ancrage.llm import http_client

client = AsyncOpenAI(http_client=http_client())  # the one line

COUNT = {
    "name": "count_theme",
    "description": "How many messages speak of a theme.",
    "parameters": {"type": "object", "properties": {"theme": {"type": "string"}}},
}


async def answer(messages, call_tool):
    while True:
        reply = await client.chat.completions.create(
            model="gpt-5-mini",
            messages=messages,
            tools=[{"type": "function", "function": COUNT}],
        )
        message = reply.choices[0].message
        if not message.tool_calls:
            return message.content + "\n\nMade with care."
        messages.append(message.model_dump(exclude_none=True))
        for call in message.tool_calls:
            found = await call_tool(call.function.name, call.function.arguments)
            content = json.dumps(found)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": content})
