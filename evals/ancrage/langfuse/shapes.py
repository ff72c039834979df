"""Messages as the usual frameworks write them, read into one form.

Read are: OpenAI (chat and responses), Anthropic, LangChain and LangGraph (Python and JavaScript,
whose objects are ``{"lc": 1, "kwargs": …}``), LlamaIndex (``blocks``), Gemini and Vertex
(``contents``, ``candidates``, ``parts``), Google ADK (``new_message``, events), Pydantic AI.
"""

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import from_json

from ancrage.domain import Turn

Row = dict[str, Any]

QUESTION = (
    "question",
    "query",
    "query_str",
    "prompt",
    "user_input",
    "user_prompt",
    "user_msg",
    "new_message",
    "message",
    "input",
    "text",
)
ANSWER = ("answer", "response", "output", "completion", "content", "text", "message", "result")
CONVERSATION = ("messages", "contents", "input_messages", "chat_history")
"""Where an input keeps its turns."""
CHOICES = ("messages", "choices", "candidates", "predictions", "output_messages", "generations")
"""Where an output keeps them."""
SYSTEM = ("system", "system_prompt", "system_instruction", "systemInstruction", "instructions")
_ROLES = {
    "human": "user",
    "ai": "assistant",
    "developer": "system",
    "model": "assistant",
    "chatbot": "assistant",
    "function": "tool",
}
_TEXT_PARTS = (None, "text", "input_text", "output_text", "TextBlock")
_BODIES = ("content", "parts", "blocks", "contents", "text")


def value_of(raw: Any) -> Any:
    """An input or output as it was before it was written as text, if it was."""
    for _ in range(3):
        if not isinstance(raw, str) or raw[:1] not in "{[\"'":
            return raw
        try:
            raw = from_json(raw, allow_inf_nan=False)
        except ValueError:
            return _literal(raw)
    return raw


def _literal(text: str) -> Any:
    """Some instrumentations write Python's representation of a dictionary."""
    if text[:1] not in "{[" or len(text) > 100_000:
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return text


def at(value: Any, *keys: str) -> Any:
    """The first of ``keys`` that a mapping has a value for; None when there is none."""
    if isinstance(value, Mapping):
        return next((value[key] for key in keys if value.get(key) is not None), None)
    return None


def unwrapped(message: Any) -> Any:
    """A message without what a framework has put around it."""
    for _ in range(4):
        if isinstance(at(message, "kwargs"), Mapping) and "lc" in message:
            kind = (at(message, "id") or ["?"])[-1]
            message = {"type": _lc_role(str(kind)), **message["kwargs"]}
        elif isinstance(inner := at(message, "message"), Mapping) and _is_message(inner):
            message = {k: v for k, v in message.items() if k != "message"} | dict(inner)
        elif isinstance(inner := at(message, "data"), Mapping) and "type" in message:
            message = {"type": message["type"], **inner}
        elif isinstance(inner := at(message, "content"), Mapping) and _is_message(inner):
            message = {k: v for k, v in message.items() if k != "content"} | dict(inner)
        else:
            return message
    return message


def _lc_role(name: str) -> str:
    return name.removesuffix("Chunk").removesuffix("Message").lower()


def _is_message(value: Mapping[str, Any]) -> bool:
    return any(key in value for key in (*_BODIES, "kwargs", "message"))


def role(message: Any) -> str | None:
    """``user``, ``assistant``, ``system``, ``tool``, or what a message says else of itself."""
    message = unwrapped(message)
    named = at(message, "role") or at(message, "type")
    if not named:
        return None
    name = str(named).rsplit(".", 1)[-1].lower()
    return _ROLES.get(name, name)


def content(message: Any) -> str | None:
    """All text of one message or part, in order; tool calls and reasoning left out."""
    message = unwrapped(message)
    if isinstance(message, str):
        return message
    if isinstance(message, list):
        texts = [found for part in message if _is_text(part) and (found := content(part))]
        return "".join(texts) or None
    if not isinstance(message, Mapping):
        return None
    for key in _BODIES:
        if found := content(message.get(key)):
            return found
    return None


def _is_text(part: Any) -> bool:
    if not isinstance(part, Mapping):
        return True
    kind = part.get("type", part.get("block_type", part.get("class_name")))
    # Gemini marks what a model thought as a part of its own.
    return kind in _TEXT_PARTS and not part.get("thought")


