"""Every way in which a server of models is known to go wrong, or to write things its own way.

One list, for the tests of the client, for those of other people's clients, and for the table that
``python -m benchmarks.faults`` prints.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.servers.openai_server import (
    Call,
    Drop,
    Empty,
    Fail,
    Hang,
    Raw,
    Refuse,
    Reply,
    Say,
    too_many,
)

ANSWER = "Les équipes disent que « tout est plus clair »."


@dataclass(frozen=True)
class Fault:
    """One kind of fault, or of shape, and what must come of it."""

    name: str
    reply: Reply | Callable[[Call], Reply]
    state: str
    """``OutputState`` of the answer."""
    error: str | None = None
    """``Completion.error``."""
    tries: int = 1
    """Calls that arrive, with ``retries = 1``."""
    api: str = "chat"
    text: str | None = None
    """What the answer's text must be, where there is one."""

    def script(self, call: Call) -> Reply:
        return self.reply if not callable(self.reply) else self.reply(call)


def chat(message: Any, finish: str | None = "stop", **fields: Any) -> Raw:
    """A reply of Chat Completions with this message."""
    choice = {"index": 0, "message": message, "finish_reason": finish}
    usage = {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15}
    return Raw(json.dumps({"choices": [choice], "usage": usage, "model": "m", **fields}))


def says(content: Any, **fields: Any) -> Raw:
    return chat({"role": "assistant", "content": content, **fields})


