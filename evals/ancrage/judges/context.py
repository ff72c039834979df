"""The material a judge is shown: the answer and what it is held against."""

import json
from collections.abc import Callable, Iterator
from typing import NamedTuple

from ancrage.citations import QuotedPassage
from ancrage.domain import JsonValue, Message
from ancrage.evaluator import Subject
from ancrage.judges.definition import Context, Definition
from ancrage.tools import tool_calls


class Block(NamedTuple):
    """A titled part of the material; its text is data, whoever wrote it."""

    title: str
    text: str


def material(definition: Definition, subject: Subject) -> list[Block]:
    """The blocks that ``definition`` asks for, the answer last."""
    blocks = [_BLOCKS[each](subject) for each in definition.context]
    return [*blocks, Block("ANSWER", subject.text)]


def verbatim(subject: Subject) -> Iterator[tuple[QuotedPassage, Message]]:
    """The quotes that stand word for word in a message they cite, with that message."""
    source = subject.source
    if source is None:
        return
    for reading in subject.readings:
        verdict = reading.verdict
        if verdict and verdict.passed and verdict.source_id:
            message = source.message(verdict.source_id)
            if message:
                yield reading.quote, message


def _question(subject: Subject) -> Block:
    return Block("QUESTION", subject.case.input.question)


def _history(subject: Subject) -> Block:
    turns = [f"{turn.role}: {turn.shown}" for turn in subject.case.input.history]
    return Block("EARLIER TURNS", "\n".join(turns) or "(none)")


def _study(subject: Subject) -> Block:
    if subject.source is None:
        return Block("STUDY", "(not available)")
    study = subject.source.study
    questions = [f"[{each.ref}] {each.text}" for each in study.questions]
    return Block("STUDY", "\n".join([f"Title: {study.title or study.id}", *questions]))


def _sources(subject: Subject) -> Block:
    if subject.source is None:
        return Block("SOURCES OF THE QUOTES", "(not available)")
    shown: dict[str, str] = {}
    by_respondent: dict[str, list[Message]] = {}
    for message in subject.source.study.messages:
        by_respondent.setdefault(message.respondent_id or message.id, []).append(message)
    for _, message in verbatim(subject):
        thread = by_respondent[message.respondent_id or message.id]
        at = next(place for place, each in enumerate(thread) if each.id == message.id)
        for near in thread[max(0, at - 1) : at + 2]:
            asked = subject.source.question(near.question_ref) if near.question_ref else None
            to = f' to "{asked.text}"' if asked else ""
            shown[near.id] = f"[{near.respondent_id}, {near.id}]{to}: {near.text}"
    return Block("SOURCES OF THE QUOTES", "\n".join(shown.values()) or "(no verbatim quote)")


def _tools(subject: Subject) -> Block:
    lines = []
    for call in tool_calls(subject):
        gave = f"error: {call.error}" if call.error else _written(call.output)
        lines.append(f"{call.name}({_written(call.arguments)}) gave {gave}")
    return Block("TOOL OUTPUTS", "\n".join(lines) or "(no tool was called)")


def _written(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


_BLOCKS: dict[Context, Callable[[Subject], Block]] = {
    "question": _question,
    "history": _history,
    "study": _study,
    "sources": _sources,
    "tools": _tools,
}
