"""Faults of the world that a replay meets: each changes what was recorded, or who answers."""

import json
import sqlite3
import unicodedata
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ancrage.domain import Case, OutputState, ToolCall
from ancrage.llm import Budget, Tier
from ancrage.prove.production import Production
from ancrage.replay.assistant import Assistant, Conversation, Reply
from ancrage.replay.plan import prompt_hash

Change = Callable[["World"], "World"]


@dataclass(frozen=True)
class World:
    """All that a replay meets."""

    cases: tuple[Case, ...]
    production: Production
    tier: Tier
    budget: Budget = field(default_factory=Budget)
    tamper: Callable[[Path], None] = lambda _: None
    """What is done to the snapshot's folder once it was taken."""
    assistant: Callable[[Assistant], Any] = lambda assistant: assistant
    cache: Callable[[Path], None] | None = None
    """What is done to the cache between two replays; None for one replay without a cache."""

    def each(self, change: Callable[[Case], Case]) -> "World":
        """The world with every case changed."""
        return replace(self, cases=tuple(map(change, self.cases)))


@dataclass(frozen=True)
class WorldFault:
    """One way in which the world can differ from what was recorded."""

    name: str
    definition: str
    sign: str
    """What the run must say of it, see ``Outcome``; empty where nothing is to be said."""
    change: Change
    applies: Callable[[Case], bool] = lambda _: True
    claimed: bool = True
    """Whether a run says that it sees this."""


def _input(change: Callable[[Case], dict[str, Any]]) -> Change:
    """Another input in the place of each case's."""
    return lambda world: world.each(
        lambda case: case.model_copy(update={"input": case.input.model_copy(update=change(case))})
    )


def _calls(change: Callable[[ToolCall], ToolCall]) -> Change:
    return _input(lambda case: {"tool_calls": tuple(map(change, case.input.tool_calls))})


def _arguments(change: Callable[[dict[str, Any]], dict[str, Any]]) -> Change:
    return _calls(lambda call: call.model_copy(update={"arguments": change(call.arguments)}))


def with_prompt(case: Case, prompt: str) -> Case:
    """The case as if production had sent ``prompt``."""
    update = {"system_prompt": prompt, "system_prompt_hash": prompt_hash(prompt)}
    return case.model_copy(update={"input": case.input.model_copy(update=update)})


def _lost(call: ToolCall) -> ToolCall:
    return call.model_copy(update={"output_recorded": False, "output": None})


def _tamper(change: Callable[[dict[str, Any]], None]) -> Change:
    """The lines of the snapshot's cases, edited by hand."""

    def tamper(folder: Path) -> None:
        path = folder / "cases.jsonl"
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        for row in rows:
            change(row["input"])
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")

    return lambda world: replace(world, tamper=tamper)


def _swap(given: dict[str, Any]) -> None:
    outputs = [call["output"] for call in given["tool_calls"]]
    for call, output in zip(given["tool_calls"], outputs[1:] + outputs[:1], strict=True):
        call["output"] = output


def _acting(**how: Any) -> Change:
    """An endpoint that acts otherwise than production's."""
    return lambda world: replace(world, production=replace(world.production, **how))


def _otherwise(arguments: dict[str, Any]) -> dict[str, Any]:
    """The same arguments in another order and another writing."""
    written = {
        key: unicodedata.normalize("NFD", f" {value} ") if isinstance(value, str) else value
        for key, value in reversed(arguments.items())
    }
    return {**written, "unused": None}


@dataclass
class _Forgetful:
    """The assistant, which sends no history."""

    inner: Assistant

    def __getattr__(self, name: str) -> object:
        return getattr(self.inner, name)

    async def answer(self, conversation: Conversation) -> Reply:
        return await self.inner.answer(replace(conversation, history=()))


def _exchange_replies(path: Path) -> None:
    """Every reply in the cache under the key of another request."""
    with closing(sqlite3.connect(path)) as db, db:
        rows = db.execute("SELECT key, answer FROM answers ORDER BY key").fetchall()
        moved = rows[1:] + rows[:1]
        pairs = [(answer, key) for (key, _), (_, answer) in zip(rows, moved, strict=True)]
        db.executemany("UPDATE answers SET answer = ? WHERE key = ?", pairs)


def _tools(case: Case) -> bool:
    return any(call.output_recorded and call.error is None for call in case.input.tool_calls)


