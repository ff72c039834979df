"""Tools that answer only what production's tools answered."""

import json
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from ancrage.domain import Frozen, JsonValue, ToolCall
from ancrage.errors import AncrageError
from ancrage.llm import Tool

Policy = Literal["strict", "lenient"]


class UnrecordedCall(AncrageError):  # noqa: N818 - a state of the replay, see OutputState.UNRECORDED_TOOL_CALL
    """The replay asked for something that was never recorded."""


class ToolFailed(AncrageError):  # noqa: N818 - production's own failure, repeated
    """The tool failed in production, and so fails now, in the same words."""


class Near(Frozen):
    """A call answered by a recorded one that is not quite the same."""

    name: str
    asked: dict[str, JsonValue]
    answered: dict[str, JsonValue]
    """The arguments of the recorded call whose output was given."""


class FrozenTools:
    """The recorded calls of one case, answered by name and canonical arguments.

    Arguments are the same whatever the order of their keys, an explicit null or the schema's
    default beside an absent key, 1 beside 1.0, and Unicode's ways to compose a character. The
    n-th identical call gets the n-th recorded output, the last one from then on. A call that was
    recorded without its output answers nothing: it is a miss too.

    ``strict`` knows nothing nearer. ``lenient`` also takes the closest recorded call that agrees
    on the arguments that ``key_arguments`` declares for the tool (none declared: no leniency; an
    empty list: the name is enough), and records it in ``near``. Anything else is a miss: it is
    recorded in ``misses`` and ends the replay of the case. No answer is ever made up.
    """

    def __init__(
        self,
        recorded: Sequence[ToolCall],
        tools: Iterable[Tool] = (),
        policy: Policy = "strict",
        key_arguments: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.recorded = recorded
        self.made: list[ToolCall] = []
        """The calls answered so far, with the outputs given."""
        self.near: list[Near] = []
        self.misses: list[str] = []
        self._defaults = {tool.name: _defaults(tool) for tool in tools}
        self._keys = dict(key_arguments or {}) if policy == "lenient" else {}
        self._by_identity: dict[str, list[ToolCall]] = {}
        for call in recorded:
            self._by_identity.setdefault(self._identity(call.name, call.arguments), []).append(call)
        self._served: dict[str, int] = {}

    def call(self, name: str, arguments: Mapping[str, JsonValue] | str) -> JsonValue:
        """The recorded output.

        Raises:
            UnrecordedCall: nothing recorded answers this call; says which ones come closest.
            ToolFailed: the recorded call had failed.
        """
        asked = self._parse(name, arguments)
        identity = self._identity(name, asked)
        if identity not in self._by_identity:
            similar = self._similar(name, asked)
            if similar is None:
                raise self._miss(name, _json(asked))
            self.near.append(Near(name=name, asked=asked, answered=similar.arguments))
            identity = self._identity(similar.name, similar.arguments)
        calls = self._by_identity[identity]
        served = self._served.get(identity, 0)
        self._served[identity] = served + 1
        found = calls[min(served, len(calls) - 1)]
        if not found.output_recorded and found.error is None:
            raise self._lost(f"recorded without its output: {name}({_cut(_json(asked))})")
        self.made.append(found.model_copy(update={"arguments": asked, "call_id": None}))
        if found.error is not None:
            raise ToolFailed(found.error)
        return found.output

    def _parse(self, name: str, arguments: Mapping[str, JsonValue] | str) -> dict[str, JsonValue]:
        try:
            text = arguments if isinstance(arguments, str) else _json(dict(arguments))
            parsed = json.loads(text if text.strip() not in ("", "null") else "{}")
            # NaN and halves of surrogate pairs: read by Python, but nothing that JSON can write.
            json.dumps(parsed, ensure_ascii=False, allow_nan=False).encode()
        except (ValueError, TypeError, RecursionError):
            parsed = None
        if not isinstance(parsed, dict):
            written = arguments if isinstance(arguments, str) else ascii(arguments)
            raise self._miss(name, f"{_cut(written)} (not a JSON object)")
        return parsed

    def _identity(self, name: str, arguments: Mapping[str, JsonValue]) -> str:
        stated = {key: value for key, value in arguments.items() if value is not None}
        return _json([name, _canonical(self._defaults.get(name, {}) | stated)])

    def _similar(self, name: str, asked: dict[str, JsonValue]) -> ToolCall | None:
        keys = self._keys.get(name)
        if keys is None:
            return None
        wanted = [_loose(asked.get(key)) for key in keys]
        candidates = [
            call
            for call in self.recorded
            if call.name == name and [_loose(call.arguments.get(key)) for key in keys] == wanted
        ]
        return self._closest(candidates, name, _json(asked))[0] if candidates else None

    def _miss(self, name: str, arguments: str) -> UnrecordedCall:
        closest = self._closest(self.recorded, name, arguments)[:3]
        known = "; ".join(f"{call.name}({_cut(_json(call.arguments))})" for call in closest)
        words = f"never recorded: {name}({_cut(arguments, 230)}); " + (
            f"closest: {known}" if known else "the case has no recorded call"
        )
        return self._lost(words)

    def _lost(self, words: str) -> UnrecordedCall:
        self.misses.append(words)
        return UnrecordedCall(words)

    def _closest(self, calls: Sequence[ToolCall], name: str, arguments: str) -> list[ToolCall]:
        from rapidfuzz.fuzz import ratio

        def distance(call: ToolCall) -> tuple[bool, float]:
            return call.name != name, -ratio(_json(call.arguments)[:2000], arguments[:2000])

        return sorted(calls, key=distance)


def _defaults(tool: Tool) -> dict[str, JsonValue]:
    properties = tool.parameters.get("properties")
    if not isinstance(properties, dict):
        return {}
    return {
        name: schema["default"]
        for name, schema in properties.items()
        if isinstance(schema, dict) and schema.get("default") is not None
    }


def _canonical(value: Any) -> Any:
    if isinstance(value, str):
        return unicodedata.normalize("NFC", value).strip()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, list):
        return [_canonical(item) for item in value]
    if isinstance(value, dict):
        return {key: _canonical(item) for key, item in value.items() if item is not None}
    return value


def _loose(value: JsonValue) -> str:
    return " ".join(_json(_canonical(value)).casefold().split())


def _json(value: Any) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)


def _cut(text: str, length: int = 200) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
