"""Replays over the loopback server: what is sent, and how each way to end is recorded."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ancrage.config import Config, load
from ancrage.domain import Case, Output, OutputState, ToolCall
from ancrage.errors import UsageError
from ancrage.llm import LLM, Budget, Request, Tier
from ancrage.replay import (
    Assistant,
    Conversation,
    FunctionAssistant,
    Replay,
    Settings,
    load_assistant,
    make_plan,
)
from ancrage.replay.plan import prompt_hash
from ancrage.snapshot import open_snapshot
from tests.conftest import ROOT
from tests.replay import assistants
from tests.replay.actors import actor
from tests.replay.conftest import PROMPT
from tests.servers.openai_server import (
    Empty,
    Fail,
    OpenAIServer,
    Refuse,
    Reply,
    Say,
    UseTools,
)


async def replay(
    cases: Iterable[Case],
    server: OpenAIServer,
    assistant: Assistant = assistants.agent,
    *,
    budget: Budget | None = None,
    tier: dict[str, Any] | None = None,
    **settings: Any,
) -> list[Output]:
    used = Tier.model_validate({"model": "m", "endpoint": server.url, "retries": 0, **(tier or {})})
    asked = Settings(tier="standard", model="m", endpoint=server.url, api=used.api, **settings)
    async with LLM({}, budget=budget) as llm:
        produce = Replay(assistant, llm, used, asked)
        return [await produce(case) for case in cases]


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_the_real_conversation_is_sent_in_productions_order(
    api: str, cases: list[Case]
) -> None:
    with OpenAIServer(actor(cases), strict={"m"}) as server:
        outputs = await replay(cases[:2], server, tier={"api": api})
    assert [output.state for output in outputs] == [OutputState.OK] * 2
    for case, output in zip(cases, outputs, strict=False):
        assert case.output is not None
        assert output.answer is not None
        assert output.answer.text == case.output.text
        assert [(call.name, call.arguments, call.output) for call in output.tool_calls] == [
            ("count_theme", case.input.tool_calls[0].arguments, {"n": 3})
        ]
        assert output.usage is not None
        assert output.usage.calls == 2
        assert output.details["prompt_hash"] == prompt_hash(PROMPT)
        assert output.details["parameters"] == {"reasoning_effort": "low"}
    first = server.calls[0]
    said = [(m["role"], m["content"]) for m in first.messages]
    assert said == [
        ("system", PROMPT),
        ("user", "Bonjour"),
        ("assistant", "Bonjour, que cherchez-vous ?"),
        ("user", "Question 0 : que disent-ils ?"),
    ]
    assert server.calls[1].tool_results == ['{"n": 3}']
    effort = first.body.get("reasoning_effort") or first.body["reasoning"]["effort"]
    assert effort == "low"


@pytest.mark.parametrize(
    ("reply", "state", "words"),
    [
        (Say("Les équ", finish="length"), OutputState.TRUNCATED, "limit"),
        (Refuse("Je refuse."), OutputState.REFUSED, "Je refuse."),
        (Empty(), OutputState.EMPTY, "no content"),
        (Fail(500), OutputState.FAILED, "500"),
        (Fail(400, "Unsupported value: 'minimal'."), OutputState.FAILED, "Unsupported value"),
        (UseTools([("count_theme", {"theme": "t1"})]), OutputState.UNRECORDED_TOOL_CALL, "t1"),
        (UseTools([("drop_table", {})]), OutputState.UNRECORDED_TOOL_CALL, "drop_table"),
        (
            UseTools([("count_theme", '{"theme"')]),
            OutputState.UNRECORDED_TOOL_CALL,
            "not a JSON object",
        ),
        (UseTools([("count_theme", {"theme": "t0"})]), OutputState.FAILED, "still calling tools"),
    ],
)
async def test_each_way_to_end_is_a_state_with_its_reason(
    reply: Reply, state: OutputState, words: str, cases: list[Case]
) -> None:
    with OpenAIServer(lambda _: reply) as server:
        (output,) = await replay(cases[:1], server)
    assert output.state is state
    assert words in (output.reason or "")
    if state is OutputState.UNRECORDED_TOOL_CALL:
        assert output.details["misses"]


async def test_a_budget_stops_cleanly(cases: list[Case]) -> None:
    with OpenAIServer(actor(cases)) as server:
        outputs = await replay(cases, server, budget=Budget(tokens=900))
    states = [output.state for output in outputs]
    assert set(states) == {OutputState.OK, OutputState.OVER_BUDGET}
    assert states == sorted(states, key=lambda state: state is OutputState.OVER_BUDGET)


async def test_a_failed_tool_fails_alike(cases: list[Case]) -> None:
    call = ToolCall(name="count_theme", arguments={"theme": "t"}, error="database is down")
    given = cases[0].input.model_copy(update={"tool_calls": (call,)})
    case = cases[0].model_copy(update={"input": given})
    with OpenAIServer(actor([case])) as server:
        (output,) = await replay([case], server)
    assert output.state is OutputState.OK
    assert server.calls[1].tool_results == ['{"error": "database is down"}']
    assert output.tool_calls[0].error == "database is down"

    async def careless(call_tool: Any) -> str:
        return str(await call_tool("count_theme", {"theme": "t"}))

    (output,) = await replay([case], server, FunctionAssistant(careless, prompt=assistants.prompt))
    assert output.state is OutputState.FAILED
    assert "a tool failed, as it did in production" in (output.reason or "")


async def test_earlier_tool_turns_stay_valid_for_the_api(cases: list[Case]) -> None:
    history = (
        cases[0].input.history[0],
        cases[0].input.history[0].model_copy(update={"role": "tool", "content": "3 messages"}),
    )
    case = cases[0].model_copy(
        update={"input": cases[0].input.model_copy(update={"history": history})}
    )
    with OpenAIServer(lambda _: Say("ok")) as server:
        await replay([case], server)
    roles = [message["role"] for message in server.calls[0].messages]
    assert roles == ["system", "user", "assistant", "tool", "user"]
    assert server.calls[0].messages[2]["tool_calls"][0]["id"] == "call_history_1"


async def test_a_function_is_an_assistant(cases: list[Case]) -> None:
    with OpenAIServer(lambda call: Say(call.text[-8:])) as server:
        (output,) = await replay(cases[:1], server, assistants.function)
        assert output.answer is not None
        assert output.answer.text == "{'n': 3}"
        given = cases[0].input.model_copy(update={"tool_calls": ()})
        (lost,) = await replay(
            [cases[0].model_copy(update={"input": given})], server, assistants.function
        )
    assert lost.state is OutputState.UNRECORDED_TOOL_CALL
    (output,) = await replay(cases[:1], server, FunctionAssistant(assistants.plain))
    assert output.answer is not None
    assert output.answer.text.startswith("Question 0 : que disent-ils ? 2 ['call_tool', 'context'")


async def test_a_function_that_hides_a_miss_or_breaks_is_found_out(cases: list[Case]) -> None:
    async def hides(call_tool: Any) -> str:
        try:
            await call_tool("count_theme", {"theme": "invented"})
        except Exception:  # noqa: BLE001 - what the test is about
            return "Personne n'en parle."
        return ""

    async def breaks() -> str:
        raise KeyError("locale")

    async def wrong() -> int:
        return 3

    with OpenAIServer([]) as server:
        states = [
            (await replay(cases[:1], server, FunctionAssistant(function)))[0]
            for function in (hides, breaks, wrong)
        ]
    assert [output.state for output in states] == [
        OutputState.UNRECORDED_TOOL_CALL,
        OutputState.FAILED,
        OutputState.FAILED,
    ]
    assert "invented" in (states[0].reason or "")
    assert "KeyError: 'locale'" in (states[1].reason or "")
    assert "returned int" in (states[2].reason or "")


def asking(said: str | None = None) -> FunctionAssistant:
    """Passes on the text of one call of the model, or says ``said`` whatever came back."""

    async def answer(conversation: Conversation) -> str:
        request = Request(tier=conversation.tier, messages=conversation.messages())
        completion = await conversation.llm.complete(request)
        return completion.text if said is None else said

    return FunctionAssistant(answer, prompt=assistants.prompt)


@pytest.mark.parametrize(
    ("reply", "state"),
    [
        (Say("Les équ", finish="length"), OutputState.TRUNCATED),
        (Refuse("Je refuse."), OutputState.REFUSED),
        (Empty(), OutputState.EMPTY),
        (Fail(500), OutputState.FAILED),
        (Say("Tout."), OutputState.OK),
    ],
)
async def test_a_function_that_passes_on_half_an_answer_has_not_answered(
    reply: Reply, state: OutputState, cases: list[Case]
) -> None:
    with OpenAIServer(lambda _: reply) as server:
        (output,) = await replay(cases[:1], server, asking())
        (excused,) = await replay(cases[:1], server, asking("Désolé, réessayez."))
    assert output.state is state
    assert (output.reason is None) == (state is OutputState.OK)
    assert excused.state is state, "what is said over the top of it is no answer either"
    if state is OutputState.OK:
        assert output.usage is not None
        assert output.usage.output_tokens


async def test_a_function_cannot_hide_that_the_budget_stopped_it(cases: list[Case]) -> None:
    with OpenAIServer([]) as server:
        (output,) = await replay(cases[:1], server, asking("Rien."), budget=Budget(tokens=1))
    assert output.state is OutputState.OVER_BUDGET
    assert "budget" in (output.reason or "")
    assert not server.calls


def test_a_function_that_wants_what_a_replay_has_not_is_refused_at_once() -> None:
    async def answer(message: str, history: list[Any], top: int = 3) -> str:
        return message

    with pytest.raises(UsageError, match=r"answer takes 'message'.*question"):
        FunctionAssistant(answer)


def plan(cases: list[Case], assistant: Assistant = assistants.agent, **settings: Any) -> Any:
    tier = Tier(model="m", temperature=0.7)
    asked = Settings(tier="standard", model="m", endpoint="e", api="chat", **settings)
    return make_plan(cases, assistant, tier, asked)


def changed(case: Case, **update: Any) -> Case:
    return case.model_copy(update={"input": case.input.model_copy(update=update)})


def test_a_changed_prompt_is_noticed_with_its_diff(cases: list[Case]) -> None:
    old = "Réponds en anglais.\nSois bref."
    cases[1] = changed(cases[1], system_prompt=old, system_prompt_hash=None)
    cases[2] = changed(cases[2], system_prompt=old, system_prompt_hash=prompt_hash(old))
    cases[3] = changed(cases[3], system_prompt=None, system_prompt_hash=prompt_hash(old))
    cases[4] = changed(cases[4], system_prompt=None, system_prompt_hash=None)
    cases[5] = changed(cases[5], system_prompt=None)
    made, _ = plan(cases)
    assert (made.cases, made.prompt_changed, made.prompt_unknown) == (12, 3, 1)
    first, second = made.prompt_diffs
    assert (first.cases, first.example) == (2, "c001")
    assert "-Réponds en anglais." in first.diff
    assert f"+{PROMPT}" in first.diff
    assert "only its hash" in second.diff


def test_a_prompt_that_differs_in_its_line_ends_alone_is_shown(cases: list[Case]) -> None:
    cases[0] = changed(cases[0], system_prompt=f"{PROMPT}\n", system_prompt_hash=None)
    cases[1] = changed(cases[1], system_prompt=PROMPT, system_prompt_hash="of another kind")
    made, _ = plan(cases)
    assert made.prompt_changed == 1
    assert "-'Réponds à propos de app.\\n'" in made.prompt_diffs[0].diff


def test_prompts_that_cannot_be_rendered_are_counted_and_a_wrong_assistant_is_refused(
    cases: list[Case],
) -> None:
    cases[3] = changed(cases[3], context={})
    made, _ = plan(cases)
    assert made.prompt_failed == 1
    assert "c003" in made.prompt_failure
    with pytest.raises(UsageError, match=r"c000.*KeyError"):
        plan([changed(case, context={}) for case in cases])
    made, _ = plan(
        [changed(case, system_prompt=None) for case in cases[:1]] + cases[1:], prompt="frozen"
    )
    assert made.prompt_failed == 1


async def test_the_prompt_policy_decides_what_is_sent(cases: list[Case]) -> None:
    case = changed(cases[0], system_prompt="Ancien.", system_prompt_hash=None)
    with OpenAIServer(lambda _: Say("ok")) as server:
        await replay([case], server)
        await replay([case], server, prompt="frozen")
        (none,) = await replay([changed(case, system_prompt=None)], server, prompt="frozen")
        (broken,) = await replay([changed(case, context={})], server)
    assert [call.messages[0]["content"] for call in server.calls] == [PROMPT, "Ancien."]
    assert "no system prompt was recorded" in (none.reason or "")
    assert "cannot be rendered" in (broken.reason or "")
    assert broken.state is none.state is OutputState.FAILED


def test_production_parameters_are_sent_and_overriding_them_is_counted(cases: list[Case]) -> None:
    recorded = cases[0].provenance.model_copy(
        update={"parameters": {"temperature": 0.2, "mystery": 1}}
    )
    cases[0] = cases[0].model_copy(update={"provenance": recorded})
    silent = cases[1].provenance.model_copy(update={"parameters": {}})
    cases[1] = cases[1].model_copy(update={"provenance": silent})
    made, tiers = plan(cases)
    assert [(each.sent, each.cases) for each in made.parameters] == [
        ({"temperature": 0.2}, 1),
        ({"temperature": 0.7}, 1),
        ({"reasoning_effort": "low"}, 10),
    ]
    assert made.overridden == 0
    assert made.without_parameters == 1
    assert set(made.not_sent) == {"mystery"}
    assert len(tiers) == 3
    made, tiers = plan(cases, params="tier")
    assert made.overridden == 11
    assert [tier.temperature for tier in tiers] == [0.7]


def config(tmp_path: Path, text: str) -> Config:
    (tmp_path / "evals.toml").write_text(text)
    load.cache_clear()
    return load(tmp_path)


def test_assistants_are_found_by_dotted_path(tmp_path: Path) -> None:
    assert load_assistant(Config(None, {})).name == "demonstration"
    (tmp_path / "mine.py").write_text("async def answer(question, history):\n    return question\n")
    found = load_assistant(config(tmp_path, '[assistant]\nuse = "mine:answer"\ntier = "big"\n'))
    assert (found.name, found.tier) == ("answer", "big")


@pytest.mark.parametrize(
    ("use", "words"),
    [
        ("nowhere:agent", "No module named 'nowhere'"),
        ("tests.replay.assistants:nobody", "has no 'nobody'"),
        ("tests.replay.assistants:not_an_assistant", "not an assistant"),
        ("no-such-entry-point", "module:name"),
        (":agent", "module:name"),
    ],
)
def test_a_wrong_assistant_is_one_line(tmp_path: Path, use: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        load_assistant(config(tmp_path, f'[assistant]\nuse = "{use}"\n'))


def test_a_tier_can_be_set_on_a_frozen_assistant(tmp_path: Path) -> None:
    (tmp_path / "cold.py").write_text(
        "from dataclasses import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Cold:\n"
        "    name: str = 'cold'\n"
        "    tier: str = 'standard'\n"
        "    tools: tuple = ()\n"
        "    def system_prompt(self, context): return ''\n"
        "    async def answer(self, conversation): ...\n"
        "assistant = Cold()\n"
    )
    found = load_assistant(config(tmp_path, '[assistant]\nuse = "cold:assistant"\ntier = "big"\n'))
    assert found.tier == "big"


def test_the_demonstration_assistant_renders_the_prompts_of_its_snapshot() -> None:
    snapshot = open_snapshot(ROOT / "snapshots" / "demo")
    made, tiers = plan(list(snapshot.cases()), load_assistant(Config(None, {})))
    assert made.cases == snapshot.manifest.counts.kept
    assert made.prompt_changed == 0
    assert made.prompt_failed == snapshot.manifest.counts.source_missing
    assert len(tiers) > 1
    recorded = {call.name for case in snapshot.cases() for call in case.input.tool_calls}
    assert recorded == {tool.name for tool in load_assistant(Config(None, {})).tools}
