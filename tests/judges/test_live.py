"""Judges on a live, very small model: its poor and malformed verdicts are all accounted for."""

from pathlib import Path

from ancrage.domain import ScoreState
from ancrage.judges.account import accounts
from ancrage.runs import RunView, find_run
from tests.builders import case
from tests.builders import snapshot as build
from tests.judges.conftest import ANSWERS
from tests.judges.test_commands import invoke
from tests.judges.test_contract import check
from tests.servers.live_model import live_model

ONE_FILE = """
name = "tiny"
task = "You check one thing."
context = ["question"]
[[modes]]
name = "vague_answer"
title = "Vague"
definition = "The answer says nothing precise."
counts = ["empty words"]
counts_not = ["figures"]
[[modes.examples]]
language = "en"
answer = "It depends."
passage = "It depends."
reason = "Nothing is said."
"""


def test_a_live_models_verdicts_are_all_accounted_for(workplace: Path) -> None:
    build(workplace / "snapshots" / "app", [case(t, id=name) for name, t in [*ANSWERS.items()][:2]])
    (workplace / "tiny.toml").write_text(ONE_FILE)
    with live_model() as url:
        (workplace / "evals.toml").write_text(
            f"[tiers.judge]\nmodel = 'smollm2'\nendpoint = '{url}'\nmax_output_tokens = 60\n"
            "timeout = 100\n[judges]\nfiles = ['tiny.toml']\nmin_coverage = 0\n"
        )
        code = invoke("experiment", "--judges", "tiny", "--run-name", "live", "--concurrency", "2")
    assert code == 0
    folder = find_run("live")
    (account,) = accounts(folder, folder.scorings()[-1])
    assert account.answers == account.verdicts == 2
    assert account.scored + sum(account.reasons.values()) == 2
    assert sum(account.fates.values()) == account.reported
    assert account.usage.calls >= 2
    for item in RunView(folder).items():
        (judged,) = [each for each in item.evaluations if each.evaluator == "tiny"]
        check(judged, item.output.answer.text if item.output.answer else "")
        assert judged.details["calls"], "the model was called"
        if judged.scores[0].state is ScoreState.UNSCORED and "problem" in judged.details:
            assert judged.scores[0].reason in {"truncated", "unparsable", "empty", "timeout"}
