"""The client against a real server on loopback: states, retries, limits, budget, cache."""

import asyncio
import json
import logging
import threading
import time
from email.utils import formatdate
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ancrage.domain import OutputState
from ancrage.errors import UsageError
from ancrage.llm import (
    LLM,
    Budget,
    Cache,
    Calls,
    Completion,
    Parameters,
    Price,
    Prices,
    Request,
    Tier,
    Tool,
    recording,
)
from tests.servers.faults import TOOL_CALLS, Fault, chat, delta, events, every, once
from tests.servers.openai_server import (
    Call,
    Fail,
    Hang,
    OpenAIServer,
    Raw,
    Refuse,
    Reply,
    Say,
    UseTools,
    too_many,
)

APIS = ("chat", "responses")
COUNT = Tool(
    name="count_theme",
    description="How many messages speak of a theme.",
    parameters={
        "type": "object",
        "properties": {"theme": {"type": "string"}},
        "required": ["theme"],
    },
)


def tier(server: OpenAIServer, api: str = "chat", **fields: Any) -> Tier:
    return Tier.model_validate({"model": "m", "endpoint": server.url, "api": api, **fields})


def ask(tier: Tier, text: str = "Que disent-ils ?", **fields: Any) -> Request:
    messages = (
        {"role": "system", "content": "Réponds en français."},
        {"role": "user", "content": text},
    )
    return Request(tier=tier, messages=messages, **fields)


async def complete(_: OpenAIServer | None, request: Request, **options: Any) -> Completion:
    async with LLM({}, **options) as llm:
        return await llm.complete(request)


@pytest.mark.parametrize("api", APIS)
async def test_an_answer_comes_with_its_usage(api: str) -> None:
    with OpenAIServer([Say("« L'été »\u202f!", reasoning_tokens=12)]) as server:
        answer = await complete(server, ask(tier(server, api)))
    assert (answer.state, answer.text) == (OutputState.OK, "« L'été »\u202f!")
    assert answer.usage.calls == 1
    assert answer.usage.input_tokens
    assert answer.usage.output_tokens
    assert answer.usage.reasoning_tokens == 12
    assert answer.usage.latency is not None
    assert answer.model == "m-2025-08-07"
    assert server.calls[0].messages[0]["content"] == "Réponds en français."
    last = server.calls[0].messages[-1]
    assert (last["role"], last["content"]) == ("user", "Que disent-ils ?")


@pytest.mark.parametrize("api", APIS)
async def test_tools_are_called_and_their_results_sent_back(api: str) -> None:
    replies: list[Reply] = [
        UseTools([("count_theme", {"theme": "bruit"}), ("count_theme", '{"theme": ')]),
        Say("12 messages."),
    ]
    with OpenAIServer(replies) as server:
        async with LLM({}) as llm:
            request = ask(tier(server, api, reasoning_effort="low"), tools=(COUNT,))
            first = await llm.complete(request)
            results: list[dict[str, Any]] = [
                {"role": "tool", "tool_call_id": call.id, "content": f"r{index}"}
                for index, call in enumerate(first.tool_calls)
            ]
            messages = (*request.messages, first.message(), *results)
            second = await llm.complete(request.model_copy(update={"messages": messages}))
    assert first.state is OutputState.OK
    assert [call.arguments for call in first.tool_calls] == ['{"theme": "bruit"}', '{"theme": ']
    assert second.text == "12 messages."
    assert server.calls[1].tool_results == ["r0", "r1"]
    sent = server.calls[1].messages
    if api == "responses":
        kinds = [item.get("type") for item in sent[1:]]
        assert kinds == [
            "message",
            "reasoning",
            "function_call",
            "function_call",
            "function_call_output",
            "function_call_output",
        ]
    else:
        assert [message["role"] for message in sent] == [
            "system",
            "user",
            "assistant",
            "tool",
            "tool",
        ]


