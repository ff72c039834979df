"""History goes out as production sent it: both APIs, other frameworks' words, nothing invented."""

import json
from pathlib import Path
from typing import Any

import pytest

from ancrage.domain import Case, CaseInput, OutputState, Provenance, Turn
from ancrage.llm import LLM, Tier
from ancrage.llm.recorded import sent_and_echoed
from ancrage.replay import Replay, Settings, ToolCallingAgent
from ancrage.replay.history import messages_of
from tests.servers.openai_server import OpenAIServer, Say

CALL = {"id": "c1", "type": "function", "function": {"name": "count", "arguments": '{"a": 1}'}}
CHAT: list[dict[str, Any]] = [
    {"role": "user", "content": [{"type": "text", "text": "Bonjour"}]},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "3"},
    {"role": "assistant", "content": "Trois."},
]
ITEMS: list[dict[str, Any]] = [
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Bonjour"}]},
    {"type": "reasoning", "id": "rs", "summary": []},
    {"type": "function_call", "call_id": "c1", "name": "count", "arguments": '{"a": 1}'},
    {"type": "function_call", "call_id": "c2", "name": "count", "arguments": '{"a": 2}'},
    {"type": "function_call_output", "call_id": "c1", "output": "3"},
    {"type": "function_call_output", "call_id": "c2", "output": "4"},
    {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Sept."}]},
]
LANGCHAIN: list[dict[str, Any]] = [
    {"type": "human", "content": "Bonjour"},
    {"type": "ai", "content": "", "tool_calls": [{"name": "count", "args": {"a": 1}, "id": "c1"}]},
    {"type": "tool", "tool_call_id": "c1", "content": "3"},
    {"type": "ai", "content": "Trois."},
]
GENAI: list[dict[str, Any]] = [
    {"role": "user", "parts": [{"type": "text", "content": "Bonjour"}]},
    {
        "role": "assistant",
        "parts": [{"type": "tool_call", "id": "c1", "name": "count", "arguments": {"a": 1}}],
    },
    {"role": "tool", "parts": [{"type": "tool_call_response", "id": "c1", "result": "3"}]},
    {"role": "assistant", "parts": [{"type": "text", "content": "Trois."}]},
]


def turns(messages: list[dict[str, Any]]) -> tuple[Turn, ...]:
    """As a snapshot keeps them: written to disk and read back."""
    made = [Turn.of(message) for message in messages]
    return tuple(Turn.model_validate_json(turn.model_dump_json()) for turn in made)


def shape(messages: list[dict[str, Any]]) -> list[Any]:
    """What a server is told, without ids of our making."""
    found: list[Any] = []
    for message in messages:
        calls = [
            (call["id"], call["function"]["name"], json.loads(call["function"]["arguments"]))
            for call in message.get("tool_calls") or ()
        ]
        content = message.get("content")
        text = content if not isinstance(content, list) else content[0]["text"]
        found.append((message["role"], text or "", calls or message.get("tool_call_id")))
    return found


ONE_CALL = [
    ("user", "Bonjour", None),
    ("assistant", "", [("c1", "count", {"a": 1})]),
    ("tool", "3", "c1"),
    ("assistant", "Trois.", None),
]


@pytest.mark.parametrize("messages", [CHAT, LANGCHAIN, GENAI], ids=["chat", "langchain", "genai"])
def test_calls_and_their_results_go_out_as_they_were(messages: list[dict[str, Any]]) -> None:
    sent, put_otherwise = messages_of(turns(messages), "chat")
    assert shape(sent) == ONE_CALL
    assert put_otherwise == 0


def test_chat_messages_are_sent_to_the_letter() -> None:
    assert messages_of(turns(CHAT), "chat")[0] == CHAT


def test_items_go_out_as_items_and_otherwise_as_the_messages_that_say_the_same() -> None:
    assert messages_of(turns(ITEMS), "responses")[0] == ITEMS
    sent, put_otherwise = messages_of(turns(ITEMS), "chat")
    assert put_otherwise == 0
    assert shape(sent) == [
        ("user", "Bonjour", None),
        ("assistant", "", [("c1", "count", {"a": 1}), ("c2", "count", {"a": 2})]),
        ("tool", "3", "c1"),
        ("tool", "4", "c2"),
        ("assistant", "Sept.", None),
    ]


def test_a_result_without_its_call_is_counted() -> None:
    sent, put_otherwise = messages_of(turns([{"role": "tool", "content": "3"}]), "chat")
    assert put_otherwise == 1
    assert [message["role"] for message in sent] == ["assistant", "tool"]


@pytest.mark.parametrize("api", ["chat", "responses"])
@pytest.mark.parametrize("messages", [CHAT, ITEMS], ids=["chat", "items"])
async def test_the_server_gets_them(api: str, messages: list[dict[str, Any]]) -> None:
    case = Case(
        id="c",
        input=CaseInput(question="Et alors ?", history=turns(messages)),
        provenance=Provenance(source="t"),
    )
    with OpenAIServer([Say("Oui.")]) as server:
        tier = Tier.model_validate({"model": "m", "endpoint": server.url, "api": api})
        settings = Settings(tier="t", model="m", endpoint=server.url, api=api)
        async with LLM({}) as llm:
            agent = ToolCallingAgent("a", prompt=lambda _: "")
            output = await Replay(agent, llm, tier, settings)(case)
    assert output.state is OutputState.OK
    (call,) = server.calls
    assert call.tool_results == (["3"] if messages is CHAT else ["3", "4"])
    assert "c1" in json.dumps(call.body)
    assert "earlier_tool" not in json.dumps(call.body)


def test_rows_of_every_shape_become_cases(tmp_path: Path) -> None:
    from ancrage.snapshot.sources.mapping import AnswerFields, to_case

    for messages in (CHAT, ITEMS, LANGCHAIN, GENAI):
        row = {"id": "c", "question": "Et alors ?", "answer": "Oui.", "history": messages}
        case = to_case(row, AnswerFields(), source="t")
        assert len(case.input.history) == len(messages)
        assert case.input.history[0].content == "Bonjour"


@pytest.mark.parametrize(
    ("recorded", "sent"),
    [
        ({"temperature": 0.2}, {"temperature": 0.2}),
        ({"id": "r", "created_at": 1, "temperature": 1.0, "service_tier": "default"}, {}),
        ({"object": "response", "temperature": 1.0}, {}),
        (
            {"request": {"temperature": 0.3}, "response": {"temperature": 1.0, "top_p": 1.0}},
            {"temperature": 0.3},
        ),
        (
            {"temperature": 1, "max_tokens": "inf", "top_p": 0.9, "frequency_penalty": 0},
            {"top_p": 0.9},
        ),
    ],
)
def test_only_what_was_sent_is_productions(recorded: dict[str, Any], sent: dict[str, Any]) -> None:
    found, echoed = sent_and_echoed(recorded)
    assert found == sent
    assert not found.keys() & echoed.keys()
