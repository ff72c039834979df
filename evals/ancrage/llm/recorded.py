"""Parameters as production recorded them: what was sent, and what its servers answered with."""

from collections.abc import Mapping

from pydantic import ValidationError

from ancrage.domain import JsonValue
from ancrage.errors import describe
from ancrage.llm.tiers import Parameters

_RECORDED_AS = {
    "max_tokens": "max_output_tokens",
    "max_completion_tokens": "max_output_tokens",
    "maxTokens": "max_output_tokens",
    "maxOutputTokens": "max_output_tokens",
    "reasoningEffort": "reasoning_effort",
    "reasoning.effort": "reasoning_effort",
    "topP": "top_p",
    "text.verbosity": "verbosity",
}
"""Other names under which traces record the parameters below."""


_FILLED_IN = {"temperature": 1, "top_p": 1, "frequency_penalty": 0, "presence_penalty": 0}
"""What Langfuse's wrapper of the OpenAI SDK writes for parameters that were not sent, beside the
``max_tokens`` of ``inf`` that gives it away."""


def sent_and_echoed(
    recorded: Mapping[str, JsonValue],
) -> tuple[dict[str, JsonValue], dict[str, JsonValue]]:
    """The parameters that a request sent, and those that only its response or the tracer states.

    ``recorded`` holds parameters as sent, or a whole response, which echoes the server's defaults,
    or both as ``request`` and ``response``.
    """
    found = dict(recorded)
    if found and found.keys() <= {"request", "response"}:
        request, response = found.get("request"), found.get("response")
        sent = dict(request) if isinstance(request, dict) else {}
        echoed = dict(response) if isinstance(response, dict) else {}
        return sent, {name: value for name, value in echoed.items() if name not in sent}
    if whole_response(found):
        return {}, found
    if str(found.get("max_tokens")).lower() in ("inf", "infinity"):
        filled = {"max_tokens": found.pop("max_tokens")}
        for name, value in _FILLED_IN.items():
            if name in found and str(found[name]) in (str(value), f"{value}.0"):
                filled[name] = found.pop(name)
        return found, filled
    return found, {}


def whole_response(recorded: Mapping[str, object]) -> bool:
    """Whether parameters are a whole response of a server, as some instrumentations write."""
    return recorded.get("object") in ("response", "chat.completion") or (
        {"id", "created_at"} <= recorded.keys()
    )


def recorded_parameters(recorded: Mapping[str, JsonValue]) -> tuple[Parameters, dict[str, str]]:
    """Parameters as a trace recorded them, and those that cannot be sent again, with the reason.

    Names of both OpenAI APIs and of common tracers are understood; nulls are dropped, since
    sending an explicit null is not the same as sending nothing.
    """
    stated: dict[str, JsonValue] = {}
    ignored: dict[str, str] = {}
    for name, value in _flat(recorded):
        field = _RECORDED_AS.get(name, name)
        if value is None or value in ("", "null", "None"):
            continue
        if field not in Parameters.model_fields:
            ignored[name] = "not a parameter that a replay can send"
            continue
        if field == "stop" and isinstance(value, str):
            value = [value]
        try:
            Parameters.model_validate({field: value})
        except ValidationError as error:
            ignored[name] = describe(error)
            continue
        stated[field] = value
    return Parameters.model_validate(stated), ignored


def _flat(recorded: Mapping[str, JsonValue]) -> list[tuple[str, JsonValue]]:
    flat: list[tuple[str, JsonValue]] = []
    for name, value in recorded.items():
        if name in ("reasoning", "text") and isinstance(value, dict):
            flat += [(f"{name}.{inner}", inner_value) for inner, inner_value in value.items()]
        else:
            flat.append((name, value))
    return flat
