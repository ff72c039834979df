"""Frozen tools: answered by name and canonical arguments, or a miss that is shown."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.domain import JsonValue, ToolCall
from ancrage.replay import FrozenTools, ToolFailed, UnrecordedCall
from tests.replay.assistants import COUNT

RECORDED = (
    ToolCall(name="count_theme", arguments={"theme": "bruit", "question": "Q2"}, output=12),
    ToolCall(name="count_theme", arguments={"theme": "Prix  élevé", "question": "Q1"}, output=3),
    ToolCall(name="count_theme", arguments={"theme": "prix élevé", "question": "Q2"}, output=4),
    ToolCall(name="search", arguments={"query": "été"}, output=["M-1"]),
    ToolCall(name="search", arguments={"query": "été"}, output=["M-2"]),
    ToolCall(name="broken", arguments={}, output=None, error="timeout after 5 s"),
    ToolCall(name="silent", arguments={}, output=""),
)


def frozen(**options: object) -> FrozenTools:
    return FrozenTools(RECORDED, [COUNT], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "arguments",
    [
        {"question": "Q2", "theme": "bruit"},
        {"theme": " bruit ", "question": "Q2", "limit": None},
        {"theme": "bruit", "question": "Q2", "limit": 10},
        {"theme": "bruit", "question": "Q2", "limit": 10.0},
        '{"theme": "bruit",\n "question": "Q2"}',
    ],
)
def test_the_same_call_otherwise_written(arguments: dict[str, JsonValue] | str) -> None:
    tools = frozen()
    assert tools.call("count_theme", arguments) == 12
    assert not tools.near
    assert tools.made[0].output == 12


def test_decomposed_characters_are_the_same_call() -> None:
    assert frozen().call("search", {"query": "e\u0301te\u0301"}) == ["M-1"]


def test_repeated_calls_get_their_outputs_in_turn_and_then_the_last() -> None:
    tools = frozen()
    outputs = [tools.call("search", {"query": "été"}) for _ in range(3)]
    assert outputs == [["M-1"], ["M-2"], ["M-2"]]


def test_a_tool_that_failed_fails_alike_and_one_that_was_silent_is_silent() -> None:
    with pytest.raises(ToolFailed, match="timeout after 5 s"):
        frozen().call("broken", {})
    assert frozen().call("silent", "") == ""


@pytest.mark.parametrize(
    ("name", "arguments", "closest"),
    [
        ("count_theme", {"theme": "bruits", "question": "Q2"}, '"theme": "bruit"'),
        ("count_theme", {"theme": "bruit", "question": "Q2", "limit": 11}, '"theme": "bruit"'),
        ("count_theme", {"theme": "bruit"}, '"theme": "bruit"'),
        ("serach", {"query": "été"}, 'search({"query": "été"})'),
        ("search", '{"query": "ét', "search"),
        ("search", "[1]", "search"),
        ("search", "null", "search"),
    ],
)
def test_a_strict_miss_names_the_call_and_the_closest(
    name: str, arguments: dict[str, JsonValue] | str, closest: str
) -> None:
    tools = frozen(key_arguments={"count_theme": ["theme"], "serach": []})
    with pytest.raises(UnrecordedCall) as caught:
        tools.call(name, arguments)
    words = str(caught.value)
    assert words.startswith(f"never recorded: {name}(")
    assert closest in words.split("closest:")[1].split(";")[0]
    assert tools.misses == [words]
    assert not tools.made


def test_a_case_without_tools_says_so() -> None:
    with pytest.raises(UnrecordedCall, match="no recorded call"):
        FrozenTools(()).call("search", {"query": "x"})


def test_lenient_takes_the_closest_with_the_same_key_arguments_and_says_so() -> None:
    tools = frozen(policy="lenient", key_arguments={"count_theme": ["theme"], "search": []})
    assert tools.call("count_theme", {"theme": "PRIX élevé", "question": "Q2", "limit": 3}) == 4
    assert tools.call("search", {"query": "hiver"}) == ["M-1"]
    assert [near.answered["question"] for near in tools.near if near.name == "count_theme"] == [
        "Q2"
    ]
    assert len(tools.near) == 2
    with pytest.raises(UnrecordedCall):
        tools.call("count_theme", {"theme": "bruits", "question": "Q2"})
    with pytest.raises(UnrecordedCall):
        tools.call("broken", {"now": True})


def test_lenient_prefers_the_exact_call() -> None:
    tools = frozen(policy="lenient", key_arguments={"count_theme": []})
    assert tools.call("count_theme", {"theme": "bruit", "question": "Q2"}) == 12
    assert not tools.near


@pytest.mark.parametrize(
    "arguments",
    [
        '{"theme": "\\ud800"}',
        '{"theme": NaN}',
        '{"theme": 1e999}',
        '{"theme": ' + "[" * 100_000,
        {"theme": "\ud800"},
        {"theme": float("nan")},
        {"theme": {1, 2}},
    ],
)
def test_arguments_that_json_cannot_write_are_a_miss_that_can_be_written(arguments: Any) -> None:
    tools = frozen(policy="lenient", key_arguments={"count_theme": []})
    with pytest.raises(UnrecordedCall, match="not a JSON object") as caught:
        tools.call("count_theme", arguments)
    assert str(caught.value).encode()
    assert len(str(caught.value)) < 1000
    assert not tools.made


def test_a_call_recorded_without_its_output_is_not_answered_with_nothing() -> None:
    call = ToolCall(name="search", arguments={"query": "été"}, output_recorded=False)
    tools = FrozenTools([call])
    with pytest.raises(UnrecordedCall, match="recorded without its output: search"):
        tools.call("search", {"query": "été"})
    assert tools.misses
    assert not tools.made


def test_null_is_something_that_a_tool_can_give() -> None:
    tools = FrozenTools([ToolCall(name="search", arguments={}, output=None)])
    assert tools.call("search", "null") is None
    assert len(tools.made) == 1


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=6,
)


@given(st.dictionaries(st.text(max_size=4), values, max_size=4))
def test_any_recorded_call_is_answered_through_its_json_text(
    arguments: dict[str, JsonValue],
) -> None:
    tools = FrozenTools([ToolCall(name="t", arguments=arguments, output="o")])
    assert tools.call("t", json.dumps(arguments)) == "o"
