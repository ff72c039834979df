"""A replay against a real model: nothing is scripted, and every output is accounted for."""

from collections import Counter
from pathlib import Path

import pytest

from ancrage.domain import OutputState, RunState
from ancrage.runs import RunView, find_run
from tests.builders import snapshot as build
from tests.replay.commands import run
from tests.replay.conftest import make_case
from tests.servers.live_model import live_model


@pytest.mark.parametrize("api", ["chat", "responses"])
def test_a_live_model_is_replayed_and_every_output_accounted_for(api: str, workplace: Path) -> None:
    cases = [make_case(number) for number in range(3)]
    build(workplace / "snapshots" / "app", cases)
    with live_model() as url:
        (workplace / "evals.toml").write_text(
            "[assistant]\nuse = 'tests.replay.assistants:agent'\n"
            f"[tiers.standard]\nmodel = 'smollm2'\nendpoint = '{url}'\napi = '{api}'\n"
            "max_output_tokens = 24\ntimeout = 100\n"
        )
        code, out = run("replay", "--run-name", "live", "--params", "tier", "--no-preflight")
    folder = find_run("live")
    assert folder.run.state is RunState.COMPLETE
    outputs = {output.case_id: output for output in folder.outputs()}
    assert set(outputs) == {case.id for case in cases}
    states = Counter(output.state for output in outputs.values())
    assert code == (0 if states[OutputState.OK] == 3 else 3), out  # [replay] min_answered is .9
    assert sum(folder.run.counts[str(state)] for state in states) == folder.run.counts["cases"] == 3
    assert states[OutputState.FAILED] < 3, [output.reason for output in outputs.values()]
    for output in outputs.values():
        assert (output.reason is None) == (output.state is OutputState.OK)
        if output.state is OutputState.UNRECORDED_TOOL_CALL:
            assert output.details["misses"]
        elif output.state is not OutputState.FAILED:
            assert output.usage is not None
            assert output.usage.output_tokens
    for row in RunView(folder).summaries():
        assert row.scored + row.unscored == 3
        assert row.scored == states[OutputState.OK]