@pytest.mark.parametrize("fault", every(), ids=lambda fault: fault.name)
async def test_every_fault_is_a_state_and_none_is_billed_three_times(fault: Fault) -> None:
    with OpenAIServer(fault.script) as server:
        tier_ = tier(server, fault.api, retries=1, timeout=0.5)
        answer = await complete(server, ask(tier_))
        tries = len(server.calls)
    assert (answer.state, answer.error, tries) == (fault.state, fault.error, fault.tries)
    if fault.text is not None:
        assert answer.text == fault.text
    if answer.ok:
        assert "« Hm »" not in answer.text
    else:
        assert answer.reason
        assert len(answer.reason) < 600


@pytest.mark.parametrize(("name", "call"), TOOL_CALLS)
async def test_a_tool_call_is_read_however_it_is_written(name: str, call: dict[str, Any]) -> None:
    reply = chat({"content": None, "tool_calls": [call]}, "tool_calls")
    with OpenAIServer([reply]) as server:
        answer = await complete(server, ask(tier(server), tools=(COUNT,)))
    assert answer.ok, name
    assert [(each.name, each.arguments) for each in answer.tool_calls] == [("count_theme", "{}")]
    assert answer.tool_calls[0].id


@pytest.mark.parametrize("api", APIS)
async def test_a_refusal_keeps_its_words(api: str) -> None:
    with OpenAIServer([Refuse("Je ne peux pas.")]) as server:
        answer = await complete(server, ask(tier(server, api)))
    assert (answer.state, answer.reason) == (OutputState.REFUSED, "Je ne peux pas.")


async def test_passing_failures_are_retried_and_lasting_ones_are_not() -> None:
    with OpenAIServer([Fail(500), Fail(503), Say("Enfin.")]) as server:
        answer = await complete(server, ask(tier(server, retries=2)))
        assert (answer.text, len(server.calls)) == ("Enfin.", 3)
    with OpenAIServer([Fail(500), Fail(500), Fail(500)]) as server:
        answer = await complete(server, ask(tier(server, retries=1)))
        assert (answer.error, len(server.calls)) == ("server", 2)
    with OpenAIServer([Fail(400, "no"), Say("never")]) as server:
        answer = await complete(server, ask(tier(server)))
        assert (answer.error, len(server.calls)) == ("rejected", 1)


async def test_each_429_is_seen_and_its_wait_is_kept() -> None:
    replies: list[Reply] = [too_many(0.3), too_many(0.3), Say("Oui.")]
    with OpenAIServer(replies) as server:
        async with LLM({}) as llm:
            answer = await llm.complete(ask(tier(server, retries=0)))
        times = [call.time for call in server.calls]
    assert answer.text == "Oui."
    assert llm.counts["rate_limited"] == 2
    assert llm.counts["calls"] == 3
    assert all(later - sooner >= 0.29 for sooner, later in pairwise(times))


@pytest.mark.parametrize("header", ["0", "soon", "Mon, 01 Jan 2024 00:00:00 GMT", None])
async def test_a_429_that_asks_for_no_wait_is_not_hammered(header: str | None) -> None:
    headers = {} if header is None else {"retry-after": header}
    refusal = Fail(429, "Too many requests.", headers=headers)
    with OpenAIServer([refusal, refusal, Say("Oui.")]) as server:
        answer = await complete(server, ask(tier(server)))
    assert answer.text == "Oui."
    assert server.calls[2].time - server.calls[0].time > 0.005


@pytest.mark.parametrize("form", ["milliseconds", "date"])
async def test_every_way_to_ask_for_a_wait_is_read(form: str) -> None:
    def script(call: Call) -> Reply:
        if call.index:
            return Say("Oui.")
        date = formatdate(time.time() + 2, usegmt=True)
        asked = {
            "milliseconds": {"retry-after-ms": "800", "retry-after": "9"},
            "date": {"retry-after": date},
        }
        return Fail(429, "Too many.", headers=asked[form])

    with OpenAIServer(script) as server:
        answer = await complete(server, ask(tier(server)))
    assert answer.text == "Oui."
    assert 0.75 < server.calls[1].time - server.calls[0].time < 5


