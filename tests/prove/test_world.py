"""Faults of the world of a replay: each is said, and a run that keeps silent is caught."""

from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from ancrage.config import Config
from ancrage.llm import http_client
from ancrage.prove import replays
from ancrage.prove.page import world_markdown, write_world
from ancrage.prove.replays import prove_world
from ancrage.prove.world import FAULTS
from ancrage.replay import FunctionAssistant
from ancrage.replay.demo import assistant as demo
from ancrage.snapshot import Snapshot, open_snapshot
from tests.cli.test_commands import DEMO, run
from tests.replay.assistants import agent, function
from tests.replay.conftest import cases, data, workplace

__all__ = ["cases", "data", "workplace"]
CONFIG = Config(None, {})


def test_every_fault_of_the_demonstrations_world_is_said(tmp_path: Path) -> None:
    found = prove_world(open_snapshot(DEMO), demo, CONFIG, (), 2)
    assert found.clean == found.tried == replays.TRIED
    assert {one.name: one.cases for one in found.outcomes if not one.cases} == {}
    assert [one.name for one in found.outcomes] == [fault.name for fault in FAULTS]
    assert not found.unsaid
    assert [one.name for one in found.outcomes if not one.said] == ["history_not_sent"]
    write_world(tmp_path / "world.html", found)
    assert "UNSAID" not in (tmp_path / "world.html").read_text(encoding="utf-8")
    assert "| 2 | said |" in "\n".join(world_markdown(found))


def test_a_run_that_keeps_silent_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replays, "lines", lambda run, totals: [])
    names = ("prompt_drifted", "model_echoed_another", "answer_empty")
    found = prove_world(open_snapshot(DEMO), demo, CONFIG, names, 2)
    assert [one.name for one in found.unsaid] == ["prompt_drifted", "model_echoed_another"]


def test_ones_own_assistants(data: Snapshot) -> None:
    for own in (agent, function):
        found = prove_world(data, own, CONFIG, (), 2)
        assert found.clean == 12
        assert not found.unsaid, [(one.name, one.signs, one.reason) for one in found.unsaid]


@pytest.mark.parametrize("stream", [False, True])
def test_an_assistant_on_an_sdk_of_its_own(data: Snapshot, stream: bool) -> None:
    client = AsyncOpenAI(api_key="sk", http_client=http_client())

    async def answer(messages: list[Any], conversation: Any) -> str:
        reply: Any = await client.responses.create(model="x", input=messages, stream=stream)
        if not stream:
            return str(reply.output_text)
        return "".join(
            [e.response.output_text async for e in reply if e.type.endswith("completed")]
        )

    own = FunctionAssistant(answer, prompt=lambda _: "Réponds à propos de app.", tier="own")
    config = Config(None, {"tiers": {"own": {"model": "m", "api": "responses"}}})
    names = ("answer_truncated", "answer_empty", "model_echoed_another", "prompt_drifted")
    found = prove_world(data, own, config, names, 2)
    assert found.clean, found.trouble
    assert [(one.name, one.signs) for one in found.unsaid] == []


def test_the_command(tmp_path: Path) -> None:
    ended = run("prove", str(DEMO), "--replay", "--kinds", "answer_empty", cwd=tmp_path)
    assert ended.returncode == 0, ended.stderr
    assert "60 of 60 cases replay as they were recorded." in ended.stdout
    ended = run("prove", str(DEMO), "--replay", "--kinds", "nowhere", cwd=tmp_path)
    assert ended.returncode == 2
    assert "no fault of the world is named 'nowhere'" in ended.stderr
    assert not list(tmp_path.iterdir())
