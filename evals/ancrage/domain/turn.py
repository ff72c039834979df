"""One earlier message of a conversation, as production sent it."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from ancrage.domain.base import Frozen, JsonValue

Role = Literal["system", "user", "assistant", "tool"]

_ROLES = {
    "human": "user",
    "ai": "assistant",
    "model": "assistant",
    "developer": "system",
    "function": "tool",
    "function_call": "assistant",
    "reasoning": "assistant",
    "function_call_output": "tool",
}
"""By role or type, in the words of several frameworks and of the Responses API's items."""


class Turn(Frozen):
    """One earlier message of the conversation."""

    role: Role
    content: str = ""
    """Its text; empty where it only calls tools."""
    sent: dict[str, JsonValue] | None = None
    """The message as it was sent, where that is more than role and text: tool calls, content in
    parts, or an input item of the Responses API."""

    @classmethod
    def of(cls, message: Mapping[str, Any]) -> "Turn":
        """The turn in a message of Chat Completions, an item of the Responses API, or a message as
        LangChain and OpenTelemetry's GenAI conventions write it.

        Raises:
            ValueError: its role is none of those known, its content has no text to read, or its
                parts or calls are no objects.
        """
        named = message.get("role") or message.get("type")
        role = _ROLES.get(str(named), named)
        if "sent" in message or set(message) <= {"role", "content"}:
            content = message.get("content")
            if content is None or isinstance(content, str):
                fields = {**message, "role": role, "content": content or ""}
                return cls.model_validate(fields)
        plain = _plain(dict(message), str(role))
        body = plain.get("content", plain.get("output"))
        return cls.model_validate({"role": role, "content": _text(body), "sent": plain})

    @property
    def calls(self) -> tuple[tuple[str, str], ...]:
        """The name and the arguments of each tool that it calls."""
        sent: Any = self.sent or {}
        made = [each.get("function") or {} for each in sent.get("tool_calls") or ()]
        made += [sent] if sent.get("type") == "function_call" else []
        return tuple((str(each.get("name")), str(each.get("arguments"))) for each in made)

    @property
    def shown(self) -> str:
        """Its text, with the calls it makes, for people and judges."""
        called = [f"{name}({arguments})" for name, arguments in self.calls]
        return "\n".join(filter(None, [self.content, *called]))


def _plain(message: dict[str, Any], role: str) -> dict[str, Any]:
    """A message in the form of one of OpenAI's two APIs."""
    if message.get("type") in ("function_call", "function_call_output", "reasoning"):
        return message
    if isinstance(message.get("parts"), list):
        message |= _from_parts(_objects(message.pop("parts"), "parts"))
    message["role"] = "developer" if message.get("role") == "developer" else role
    if message.get("type") in ("human", "ai", "system", "tool"):
        message = {key: message[key] for key in _KNOWN if message.get(key) not in (None, [], "")}
    if calls := message.get("tool_calls"):
        message["tool_calls"] = [_call(call) for call in _objects(calls, "tool_calls")]
    return message


_KNOWN = ("role", "content", "tool_calls", "tool_call_id", "name")


def _objects(values: Any, what: str) -> list[dict[str, Any]]:
    if isinstance(values, list) and all(isinstance(value, dict) for value in values):
        return values
    raise ValueError(f"{what} is not a list of objects")


def _from_parts(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Parts of OpenTelemetry's GenAI conventions."""
    found: dict[str, Any] = {"content": ""}
    for part in parts:
        kind = part.get("type")
        if kind == "tool_call":
            found.setdefault("tool_calls", []).append(part)
        elif kind == "tool_call_response":
            result = part.get("result", part.get("response"))
            text = result if isinstance(result, str) else json.dumps(result, ensure_ascii=False)
            found |= {"tool_call_id": part.get("id"), "content": text}
        else:
            found["content"] += str(part.get("content") or part.get("text") or "")
    return found


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    if "function" in call:
        return dict(call)
    arguments = call.get("arguments", call.get("args", {}))
    written = arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
    function = {"name": call.get("name"), "arguments": written}
    return {"id": call.get("id"), "type": "function", "function": function}


def _text(body: Any) -> str:
    """
    Raises:
        ValueError: it is neither text nor a list of parts.
    """
    if body is None or isinstance(body, str):
        return body or ""
    if not isinstance(body, list):
        raise ValueError(f"content is neither a text nor a list of parts: {type(body).__name__}")
    _objects([part for part in body if not isinstance(part, str)], "content")
    texts = [part if isinstance(part, str) else part.get("text") for part in body]
    return "".join(text for text in texts if isinstance(text, str))
