"""Structured output: native, fallen back, mended, repaired once, and every way to fail."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from ancrage.llm import LLM, Cache, Request, Structured, Tier, parse_json
from tests.servers.openai_server import (
    Call,
    Empty,
    Hang,
    OpenAIServer,
    Refuse,
    Reply,
    Say,
)


class Defect(BaseModel):
    mode: str
    passage: str


class Verdict(BaseModel):
    defects: list[Defect]
    note: str = ""


GOOD = '{"defects": [{"mode": "off_question", "passage": "l\'été } {"}], "note": ""}'


async def ask(server: OpenAIServer, **fields: Any) -> Structured[Verdict]:
    tier = Tier.model_validate({"model": "m", "endpoint": server.url, **fields})
    messages = (
        {"role": "system", "content": "Juge."},
        {"role": "user", "content": "La réponse."},
    )
    async with LLM({}) as llm:
        return await llm.complete_json(Request(tier=tier, messages=messages), Verdict)


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_the_schema_goes_out_in_strict_form(api: str) -> None:
    with OpenAIServer([Say(GOOD)]) as server:
        result = await ask(server, api=api)
    assert result.value is not None
    assert (result.problem, result.read, result.turns) == (None, "strict", 1)
    schema = server.calls[0].schema
    assert schema is not None
    assert schema["required"] == ["defects", "note"]
    assert schema["additionalProperties"] is False
    assert schema["$defs"]["Defect"]["additionalProperties"] is False
    assert "default" not in schema["properties"]["note"]


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_an_endpoint_without_schemas_is_asked_in_words(api: str) -> None:
    with OpenAIServer(lambda _: Say(f"Voici :\n```json\n{GOOD}\n```"), json_schema=False) as server:
        tier = Tier.model_validate({"model": "m", "endpoint": server.url, "api": api})
        async with LLM({}) as llm:
            for _ in range(2):
                request = Request(tier=tier, messages=({"role": "user", "content": "?"},))
                result = await llm.complete_json(request, Verdict)
                assert (result.problem, result.read) == (None, "tolerant")
    assert [call.schema is not None for call in server.calls] == [True, False, False]
    assert "JSON Schema" in server.calls[1].messages[0]["content"]


async def test_an_endpoint_with_json_objects_gets_both() -> None:
    with OpenAIServer([Say(GOOD)]) as server:
        result = await ask(server, structured="json_object")
    assert result.value is not None
    assert server.calls[0].body["response_format"] == {"type": "json_object"}
    assert [message["role"] for message in server.calls[0].messages] == ["system", "system", "user"]


@pytest.mark.parametrize(
    "text",
    [
        f"```json\n{GOOD}\n```",
        f"```\n{GOOD}\n```\nJ'espère que cela aide {{vraiment}} !",
        f"Le schéma {{ n'est pas clair \"mais voici : {GOOD}",
        GOOD + "\nJe répète :\n" + GOOD,
        '{"note": "un exemple, sans rien"}\n' + GOOD,
        GOOD + '\n{"confidence": 0.9}',
        GOOD.replace('"note": ""', '"note": "```json\\n{}\\n```"'),
        GOOD.replace('"note": ""', '"note": "deux\nlignes"'),
        GOOD.replace('"note": ""}', '"note": "",} // fini'),
        GOOD.replace('{"defects"', '{// les défauts : "\n"defects"'),
        "\ufeff" + GOOD,
    ],
)
def test_tolerant_reading_finds_the_verdict(text: str) -> None:
    value, _, fault = parse_json(text, Verdict)
    assert value is not None, fault
    assert [defect.passage for defect in value.defects] == ["l'été } {"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no.",
        "null",
        "[]",
        "{}",
        '{"defects": null}',
        '{"defects": [null]}',
        '{"defects": [{"mode": "off_question"}]}',
        GOOD[:-14],
        GOOD[:40],
        '```json\n{"defects": [{"mode": "off_qu',
        "{" * 100_000,
        '{"a":' * 30_000,
        GOOD[:-1] + ', "note": "autre"}',
        "Voici : " + GOOD[:-1] + ', "defects": []}',
    ],
)
def test_what_is_missing_is_never_invented(text: str) -> None:
    value, read, fault = parse_json(text, Verdict)
    assert (value, read) == (None, None)
    assert fault


@given(st.text() | st.text(alphabet='{}[]":,\\/`nabc0\n '))
def test_no_reply_breaks_the_reader(text: str) -> None:
    value, _, fault = parse_json(text, Verdict)
    assert (value is None) == (fault is not None)


async def test_one_repair_turn_then_unparsable() -> None:
    with OpenAIServer([Say("Hmm."), Say(GOOD)]) as server:
        result = await ask(server)
    assert result.value is not None
    assert (result.turns, result.usage.calls) == (2, 2)
    roles = [message["role"] for message in server.calls[1].messages]
    assert roles == ["system", "user", "assistant", "user"]
    with OpenAIServer([Say("Hmm."), Say('{"defects": 3}'), Say(GOOD)]) as server:
        result = await ask(server)
    assert (result.problem, result.value, len(server.calls)) == ("unparsable", None, 2)
    assert "defects" in (result.reason or "")
    assert result.text == '{"defects": 3}'


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (Refuse("Non."), "refused"),
        (Say(GOOD[:30], finish="length"), "truncated"),
        (Empty(), "empty"),
        (Hang(0.6), "timeout"),
    ],
)
async def test_no_answer_has_its_own_name(reply: Reply, problem: str) -> None:
    def script(_: Call) -> Reply:
        return reply

    with OpenAIServer(script) as server:
        result = await ask(server, timeout=0.3, retries=0)
    assert (result.value, result.problem) == (None, problem)
    assert result.reason
    assert len(server.calls) == 1


async def test_only_a_value_is_kept_in_the_cache(tmp_path: Path) -> None:
    replies: list[Reply] = [
        Say("Hmm."),
        Say("Hmm."),
        Refuse("Non."),
        Say(GOOD[:30], finish="length"),
        Say("Hmm."),
        Say(GOOD),
    ]
    tries = []
    with OpenAIServer(replies) as server:
        for _ in range(5):
            async with LLM({}, cache=Cache(tmp_path / "c.sqlite")) as llm:
                tier = Tier(model="m", endpoint=server.url)
                request = Request(tier=tier, messages=({"role": "user", "content": "?"},))
                result = await llm.complete_json(request, Verdict)
            tries.append((result.problem, len(server.calls)))
    assert tries == [("unparsable", 2), ("refused", 3), ("truncated", 4), (None, 6), (None, 6)]
