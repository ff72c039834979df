"""An OpenAI-compatible server on loopback, for tests and benchmarks.

Both APIs (Chat Completions and Responses), tool calls, streaming, structured output, and every
way to go wrong. What it answers is decided by one function::

    def script(call: Call) -> Reply:
        return Say("Bonjour.") if call.api == "chat" else Refuse("No.")

    with OpenAIServer(script) as server:
        tier = Tier(model="m", endpoint=server.url)
        …
        assert len(server.calls) == 1

A list of replies is served in order instead. ``strict`` names the models that refuse parameters
as new reasoning models do. Replies have the shape of recorded ones.
"""

import argparse
import itertools
import json
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import TracebackType
from typing import Any, Self


@dataclass(frozen=True)
class Call:
    """One request as it arrived."""

    api: str
    """``chat`` or ``responses``."""
    body: dict[str, Any]
    headers: Mapping[str, str]
    index: int
    """0 for the first call that this server got."""
    time: float
    """Monotonic, at arrival."""

    @property
    def messages(self) -> list[dict[str, Any]]:
        """The messages or input items, system prompt or instructions included."""
        if self.api == "chat":
            return list(self.body["messages"])
        items = self.body["input"]
        items = [{"role": "user", "content": items}] if isinstance(items, str) else list(items)
        if "instructions" in self.body:
            items.insert(0, {"role": "system", "content": self.body["instructions"]})
        return items

    @property
    def text(self) -> str:
        """All that was said, in one string."""
        return "\n".join(str(message.get("content") or "") for message in self.messages)

    @property
    def schema(self) -> dict[str, Any] | None:
        """The JSON schema that the reply must fit, when one is asked for."""
        if self.api == "chat":
            wanted = self.body.get("response_format") or {}
            schema = (wanted.get("json_schema") or {}).get("schema")
        else:
            schema = (self.body.get("text") or {}).get("format", {}).get("schema")
        return dict(schema) if schema else None

    @property
    def tool_results(self) -> list[str]:
        """The outputs of tools that were sent back, in order."""
        return [
            message["content"] if message.get("role") == "tool" else message["output"]
            for message in self.messages
            if message.get("role") == "tool" or message.get("type") == "function_call_output"
        ]


@dataclass(frozen=True)
class Say:
    """A plain answer; ``finish`` other than ``stop`` ends it early (``length``, …)."""

    text: str
    finish: str = "stop"
    reasoning_tokens: int = 0
    usage: bool = True


@dataclass(frozen=True)
class UseTools:
    """Calls of tools: ``(name, arguments)``; arguments may be broken JSON text."""

    calls: Sequence[tuple[str, dict[str, Any] | str]]
    text: str = ""


@dataclass(frozen=True)
class Refuse:
    """A refusal in the model's words."""

    text: str


@dataclass(frozen=True)
class Empty:
    """No content, as when reasoning ate the output budget (``length``) or for no reason."""

    finish: str = "stop"
    reasoning_tokens: int = 64


@dataclass(frozen=True)
class Fail:
    """An HTTP error."""

    status: int
    message: str = "The server had an error while processing your request."
    code: str | None = None
    param: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    raw: bool = False
    """``message`` is the whole body, not the words in an error of OpenAI's form."""


@dataclass(frozen=True)
class Hang:
    """No answer for so many seconds; then the connection closes."""

    seconds: float


@dataclass(frozen=True)
class Drop:
    """The connection closes: at once, or with ``after`` bytes of an answer sent."""

    after: int = 0


@dataclass(frozen=True)
class Raw:
    """A body that is sent as it is, with status 200."""

    body: str


Reply = Say | UseTools | Refuse | Empty | Fail | Hang | Drop | Raw
Script = Callable[[Call], Reply]


def too_many(retry_after: float = 0.0, code: str | None = "rate_limit_exceeded") -> Fail:
    """A 429 that asks to come back later."""
    return Fail(
        429, "Rate limit reached for requests.", code, headers={"retry-after": f"{retry_after:g}"}
    )


