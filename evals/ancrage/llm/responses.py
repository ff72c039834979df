"""The Responses API: the body of a request and the reading of its reply."""

from typing import TYPE_CHECKING, Any

from ancrage.domain import OutputState, Usage
from ancrage.llm.failures import BrokenReply
from ancrage.llm.request import Completion, FunctionCall, Request, with_extra

if TYPE_CHECKING:
    from openai import AsyncOpenAI
    from openai.types.responses import Response


def body(request: Request) -> dict[str, Any]:
    """The JSON body of ``POST /responses``; nothing that has no value is in it.

    Leading system messages become ``instructions``; the effort goes into ``reasoning``, since
    this API refuses ``reasoning_effort``.
    """
    tier = request.tier
    parameters: dict[str, Any] = dict(tier.stated())
    messages = list(request.messages)
    instructions = []
    while messages and messages[0]["role"] == "system":
        instructions.append(str(messages.pop(0)["content"]))
    sent: dict[str, Any] = {
        "model": tier.model,
        "input": [item for message in messages for item in _items(message)],
    }
    if instructions:
        sent["instructions"] = "\n\n".join(instructions)
    text: dict[str, Any] = {}
    if "verbosity" in parameters:
        text["verbosity"] = parameters.pop("verbosity")
    if request.json_schema and tier.structured == "json_schema":
        text["format"] = {
            "type": "json_schema",
            "name": request.json_schema.name,
            "schema": request.json_schema.definition,
            "strict": True,
        }
    elif request.json_schema and tier.structured == "json_object":
        text["format"] = {"type": "json_object"}
    if text:
        sent["text"] = text
    if "reasoning_effort" in parameters:
        sent["reasoning"] = {"effort": parameters.pop("reasoning_effort")}
    if request.tools:
        sent["tools"] = [
            {"type": "function", "strict": False, **tool.model_dump()} for tool in request.tools
        ]
    if tier.store is not None:
        sent["store"] = tier.store
        if not tier.store and "reasoning" in sent:
            # Without storage, reasoning can be sent back only in its encrypted form.
            sent["include"] = ["reasoning.encrypted_content"]
    if tier.stream:
        sent["stream"] = True
    return with_extra(sent | parameters, tier.extra)


def _items(message: dict[str, Any]) -> list[dict[str, Any]]:
    """One message of Chat Completions as input items."""
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


async def send(client: "AsyncOpenAI", sent: dict[str, Any]) -> Completion:
    """Make the call; of a stream, the closing event carries the whole response.

    Raises:
        BrokenReply: what came back is no answer.
        openai.OpenAIError: the call failed.
    """
    from openai import AsyncStream
    from openai.types.responses import Response, ResponseStreamEvent

    answer: Any = await client.post(
        "/responses",
        cast_to=Response,
        body=sent,
        stream=bool(sent.get("stream")),
        stream_cls=AsyncStream[ResponseStreamEvent],
    )
    if sent.get("stream"):
        final = None
        async for event in answer:
            if event.type in ("response.completed", "response.incomplete", "response.failed"):
                final = event.response
            elif event.type == "error":
                raise BrokenReply(event.message, event.code or "server_error")
        if final is None:
            raise BrokenReply("the stream ended before the answer did")
        answer = final
    return _read(answer)


def _read(response: Any) -> Completion:
    if response is None or response.output is None:
        raise BrokenReply("the reply has no output")
    usage = _usage(response)
    if response.error:
        raise BrokenReply(response.error.message, response.error.code or "server_error")
    if response.status not in (None, "completed", "incomplete"):
        raise BrokenReply(f"the response is {response.status}", "server_error")
    parts = [part for item in response.output if item.type == "message" for part in item.content]
    text = "".join(part.text for part in parts if part.type == "output_text")
    refusal = " ".join(part.refusal for part in parts if part.type == "refusal")
    calls = tuple(
        FunctionCall(id=item.call_id, name=item.name, arguments=item.arguments)
        for item in response.output
        if item.type == "function_call"
    )
    cut = response.incomplete_details.reason if response.incomplete_details else None
    if refusal or cut == "content_filter":
        state, reason = OutputState.REFUSED, refusal or "stopped by the server's content filter"
    elif response.status == "incomplete":
        state, reason = OutputState.TRUNCATED, f"incomplete: {cut or 'no reason given'}"
    elif not text.strip() and not calls:
        state, reason = OutputState.EMPTY, f"the answer has no content (status: {response.status})"
    else:
        state, reason = OutputState.OK, None
    return Completion(
        state=state,
        text=text,
        tool_calls=calls,
        finish_reason=cut or response.status,
        reason=reason,
        usage=usage,
        model=response.model,
        items=tuple(_sendable(response)) if calls else (),
    )


def _sendable(response: "Response") -> list[dict[str, Any]]:
    items = [item.model_dump(mode="json", exclude_none=True) for item in response.output]
    if getattr(response, "store", None) is False:
        # What the server has not kept it cannot look up by id.
        items = [i for i in items if i["type"] != "reasoning" or i.get("encrypted_content")]
    return items


def _usage(response: "Response") -> Usage:
    usage = response.usage
    if usage is None:
        return Usage(calls=1)
    return Usage(
        calls=1,
        input_tokens=usage.input_tokens,
        cached_tokens=(
            usage.input_tokens_details.cached_tokens if usage.input_tokens_details else 0
        )
        or 0,
        output_tokens=usage.output_tokens,
        reasoning_tokens=(
            usage.output_tokens_details.reasoning_tokens if usage.output_tokens_details else 0
        )
        or 0,
    )