def _two_outputs(case: Case) -> bool:
    return len({json.dumps(call.output) for call in case.input.tool_calls}) > 1


def _history(case: Case) -> bool:
    return bool(case.input.history)


def _parameters(case: Case) -> bool:
    return bool(case.provenance.parameters)


def _unrecorded(world: World) -> World:
    return world.each(
        lambda case: case.model_copy(
            update={"provenance": case.provenance.model_copy(update={"parameters": {}})}
        )
    )


def _drop(world: World) -> World:
    sent = tuple(sorted({name for case in world.cases for name in case.provenance.parameters}))
    return replace(world, tier=world.tier.model_copy(update={"drop": sent}))


def _refuse(world: World) -> World:
    names = {name for case in world.cases for name in case.provenance.parameters}
    names |= {"max_completion_tokens"} if "max_output_tokens" in names else set()
    names |= {"reasoning"} if "reasoning_effort" in names else set()
    return _acting(refuses=frozenset(names))(world)


LEFT = f"state: {OutputState.UNRECORDED_TOOL_CALL}"

FAULTS: tuple[WorldFault, ...] = (
    WorldFault("tool_output_missing", "A tool's output was not kept.", LEFT, _calls(_lost), _tools),
    WorldFault("tool_call_missing", "The calls of tools were not recorded.", LEFT,
        _input(lambda _: {"tool_calls": ()}), _tools),
    WorldFault("tool_renamed", "A tool was recorded under another name than it is called by.",
        LEFT, _calls(lambda call: call.model_copy(update={"name": f"{call.name}_v1"})), _tools),
    WorldFault("tool_argument_changed", "A tool was asked for something else.", LEFT,
        _arguments(lambda given: {**given, "query": "something else entirely"}), _tools),
    WorldFault("tool_outputs_swapped", "Outputs of two calls exchanged in the snapshot's file.",
        "refused: snapshot", _tamper(_swap), _two_outputs),
    WorldFault("history_cut", "Earlier turns taken out of the snapshot's file.",
        "refused: snapshot", _tamper(lambda row: row.update(history=[])), _history),
    WorldFault("history_not_sent", "The assistant no longer sends earlier turns.",
        "report: History", lambda world: replace(world, assistant=_Forgetful), _history, False),
    WorldFault("prompt_drifted", "The code renders another prompt than production sent.",
        "report: Prompt", lambda world: world.each(
            lambda case: with_prompt(case, f"{case.input.system_prompt}\nA line that is gone."))),
    WorldFault("parameter_refused", "The endpoint takes a parameter no longer.",
        "refused: preflight", _refuse, _parameters),
    WorldFault("parameter_dropped", "A parameter of production is not sent.",
        "report: Dropped", _drop, _parameters),
    WorldFault("parameters_unrecorded", "What production sent was not kept.",
        "report: Parameters", _unrecorded, _parameters),
    WorldFault("model_echoed_another", "The endpoint answers with another model.",
        "report: Model", _acting(model="another-model")),
    WorldFault("answer_truncated", "The endpoint stops at its limit.",
        f"state: {OutputState.TRUNCATED}", _acting(answer="On dit", finish="length")),
    WorldFault("answer_empty", "The endpoint answers nothing.",
        f"state: {OutputState.EMPTY}", _acting(answer="")),
    WorldFault("answer_withheld", "The endpoint's filter withholds the answer.",
        f"state: {OutputState.REFUSED}", _acting(answer="", finish="content_filter")),
    WorldFault("endpoint_down", "The endpoint fails.", "refused: preflight", _acting(status=500)),
    WorldFault("budget_spent", "The budget allows no call.", f"state: {OutputState.OVER_BUDGET}",
        lambda world: replace(world, budget=Budget(tokens=0))),
    WorldFault("cached_reply", "The answers are those of an earlier replay.", "report: Spent",
        lambda world: replace(world, cache=lambda _: None)),
    WorldFault("cached_reply_of_another", "Replies in the cache exchanged between requests.",
        "asked again", lambda world: replace(world, cache=_exchange_replies)),
    WorldFault("calls_in_another_order", "The tools were called in another order.", "",
        _input(lambda case: {"tool_calls": case.input.tool_calls[::-1]}), _two_outputs),
    WorldFault("arguments_written_otherwise", "Keys in another order, accents decomposed, blanks, "
        "a null.", "", _arguments(_otherwise), _tools),
)  # fmt: skip