def text_of(value: Any, keys: Sequence[str] = ANSWER) -> str | None:
    """The last answer that a value of any known shape carries, whole; None when there is none."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        spoken = [message for message in value if role(message) == "assistant"]
        if not spoken and value and all(_is_part(part) for part in value):
            return content(value)
        for message in reversed(spoken or value):
            if text := content(message) or (None if spoken else text_of(message, keys)):
                return text
        return None
    value = unwrapped(value)
    if not isinstance(value, Mapping):
        return None
    if role(value) == "assistant" and (text := content(value)):
        return text
    for key in (*CHOICES, *keys):
        if key in value and (text := text_of(value[key], keys)) is not None:
            return text
    return content(value)


def _is_part(value: Any) -> bool:
    """Whether a value is a part of one message, not a message."""
    if isinstance(value, str):
        return True
    return isinstance(value, Mapping) and "role" not in value and isinstance(value.get("text"), str)


def asked(given: Any) -> tuple[str | None, str | None, list[Row]]:
    """The question, the system prompt and the earlier turns that an input holds."""
    if isinstance(given, Mapping) and isinstance(given.get("args"), list) and "kwargs" in given:
        # A decorated function: its keyword arguments, or its only positional one.
        if (found := asked(given["kwargs"]))[0] is not None:
            return found
        return asked(given["args"][0]) if len(given["args"]) == 1 else (None, None, [])
    if isinstance(given, str):
        return given, None, []
    if isinstance(given, list):
        return _turns(given)
    if not isinstance(given, Mapping):
        return None, None, []
    system = content(at(given, *SYSTEM) or at(at(given, "config"), *SYSTEM))
    listed = next(
        (given[key] for key in CONVERSATION[:3] if isinstance(given.get(key), list)), None
    )
    if listed is None and isinstance(given.get("instances"), list) and len(given["instances"]) == 1:
        return asked(given["instances"][0])
    if listed is not None:
        question, prompt, earlier = _turns(listed)
        return question, prompt or system, earlier
    if isinstance(given.get("contents"), str):
        return given["contents"], system, []
    for key in QUESTION:
        if isinstance(given.get(key), str):
            history = at(given, "history", "chat_history") or []
            return given[key], system, asked([*history, {"role": "user", "content": "?"}])[2]
        if key in given:
            found = asked(given[key])
            if found[0] is not None:
                return found[0], found[1] or system, found[2]
    if role(given) in (None, "user") and (text := content(given)):
        return text, system, []
    return None, None, []


def _turns(messages: list[Any]) -> tuple[str | None, str | None, list[Row]]:
    if messages and all(_is_part(part) for part in messages):
        return content(messages), None, []
    if len(messages) == 1 and isinstance(messages[0], list):
        return _turns(messages[0])  # LangChain batches.
    turns = [turn for message in messages if (turn := _turn(message))]
    last = max((n for n, turn in enumerate(turns) if turn["role"] == "user"), default=None)
    if last is None:
        return None, None, []
    earlier = turns[:last]
    system = next((turn["content"] for turn in earlier if turn["role"] == "system"), None)
    return turns[last]["content"], system, [turn for turn in earlier if turn["role"] != "system"]


def _turn(message: Any) -> Row | None:
    """A message that has a text or calls a tool, as it was sent where that can be told."""
    plain = unwrapped(message)
    who, text = role(plain), content(plain)
    if isinstance(plain, Mapping):
        try:
            turn = Turn.of({**plain, "role": who})
        except ValueError:
            pass  # A form that no API of OpenAI takes: its text is what there is.
        else:
            more = set(turn.sent or ()) - {"role", "content"}
            if more and (turn.calls or turn.content == text or turn.role == "tool"):
                return turn.model_dump(exclude_none=True)
    if who in ("system", "user", "assistant", "tool") and text:
        return {"role": who, "content": text}
    return None


def tool_results(value: Any) -> list[Row]:
    """What tools gave back, where a conversation carries it as messages or parts.

    Each is ``{"call_id", "name", "output"}``, in the order of the conversation.
    """
    found: list[Row] = []
    if isinstance(value, list):
        for message in value:
            found += tool_results(message)
        return found
    message = unwrapped(value)
    if not isinstance(message, Mapping):
        return []
    if role(message) == "tool" and not isinstance(message.get("parts"), list):
        # Its content may be text, parts, or a document written as text.
        body = message.get("content")
        if at(body, "type") == "function":
            return []  # Langfuse's handler writes the definition of a tool like a result.
        joined = content(body) if isinstance(body, list) else None
        return [_result(at(message, "tool_call_id", "id"), message.get("name"), joined or body)]
    if message.get("type") in ("function_call_output", "tool_result", "tool_call_response"):
        body = at(message, "output", "content", "result", "response")
        joined = content(body) if isinstance(body, list) else None
        return [_result(at(message, "call_id", "tool_use_id", "id"), None, joined or body)]
    if isinstance(answered := at(message, "functionResponse", "function_response"), Mapping):
        return [_result(at(answered, "id"), at(answered, "name"), at(answered, "response"))]
    for key in (*CONVERSATION, "parts", "content", "blocks"):
        if isinstance(message.get(key), list):
            found += tool_results(message[key])
    return found


def _result(call_id: Any, name: Any, output: Any) -> Row:
    return {"call_id": call_id, "name": name, "output": value_of(output)}


def tool_requests(value: Any) -> list[Row]:
    """The calls of tools that models asked for: ``{"call_id", "name", "arguments"}`` each."""
    found: list[Row] = []
    if isinstance(value, list):
        for part in value:
            found += tool_requests(part)
        return found
    message = unwrapped(value)
    if not isinstance(message, Mapping):
        return []
    name = at(message, "name")
    if message.get("type") in ("tool_use", "function_call", "tool_call") and name:
        arguments = at(message, "input", "arguments", "args")
        return [_request(at(message, "call_id", "id"), name, arguments)]
    if isinstance(called := at(message, "functionCall", "function_call"), Mapping):
        return [_request(at(called, "id"), at(called, "name"), at(called, "args", "arguments"))]
    calls = at(message, "tool_calls") or at(at(message, "additional_kwargs"), "tool_calls") or []
    for call in calls if isinstance(calls, list) else []:
        inner = at(call, "function") or call
        if at(inner, "name"):
            arguments = at(inner, "arguments", "args")
            found.append(_request(at(call, "id"), inner["name"], arguments))
    if not found:
        for key in (*CHOICES, *CONVERSATION, "output", "parts", "content", "blocks"):
            if isinstance(message.get(key), list):
                found += tool_requests(message[key])
    return found


def _request(call_id: Any, name: Any, arguments: Any) -> Row:
    given = value_of(arguments)
    return {
        "call_id": call_id,
        "name": name,
        "arguments": dict(given) if isinstance(given, Mapping) else {"input": given},
    }