async def test_a_429_holds_all_calls_back_and_narrows_the_way() -> None:
    refused_at: list[float] = []

    def script(call: Call) -> Reply:
        time.sleep(0.01)
        if call.index == 10:
            refused_at.append(time.monotonic())
            return too_many(0.5)
        return Say("ok")

    with OpenAIServer(script) as server:
        async with LLM({}, concurrency=8) as llm:
            requests = [ask(tier(server), f"q{index}") for index in range(60)]
            answers = await asyncio.gather(*(llm.complete(request) for request in requests))
        assert server.most_at_once <= 8
    assert all(answer.ok for answer in answers)
    assert len(server.calls) == 61
    quiet = [c for c in server.calls if refused_at[0] + 0.1 < c.time < refused_at[0] + 0.45]
    assert not quiet


async def test_a_server_that_takes_three_at_once_is_not_fought() -> None:
    under_way = 0
    lock = threading.Lock()

    def script(_: Call) -> Reply:
        nonlocal under_way
        with lock:
            under_way += 1
            crowded = under_way > 3
        time.sleep(0.01)
        with lock:
            under_way -= 1
        return too_many(0.02) if crowded else Say("ok")

    with OpenAIServer(script) as server:
        async with LLM({}, concurrency=32) as llm:
            requests = [ask(tier(server, retries=0), f"q{index}") for index in range(100)]
            answers = await asyncio.gather(*(llm.complete(request) for request in requests))
    assert all(answer.ok for answer in answers)
    assert llm.counts["calls"] == 100 + llm.counts["rate_limited"]
    assert 29 <= llm.counts["rate_limited"] < 100


async def test_only_named_keys_leave_and_none_is_written_down(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-openai-only")
    monkeypatch.setenv("LOCAL_KEY", "sk-local-secret")
    cache = Cache(tmp_path / "cache.sqlite")
    with OpenAIServer([Say("a")]) as server:
        await complete(server, ask(tier(server)))
        assert "sk-for-openai-only" not in json.dumps(dict(server.calls[0].headers))
    with OpenAIServer([Say("a")], key="sk-local-secret") as server:
        answer = await complete(server, ask(tier(server, key="LOCAL_KEY")), cache=cache)
        assert answer.ok
    with OpenAIServer([], key="another") as server:
        answer = await complete(server, ask(tier(server, key="LOCAL_KEY")))
    assert answer.error == "auth"
    assert "sk-local-secret" not in (answer.reason or "")
    assert "[secret]" in (answer.reason or "")
    with OpenAIServer([]) as server, pytest.raises(UsageError, match="UNSET_KEY"):
        await complete(server, ask(tier(server, key="UNSET_KEY")))
    written = (tmp_path / "cache.sqlite").read_bytes()
    assert b"finish_reason" in written
    assert b"sk-local-secret" not in written
    assert "sk-local-secret" not in caplog.text


async def test_the_cache_answers_only_the_very_same_request(tmp_path: Path) -> None:
    with OpenAIServer(lambda call: Say(f"answer {call.index}")) as server:
        plain = tier(server)
        tooled = ask(plain, tools=(COUNT,))
        different = [
            ask(plain),
            ask(plain, repeat=1),
            ask(plain, "Autre question ?"),
            ask(tier(server, model="n")),
            ask(tier(server, temperature=0.0)),
            ask(tier(server, endpoint=server.url.replace("127.0.0.1", "localhost"))),
            ask(tier(server, api="responses")),
            tooled,
            tooled.model_copy(
                update={"tools": (COUNT.model_copy(update={"description": "Compte."}),)}
            ),
        ]
        for _ in range(2):
            async with LLM({}, cache=Cache(tmp_path / "c.sqlite")) as llm:
                texts = [(await llm.complete(request)).text for request in different]
            assert texts == [f"answer {index}" for index in range(len(different))]
        assert llm.counts == {"cached": len(different)}
        await complete(server, ask(plain))
        assert len(server.calls) == len(different) + 1, "without a cache every call is made"


async def test_what_failed_is_not_kept_and_what_ended_badly_is(tmp_path: Path) -> None:
    with OpenAIServer([Fail(400, "no"), Refuse("Non."), Say("never")]) as server:
        for state in (OutputState.FAILED, OutputState.REFUSED, OutputState.REFUSED):
            answer = await complete(server, ask(tier(server)), cache=Cache(tmp_path / "c.sqlite"))
            assert answer.state is state


async def test_a_damaged_cache_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "c.sqlite").write_text("not a database, and long enough to be looked at" * 30)
    with pytest.raises(UsageError, match="--no-cache"):
        Cache(tmp_path / "c.sqlite")


