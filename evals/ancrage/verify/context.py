"""What claims are held against: texts given once, or found for each run at scoring time."""

import asyncio
import inspect
import uuid
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import ParamSpec, TypeVar, cast

from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    JsonValue,
    Output,
    OutputState,
    Passage,
    Provenance,
    ToolCall,
)
from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.quotes import find_passage
from ancrage.tools import tool_calls, tool_text
from ancrage.verify.model import ContextItem, Evidence

P = ParamSpec("P")
T = TypeVar("T")

Texts = Iterable[str | ContextItem]
GetContext = Callable[[Subject], Texts | Awaitable[Texts]]
"""Finds the context of a run, given its case and output; async, or called in a thread."""


def make_run(
    question: str,
    output: str | Answer | Output | None,
    *,
    id: str | None = None,
    tool_calls: Sequence[ToolCall] = (),
    metadata: dict[str, JsonValue] | None = None,
) -> Subject:
    """A run to score, from a question and what was answered; without ``id`` it gets a new one."""
    identifier = id or (output.case_id if isinstance(output, Output) else uuid.uuid4().hex)
    case = Case(
        id=identifier,
        input=CaseInput(question=question),
        provenance=Provenance(source="run"),
        metadata=metadata or {},
    )
    return Subject(case, output_of(identifier, output, tool_calls), None)


def output_of(
    case_id: str, answer: str | Answer | Output | None, tool_calls: Sequence[ToolCall] = ()
) -> Output:
    """``answer`` as an output, with the state that its text gives it."""
    if isinstance(answer, Output):
        return answer
    if answer is None:
        state, reason = OutputState.MISSING, "no answer was given"
    else:
        answer = Answer(text=answer) if isinstance(answer, str) else answer
        blank = not answer.text.strip()
        state, reason = (
            (OutputState.EMPTY, "the answer is empty") if blank else (OutputState.OK, "")
        )
    return Output(
        case_id=case_id,
        state=state,
        answer=answer,
        reason=reason or None,
        tool_calls=tuple(tool_calls),
    )


def items(texts: Texts) -> tuple[ContextItem, ...]:
    """``texts`` as context; blank ones are left out, since nothing can be held against them.

    Raises:
        UsageError: a text is neither a string nor a ``ContextItem``, or ``texts`` is one string.
    """
    if isinstance(texts, str | bytes):
        raise UsageError("context must be a list of texts, not one text")
    found = []
    for text in texts:
        if not isinstance(text, str | ContextItem):
            raise UsageError(f"context holds a {type(text).__name__}; give texts")
        item = ContextItem(text=text) if isinstance(text, str) else text
        if item.text.strip():
            found.append(item)
    return tuple(found)


async def resolve(get_context: GetContext, run: Subject) -> tuple[ContextItem, ...]:
    """What ``get_context`` finds for ``run``."""
    return items(await called(get_context, run) or ())


async def called(function: Callable[P, T | Awaitable[T]], *args: P.args, **kwargs: P.kwargs) -> T:
    """What a function gives, async or not; one that is not runs in a thread and holds up nobody."""
    own = getattr(function, "__call__", function)  # noqa: B004  an object can be a function too
    if inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(own):
        return await cast("Awaitable[T]", function(*args, **kwargs))
    found = await asyncio.to_thread(function, *args, **kwargs)
    return await found if inspect.isawaitable(found) else found


def tool_context(run: Subject) -> list[ContextItem]:
    """The results of the tools called in a run, one item a call; failed calls gave none.

    JSON becomes lines of ``key: value``; what was asked is what the result is about. The calls
    are the output's own, else the case's.
    """
    return [
        ContextItem(text=text, id=f"{call.name} #{number}", about=_asked(call))
        for number, call in enumerate(tool_calls(run), start=1)
        if call.error is None and (text := tool_text(call.output)).strip()
    ]


def _asked(call: ToolCall) -> str:
    given = ", ".join(f"{name} {value}" for name, value in call.arguments.items())
    return f"{call.name.replace('_', ' ')} {given}".strip()


def anchored_context(run: Subject) -> list[ContextItem]:
    """What an answer of an experiment is anchored in: tool results and the messages it cites."""
    cited: dict[str, str] = {}
    for citation in run.citations.citations:
        for token in citation.messages:
            message = run.source.message(token.text) if run.source else None
            if message:
                cited[message.id] = message.text
    return [*tool_context(run), *(ContextItem(text=text, id=name) for name, text in cited.items())]


def recorded_context(run: Subject) -> list[str]:
    """The texts under ``context`` in the case's metadata.

    Raises:
        UsageError: what is there is not a list of texts.
    """
    texts = run.case.metadata.get("context") or []
    texts = [texts] if isinstance(texts, str) else texts
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise UsageError(f"case {run.case.id}: context must be a list of texts")
    return [str(text) for text in texts]


def locate(passage: str, context: Sequence[ContextItem]) -> Evidence | None:
    """Where ``passage`` stands word for word in the context, or None."""
    for number, item in enumerate(context):
        if match := find_passage(passage, item.text):
            return Evidence(
                item=number,
                source_id=item.id,
                passage=Passage.of(item.text, match.start, match.end),
                tier=match.tier,
            )
    return None