class OpenAIServer:
    """The server; ``url`` is the base URL for a client, ``calls`` the log of what arrived."""

    def __init__(
        self,
        script: Script | Sequence[Reply],
        *,
        latency: float = 0.0,
        strict: Collection[str] = (),
        json_schema: bool = True,
        key: str | None = None,
        port: int = 0,
        log: Path | None = None,
    ) -> None:
        """
        Args:
            latency: seconds from a request's arrival to its answer.
            strict: models that refuse ``minimal`` effort, temperature, top_p, max_tokens, nulls.
            json_schema: False refuses structured output as older endpoints do.
            key: the only API key let in; None lets everyone in.
            log: a file that gets one JSON line a call, so that other processes can count.
        """
        self._script = script if callable(script) else _in_order(script)
        self.latency = latency
        self.strict = frozenset(strict)
        self.json_schema = json_schema
        self.key = key
        self.calls: list[Call] = []
        self.most_at_once = 0
        self._at_once = 0
        self._log = log
        self._lock = threading.Lock()
        self._http = _Http(("127.0.0.1", port), _handler(self))
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        tb: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def serve(
        self, api: str, body: dict[str, Any], headers: Mapping[str, str], arrived: float
    ) -> Reply:
        """What to answer to one request; logs it."""
        with self._lock:
            call = Call(api, body, headers, len(self.calls), arrived)
            self.calls.append(call)
            self._at_once += 1
            self.most_at_once = max(self.most_at_once, self._at_once)
            if self._log:
                with self._log.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"api": api, "body": body}) + "\n")
        try:
            if self.key and headers.get("authorization") != f"Bearer {self.key}":
                sent = headers.get("authorization", "").removeprefix("Bearer ")
                return Fail(401, f"Incorrect API key provided: {sent}.", "invalid_api_key")
            if refusal := self._refused_parameter(call):
                return refusal
            reply = self._script(call)
            time.sleep(max(0.0, arrived + self.latency - time.monotonic()))
            return reply
        finally:
            with self._lock:
                self._at_once -= 1

    def _refused_parameter(self, call: Call) -> Fail | None:
        body = call.body
        nulls = [name for name, value in body.items() if value is None]
        if nulls:
            return _bad(
                f"Invalid type for '{nulls[0]}': expected a value, but got null instead.", nulls[0]
            )
        foreign = {
            "chat": ("reasoning", "max_output_tokens", "instructions", "input", "text"),
            "responses": (
                "reasoning_effort",
                "max_tokens",
                "max_completion_tokens",
                "messages",
                "response_format",
                "seed",
                "stop",
                "verbosity",
            ),
        }
        for name in foreign[call.api]:
            if name in body:
                return _bad(f"Unknown parameter: '{name}'.", name, "unknown_parameter")
        if not self.json_schema and (call.schema is not None):
            name = "response_format" if call.api == "chat" else "text.format"
            return _bad(
                f"Invalid parameter: '{name}' of type 'json_schema' is not supported "
                "with this model.",
                name,
            )
        if body.get("model") not in self.strict:
            return None
        effort = body.get("reasoning_effort") or (body.get("reasoning") or {}).get("effort")
        name = "reasoning_effort" if call.api == "chat" else "reasoning.effort"
        if effort is not None and effort not in ("none", "low", "medium", "high"):
            return _bad(
                f"Unsupported value: '{name}' does not support '{effort}' with this model. "
                "Supported values are: 'none', 'low', 'medium', and 'high'.",
                name,
                "unsupported_value",
            )
        if body.get("temperature", 1) != 1:
            return _bad(
                f"Unsupported value: 'temperature' does not support {body['temperature']} "
                "with this model. Only the default (1) value is supported.",
                "temperature",
                "unsupported_value",
            )
        for name in ("top_p", "max_tokens", "presence_penalty", "frequency_penalty", "stop"):
            if name in body:
                return _bad(
                    f"Unsupported parameter: '{name}' is not supported with this model.",
                    name,
                    "unsupported_parameter",
                )
        return None


def _bad(message: str, param: str, code: str | None = None) -> Fail:
    return Fail(400, message, code, param)


