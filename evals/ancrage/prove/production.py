"""An endpoint that acts out what production did: each case's own tool calls, then its answer."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx2

from ancrage.domain import Case, ToolCall


@dataclass(frozen=True)
class Production:
    """Answers HTTP requests of either API, streamed or whole, as production's model would."""

    cases: dict[str, Case]
    """By question."""
    answer: str | None = None
    """What it says in the place of every recorded answer."""
    finish: str = "stop"
    model: str | None = None
    """The model that it says it is; None for the one that was asked."""
    refuses: frozenset[str] = frozenset()
    """Parameters that it does not take."""
    status: int = 200

    @classmethod
    def of(cls, cases: Iterable[Case], **how: Any) -> "Production":
        """Production as it was with these cases, but for ``how``."""
        return cls({case.input.question: case for case in cases}, **how)

    def __call__(self, request: httpx2.Request) -> httpx2.Response:
        body = json.loads(request.content)
        if self.status != 200:
            return _error(self.status, "the server is down")
        if refused := self.refuses & set(body):
            return _error(400, f"Unsupported parameter: {min(refused)!r}")
        chat = "messages" in body
        sent = body["messages" if chat else "input"]
        items = [{"role": "user", "content": sent}] if isinstance(sent, str) else sent
        last = max((at for at, m in enumerate(items) if m.get("role") == "user"), default=-1)
        asked = json.dumps(items[last].get("content"), ensure_ascii=False) if last >= 0 else ""
        case = next(
            (case for question, case in self.cases.items() if _written(question) in asked), None
        )
        given = any(
            m.get("role") == "tool" or m.get("type") == "function_call_output"
            for m in items[last + 1 :]
        )
        calls = case.input.tool_calls if case and body.get("tools") and not given else ()
        said = case.output.text if case and case.output else "ok"
        text = "" if calls else said if self.answer is None else self.answer
        finish = "tool_calls" if calls else self.finish
        reply = (_chat if chat else _response)(text, calls, finish)
        reply |= {"id": "r", "model": self.model or body.get("model")}
        return _sent(reply, chat) if body.get("stream") else httpx2.Response(200, json=reply)


def _written(question: str) -> str:
    return json.dumps(question, ensure_ascii=False)[1:-1]


def _error(status: int, words: str) -> httpx2.Response:
    return httpx2.Response(status, json={"error": {"message": words, "type": "error"}})


def _chat(text: str, calls: Sequence[ToolCall], finish: str) -> dict[str, Any]:
    tools = [
        {
            "id": f"call_{at}",
            "type": "function",
            "function": {"name": call.name, "arguments": json.dumps(call.arguments)},
        }
        for at, call in enumerate(calls)
    ]
    message = {"role": "assistant", "content": text, **({"tool_calls": tools} if tools else {})}
    usage = {"prompt_tokens": 9, "completion_tokens": 9, "total_tokens": 18}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return {"object": "chat.completion", "created": 0, "choices": [choice], "usage": usage}


def _response(text: str, calls: Sequence[ToolCall], finish: str) -> dict[str, Any]:
    output: list[dict[str, Any]] = [
        {
            "type": "function_call",
            "id": f"f{at}",
            "call_id": f"call_{at}",
            "name": call.name,
            "arguments": json.dumps(call.arguments),
        }
        for at, call in enumerate(calls)
    ]
    part = {"type": "output_text", "text": text, "annotations": []}
    output += [] if calls else [{"type": "message", "role": "assistant", "content": [part]}]
    cut = finish == "length"
    return {
        "object": "response",
        "created_at": 0,
        "status": "incomplete" if cut else "completed",
        "incomplete_details": {"reason": "max_output_tokens"} if cut else None,
        "output": output,
        "usage": {"input_tokens": 9, "output_tokens": 9, "total_tokens": 18},
    }


def _sent(reply: dict[str, Any], chat: bool) -> httpx2.Response:
    """The reply as the one event of a stream."""
    events: list[dict[str, Any]]
    if not chat:
        events = [{"type": "response.completed", "response": reply}]
    else:
        (choice,) = reply["choices"]
        delta = dict(choice["message"])
        tools = [{"index": at, **call} for at, call in enumerate(delta.pop("tool_calls", ()))]
        delta |= {"tool_calls": tools} if tools else {}
        chunk = {"index": 0, "delta": delta, "finish_reason": choice["finish_reason"]}
        events = [{**reply, "object": "chat.completion.chunk", "choices": [chunk]}]
    text = "".join(f"data: {json.dumps(event)}\n\n" for event in events)
    end = "data: [DONE]\n\n" if chat else ""
    return httpx2.Response(200, text=text + end, headers={"content-type": "text/event-stream"})
