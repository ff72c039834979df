"""Other people's clients pass the gateway: the OpenAI SDK as it is, both APIs, streams, threads."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from ancrage.domain import OutputState
from ancrage.errors import UsageError
from ancrage.llm import LLM, Budget, Cache, Calls, Tier, http_client, recording, sync_http_client
from tests.servers.faults import ANSWER, Fault, delta, events, every
from tests.servers.openai_server import Call, Fail, OpenAIServer, Reply, Say, UseTools, too_many

pytest.importorskip("openai")

QUESTION: list[Any] = [{"role": "user", "content": "Que disent-ils ?"}]


def client(url: str, **options: Any) -> Any:
    from openai import AsyncOpenAI

    return AsyncOpenAI(api_key="sk-of-theirs", base_url=url, http_client=http_client(**options))


async def say(openai: Any, api: str = "chat", **options: Any) -> str:
    if api == "responses":
        said = await openai.responses.create(model="theirs", input=QUESTION, **options)
        return str(said.output_text)
    said = await openai.chat.completions.create(model="theirs", messages=QUESTION, **options)
    return said.choices[0].message.content or ""


def tier(server: OpenAIServer, **fields: Any) -> Tier:
    return Tier.model_validate({"model": "m", "endpoint": server.url, **fields})


async def test_outside_a_replay_it_is_a_plain_client() -> None:
    with OpenAIServer([Say("a")]) as server:
        assert await say(client(server.url), temperature=0.2) == "a"
    body = server.calls[0].body
    assert (body["model"], body["temperature"]) == ("theirs", 0.2)


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_in_a_replay_model_and_parameters_are_those_under_test(api: str) -> None:
    with OpenAIServer(lambda _: Say("a"), strict={"m"}, key="sk-under-test") as server:
        async with LLM({}) as llm:
            under_test = tier(server, reasoning_effort="low", drop=("temperature",), key="A_KEY")
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("A_KEY", "sk-under-test")
                with recording(Calls(llm.gateway, under_test)) as calls:
                    # Their own client speaks to a server that is not there.
                    openai = client("http://127.0.0.1:9/v1")
                    assert await say(openai, api, temperature=0.2) == "a"
    assert server.calls[0].body["model"] == "m"
    assert "temperature" not in server.calls[0].body
    assert [made.completion.text for made in calls.made] == ["a"]


async def test_models_that_are_not_under_test_are_left_alone() -> None:
    with OpenAIServer([Say("a")]) as server:
        async with LLM({}) as llm:
            calls = Calls(llm.gateway, Tier(model="m"), untouched=frozenset({"theirs"}))
            with recording(calls):
                await say(client(server.url), temperature=0.2)
    assert server.calls[0].body["model"] == "theirs"
    assert len(calls.made) == 1


async def test_the_cache_answers_an_assistant_that_knows_nothing_of_it(tmp_path: Path) -> None:
    with OpenAIServer(lambda call: Say(f"answer {call.index}")) as server:
        for _ in range(2):
            async with LLM({}, cache=Cache(tmp_path / "c.sqlite")) as llm:
                texts = []
                for repeat in (0, 1):
                    with recording(Calls(llm.gateway, tier(server), repeat)):
                        texts.append(await say(client(server.url)))
            assert texts == ["answer 0", "answer 1"]
        assert len(server.calls) == 2


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_a_stream_arrives_and_is_understood(api: str) -> None:
    with OpenAIServer(lambda _: Say(ANSWER)) as server:
        async with LLM({}) as llm:
            with recording(Calls(llm.gateway, tier(server))) as calls:
                openai = client(server.url)
                text = ""
                if api == "chat":
                    stream = await openai.chat.completions.create(
                        model="theirs", messages=QUESTION, stream=True
                    )
                    async for chunk in stream:
                        text += chunk.choices[0].delta.content or ""
                else:
                    stream = await openai.responses.create(
                        model="theirs", input=QUESTION, stream=True
                    )
                    async for event in stream:
                        if event.type == "response.output_text.delta":
                            text += event.delta
    assert text == ANSWER
    assert calls.made[0].completion.text == ANSWER


async def test_tool_calls_in_a_stream_are_understood() -> None:
    def call(id: str, arguments: str) -> dict[str, Any]:
        function = {"name": "count_theme", "arguments": arguments}
        return {"index": 0, "id": id, "type": "function", "function": function}

    rest = {"index": 0, "function": {"arguments": '"b"}'}}
    reply = events(
        delta(tool_calls=[call("a", '{"theme": "a"}')]),
        delta(tool_calls=[call("b", '{"theme": ')]),
        delta(tool_calls=[rest]),
        delta("tool_calls"),
    )
    with OpenAIServer([reply, UseTools([("count_theme", {"theme": "c"})])]) as server:
        async with LLM({}) as llm:
            with recording(Calls(llm.gateway, tier(server))) as calls:
                for _ in range(2):
                    stream = await client(server.url).chat.completions.create(
                        model="theirs", messages=QUESTION, stream=True
                    )
                    async for _chunk in stream:
                        pass
    made = [call.arguments for made in calls.made for call in made.completion.tool_calls]
    assert made == ['{"theme": "a"}', '{"theme": "b"}', '{"theme": "c"}']


@pytest.mark.parametrize("fault", every(), ids=lambda fault: fault.name)
async def test_every_fault_is_the_same_state_as_for_our_own_client(fault: Fault) -> None:
    with OpenAIServer(fault.script) as server:
        async with LLM({}) as llm:
            under_test = tier(server, api=fault.api, retries=1, timeout=0.5)
            with recording(Calls(llm.gateway, under_test)) as calls:
                raised = False
                try:
                    await say(client(server.url), fault.api)
                except Exception:  # noqa: BLE001 - whatever their SDK makes of it
                    raised = True
        tries = len(server.calls)
    trouble = calls.trouble()
    state = trouble.state if trouble else OutputState.OK
    assert (state, trouble.error if trouble else None, tries) == (
        fault.state,
        fault.error,
        fault.tries,
    )
    if fault.state in ("failed", "over_budget"):
        assert raised, "the SDK is told"


async def test_over_budget_is_told_and_not_tried_again() -> None:
    with OpenAIServer([Say("never")]) as server:
        async with LLM({}, budget=Budget(tokens=0)) as llm:
            refused = pytest.raises(Exception, match="budget of 0 tokens")
            with recording(Calls(llm.gateway, tier(server))) as calls, refused:
                await say(client(server.url))
        assert not server.calls
    trouble = calls.trouble()
    assert trouble is not None
    assert trouble.state is OutputState.OVER_BUDGET


async def test_a_failure_that_the_assistant_copes_with_is_no_failure() -> None:
    replies: list[Reply] = [Fail(400, "no"), Say("a")]
    with OpenAIServer(replies) as server:
        async with LLM({}) as llm:
            with recording(Calls(llm.gateway, tier(server))) as calls:
                with pytest.raises(Exception, match="no"):
                    await say(client(server.url))
                await say(client(server.url))
    assert calls.trouble() is None
    assert calls.details()["calls_without_answer"] == ["failed: 400: no"]


async def test_one_of_several_at_once_that_was_cut_is_trouble() -> None:
    def script(call: Call) -> Reply:
        return Say("Les équi", finish="length") if call.index == 0 else Say("a")

    with OpenAIServer(script, latency=0.1) as server:
        async with LLM({}) as llm:
            with recording(Calls(llm.gateway, tier(server))) as calls:
                await asyncio.gather(*(say(client(server.url)) for _ in range(3)))
    trouble = calls.trouble()
    assert trouble is not None
    assert trouble.state is OutputState.TRUNCATED


async def test_a_blocking_client_works_in_a_thread_and_is_refused_in_the_loop() -> None:
    from openai import OpenAI

    with OpenAIServer(lambda call: too_many(0.05) if not call.index else Say("a")) as server:
        async with LLM({}) as llm:

            def work() -> str:
                openai = OpenAI(api_key="x", base_url=server.url, http_client=sync_http_client())
                said = openai.chat.completions.create(model="theirs", messages=QUESTION)
                return said.choices[0].message.content or ""

            with recording(Calls(llm.gateway, tier(server))) as calls:
                assert await asyncio.to_thread(work) == "a"
                with pytest.raises(UsageError, match="plain function"):
                    work()
    assert len(calls.made) == 1


async def test_plain_http_and_older_clients_pass_too() -> None:
    httpx = pytest.importorskip("httpx")
    with OpenAIServer(lambda _: Say("a")) as server:
        async with LLM({}) as llm:
            with recording(Calls(llm.gateway, tier(server))) as calls:
                for plain in (http_client(), http_client(httpx)):
                    reply = await plain.post(
                        f"{server.url}/chat/completions",
                        content=json.dumps({"model": "theirs", "messages": QUESTION}),
                    )
                    assert reply.json()["choices"][0]["message"]["content"] == "a"
    assert len(calls.made) == 2