def _in_order(replies: Sequence[Reply]) -> Script:
    waiting: Iterator[Reply] = iter(replies)

    def script(call: Call) -> Reply:
        return next(waiting, Fail(500, f"the script has no reply for call {call.index}"))

    return script


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is no error here."""


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True
        wbufsize = -1

        def do_POST(self) -> None:
            arrived = time.monotonic()
            api = {"/v1/chat/completions": "chat", "/v1/responses": "responses"}.get(self.path)
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            if api is None:
                self._json(404, {"error": {"message": f"Unknown request URL: {self.path}."}})
                return
            body = json.loads(raw)
            headers = {name.lower(): value for name, value in self.headers.items()}
            reply = server.serve(api, body, headers, arrived)
            match reply:
                case Fail(raw=True):
                    data = reply.message.encode()
                    self._send(reply.status, data, "text/html", reply.headers)
                case Fail():
                    error = {
                        "message": reply.message,
                        "type": "invalid_request_error",
                        "param": reply.param,
                        "code": reply.code,
                    }
                    self._json(reply.status, {"error": error}, reply.headers)
                case Hang():
                    time.sleep(reply.seconds)
                    self.close_connection = True
                case Drop():
                    self.send_response(200)
                    self.send_header("content-type", "application/json")
                    self.send_header("content-length", str(reply.after + 100))
                    self.end_headers()
                    self.wfile.write(b"{" + b" " * (reply.after - 1) if reply.after else b"")
                    self.close_connection = True
                case Raw():
                    self._send(200, reply.body.encode("utf-8", "surrogatepass"), "application/json")
                case _ if body.get("stream"):
                    events = _chat_events if api == "chat" else _responses_events
                    data = b"".join(events(body, reply))
                    self._send(200, data, "text/event-stream")
                case _:
                    shape = _chat if api == "chat" else _response
                    self._json(200, shape(body, reply))

        def _json(
            self, status: int, body: dict[str, Any], headers: Mapping[str, str] | None = None
        ) -> None:
            self._send(status, json.dumps(body).encode(), "application/json", headers)

        def _send(
            self, status: int, data: bytes, kind: str, headers: Mapping[str, str] | None = None
        ) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet."""

    return Handler


_ids = itertools.count(1)


def _arguments(value: dict[str, Any] | str) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _tokens(value: Any) -> int:
    return len(json.dumps(value)) // 4 + 1


def _parts(reply: Reply) -> tuple[str | None, str | None, list[dict[str, Any]], str, int]:
    """Content, refusal, tool calls, finish reason and reasoning tokens of a reply."""
    match reply:
        case Say():
            return reply.text, None, [], reply.finish, reply.reasoning_tokens
        case Refuse():
            return None, reply.text, [], "stop", 0
        case Empty():
            return None, None, [], reply.finish, reply.reasoning_tokens
        case UseTools():
            calls = [
                {
                    "id": f"call_{next(_ids)}",
                    "type": "function",
                    "function": {"name": name, "arguments": _arguments(arguments)},
                }
                for name, arguments in reply.calls
            ]
            return reply.text or None, None, calls, "tool_calls", 0
        case _:
            raise TypeError(f"no answer in {reply!r}")


def _chat_usage(body: dict[str, Any], reply: Reply, reasoning: int) -> dict[str, Any] | None:
    if isinstance(reply, Say) and not reply.usage:
        return None
    prompt, completion = _tokens(body["messages"]), _tokens(repr(reply)) + reasoning
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": 0},
        "completion_tokens_details": {
            "accepted_prediction_tokens": 0,
            "audio_tokens": 0,
            "reasoning_tokens": reasoning,
            "rejected_prediction_tokens": 0,
        },
    }


def _chat(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    content, refusal, calls, finish, reasoning = _parts(reply)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": content,
        "refusal": refusal,
        "annotations": [],
    }
    if calls:
        message["tool_calls"] = calls
    answer = {
        "id": f"chatcmpl-{next(_ids)}",
        "object": "chat.completion",
        "created": 1742842885,
        "model": f"{body['model']}-2025-08-07",
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "service_tier": "default",
        "system_fingerprint": "fp_b8bc95a0ac",
    }
    usage = _chat_usage(body, reply, reasoning)
    return answer | ({"usage": usage} if usage else {})


