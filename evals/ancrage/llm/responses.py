"""The Responses API: the body of a request and the reading of its reply."""

from collections.abc import Iterable
from typing import Any

from ancrage.domain import OutputState, Usage
from ancrage.llm.failures import BrokenReply
from ancrage.llm.replies import call_of, count, parts_of, split_thoughts
from ancrage.llm.request import Completion, Request, with_extra
from ancrage.llm.tiers import Tier

PATH = "/responses"
_ENDS = ("response.completed", "response.incomplete", "response.failed")
_CUT = "max_output_tokens"
_NESTED = {"reasoning_effort": ("reasoning", "effort"), "verbosity": ("text", "verbosity")}
"""Where this API takes what Chat Completions take at the top."""


def body(request: Request) -> dict[str, Any]:
    """The JSON body of ``POST /responses``; nothing that has no value is in it.

    Leading system messages become ``instructions``; the effort goes into ``reasoning``, since
    this API refuses ``reasoning_effort``.
    """
    tier = request.tier
    messages = list(request.messages)
    instructions = []
    while messages and messages[0].get("role") == "system":
        instructions.append(parts_of(messages.pop(0)["content"])[0])
    sent: dict[str, Any] = {
        "model": tier.model,
        "input": [item for message in messages for item in _items(message)],
    }
    if instructions:
        sent["instructions"] = "\n\n".join(instructions)
    if request.json_schema and tier.structured == "json_schema":
        form = {
            "type": "json_schema",
            "name": request.json_schema.name,
            "schema": request.json_schema.definition,
            "strict": True,
        }
        sent["text"] = {"format": form}
    elif request.json_schema and tier.structured == "json_object":
        sent["text"] = {"format": {"type": "json_object"}}
    if request.tools:
        sent["tools"] = [
            {"type": "function", "strict": False, **tool.model_dump()} for tool in request.tools
        ]
    return restate(sent, tier)


def restate(sent: dict[str, Any], tier: Tier) -> dict[str, Any]:
    """Anybody's body with the tier's model and parameters in place of its own."""
    stated: dict[str, Any] = {"model": tier.model}
    kept = dict(sent)
    for name in tier.drop:
        outer, inner = _NESTED.get(name, (name, None))
        if inner is None:
            kept.pop(outer, None)
        elif isinstance(kept.get(outer), dict):
            kept[outer] = {key: value for key, value in kept[outer].items() if key != inner}
    for name, value in tier.stated().items():
        outer, inner = _NESTED.get(name, (name, None))
        stated[outer] = value if inner is None else {**stated.get(outer, {}), inner: value}
    if tier.store is not None:
        stated["store"] = tier.store
        if not tier.store and ("reasoning" in stated or "reasoning" in kept):
            # Without storage, reasoning can be sent back only in its encrypted form.
            stated["include"] = ["reasoning.encrypted_content"]
    return with_extra(with_extra(kept, stated), tier.extra)


def output_limit(sent: dict[str, Any]) -> int | None:
    """The most tokens that the answer to this body may have."""
    return count(sent.get(_CUT))


def _items(message: dict[str, Any]) -> list[dict[str, Any]]:
    """One message of Chat Completions as input items; an input item as it is."""
    if "role" not in message:
        return [message]
    if message["role"] == "tool":
        return [
            {
                "type": "function_call_output",
                "call_id": message["tool_call_id"],
                "output": message["content"],
            }
        ]
    if message.get("items"):
        return list(message["items"])
    items: list[dict[str, Any]] = []
    content = message.get("content") or ""
    if content or not message.get("tool_calls"):
        if isinstance(content, list):
            content = [_part(part, message["role"]) for part in content]
        # The type could be left out for OpenAI; other servers of this API ask for it.
        items.append({"type": "message", "role": message["role"], "content": content})
    items += [
        {
            "type": "function_call",
            "call_id": call["id"],
            "name": call["function"]["name"],
            "arguments": call["function"]["arguments"],
        }
        for call in message.get("tool_calls") or ()
    ]
    return items


def _part(part: Any, role: str) -> Any:
    """A part of a message's content as this API writes it."""
    kind = part.get("type") if isinstance(part, dict) else None
    if kind == "text":
        own = "output_text" if role == "assistant" else "input_text"
        return {"type": own, "text": part.get("text", "")}
    if kind == "image_url":
        image = part.get("image_url") or {}
        return {"type": "input_image", "image_url": image.get("url"), "detail": "auto"}
    return part


def gather(events: Iterable[Any]) -> dict[str, Any]:
    """The reply of a stream: its closing event carries it whole.

    Raises:
        BrokenReply: the stream ends before the answer does.
    """
    final = next((event for event in events if event.get("type") in _ENDS), None)
    if final is None:
        raise BrokenReply("the stream ended before the answer did")
    return final.get("response") or {}


def read(payload: dict[str, Any], sent: dict[str, Any]) -> Completion:
    """The completion in a reply.

    Raises:
        BrokenReply: what came back is no answer.
    """
    output = payload.get("output")
    if not isinstance(output, list):
        raise BrokenReply("the reply has no output")
    status = payload.get("status")
    if status not in (None, "completed", "incomplete"):
        raise BrokenReply(f"the response is {status}", "server_error")
    messages = [item for item in output if item.get("type") == "message"]
    said = [parts_of(item.get("content")) for item in messages]
    text, thinking = split_thoughts("".join(text for text, _, _ in said))
    refusal = " ".join(filter(None, (refusal for _, refusal, _ in said)))
    calls = tuple(
        call_of(item.get("call_id") or item.get("id"), item, at)
        for at, item in enumerate(output)
        if item.get("type") == "function_call"
    )
    cut = (payload.get("incomplete_details") or {}).get("reason")
    usage = _usage(payload.get("usage"))
    limit = output_limit(sent) or output_limit(payload)
    # Some servers call "completed" what their limit cut.
    full = bool(limit and usage.output_tokens and usage.output_tokens >= limit)
    cut = cut or (_CUT if full else None)
    short = status == "incomplete" or any(m.get("status") == "incomplete" for m in messages)
    if refusal or cut == "content_filter":
        state, reason = OutputState.REFUSED, refusal or "stopped by the server's content filter"
    elif short or full:
        state, reason = OutputState.TRUNCATED, f"incomplete: {cut or 'no reason given'}"
    elif not text.strip() and not calls:
        state, reason = OutputState.EMPTY, f"the answer has no content (status: {status})"
    else:
        state, reason = OutputState.OK, None
    return Completion(
        state=state,
        text=text,
        thoughts=thinking,
        tool_calls=calls,
        finish_reason=cut or status,
        reason=reason,
        usage=usage,
        model=payload.get("model"),
        items=tuple(_sendable(payload)) if calls else (),
    )


def _sendable(payload: dict[str, Any]) -> list[dict[str, Any]]:
    items = [
        {name: value for name, value in item.items() if value is not None}
        for item in payload["output"]
    ]
    if payload.get("store") is False:
        # What the server has not kept it cannot look up by id.
        items = [i for i in items if i["type"] != "reasoning" or i.get("encrypted_content")]
    return items


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage(calls=1)
    given, made = usage.get("input_tokens_details") or {}, usage.get("output_tokens_details") or {}
    return Usage(
        calls=1,
        input_tokens=count(usage.get("input_tokens")),
        cached_tokens=count(given.get("cached_tokens")) or 0,
        output_tokens=count(usage.get("output_tokens")),
        reasoning_tokens=count(made.get("reasoning_tokens")) or 0,
    )
