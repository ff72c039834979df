"""The turns before a question, as the API that is called takes them."""

from collections.abc import Iterable, Sequence
from typing import Any

from ancrage.domain import JsonValue, Turn
from ancrage.llm.replies import parts_of

Message = dict[str, JsonValue]


def messages_of(history: Sequence[Turn], api: str) -> tuple[list[Message], int]:
    """The turns as production sent them, and how many had to be put otherwise.

    Items of the Responses API go to Chat Completions as the messages that say the same, reasoning
    left out, which that API does not take. The result of a tool whose call was not recorded is
    shown as that of a call without arguments, since no API takes it alone.
    """
    messages: list[Message] = []
    put_otherwise = 0
    known: set[str] = set()
    for at, turn in enumerate(history):
        sent: Any = turn.sent
        if sent is None or "role" not in sent:
            found = _item(turn, sent, api)
        else:
            found = dict(sent)
            if api == "chat" and isinstance(found.get("content"), list):
                found["content"] = [_chat_part(part) for part in found["content"]]
        if found is None:
            continue
        calls = found.get("tool_calls") or ([found] if "call_id" in found else [])
        known |= {str(call.get("id") or call.get("call_id")) for call in calls}
        if found.get("role") == "tool" and str(found.get("tool_call_id")) not in known:
            call_id = f"call_history_{at}"
            put_otherwise += 1
            function = {"name": str(found.get("name") or "earlier_tool"), "arguments": "{}"}
            call: Any = {"id": call_id, "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            found |= {"tool_call_id": call_id}
            found.pop("name", None)
        messages.append(found)
    return list(_merged(messages)), put_otherwise


def _item(turn: Turn, sent: Any, api: str) -> Any:
    if sent is None:
        return {"role": turn.role, "content": turn.content}
    if api == "responses":
        return dict(sent)
    if sent.get("type") == "function_call":
        function = {"name": sent.get("name"), "arguments": sent.get("arguments") or "{}"}
        call = {"id": sent.get("call_id"), "type": "function", "function": function}
        return {"role": "assistant", "content": None, "tool_calls": [call]}
    if sent.get("type") == "function_call_output":
        content = parts_of(sent.get("output"))[0]
        return {"role": "tool", "tool_call_id": sent.get("call_id"), "content": content}
    return None


def _chat_part(part: Any) -> Any:
    kind = part.get("type") if isinstance(part, dict) else None
    if kind in ("input_text", "output_text"):
        return {"type": "text", "text": part.get("text", "")}
    if kind == "input_image":
        return {"type": "image_url", "image_url": {"url": part.get("image_url")}}
    return part


def _merged(messages: Iterable[Message]) -> Iterable[Message]:
    """Calls that were made at once, in one message, as Chat Completions want them."""
    last: Any = None
    for message in messages:
        more: Any = message.get("tool_calls")
        if more and last is not None and last.get("tool_calls") and not message.get("content"):
            last["tool_calls"] = [*last["tool_calls"], *more]
            continue
        if last is not None:
            yield last
        last = dict(message)
    if last is not None:
        yield last