def _chat_events(body: dict[str, Any], reply: Reply) -> Iterator[bytes]:
    content, refusal, calls, finish, reasoning = _parts(reply)
    base = {
        "id": f"chatcmpl-{next(_ids)}",
        "object": "chat.completion.chunk",
        "created": 1742842885,
        "model": f"{body['model']}-2025-08-07",
        "service_tier": "default",
    }

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event({**base, "choices": [choice], "usage": None})

    yield chunk({"role": "assistant", "content": "" if content else None, "refusal": None})
    for piece in _pieces(content):
        yield chunk({"content": piece})
    for piece in _pieces(refusal):
        yield chunk({"refusal": piece})
    for index, call in enumerate(calls):
        function = {"name": call["function"]["name"], "arguments": ""}
        yield chunk({"tool_calls": [{**call, "index": index, "function": function}]})
        for piece in _pieces(call["function"]["arguments"]):
            yield chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield chunk({}, finish)
    if (body.get("stream_options") or {}).get("include_usage"):
        yield _event({**base, "choices": [], "usage": _chat_usage(body, reply, reasoning)})
    yield b"data: [DONE]\n\n"


def _response(body: dict[str, Any], reply: Reply) -> dict[str, Any]:
    content, refusal, calls, finish, reasoning = _parts(reply)
    output: list[dict[str, Any]] = []
    if reasoning or (body.get("reasoning") or {}).get("effort"):
        output.append({"id": f"rs_{next(_ids)}", "type": "reasoning", "summary": []})
    part: dict[str, Any] | None = None
    if refusal is not None:
        part = {"type": "refusal", "refusal": refusal}
    elif content is not None:
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": content}
    cut = {"length": "max_output_tokens", "content_filter": "content_filter"}.get(finish)
    status = "incomplete" if cut else "completed"
    if part:
        output.append(
            {
                "id": f"msg_{next(_ids)}",
                "type": "message",
                "status": status,
                "content": [part],
                "role": "assistant",
            }
        )
    output += [
        {
            "id": f"fc_{next(_ids)}",
            "type": "function_call",
            "status": "completed",
            "arguments": call["function"]["arguments"],
            "call_id": call["id"],
            "name": call["function"]["name"],
        }
        for call in calls
    ]
    prompt, completion = _tokens(body["input"]), _tokens(repr(reply)) + reasoning
    usage = {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": reasoning},
        "total_tokens": prompt + completion,
    }
    return {
        "id": f"resp_{next(_ids)}",
        "object": "response",
        "created_at": 1755603578,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": {"reason": cut} if cut else None,
        "instructions": body.get("instructions"),
        "max_output_tokens": body.get("max_output_tokens"),
        "model": f"{body['model']}-2025-08-07",
        "output": output,
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "reasoning": {"effort": (body.get("reasoning") or {}).get("effort"), "summary": None},
        "service_tier": "default",
        "store": body.get("store", True),
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": body.get("tools", []),
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None if isinstance(reply, Say) and not reply.usage else usage,
        "user": None,
        "metadata": {},
    }


def _responses_events(body: dict[str, Any], reply: Reply) -> Iterator[bytes]:
    response = _response(body, reply)
    numbers = itertools.count()

    def event(kind: str, **fields: Any) -> bytes:
        data = {"type": kind, "sequence_number": next(numbers), **fields}
        return f"event: {kind}\n".encode() + _event(data)

    yield event("response.created", response={**response, "status": "in_progress", "output": []})
    for index, item in enumerate(response["output"]):
        yield event("response.output_item.added", output_index=index, item=item)
        if item["type"] == "message" and item["content"][0]["type"] == "output_text":
            for piece in _pieces(item["content"][0]["text"]):
                yield event(
                    "response.output_text.delta",
                    item_id=item["id"],
                    output_index=index,
                    content_index=0,
                    delta=piece,
                    logprobs=[],
                )
        yield event("response.output_item.done", output_index=index, item=item)
    yield event(f"response.{response['status']}", response=response)


def _event(data: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(data)}\n\n".encode()


def _pieces(text: str | None, size: int = 7) -> Iterator[str]:
    text = text or ""
    return (text[at : at + size] for at in range(0, len(text), size))


def main() -> None:
    """Serve one text as a process of its own: prints the URL, ends when standard input does."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--latency", type=float, default=0.0)
    parser.add_argument("--text", default="Les équipes le disent : « tout est plus clair ».")
    parser.add_argument("--log", type=Path, default=None)
    options = parser.parse_args()

    with OpenAIServer(lambda _: Say(options.text), latency=options.latency, log=options.log) as it:
        sys.stdout.write(f"{it.url}\n")
        sys.stdout.flush()
        sys.stdin.read()


if __name__ == "__main__":
    main()
