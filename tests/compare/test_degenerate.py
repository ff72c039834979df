"""Twelve assistants that say little or nothing, against a good one: none may ship."""

import asyncio
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from ancrage.checks import load_checks
from ancrage.compare.gate import Outcome, decide
from ancrage.compare.policy import Minimum, Policy
from ancrage.compare.results import Results, read_results
from ancrage.config import Config
from ancrage.domain import Answer, Case, Output, OutputState
from ancrage.runs import create_run, run_experiment
from ancrage.runs.steps import recorded
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies

DEMO = Path(__file__).parents[2] / "snapshots/demo"
_QUOTE = re.compile(r"«[^»]*»|“[^”]*”|\"[^\"]*\"")
_BRACKET = re.compile(r"\s*\[[^\]]*\]")


def _safe(case: Case) -> str:
    """One message that stands in the study, quoted and cited, whatever was asked."""
    study = open_snapshot(DEMO, verify=False).study(case.study_id or "")
    assert study is not None
    message = min(study.messages, key=lambda message: message.id)
    question = f"{message.question_ref}, " if message.question_ref else ""
    return f"Comme le dit une personne : « {message.text} » [{question}{message.id}]"


def _every_second(text: str, pattern: re.Pattern[str]) -> str:
    kept = iter(range(10_000))
    return pattern.sub(lambda found: found.group() if next(kept) % 2 else "", text)


def _said(case: Case) -> str:
    return case.output.text if case.output else ""


ASSISTANTS: dict[str, Callable[[Case], str]] = {
    "says that it does not know": lambda case: "Je ne sais pas.",
    "is empty": lambda case: "",
    "is one word": lambda case: "Oui.",
    "gives one answer for all": lambda case: "Les personnes interrogées sont partagées.",
    "copies the question": lambda case: case.input.question,
    "cites nothing": lambda case: _BRACKET.sub("", _said(case)),
    "quotes without marks": lambda case: re.sub(r"[«»“”\"]", "", _said(case)),
    "drops its quotes": lambda case: _QUOTE.sub("…", _said(case)),
    "drops every second citation": lambda case: _every_second(_said(case), _BRACKET),
    "keeps the first sentence": lambda case: _BRACKET.sub("", _said(case).split(". ")[0][:120]),
    "cites one safe quote always": _safe,
    "refuses": lambda case: "Désolé, je ne peux pas répondre à cette question.",
}


@pytest.fixture(scope="module")
def answered(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Results]:
    """The outcomes of one assistant over the demonstration snapshot, by every code check."""
    root = tmp_path_factory.mktemp("runs")
    config = Config(None, {})
    data = open_snapshot(DEMO)
    checks = load_checks(config)

    def run(name: str) -> Results:
        async def produce(case: Case) -> Output:
            if name == "production":
                return await recorded(case)
            text = ASSISTANTS[name](case)
            state = OutputState.OK if text.strip() else OutputState.EMPTY
            return Output(
                case_id=case.id,
                state=state,
                answer=Answer(text=text),
                reason=None if text.strip() else "empty",
            )

        folder = create_run(data, kind="replay", name=name, root=root)
        asyncio.run(run_experiment(folder, data.cases(), produce, checks, Studies(data, config)))
        return read_results(folder)

    return run


@pytest.fixture(scope="module")
def production(answered: Callable[[str], Results]) -> Results:
    return answered("production")


@pytest.mark.parametrize("name", list(ASSISTANTS))
def test_it_does_not_ship(
    name: str, answered: Callable[[str], Results], production: Results
) -> None:
    # Production's own answers are not all there: the trial is of the anchors, not of coverage.
    policy = Policy(minimum=Minimum(coverage=0.5))
    found = decide(policy, (answered(name),), (production,))
    assert found.outcome is not Outcome.PASSED
    assert {check.name for check in found.checks if check.outcome is not Outcome.PASSED} - {
        "run", "items"
    }  # fmt: skip


def test_production_against_itself_does(production: Results) -> None:
    policy = Policy(minimum=Minimum(coverage=0.5))
    assert decide(policy, (production,), (production,)).outcome is Outcome.PASSED
