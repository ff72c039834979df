"""What the usual frameworks write is read whole: question, answer, history, tool outputs."""

from typing import Any

import pytest

from ancrage.langfuse.shapes import asked, text_of, tool_requests, tool_results

PARTS = [{"type": "text", "text": "Deux "}, {"type": "text", "text": "parties."}]
TOOL_JS = {
    "lc": 1,
    "type": "constructor",
    "id": ["langchain_core", "messages", "ToolMessage"],
    "kwargs": {"content": '[{"id": "M-1"}]', "tool_call_id": "call_1", "name": "search"},
}


def lc(kind: str, content: Any, **more: Any) -> dict[str, Any]:
    """A message as LangChain for JavaScript writes it."""
    path = ["langchain_core", "messages", kind]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": content, **more}}


@pytest.mark.parametrize(
    ("returned", "expected"),
    [
        ({"role": "assistant", "content": PARTS}, "Deux parties."),
        (PARTS, "Deux parties."),
        ([{"role": "user", "content": "?"}, {"role": "assistant", "content": PARTS}],) * 1
        + ("Deux parties.",),
        ({"messages": [lc("HumanMessage", "?"), lc("AIMessage", PARTS)]}, "Deux parties."),
        ({"choices": [{"message": {"role": "assistant", "content": PARTS}}]}, "Deux parties."),
        (
            {
                "output": [
                    {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]},
                    {
                        "type": "message",
                        "role": "assistant",
                        "content": [
                            {"type": "output_text", "text": "Deux "},
                            {"type": "output_text", "text": "parties."},
                        ],
                    },
                ]
            },
            "Deux parties.",
        ),
        (
            {
                "message": {
                    "role": "assistant",
                    "blocks": [
                        {"block_type": "text", "text": "Deux "},
                        {"block_type": "text", "text": "parties."},
                    ],
                },
                "raw": {},
            },
            "Deux parties.",
        ),
        ({"response": "Deux parties.", "source_nodes": [{"text": "autre"}]}, "Deux parties."),
        (
            {
                "candidates": [
                    {
                        "content": {
                            "role": "model",
                            "parts": [
                                {"text": "je pense", "thought": True},
                                {"text": "Deux "},
                                {"text": "parties."},
                            ],
                        },
                        "finishReason": "STOP",
                    }
                ]
            },
            "Deux parties.",
        ),
        ({"predictions": [{"content": "Deux parties."}]}, "Deux parties."),
        (
            {
                "content": {"role": "model", "parts": [{"text": "Deux "}, {"text": "parties."}]},
                "author": "agent",
                "invocation_id": "e-1",
            },
            "Deux parties.",
        ),
    ],
)
def test_an_answer_is_read_whole(returned: Any, expected: str) -> None:
    assert text_of(returned) == expected


@pytest.mark.parametrize(
    ("given", "system"),
    [
        ({"messages": [lc("SystemMessage", "Cite."), lc("HumanMessage", "Pourquoi ?")]}, "Cite."),
        ({"messages": [[lc("SystemMessage", "Cite."), lc("HumanMessage", "Pourquoi ?")]]}, "Cite."),
        (
            [
                {"role": "MessageRole.SYSTEM", "blocks": [{"block_type": "text", "text": "Cite."}]},
                {
                    "role": "MessageRole.USER",
                    "blocks": [{"block_type": "text", "text": "Pourquoi ?"}],
                },
            ],
            "Cite.",
        ),
        ({"args": [], "kwargs": {"query_bundle": None, "str_or_query_bundle": "?"}}, None),
        ({"query_str": "Pourquoi ?"}, None),
        (
            {
                "contents": [{"role": "user", "parts": [{"text": "Pourquoi ?"}]}],
                "systemInstruction": {"parts": [{"text": "Cite."}]},
            },
            "Cite.",
        ),
        (
            {"contents": "Pourquoi ?", "config": {"system_instruction": "Cite."}},
            "Cite.",
        ),
        ({"instances": [{"prompt": "Pourquoi ?"}]}, None),
        (
            {"user_id": "u", "new_message": {"role": "user", "parts": [{"text": "Pourquoi ?"}]}},
            None,
        ),
        ({"role": "user", "content": [{"type": "text", "text": "Pourquoi ?"}]}, None),
    ],
)
def test_a_question_is_found(given: Any, system: str | None) -> None:
    question, prompt, _ = asked(given)
    if "kwargs" in given and isinstance(given, dict):
        assert question is None  # No name that convention knows: a path has to be configured.
    else:
        assert (question, prompt) == ("Pourquoi ?", system)


def test_earlier_turns_are_history() -> None:
    turns = [
        {"role": "user", "parts": [{"text": "Qui ?"}]},
        {"role": "model", "parts": [{"text": "Elle."}]},
        {"role": "user", "parts": [{"text": "Pourquoi ?"}]},
    ]
    question, _, history = asked({"contents": turns})
    assert question == "Pourquoi ?"
    assert history == [
        {"role": "user", "content": "Qui ?"},
        {"role": "assistant", "content": "Elle."},
    ]


@pytest.mark.parametrize(
    "said",
    [
        TOOL_JS,
        {"messages": [lc("HumanMessage", "?"), TOOL_JS]},
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "call_1", "content": '[{"id": "M-1"}]'}
            ],
        },
        [{"type": "function_call_output", "call_id": "call_1", "output": '[{"id": "M-1"}]'}],
        {
            "contents": [
                {
                    "role": "user",
                    "parts": [
                        {
                            "functionResponse": {
                                "id": "call_1",
                                "name": "search",
                                "response": [{"id": "M-1"}],
                            }
                        }
                    ],
                }
            ]
        },
    ],
)
def test_tool_outputs_are_read_out_of_conversations(said: Any) -> None:
    (result,) = tool_results(said)
    assert result["call_id"] == "call_1"
    assert result["output"] == [{"id": "M-1"}]


@pytest.mark.parametrize(
    "said",
    [
        lc("AIMessage", "", tool_calls=[{"id": "call_1", "name": "search", "args": {"n": 1}}]),
        {
            "role": "assistant",
            "tool_calls": [
                {"id": "call_1", "function": {"name": "search", "arguments": '{"n": 1}'}}
            ],
        },
        {
            "role": "assistant",
            "content": [{"type": "tool_use", "id": "call_1", "name": "search", "input": {"n": 1}}],
        },
        {
            "candidates": [
                {
                    "content": {
                        "parts": [
                            {"functionCall": {"id": "call_1", "name": "search", "args": {"n": 1}}}
                        ]
                    }
                }
            ]
        },
    ],
)
def test_requests_of_tools_are_read(said: Any) -> None:
    assert tool_requests(said) == [{"call_id": "call_1", "name": "search", "arguments": {"n": 1}}]