async def test_a_budget_of_tokens_stops_before_it_is_overspent() -> None:
    with OpenAIServer(lambda _: Say("x" * 400)) as server:
        budget = Budget(tokens=1500)
        async with LLM({}, budget=budget, concurrency=4) as llm:
            requests = [ask(tier(server, max_output_tokens=150), f"q{i}") for i in range(40)]
            answers = await asyncio.gather(*(llm.complete(request) for request in requests))
    states = {answer.state for answer in answers}
    assert states == {OutputState.OK, OutputState.OVER_BUDGET}
    assert len(server.calls) == sum(answer.ok for answer in answers)
    assert 0 < budget.spent_tokens <= 1500
    assert all("budget" in (answer.reason or "") for answer in answers if not answer.ok)


async def test_a_budget_of_money_needs_a_price() -> None:
    prices = Prices(models={"m": Price(input=1_000_000, output=2_000_000)})
    with OpenAIServer(lambda _: Say("x")) as server:
        budget = Budget(cost=10_000)
        answer = await complete(server, ask(tier(server)), prices=prices, budget=budget)
        usage = answer.usage
        assert usage.input_tokens is not None
        assert usage.output_tokens is not None
        assert usage.cost == pytest.approx(usage.input_tokens + 2 * usage.output_tokens)
        assert budget.spent_cost == pytest.approx(usage.cost)
        with pytest.raises(UsageError, match=r'prices\.models\."n"'):
            await complete(server, ask(tier(server, model="n")), prices=prices, budget=budget)
        assert len(server.calls) == 1


async def test_tokens_that_a_server_does_not_count_are_unknown_and_still_budgeted() -> None:
    with OpenAIServer(lambda _: Say("x", usage=False)) as server:
        budget = Budget(tokens=100_000)
        answer = await complete(server, ask(tier(server)), budget=budget)
    assert answer.usage.input_tokens is None
    assert budget.spent_tokens > 0


@pytest.mark.parametrize("api", APIS)
@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"reasoning_effort": "minimal"}, "does not support 'minimal'"),
        ({"reasoning_effort": "xhigh"}, "does not support 'xhigh'"),
        ({"temperature": 0.0}, "'temperature' does not support 0.0"),
        ({"top_p": 1.0}, "'top_p' is not supported"),
    ],
)
async def test_a_refused_parameter_is_sent_as_stated_and_refused_in_the_servers_words(
    api: str, parameters: dict[str, Any], words: str
) -> None:
    with OpenAIServer([], strict={"m"}) as server:
        answer = await complete(server, ask(tier(server, api, **parameters)))
    assert answer.error == "rejected"
    assert words in (answer.reason or "")


@pytest.mark.parametrize("api", APIS)
async def test_nothing_unstated_is_sent(api: str) -> None:
    with OpenAIServer([Say("a"), Say("b")], strict={"m"}) as server:
        await complete(server, ask(tier(server, api)))
        full = Parameters(reasoning_effort="low", verbosity="low", max_output_tokens=99)
        answer = await complete(server, ask(tier(server, api).with_parameters(full)))
        assert answer.ok
    bare, stated = (set(call.body) - {"model", "messages", "input"} for call in server.calls)
    assert bare == ({"instructions"} if api == "responses" else set())
    assert stated - bare == (
        {"reasoning", "text", "max_output_tokens"}
        if api == "responses"
        else {"reasoning_effort", "verbosity", "max_completion_tokens"}
    )


