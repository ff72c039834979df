"""Assistants as people have them, brought by one line: the examples of docs/assistants.md."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ancrage.config import load
from ancrage.domain import Case, Output, OutputState
from ancrage.llm import LLM, Budget, Cache, Tier
from ancrage.replay import Replay, Settings, load_assistant
from tests.replay.actors import actor
from tests.servers.openai_server import (
    Call,
    Empty,
    Fail,
    OpenAIServer,
    Refuse,
    Reply,
    Say,
    UseTools,
)

FOLDER = Path(__file__).parents[2] / "docs" / "examples" / "assistants"
PAGE = FOLDER.parents[1] / "assistants.md"
NEEDS = {"openai_sdk": "openai", "agents_sdk": "agents", "pydantic_ai_agent": "pydantic_ai"}
NAMES = [path.stem for path in sorted(FOLDER.glob("*.py"))]


@pytest.fixture(params=[*NAMES, "ours"])
def bring(
    request: pytest.FixtureRequest, workplace: Path, monkeypatch: pytest.MonkeyPatch
) -> Callable[[OpenAIServer], Any]:
    """Loads one of the assistants, its own client set up for the server as in production."""
    name = request.param
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])

    def load_one(server: OpenAIServer) -> Any:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-production")
        monkeypatch.delitem(__import__("sys").modules, name, raising=False)
        monkeypatch.syspath_prepend(FOLDER)
        use = "tests.replay.assistants:agent" if name == "ours" else f"{name}:answer"
        (workplace / "evals.toml").write_text(f'[assistant]\nuse = "{use}"\n')
        load.cache_clear()
        return load_assistant(load())

    return load_one


async def replay(
    cases: list[Case], assistant: Any, *, cache: Path | None = None, **options: Any
) -> tuple[list[Output], LLM]:
    tier = Tier(model="m", retries=0)
    settings = Settings(tier="t", model="m", endpoint=tier.endpoint, api="chat", prompt="frozen")
    async with LLM({}, cache=Cache(cache) if cache else None, **options) as llm:
        produce = Replay(assistant, llm, tier, settings)
        return [await produce(case) for case in cases], llm


async def test_the_record_of_an_answer_is_whole(
    bring: Callable[[OpenAIServer], Any], cases: list[Case], tmp_path: Path
) -> None:
    with OpenAIServer(actor(cases)) as server:
        assistant = bring(server)
        outputs, _ = await replay(cases[:3], assistant, cache=tmp_path / "c.sqlite")
        made = len(server.calls)
        again, llm = await replay(cases[:3], assistant, cache=tmp_path / "c.sqlite")
        assert len(server.calls) == made == 6, "the second time nothing is paid for"
    assert llm.counts == {"cached": 6}
    assert {call.body["model"] for call in server.calls} == {"m"}
    assert server.calls[0].body.get("reasoning_effort", "low") == "low"
    for case, output in zip(cases, outputs, strict=False):
        assert output.state is OutputState.OK, output.reason
        assert case.output is not None
        assert output.answer is not None
        assert output.answer.text.startswith(case.output.text)
        assert [(call.name, call.output) for call in output.tool_calls] == [
            ("count_theme", {"n": 3})
        ]
        assert output.usage is not None
        assert output.usage.calls == 2
        assert output.usage.output_tokens
        assert output.details["calls"] == 2
    assert [output.state for output in again] == [OutputState.OK] * 3


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (Say("Les équ", finish="length"), OutputState.TRUNCATED),
        (Say("", finish="content_filter"), OutputState.REFUSED),
        (Refuse("Je refuse."), OutputState.REFUSED),
        (Empty(), OutputState.EMPTY),
        (Fail(500), OutputState.FAILED),
        (Fail(400, "Unsupported value."), OutputState.FAILED),
        (UseTools([("count_theme", {"theme": "nowhere"})]), OutputState.UNRECORDED_TOOL_CALL),
    ],
)
async def test_what_goes_wrong_is_the_same_in_the_record(
    bring: Callable[[OpenAIServer], Any], cases: list[Case], reply: Reply, state: OutputState
) -> None:
    def script(call: Call) -> Reply:
        if isinstance(reply, UseTools) and call.tool_results:
            return Say("So be it.")
        return reply

    with OpenAIServer(script) as server:
        (output,), _ = await replay(cases[:1], bring(server))
    assert output.state is state, output.reason
    assert output.reason
    if isinstance(reply, Fail):
        assert reply.message in output.reason, "the server's own words"


async def test_the_budget_holds(bring: Callable[[OpenAIServer], Any], cases: list[Case]) -> None:
    with OpenAIServer(actor(cases)) as server:
        (output,), _ = await replay(cases[:1], bring(server), budget=Budget(tokens=0))
    assert output.state is OutputState.OVER_BUDGET
    assert not server.calls


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_the_code_that_is_tested(name: str) -> None:
    code = (FOLDER / f"{name}.py").read_text().partition('"""\n\n')[2].rstrip()
    assert code in PAGE.read_text()
