"""Production traces become cases: four real frameworks, paging, filters, sampling, faults."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ancrage.config import load
from ancrage.domain import Case, OutputState
from ancrage.errors import ExitCode, UsageError
from ancrage.langfuse.connection import LangfuseError
from ancrage.langfuse.shapes import text_of, value_of
from ancrage.langfuse.source import LangfuseSource, sampled
from ancrage.langfuse.trace import Trace, to_row
from ancrage.runs import recorded
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources import Window, open_source
from ancrage.snapshot.sources.tools import NO_ROWS
from tests.servers.langfuse_server import LangfuseServer

START = datetime(2026, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def traces(server: LangfuseServer, shared: Path) -> None:
    for path in sorted((shared / "data" / "langfuse-traces").glob("*.json")):
        server.add_trace(json.loads(path.read_text(encoding="utf-8")))


def read(window: Window | None = None, **options: Any) -> list[Case | Reject]:
    source = LangfuseSource("langfuse", options, Path())
    try:
        return list(source.cases(window or Window()))
    finally:
        source.close()


def cases(**options: Any) -> list[Case]:
    found = read(**options)
    assert not [each for each in found if isinstance(each, Reject)]
    return [each for each in found if isinstance(each, Case)]


def add(server: LangfuseServer, number: int, **changes: Any) -> str:
    """A small trace, ``number`` minutes after the start."""
    trace_id = f"{number:032x}"
    root = {
        "id": f"{number:016x}",
        "traceId": trace_id,
        "type": "SPAN",
        "name": "assistant",
        "startTime": (START + timedelta(minutes=number)).isoformat().replace("+00:00", "Z"),
        "endTime": (START + timedelta(minutes=number, seconds=2)).isoformat(),
        "environment": "default",
        "level": "DEFAULT",
        "input": {"question": f"Question {number}?"},
        "output": {"answer": f"Answer {number}."},
        "metadata": {},
        "updatedAt": "2026-05-01T12:00:00.000Z",
        **changes,
    }
    server.add_trace({"trace": {"name": "chat"}, "observations": [root]})
    return trace_id


@pytest.mark.usefixtures("traces")
def test_real_traces_give_usable_cases_with_the_default_mapping() -> None:
    found = {case.id: case for case in cases()}
    assert len(found) == 4
    by_model = {case.provenance.model: case for case in found.values()}
    assert set(by_model) == {
        "claude-sonnet-4-5-20250929",
        "gpt-4o-2024-08-06",
        "gpt-4.1-2025-04-14",
        "gpt-4o-mini-2024-07-18",
    }

    claude = by_model["claude-sonnet-4-5-20250929"]
    assert claude.input.question == "What's the weather like in Berlin and New York?"
    assert claude.input.system_prompt is not None
    assert claude.input.system_prompt.startswith("You are a friendly travel assistant")
    assert claude.output is not None
    assert claude.output.text.startswith("Great! Here's the current weather for both cities")
    assert [(call.name, call.arguments) for call in claude.input.tool_calls] == [
        ("mcp__weather__get_weather", {"city": "Berlin"}),
        ("mcp__weather__get_weather", {"city": "New York"}),
    ]

    langgraph = by_model["gpt-4o-2024-08-06"]
    assert langgraph.input.question == "Search the web for 'example' and summarize."
    assert langgraph.output is not None
    assert langgraph.output.text.startswith('The search for "example" primarily leads')
    (call,) = langgraph.input.tool_calls
    assert (call.name, call.arguments) == ("Web-Search", {"query": "example"})
    assert call.call_id == "call_1oGK863sxQHlPreFhDdEs3yl"
    assert call.output == [
        {"url": "https://example.com", "title": "Example Result", "q": "example"}
    ]
    assert langgraph.provenance.parameters == {"temperature": 0}

    agents = by_model["gpt-4.1-2025-04-14"]
    assert agents.input.question == "What's the weather in Tokyo?"
    assert agents.input.system_prompt == "You are a helpful agent."
    assert agents.output is not None
    assert agents.output.text.startswith("The weather in Tokyo is currently sunny.")
    assert [call.output for call in agents.input.tool_calls] == ["The weather in Tokyo is sunny."]
    assert agents.provenance.parameters == {}, "nothing of the request is in the trace"
    assert agents.provenance.echoed["temperature"] == 1
    assert "instructions" not in agents.provenance.echoed

    jokes = by_model["gpt-4o-mini-2024-07-18"]
    assert jokes.input.question == "programming"
    assert jokes.output is not None
    assert jokes.output.text == "Why do programmers hate nature?  \nIt has too many bugs!"
    assert {call.name for call in jokes.input.tool_calls} == {
        "get_pun_suggestion",
        "get_dad_joke_suggestion",
        "get_one_liner_suggestion",
    }
    for case in found.values():
        assert case.state is OutputState.OK
        assert case.provenance.trace_id == case.id
        assert case.output is not None
        assert case.output.usage is not None
        assert case.output.usage.input_tokens


@pytest.mark.usefixtures("traces")
def test_a_configured_path_wins_over_convention() -> None:
    fields = {"answer": "output.joke", "metadata": {"quality": "output.evaluation.quality"}}
    found = cases(name="run_joke_generator", fields=fields)
    assert [case.metadata for case in found] == [{"environment": "default", "quality": "good"}]


def test_pages_duplicates_and_updates_are_one_case_each(server: LangfuseServer) -> None:
    for number in range(250):
        add(server, number)
    found = cases(children=False)
    assert [case.id for case in found] == [f"{n:032x}" for n in reversed(range(250))]
    assert [status for _, path, status in server.requests if path == "/v2/observations"] == [
        200
    ] * 3


def test_window_environment_name_and_metadata(server: LangfuseServer) -> None:
    add(server, 1)
    add(server, 2, environment="staging", metadata={"tenant": "a"})
    add(server, 3, environment="sdk-experiment")
    add(server, 4, environment="langfuse-evaluator")
    add(server, 5, name="other")

    def numbers(window: Window | None = None, **options: Any) -> list[int]:
        found = read(window, children=False, **options)
        return sorted(int(case.id or "", 16) for case in found)

    assert numbers() == [1, 2, 5]
    assert numbers(environment=["staging"]) == [2]
    assert numbers(environment=["sdk-experiment"]) == [3]
    assert numbers(name="other") == [5]
    assert numbers(metadata={"tenant": "a"}) == [2]
    window = Window(START + timedelta(minutes=2), START + timedelta(minutes=5))
    assert numbers(window) == [2]
    condition = {"type": "string", "column": "output", "operator": "matches", "value": "answer 5"}
    assert numbers(filter=[condition]) == [5]


def test_the_sample_is_the_same_every_time(server: LangfuseServer) -> None:
    for number in range(200):
        add(server, number)
    half = {case.id for case in cases(children=False, sample=0.5)}
    assert 70 < len(half) < 130
    assert {case.id for case in cases(children=False, sample=0.5)} == half
    assert {case.id for case in cases(children=False, sample=0.8)} > half
    assert all(sampled(each, 1.0) for each in half)


def test_long_metadata_is_read_whole_where_the_mapping_needs_it(server: LangfuseServer) -> None:
    add(server, 1, metadata={"study_id": "s" * 300, "note": "n" * 300, "rest": "r" * 300})
    (case,) = cases(children=False, fields={"metadata": {"n": "metadata.note", "r": "rest"}})
    assert case.study_id == "s" * 300
    assert case.metadata["n"] == "n" * 300


def test_what_is_no_case_is_rejected_with_its_reason(server: LangfuseServer) -> None:
    add(server, 1, input=None)
    add(server, 2, output=None)
    add(server, 3, input={"question": 7})
    found = {each.id: each for each in read()}
    first, third = found[f"{1:032x}"], found[f"{3:032x}"]
    assert isinstance(first, Reject)
    assert isinstance(third, Reject)
    assert (first.field, first.error) == ("question", "missing")
    silent = found[f"{2:032x}"]
    assert isinstance(silent, Case)
    assert silent.state is OutputState.MISSING


def test_rate_limits_are_waited_for_and_failures_are_one_line(server: LangfuseServer) -> None:
    add(server, 1)
    server.fail("/v2/observations", 429, times=2, headers={"Retry-After": "0"})
    assert len(cases()) == 1
    server.fail("/v2/observations", 401)
    with pytest.raises(LangfuseError, match="401"):
        cases()


def only_long(trace: Trace) -> Case | None:
    """A mapper of a user."""
    row = to_row(trace)
    if len(row["question"]) < 12:
        return None
    return Case.model_validate(
        {"id": row["id"], "input": {"question": row["question"]}, "provenance": {"source": "x"}}
    )


def test_a_mapper_can_do_what_paths_cannot(server: LangfuseServer) -> None:
    add(server, 1)
    add(server, 100, input="a longer question")
    found = cases(mapper="tests.langfuse.test_source:only_long")
    assert [case.input.question for case in found] == ["a longer question"]
    with pytest.raises(UsageError, match="mapper"):
        cases(mapper="tests.langfuse.test_source:nothing")
    with pytest.raises(UsageError, match=r"\[sources.langfuse\] sample"):
        cases(sample=2)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("plain", "plain"),
        ({"answer": "a"}, "a"),
        ({"choices": [{"message": {"role": "assistant", "content": "b"}}]}, "b"),
        (
            {
                "output": [
                    {"type": "reasoning"},
                    {"role": "assistant", "content": [{"type": "output_text", "text": "c"}]},
                ]
            },
            "c",
        ),
        ([{"role": "user", "content": "no"}, {"role": "assistant", "content": "d"}], "d"),
        (
            {
                "role": "assistant",
                "content": [{"type": "thinking", "text": "no"}, {"type": "text", "text": "e"}],
            },
            "e",
        ),
        ({"messages": [{"type": "human", "content": "q"}, {"type": "ai", "content": "f"}]}, "f"),
        ({"joke": "unknown"}, None),
        (None, None),
        (7, None),
    ],
)
def test_text_is_found_in_every_usual_shape(value: Any, text: str | None) -> None:
    assert text_of(value) == text


@pytest.mark.parametrize(
    ("raw", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('"{\\"a\\": 1}"', {"a": 1}),
        ("{'a': 1}", {"a": 1}),
        ("[broken", "[broken"),
        ("4", "4"),
        ("« 'quoted' »", "« 'quoted' »"),
        ("'quoted' text", "'quoted' text"),
        (None, None),
    ],
)
def test_values_written_as_text_come_back(raw: Any, value: Any) -> None:
    assert value_of(raw) == value


@pytest.fixture(autouse=True)
def _few_attempts(server: LangfuseServer) -> None:
    Path("evals.toml").write_text("[langfuse]\nattempts = 4\n", encoding="utf-8")


async def test_a_failed_root_keeps_its_message_and_is_failed(server: LangfuseServer) -> None:
    add(server, 1, level="ERROR", statusMessage="rate limit of the model", output=None)
    add(server, 2, level="ERROR", statusMessage="cut off", output="Half an")
    half, failed = cases()
    assert (failed.state, failed.metadata["error"]) == (
        OutputState.FAILED,
        "rate limit of the model",
    )
    assert failed.output is None
    output = await recorded(failed)
    assert output.reason == "recorded as failed in the snapshot: rate limit of the model"
    assert (half.state, half.output and half.output.text) == (OutputState.FAILED, "Half an")


def test_langgraph_js_tools_are_read_once(server: LangfuseServer) -> None:
    def lc(kind: str, **kwargs: Any) -> dict[str, Any]:
        return {"lc": 1, "type": "constructor", "id": ["messages", kind], "kwargs": kwargs}

    asked = lc("HumanMessage", content="Quoi ?")
    called = lc(
        "AIMessage",
        content="",
        tool_calls=[{"id": "c1", "name": "search", "args": {"n": 1}}],
    )
    told = lc("ToolMessage", content='[{"id": "M-0001"}]', tool_call_id="c1", name="search")
    said = lc(
        "AIMessage", content=[{"type": "text", "text": "Ceci "}, {"type": "text", "text": "!"}]
    )
    trace_id = add(
        server,
        1,
        input={"messages": [asked]},
        output={"messages": [asked, called, told, said]},
    )
    child = {
        "id": "a" * 16,
        "traceId": trace_id,
        "parentObservationId": f"{1:016x}",
        "type": "SPAN",
        "name": "search",
        "startTime": "2026-05-01T12:01:00.500Z",
        "endTime": "2026-05-01T12:01:01.000Z",
        "environment": "default",
        "level": "DEFAULT",
        "input": {"input": '{"n": 1}'},
        "output": told,
        "metadata": {},
        "updatedAt": "2026-05-01T12:00:00.000Z",
    }
    server.add_trace({"trace": {"name": "chat"}, "observations": [child]})
    (case,) = cases()
    assert case.input.question == "Quoi ?"
    assert case.output is not None
    assert case.output.text == "Ceci !"
    (call,) = case.input.tool_calls
    assert (call.name, call.arguments, call.call_id) == ("search", {"n": 1}, "c1")
    assert call.output == [{"id": "M-0001"}]


@pytest.mark.usefixtures("traces")
def test_real_traces_without_rows_of_messages_say_so(tmp_path: Path) -> None:
    with closing(open_source("langfuse", load(tmp_path))) as source:
        found = [item for item in source.cases(Window()) if isinstance(item, Case)]
        studies = [
            source.study(case.study_id, lambda _: None) if case.study_id else None for case in found
        ]
        assert len(found) == 4
        called = [study for study in studies if study]
        assert len(called) == sum(bool(case.input.tool_calls) for case in found)
        assert called
        assert all(study.missing["messages"] == NO_ROWS for study in called)


def test_studies_are_made_of_what_tools_returned(server: LangfuseServer, tmp_path: Path) -> None:
    rows = [{"id": "M-1", "respondent": "R-1", "text": "C'est trop lent."}]
    trace_id = add(server, 1, output={"answer": "« C'est trop lent. » [R-1, M-1]"})
    tool = {
        "id": "f" * 16,
        "traceId": trace_id,
        "parentObservationId": f"{1:016x}",
        "type": "TOOL",
        "name": "search_messages",
        "input": {"query": "lent"},
        "output": {"messages": rows},
    }
    add(server, 1, **tool)
    with closing(open_source("langfuse", load(tmp_path))) as source:
        (case,) = source.cases(Window())
        assert isinstance(case, Case)
        study = source.study(case.study_id or "", lambda _: None)
    assert study is not None
    assert study.from_tools
    assert [(one.id, one.respondent_id, one.text) for one in study.messages] == [
        ("M-1", "R-1", "C'est trop lent.")
    ]


def test_a_cursor_that_never_changes_ends_the_snapshot_with_exit_3(server: LangfuseServer) -> None:
    for number in range(3):
        add(server, number)
    server.faults.stuck_cursors.add("/v2/observations")
    with pytest.raises(LangfuseError, match="repeats a page") as failure:
        read(children=False)
    assert failure.value.exit_code == ExitCode.INCOMPLETE
