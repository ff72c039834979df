"""Judges on datasets and in replays: what they did is said, and too few verdicts end with 3."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from ancrage.snapshot import Snapshot
from tests.builders import snapshot as build
from tests.judges.scripted import obliging, words
from tests.judges.test_commands import invoke
from tests.langfuse.conftest import server as langfuse
from tests.replay.commands import run
from tests.replay.conftest import make_case
from tests.servers.langfuse_server import LangfuseServer
from tests.servers.openai_server import OpenAIServer, Refuse

__all__ = ["langfuse"]


@pytest.mark.parametrize("refuses", [False, True])
def test_coverage_is_a_gate_on_a_dataset_too(
    langfuse: LangfuseServer,
    data: Snapshot,
    configure: Callable[..., None],
    capfd: pytest.CaptureFixture[str],
    refuses: bool,
) -> None:
    script = (lambda _: Refuse("I cannot.")) if refuses else obliging(words())
    with OpenAIServer(script) as judge:
        configure(judge, more="[langfuse]\npoll = 0.05\n")
        assert invoke("push", str(data.path), "--dataset", "d") == 0
        status = invoke("experiment", "--dataset", "d", "--judges", "relevance")
    out = capfd.readouterr().out
    assert status == (3 if refuses else 0), out
    assert ("relevance gave 0.0 % of its verdicts" in out) == refuses
    scores = {row["name"]: row["value"] for row in langfuse.store.scores.values()}
    assert scores["judge.relevance.coverage"] == (0 if refuses else 1)


@pytest.mark.parametrize("refuses", [False, True])
def test_coverage_is_a_gate_on_a_replay_too(
    workplace: Path, configure: Callable[..., None], refuses: bool
) -> None:
    cases = [make_case(number) for number in range(3)]
    build(workplace / "snapshots" / "app", cases)
    Path("mock.json").write_text(json.dumps([{"id": each.id, "answer": "Oui."} for each in cases]))
    script = (lambda _: Refuse("I cannot.")) if refuses else obliging(words())
    with OpenAIServer(script) as judge:
        configure(judge, more="[assistant]\nuse = 'tests.replay.assistants:agent'\n")
        status, out = run("replay", "--mock", "mock.json", "--judges", "relevance")
    assert status == (3 if refuses else 0), out
    assert ("relevance gave 0.0 % of its verdicts" in out) == refuses
