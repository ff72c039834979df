"""Chat Completions: the body of a request and the reading of its reply."""

from typing import TYPE_CHECKING, Any

from ancrage.domain import OutputState, Usage
from ancrage.llm.failures import BrokenReply
from ancrage.llm.request import Completion, FunctionCall, Request, with_extra

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types import CompletionUsage

_CUT = frozenset({"length", "max_tokens", "model_length"})
_BROKEN = frozenset({"error", "abort", "insufficient_system_resource"})
"""Reasons to finish of servers of this API other than OpenAI's; any other is a natural end."""


def body(request: Request) -> dict[str, Any]:
    """The JSON body of ``POST /chat/completions``; nothing that has no value is in it."""
    tier = request.tier
    parameters: dict[str, Any] = dict(tier.stated())
    if "max_output_tokens" in parameters:
        parameters[tier.output_limit_name] = parameters.pop("max_output_tokens")
    sent: dict[str, Any] = {
        "model": tier.model,
        "messages": [
            {key: value for key, value in message.items() if key != "items"}
            for message in request.messages
        ],
        **parameters,
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
    if tier.stream:
        sent |= {"stream": True, "stream_options": {"include_usage": True}}
    return with_extra(sent, tier.extra)


async def send(client: "AsyncOpenAI", sent: dict[str, Any]) -> Completion:
    """Make the call; streamed chunks are put together.

    Raises:
        BrokenReply: what came back is no answer.
        openai.OpenAIError: the call failed.
    """
    from openai import AsyncStream
    from openai.types.chat import ChatCompletion, ChatCompletionChunk

    # The SDK's generic door: what is sent is ``sent`` to the letter, new parameters included.
    answer: Any = await client.post(
        "/chat/completions",
        cast_to=ChatCompletion,
        body=sent,
        stream=bool(sent.get("stream")),
        stream_cls=AsyncStream[ChatCompletionChunk],
    )
    if sent.get("stream"):
        return await _collect(answer)
    if not getattr(answer, "choices", None):
        raise BrokenReply("the reply has no choices")
    choice = answer.choices[0]
    return _reply(
        text=choice.message.content or "",
        refusal=choice.message.refusal,
        calls=[
            FunctionCall(id=call.id, name=call.function.name, arguments=call.function.arguments)
            for call in choice.message.tool_calls or ()
            if call.type == "function"
        ],
        finish=choice.finish_reason,
        usage=answer.usage,
        model=answer.model,
    )


async def _collect(stream: Any) -> Completion:
    text: list[str] = []
    refusal: list[str] = []
    calls: list[dict[str, str]] = []
    at: dict[int, dict[str, str]] = {}
    finish = model = usage = None
    async for chunk in stream:
        usage = chunk.usage or usage
        model = chunk.model or model
        for choice in chunk.choices[:1]:
            finish = choice.finish_reason or finish
            text.append(choice.delta.content or "")
            refusal.append(choice.delta.refusal or "")
            for part in choice.delta.tool_calls or ():
                call = at.get(part.index)
                # Some servers number every parallel call 0: another id is another call.
                if call is None or (part.id and part.id != call["id"]):
                    call = at[part.index] = {"id": part.id or "", "name": "", "arguments": ""}
                    calls.append(call)
                if part.function:
                    call["name"] = part.function.name or call["name"]
                    call["arguments"] += part.function.arguments or ""
    if finish is None:
        raise BrokenReply("the stream ended before the answer did")
    return _reply(
        text="".join(text),
        refusal="".join(refusal) or None,
        calls=[FunctionCall(**call) for call in calls],
        finish=finish,
        usage=usage,
        model=model,
    )


def _reply(
    *,
    text: str,
    refusal: str | None,
    calls: list[FunctionCall],
    finish: str | None,
    usage: "CompletionUsage | None",
    model: str | None,
) -> Completion:
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
        tool_calls=tuple(calls),
        finish_reason=finish,
        reason=reason,
        usage=_usage(usage),
        model=model,
    )


def _usage(usage: "CompletionUsage | None") -> Usage:
    if usage is None:
        return Usage(calls=1)
    prompt, completion = usage.prompt_tokens_details, usage.completion_tokens_details
    return Usage(
        calls=1,
        input_tokens=usage.prompt_tokens,
        cached_tokens=(prompt.cached_tokens if prompt else None) or 0,
        output_tokens=usage.completion_tokens,
        reasoning_tokens=(completion.reasoning_tokens if completion else None) or 0,
    )