def item(text: str, **fields: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {"id": "i", "type": "message", "role": "assistant", "content": [part], **fields}


def response(*output: Any, **fields: Any) -> Raw:
    """A reply of the Responses API with these items."""
    usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
    whole = {"id": "r", "status": "completed", "output": list(output), "usage": usage}
    return Raw(json.dumps({**whole, **fields}))


def events(*data: Any) -> Raw:
    return Raw("".join(f"data: {json.dumps(each)}\n\n" for each in data))


def delta(finish: str | None = None, **fields: Any) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": fields, "finish_reason": finish}]}


def once(*replies: Reply, then: Reply | None = None) -> Callable[[Call], Reply]:
    """These replies in order, then ``then`` (default: the answer) for ever."""
    return lambda call: replies[call.index] if call.index < len(replies) else then or Say(ANSWER)


PAGE = "<html><head><title>502 Bad Gateway</title></head>" + "<p>nginx</p>" * 10_000 + "</html>"

HTTP: Sequence[Fault] = (
    Fault("500 once", once(Fail(500)), "ok", tries=2),
    Fault("500 always", Fail(500), "failed", "server", 2),
    Fault("503 with an HTML page of 110 kB", Fail(503, PAGE, raw=True), "failed", "server", 2),
    Fault("529 overloaded", Fail(529, "Overloaded"), "failed", "server", 2),
    Fault("408", Fail(408, "Timed out"), "failed", "server", 2),
    Fault("400, a parameter refused", Fail(400, "Unsupported value: 'x'."), "failed", "rejected"),
    Fault("404, no such model", Fail(404, "The model `m` does not exist."), "failed", "rejected"),
    Fault("413", Fail(413, "Payload too large"), "failed", "rejected"),
    Fault(
        "422 of FastAPI",
        Fail(422, '{"detail": [{"loc": ["body"]}]}', raw=True),
        "failed",
        "rejected",
    ),
    Fault("401", Fail(401, "Incorrect API key provided."), "failed", "auth"),
    Fault("403 with an empty body", Fail(403, "", raw=True), "failed", "auth"),
    Fault("429 once", once(too_many(0.05)), "ok", tries=2),
    Fault("429, quota spent", too_many(code="insufficient_quota"), "failed", "rate_limit"),
    Fault("429, Retry-After of an hour", too_many(3600), "failed", "rate_limit"),
    Fault(
        "429, Retry-After: inf",
        once(Fail(429, "Slow down.", headers={"retry-after": "inf"})),
        "ok",
        tries=2,
    ),
    Fault(
        "429, Retry-After: nan",
        once(Fail(429, "Slow down.", headers={"retry-after": "nan"})),
        "ok",
        tries=2,
    ),
    Fault("no answer in time", Hang(1.2), "failed", "timeout", 2),
    Fault("connection closed at once", Drop(), "failed", "connection", 2),
    Fault("connection closed half way", Drop(after=20), "failed", "connection", 2),
)

STOPS: Sequence[Fault] = (
    Fault("cut by its limit", Say("Les équi", finish="length"), "truncated"),
    Fault("reasoning ate the limit", Empty(finish="length"), "truncated"),
    Fault("no content", Empty(), "empty"),
    Fault("blank content", Say("  \n"), "empty"),
    Fault("withheld by a filter", Say("", finish="content_filter"), "refused"),
    Fault("filter with a detail", chat({"content": "x"}, "content_filter: SAFETY"), "refused"),
    Fault("a refusal in words", Refuse("Je ne peux pas."), "refused"),
    Fault("finish: model_length", chat({"content": "Les équi"}, "model_length"), "truncated"),
    Fault("finish: error", chat({"content": "Les équi"}, "error"), "failed", "server", 2),
    Fault("finish: abort", chat({"content": "Les équi"}, "abort"), "failed", "server", 2),
    Fault("finish: eos", chat({"content": ANSWER}, "eos"), "ok", text=ANSWER),
    Fault("Responses: cut", Say("Les équi", finish="length"), "truncated", api="responses"),
    Fault(
        "Responses: 'completed' at its limit",
        response(item("Les équi"), max_output_tokens=5),
        "truncated",
        api="responses",
    ),
    Fault(
        "Responses: item incomplete",
        response(item("Les équi", status="incomplete")),
        "truncated",
        api="responses",
    ),
    Fault(
        "Responses: failed",
        response(item("Les équi"), status="failed"),
        "failed",
        "server",
        2,
        "responses",
    ),
    Fault(
        "Responses: cancelled",
        response(item("Les équi"), status="cancelled"),
        "failed",
        "server",
        2,
        "responses",
    ),
    Fault(
        "Responses: invalid prompt",
        response(error={"code": "invalid_prompt", "message": "Not this."}),
        "failed",
        "rejected",
        1,
        "responses",
    ),
)

SHAPES: Sequence[Fault] = (
    Fault("not JSON", Raw("not json"), "failed", "malformed", 2),
    Fault("JSON null", Raw("null"), "failed", "malformed", 2),
    Fault("a list", Raw("[]"), "failed", "malformed", 2),
    Fault("no choices", Raw("{}"), "failed", "malformed", 2),
    Fault("empty choices", Raw('{"choices": []}'), "failed", "malformed", 2),
    Fault("choices null", Raw('{"choices": null}'), "failed", "malformed", 2),
    Fault("message null", chat(None), "empty"),
    Fault("content in parts", says([{"type": "text", "text": ANSWER}]), "ok", text=ANSWER),
    Fault(
        "content in thinking and text",
        says(
            [
                {"type": "thinking", "thinking": [{"type": "text", "text": "« Hm »"}]},
                {"type": "text", "text": ANSWER},
            ]
        ),
        "ok",
        text=ANSWER,
    ),
    Fault("half a surrogate pair", says("a\ud800"), "ok", text="a?"),
    Fault(
        "<think> before the answer", says(f"<think>« Hm »</think>\n\n{ANSWER}"), "ok", text=ANSWER
    ),
    Fault(
        "</think> without its beginning", says(f"« Hm »\n</think>\n\n{ANSWER}"), "ok", text=ANSWER
    ),
    Fault("<think> that never ends", says("<think>« Hm » and so on"), "empty"),
    Fault("[THINK] of Mistral", says(f"[THINK]« Hm »[/THINK]{ANSWER}"), "ok", text=ANSWER),
    Fault(
        "channels of gpt-oss",
        says(
            "<|channel|>analysis<|message|>« Hm »<|end|><|start|>assistant<|channel|>final"
            f"<|message|>{ANSWER}"
        ),
        "ok",
        text=ANSWER,
    ),
    Fault("reasoning_content beside", says(ANSWER, reasoning_content="« Hm »"), "ok", text=ANSWER),
    Fault("usage null", chat({"content": ANSWER}, usage=None), "ok", text=ANSWER),
    Fault(
        "usage of nulls",
        chat({"content": ANSWER}, usage={"prompt_tokens": None}),
        "ok",
        text=ANSWER,
    ),
    Fault("tool_calls null", says(ANSWER, tool_calls=None), "ok", text=ANSWER),
    Fault(
        "200 with an error",
        Raw('{"error": {"message": "Broken.", "code": 500}}'),
        "failed",
        "server",
        2,
    ),
    Fault(
        "200 with a 429 in it once",
        once(Raw('{"error": {"message": "Slow down.", "code": 429}}')),
        "ok",
        tries=2,
    ),
    Fault("200 with an error in words", Raw('{"error": "Broken."}'), "failed", "server", 2),
    Fault("a byte order mark", Raw("\ufeff" + says(ANSWER).body), "ok", text=ANSWER),
    Fault("Responses: no output", Raw("{}"), "failed", "malformed", 2, "responses"),
    Fault(
        "Responses: content null",
        response({"type": "message", "role": "assistant", "content": None}),
        "empty",
        api="responses",
    ),
    Fault(
        "Responses: thoughts in the text",
        response(item(f"<think>« Hm »</think>{ANSWER}")),
        "ok",
        api="responses",
        text=ANSWER,
    ),
    Fault(
        "a stream nobody asked for", events(delta(content=ANSWER), delta("stop")), "ok", text=ANSWER
    ),
    Fault(
        "stream: delta and choices null",
        events(
            {"choices": None}, {"choices": [{"delta": None}]}, delta(content=ANSWER), delta("stop")
        ),
        "ok",
        text=ANSWER,
    ),
    Fault("stream that breaks off", events(delta(content="Les")), "failed", "malformed", 2),
    Fault(
        "stream with an error",
        events(delta(content="Les"), {"error": {"message": "Overloaded.", "code": 503}}),
        "failed",
        "server",
        2,
    ),
    Fault(
        "Responses: stream that breaks off",
        events({"type": "response.created"}),
        "failed",
        "malformed",
        2,
        "responses",
    ),
    Fault(
        "Responses: stream with an error",
        events({"type": "error", "code": "server_error", "message": "Overloaded."}),
        "failed",
        "server",
        2,
        "responses",
    ),
)


def every() -> list[Fault]:
    """All of them."""
    return [*HTTP, *STOPS, *SHAPES]


TOOL_CALLS: Sequence[tuple[str, dict[str, Any]]] = (
    ("arguments null", {"id": "a", "function": {"name": "count_theme", "arguments": None}}),
    ("arguments an object", {"id": "a", "function": {"name": "count_theme", "arguments": {}}}),
    ("arguments absent", {"id": "a", "function": {"name": "count_theme"}}),
    ("arguments blank", {"id": "a", "function": {"name": "count_theme", "arguments": " "}}),
    ("arguments 'null'", {"id": "a", "function": {"name": "count_theme", "arguments": "null"}}),
    ("id absent", {"type": "function", "function": {"name": "count_theme", "arguments": "{}"}}),
    (
        "id null, type null",
        {"id": None, "type": None, "function": {"name": "count_theme", "arguments": "{}"}},
    ),
)
"""Tool calls without arguments, as other servers write them."""