async def test_reasoning_is_sent_back_encrypted_where_nothing_is_stored() -> None:
    with OpenAIServer([UseTools([("count_theme", {})]), Say("b")]) as server:
        async with LLM({}) as llm:
            request = ask(tier(server, "responses", store=False, reasoning_effort="low"))
            first = await llm.complete(request)
            result = {"role": "tool", "tool_call_id": first.tool_calls[0].id, "content": "3"}
            messages = (*request.messages, first.message(), result)
            await llm.complete(request.model_copy(update={"messages": messages}))
    assert server.calls[0].body["include"] == ["reasoning.encrypted_content"]
    kinds = [item.get("type") for item in server.calls[1].body["input"]]
    assert "reasoning" not in kinds, "the server kept none and gave none back to send"


async def test_a_wait_beyond_all_patience_is_a_failure_and_no_hang() -> None:
    with OpenAIServer(lambda _: too_many(3600)) as server:
        async with LLM({}, concurrency=2) as llm, asyncio.timeout(5):
            requests = [ask(tier(server), f"q{index}") for index in range(6)]
            answers = await asyncio.gather(*(llm.complete(request) for request in requests))
    assert {answer.error for answer in answers} == {"rate_limit"}
    assert len(server.calls) <= 2, "what the server asked for holds for the calls that wait"
    assert any("3600 s" in (answer.reason or "") for answer in answers)


async def test_parallel_calls_that_a_server_all_numbers_0_stay_apart() -> None:
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
    with OpenAIServer([reply]) as server:
        answer = await complete(server, ask(tier(server), tools=(COUNT,)))
    assert [(each.id, each.arguments) for each in answer.tool_calls] == [
        ("a", '{"theme": "a"}'),
        ("b", '{"theme": "b"}'),
    ]


async def test_a_turn_without_words_is_still_a_turn() -> None:
    history = ({"role": "user", "content": ""}, {"role": "assistant", "content": ""})
    with OpenAIServer([Say("a")]) as server:
        request = ask(tier(server, "responses"))
        request = request.model_copy(update={"messages": (*history, *request.messages[1:])})
        await complete(server, request)
    assert [message["role"] for message in server.calls[0].messages] == [
        "user",
        "assistant",
        "user",
    ]


async def test_what_a_tier_adds_takes_nothing_away() -> None:
    with OpenAIServer([Say("a")]) as server:
        extra = {"reasoning": {"summary": "auto"}, "user": "u"}
        await complete(server, ask(tier(server, "responses", reasoning_effort="high", extra=extra)))
    assert server.calls[0].body["reasoning"] == {"effort": "high", "summary": "auto"}
    assert server.calls[0].body["user"] == "u"


@pytest.mark.parametrize("usage", [True, False])
async def test_answers_of_unknown_length_do_not_overspend_together(usage: bool) -> None:
    with OpenAIServer(lambda _: Say("x" * 4000, usage=usage), latency=0.02) as server:
        budget = Budget(tokens=5000)
        async with LLM({}, budget=budget, concurrency=20) as llm:
            requests = [ask(tier(server), f"q{index}") for index in range(40)]
            answers = await asyncio.gather(*(llm.complete(request) for request in requests))
    assert 1000 < budget.spent_tokens <= 5000
    assert sum(answer.ok for answer in answers) == len(server.calls) < 6


async def test_tries_that_brought_no_answer_count_against_the_budget() -> None:
    with OpenAIServer(lambda _: Hang(0.3)) as server:
        budget = Budget(tokens=1000)
        async with LLM({}, budget=budget) as llm:
            request = ask(tier(server, timeout=0.1, retries=1, max_output_tokens=100))
            answer = await llm.complete(request)
    assert answer.error == "timeout"
    assert llm.counts["lost"] == 2
    assert budget.spent_tokens > 200


