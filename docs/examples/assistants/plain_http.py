"""An assistant that speaks HTTP itself, in a plain function."""

import json
import os

from ancrage.llm import sync_http_client

http = sync_http_client(base_url=os.environ.get("OPENAI_BASE_URL", "https://api.openai.com/v1"))
COUNT = {
    "name": "count_theme",
    "description": "How many messages speak of a theme.",
    "parameters": {"type": "object", "properties": {"theme": {"type": "string"}}},
}


def answer(messages, call_tool):
    while True:
        reply = http.post(
            "/chat/completions",
            headers={"authorization": f"Bearer {os.environ['OPENAI_API_KEY']}"},
            json={
                "model": "gpt-5-mini",
                "messages": messages,
                "tools": [{"type": "function", "function": COUNT}],
            },
        )
        message = reply.raise_for_status().json()["choices"][0]["message"]
        if not message.get("tool_calls"):
            return message["content"]
        messages.append(message)
        for call in message["tool_calls"]:
            found = call_tool(call["function"]["name"], call["function"]["arguments"])
            content = json.dumps(found)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
