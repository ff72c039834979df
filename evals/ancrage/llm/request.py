"""What is asked of a model and what came back, the same for both APIs."""

from collections.abc import Iterable, Mapping
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field

from ancrage.domain import Frozen, JsonValue, OutputState, Usage
from ancrage.llm.tiers import Tier


class Tool(Frozen):
    """A function that the model may call."""

    name: str = Field(min_length=1)
    description: str = ""
    parameters: dict[str, JsonValue] = {"type": "object", "properties": {}}
    """JSON Schema of its arguments."""


class JsonSchema(Frozen):
    """The shape that the reply must have."""

    name: str = Field(pattern=r"^[A-Za-z0-9_-]{1,64}$")
    definition: dict[str, JsonValue]


class Request(Frozen):
    """One call of a model."""

    tier: Tier
    messages: tuple[dict[str, JsonValue], ...] = Field(min_length=1)
    """In the form of Chat Completions, for both APIs (an input item of the Responses API stands
    as it is); see ``Completion.message`` for answers."""
    tools: tuple[Tool, ...] = ()
    json_schema: JsonSchema | None = None
    repeat: int = Field(default=0, ge=0)
    """Part of the cache's key: two repeats of one request never share an answer."""


def _without_surrogates(value: Any) -> Any:
    """JSON can spell half a surrogate pair, which no encoding can write down."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else value


Text = Annotated[str, BeforeValidator(_without_surrogates)]


class FunctionCall(Frozen):
    """A call of a tool, as the model asked for it; ``arguments`` is the model's own JSON text."""

    id: Text
    name: Text
    arguments: Text


class Completion(Frozen):
    """How one call ended.

    ``state`` is ``ok`` (``text`` or ``tool_calls`` is there), ``truncated`` (by length),
    ``refused``, ``empty``, ``failed`` (no answer: see ``error``) or ``over_budget`` (not called).
    """

    state: OutputState
    text: Text = ""
    thoughts: Text = ""
    """Reasoning that came with the answer or within it; no part of ``text``."""
    tool_calls: tuple[FunctionCall, ...] = ()
    finish_reason: str | None = None
    reason: Text | None = None
    """What happened, in the server's words where it gave some; set unless ``state`` is ``ok``."""
    error: str | None = None
    """For ``failed``: ``timeout``, ``connection``, ``rate_limit``, ``server``, ``rejected``
    (the request was refused: parameters, model), ``auth`` or ``malformed`` (no usable reply)."""
    usage: Usage = Usage()
    model: str | None = None
    """The model's name as the server reports it."""
    cached: bool = False
    """Whether the answer came from the cache; its usage is that of the call once made."""
    items: tuple[dict[str, JsonValue], ...] = ()
    """Responses API: the output items, to be sent back in the next turn (reasoning included)."""

    @classmethod
    def failed(cls, error: str, reason: str, usage: Usage | None = None) -> Self:
        """A call that gave no answer."""
        return cls(state=OutputState.FAILED, error=error, reason=reason, usage=usage or Usage())

    @property
    def ok(self) -> bool:
        return self.state is OutputState.OK

    def message(self) -> dict[str, JsonValue]:
        """The turn to append to ``Request.messages`` before the results of its tool calls."""
        message: dict[str, JsonValue] = {"role": "assistant", "content": self.text or None}
        if self.tool_calls:
            message["tool_calls"] = [
                {
                    "id": call.id,
                    "type": "function",
                    "function": {"name": call.name, "arguments": call.arguments},
                }
                for call in self.tool_calls
            ]
        if self.items:
            message["items"] = list(self.items)
        return message


def with_extra(sent: dict[str, Any], extra: Mapping[str, Any]) -> dict[str, Any]:
    """``sent`` and what a tier adds; of objects that both have, ``extra`` adds fields."""
    merged = dict(sent)
    for name, value in extra.items():
        mine = merged.get(name)
        if isinstance(mine, dict) and isinstance(value, dict):
            value = mine | value
        merged[name] = value
    return merged


def add_usage(usages: Iterable[Usage]) -> Usage:
    """The sum; a field is None as soon as one call's is unknown, never an undercount."""
    usages = list(usages)
    if not usages:
        return Usage()

    def total(name: str) -> Any:
        values = [getattr(usage, name) for usage in usages if usage.calls]
        return None if not values or any(value is None for value in values) else sum(values)

    return Usage(
        calls=sum(usage.calls for usage in usages),
        input_tokens=total("input_tokens"),
        cached_tokens=total("cached_tokens"),
        output_tokens=total("output_tokens"),
        reasoning_tokens=total("reasoning_tokens"),
        cost=total("cost"),
        latency=total("latency"),
    )