@pytest.mark.parametrize("bounds", [{"tokens": -1}, {"cost": -0.5}, {"cost": float("nan")}])
def test_a_budget_that_bounds_nothing_is_refused(bounds: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="no bound"):
        Budget(**bounds)
    with pytest.raises(UsageError, match="--concurrency"):
        LLM({}, concurrency=0)


async def test_a_replayed_case_never_shares_an_answer_with_another_repeat(tmp_path: Path) -> None:
    with OpenAIServer(lambda call: Say(f"answer {call.index}")) as server:
        async with LLM({}, cache=Cache(tmp_path / "c.sqlite")) as llm:
            texts = []
            for repeat in (0, 1, 1):
                with recording(Calls(llm.gateway, tier(server), repeat)) as calls:
                    texts.append((await llm.complete(ask(tier(server)))).text)
                assert len(calls.made) == 1
    assert texts == ["answer 0", "answer 1", "answer 1"]
    assert llm.counts == {"calls": 2, "cached": 1}


async def test_the_budget_waits_for_calls_under_way_and_spends_what_it_may() -> None:
    with OpenAIServer(lambda _: Say("x" * 400)) as server:
        budget = Budget(tokens=300_000)
        async with LLM({}, budget=budget, concurrency=20) as llm:
            requests = [ask(tier(server, max_output_tokens=20_000), f"q{i}") for i in range(130)]
            answers = await asyncio.gather(*(llm.complete(request) for request in requests))
    assert [answer.state for answer in answers] == [OutputState.OK] * 130
    assert budget.spent_tokens < 300_000


async def test_tries_count_against_the_budget() -> None:
    with OpenAIServer(lambda _: Raw("not json")) as server:
        budget = Budget(tokens=2_000)
        async with LLM({}, budget=budget, concurrency=4) as llm:
            requests = [ask(tier(server, max_output_tokens=400), f"q{i}") for i in range(20)]
            answers = await asyncio.gather(*(llm.complete(request) for request in requests))
        assert len(server.calls) <= 5
    assert OutputState.OVER_BUDGET in {answer.state for answer in answers}
    assert budget.spent_tokens <= 2_000


async def test_a_budget_of_nothing_lets_nothing_be_spent() -> None:
    with OpenAIServer([Say("never")]) as server:
        answer = await complete(server, ask(tier(server)), budget=Budget(tokens=0))
    assert (answer.state, len(server.calls)) == (OutputState.OVER_BUDGET, 0)


async def test_waiting_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with OpenAIServer(once(too_many(1.1))) as server:
        answer = await complete(server, ask(tier(server)))
    assert answer.ok
    said = [record.getMessage() for record in caplog.records]
    assert any("waiting 1 s" in words and "at most 600 s" in words for words in said)


async def test_a_tier_without_an_endpoint_goes_where_the_sdk_would(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with OpenAIServer([Say("a")], key="sk-of-the-company") as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.url + "/")
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-company\n")
        answer = await complete(server, ask(Tier(model="m")))
    assert answer.ok


async def test_what_a_tier_drops_is_not_sent() -> None:
    with OpenAIServer([Say("a")], strict={"m"}) as server:
        dropping = tier(server, drop=("temperature",)).with_parameters(Parameters(temperature=0.2))
        assert (await complete(server, ask(dropping))).ok
    with pytest.raises(ValueError, match="'heat' is no parameter"):
        Tier(model="m", drop=("heat",))


async def test_a_socks_proxy_is_used_or_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ALL_PROXY", "socks5://me:hidden-word@127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "")
    answer = await complete(None, ask(Tier(model="m", endpoint="http://example.test", retries=0)))
    assert answer.error == "connection"
    monkeypatch.setenv("ALL_PROXY", "gopher://me:hidden-word@127.0.0.1:9")
    with pytest.raises(UsageError, match="proxy") as caught:
        await complete(None, ask(Tier(model="m", endpoint="http://example.test")))
    assert "hidden-word" not in str(caught.value)
