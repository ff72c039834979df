"""Chat Completions: the body of a request and the reading of its reply, whoever's server it is."""

from collections.abc import Iterable
from typing import Any

from ancrage.domain import OutputState, Usage
from ancrage.llm.failures import BrokenReply
from ancrage.llm.replies import call_of, count, parts_of, split_thoughts
from ancrage.llm.request import Completion, Request, with_extra
from ancrage.llm.tiers import Tier

PATH = "/chat/completions"
_CUT = frozenset({"length", "max_tokens", "model_length"})
_BROKEN = frozenset({"error", "abort", "insufficient_system_resource"})
"""Reasons to finish of servers of this API other than OpenAI's; any other is a natural end."""
_LIMITS = ("max_tokens", "max_completion_tokens")


def body(request: Request) -> dict[str, Any]:
    """The JSON body of ``POST /chat/completions``; nothing that has no value is in it."""
    tier = request.tier
    sent: dict[str, Any] = {
        "model": tier.model,
        "messages": [
            {key: value for key, value in message.items() if key != "items"}
            for message in request.messages
        ],
        **_parameters(tier),
    }
    if request.tools:
        sent["tools"] = [
            {"type": "function", "function": tool.model_dump()} for tool in request.tools
        ]
    if request.json_schema and tier.structured == "json_schema":
        sent["response_format"] = {
            "type": "json_schema",
            "json_schema": {
                "name": request.json_schema.name,
                "schema": request.json_schema.definition,
                "strict": True,
            },
        }
    elif request.json_schema and tier.structured == "json_object":
        sent["response_format"] = {"type": "json_object"}
    return with_extra(sent, tier.extra)


def restate(sent: dict[str, Any], tier: Tier) -> dict[str, Any]:
    """Anybody's body with the tier's model and parameters in place of its own."""
    stated = _parameters(tier)
    gone = {_SPELT.get(name, name) for name in tier.drop}
    if gone & {*_LIMITS} or stated.keys() & {*_LIMITS}:
        gone |= {*_LIMITS}
    kept = {name: value for name, value in sent.items() if name not in gone}
    return with_extra({**kept, "model": tier.model, **stated}, tier.extra)


_SPELT = {"max_output_tokens": "max_completion_tokens"}


def _parameters(tier: Tier) -> dict[str, Any]:
    parameters: dict[str, Any] = dict(tier.stated())
    if "max_output_tokens" in parameters:
        parameters[tier.output_limit_name] = parameters.pop("max_output_tokens")
    return parameters


def output_limit(sent: dict[str, Any]) -> int | None:
    """The most tokens that the answer to this body may have."""
    return next((count(sent.get(name)) for name in _LIMITS if count(sent.get(name))), None)


def gather(events: Iterable[Any]) -> dict[str, Any]:
    """The reply that the chunks of a stream make up.

    Raises:
        BrokenReply: the stream ends before the answer does.
    """
    text: list[str] = []
    refusal: list[str] = []
    thoughts: list[str] = []
    calls: list[dict[str, Any]] = []
    at: dict[int, dict[str, Any]] = {}
    finish = None
    whole: dict[str, Any] = {}
    for chunk in events:
        whole |= {name: chunk[name] for name in ("usage", "model", "error") if chunk.get(name)}
        for choice in (chunk.get("choices") or ())[:1]:
            finish = choice.get("finish_reason") or finish
            delta = choice.get("delta") or {}
            text.append(parts_of(delta.get("content"))[0])
            refusal.append(delta.get("refusal") or "")
            thoughts.append(delta.get("reasoning_content") or "")
            for part in delta.get("tool_calls") or ():
                index, called = part.get("index") or 0, part.get("function") or {}
                call = at.get(index)
                # Some servers number every parallel call 0: another id is another call.
                if call is None or (part.get("id") and part["id"] != call["id"]):
                    call = at[index] = {"id": part.get("id"), "function": {"arguments": ""}}
                    calls.append(call)
                function = call["function"]
                function["name"] = called.get("name") or function.get("name")
                more = called.get("arguments")
                function["arguments"] = (
                    function["arguments"] + more
                    if isinstance(more, str)
                    else more or function["arguments"]
                )
    if finish is None and "error" not in whole:
        raise BrokenReply("the stream ended before the answer did")
    message = {
        "content": "".join(text),
        "refusal": "".join(refusal),
        "reasoning_content": "".join(thoughts),
        "tool_calls": calls,
    }
    return {**whole, "choices": [{"message": message, "finish_reason": finish}]}


def read(payload: dict[str, Any], sent: dict[str, Any]) -> Completion:
    """The completion in a reply.

    Raises:
        BrokenReply: what came back is no answer.
    """
    choices = payload.get("choices")
    if not isinstance(choices, list) or not choices or not isinstance(choices[0], dict):
        raise BrokenReply("the reply has no choices")
    message = choices[0].get("message") or {}
    finish = choices[0].get("finish_reason")
    content, said_no, thought = parts_of(message.get("content"))
    text, thinking = split_thoughts(content)
    refusal = message.get("refusal") or said_no or None
    calls = [
        call_of(call.get("id"), call.get("function") or {}, at)
        for at, call in enumerate(message.get("tool_calls") or ())
        if call.get("type") in (None, "function")
    ]
    if finish in _BROKEN:
        raise BrokenReply(f"the server broke off (finish: {finish})", "server_error")
    if refusal or (finish or "").startswith("content_filter"):
        state, reason = OutputState.REFUSED, refusal or "stopped by the server's content filter"
    elif finish in _CUT:
        state, reason = OutputState.TRUNCATED, "stopped by the output limit"
    elif not text.strip() and not calls:
        state, reason = OutputState.EMPTY, f"the answer has no content (finish: {finish})"
    else:
        state, reason = OutputState.OK, None
    return Completion(
        state=state,
        text=text,
        thoughts="\n".join(
            filter(None, (message.get("reasoning_content") or thought or "", thinking))
        ),
        tool_calls=tuple(calls),
        finish_reason=finish,
        reason=reason,
        usage=_usage(payload.get("usage")),
        model=payload.get("model"),
    )


def _usage(usage: Any) -> Usage:
    if not isinstance(usage, dict):
        return Usage(calls=1)
    prompt = usage.get("prompt_tokens_details") or {}
    completion = usage.get("completion_tokens_details") or {}
    return Usage(
        calls=1,
        input_tokens=count(usage.get("prompt_tokens")),
        cached_tokens=count(prompt.get("cached_tokens")) or 0,
        output_tokens=count(usage.get("completion_tokens")),
        reasoning_tokens=count(completion.get("reasoning_tokens")) or 0,
    )
