"""Reading what a server sent with status 200, whatever shape it gave it."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from ancrage.llm.failures import BrokenReply
from ancrage.llm.request import Completion, FunctionCall

_DATA = re.compile(r"^data:[ ]?(.*)$", re.MULTILINE)
_OPEN = r"(?:<(?P<tag>think|thinking|thought|reasoning|seed:think)>|\[THINK\]|◁think▷)"
_THOUGHTS = re.compile(
    rf"^\s*{_OPEN}(?P<inner>.*?)(?:</(?P=tag)>|\[/THINK\]|◁/think▷)\s*|"
    r"^(?P<headless>(?:(?!<think).)*?)</think>\s*|"
    r"^\s*<\|channel\|>analysis<\|message\|>(?P<channel>.*?)<\|end\|>"
    r"(?:<\|start\|>assistant)?(?:<\|channel\|>final<\|message\|>)?",
    re.DOTALL,
)
_ENDLESS = re.compile(rf"^\s*{_OPEN}(?P<inner>.*)", re.DOTALL)


def read(api: Any, content: str, sent: dict[str, Any]) -> Completion:
    """The completion in a body of JSON or of server-sent events, for one of the two APIs.

    Raises:
        BrokenReply: what came back is no answer.
    """
    payload = _payload(api, content)
    _raise_error(payload)
    try:
        completion: Completion = api.read(payload, sent)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise BrokenReply(f"the reply cannot be read: {type(error).__name__}: {error}") from None
    return completion


def split_thoughts(text: str) -> tuple[str, str]:
    """An answer without the reasoning that some servers leave at its beginning, and that.

    One that never ends is all there is: then no answer is left.
    """
    thoughts: list[str] = []
    while found := _THOUGHTS.match(text):
        said = next(filter(None, found.group("inner", "headless", "channel")), "")
        thoughts.append(said.strip())
        text = text[found.end() :]
    if endless := _ENDLESS.match(text):
        thoughts.append(endless["inner"].strip())
        text = ""
    return text, "\n".join(filter(None, thoughts))


def parts_of(content: Any) -> tuple[str, str, str]:
    """Text, refusal and reasoning of a message's content: a text, a list of parts, or null."""
    if content is None or isinstance(content, str):
        return content or "", "", ""
    text, refusal, thoughts = [], [], []
    for part in content:
        if isinstance(part, str):
            text.append(part)
        elif part.get("type") in ("thinking", "reasoning"):
            inner = part.get("thinking") or part.get("text") or ""
            thoughts.append(inner if isinstance(inner, str) else parts_of(inner)[0])
        else:
            text.append(part.get("text") or "")
            refusal.append(part.get("refusal") or "")
    return "".join(text), " ".join(filter(None, refusal)), "".join(thoughts)


def call_of(call_id: Any, function: Mapping[str, Any], at: int) -> FunctionCall:
    """A tool call: without an id it gets one, without arguments an empty object.

    Raises:
        BrokenReply: it names no tool.
    """
    if not function.get("name"):
        raise BrokenReply("a tool call names no tool")
    arguments = function.get("arguments")
    if not isinstance(arguments, str):
        arguments = json.dumps({} if arguments is None else arguments, ensure_ascii=False)
    if arguments.strip() in ("", "null"):
        arguments = "{}"
    return FunctionCall(id=call_id or f"call_{at}", name=function["name"], arguments=arguments)


def count(value: Any) -> int | None:
    """A number of tokens; None for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _payload(api: Any, content: str) -> Any:
    text = content.lstrip("\ufeff \r\n\t")
    if text.startswith(("data:", "event:", ":", "id:", "retry:")):
        events = list(_events(text))
        for event in events:
            _raise_error(event)
        return api.gather(events)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BrokenReply(f"the reply is not JSON: {error}") from None


def _events(text: str) -> Iterator[dict[str, Any]]:
    for data in _DATA.findall(text.replace("\r\n", "\n")):
        if data.strip() == "[DONE]":
            return
        try:
            event = json.loads(data)
        except ValueError:
            raise BrokenReply("an event of the stream is not JSON") from None
        if isinstance(event, dict):
            yield event


def _raise_error(payload: Any) -> None:
    """
    Raises:
        BrokenReply: the payload is no object, or holds an error in place of an answer.
    """
    if not isinstance(payload, dict):
        raise BrokenReply(f"the reply is no object but {type(payload).__name__}")
    error = payload.get("error")
    if payload.get("type") == "error":
        error = error or payload
    if not error:
        return
    if not isinstance(error, dict):
        raise BrokenReply(str(error), "server_error")
    code = error.get("code") or error.get("status") or error.get("type") or "server_error"
    raise BrokenReply(str(error.get("message") or error), str(code))
