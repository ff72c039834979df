"""Faults of what answers say, people's labels as hosts, and what judges add to the code."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from ancrage.calibration.labels import Label
from ancrage.config import Config
from ancrage.domain import Answer, Case, CaseInput, Provenance, ToolCall
from ancrage.evaluator import Evaluator
from ancrage.evaluators import select
from ancrage.prove import Panel, find_hosts, run_trial
from ancrage.prove.settings import ProveSettings, load_kinds
from ancrage.prove.shapes import write
from ancrage.prove.summary import Row, by_kind
from ancrage.prove.trial import plant
from ancrage.snapshot import Snapshot
from ancrage.studies import Studies
from tests.builders import case as app_case
from tests.builders import snapshot
from tests.judges.conftest import configure, data, workplace
from tests.judges.scripted import obliging, words
from tests.judges.test_commands import invoke
from tests.prove.test_prove import loud
from tests.servers.openai_server import OpenAIServer

__all__ = ["configure", "data", "workplace"]
CONFIG = Config(None, {})
SUPPORT = (
    "The footbridge was designed by Ada Lindqvist in 2011. It spans 140 metres. Bo Ek built it."
)


def asked(id: str, question: str, answer: str, expected: str, *, abstain: bool = False) -> Case:
    return Case(
        id=id,
        input=CaseInput(question=question),
        output=Answer(text=answer),
        provenance=Provenance(source="test"),
        metadata={"must_abstain": abstain, "expected": expected, "support": SUPPORT},
    )


QUESTIONS = (
    asked("who", "Who designed the footbridge?", "Ada Lindqvist", "Ada Lindqvist"),
    asked("long", "How long is it?", "It spans 140 metres.", "140 metres"),
    asked("cost", "What did it cost?", "The text does not say.", "", abstain=True),
)
COUNTED = Case(
    id="counted",
    input=CaseInput(
        question="Combien ?",
        tool_calls=(ToolCall(name="count", output={"réponses": 52, "année": 2019}),),
    ),
    output=Answer(text="En 2019, il y a 52 réponses. Certains parlent de lenteur."),
    provenance=Provenance(source="test"),
)


def rows(path: Path, cases: tuple[Case, ...], names: str, *more: Evaluator) -> dict[str, Row]:
    """The kinds as the code sees them."""
    studies = Studies(snapshot(path, cases), CONFIG)
    every = select("none", "abstention,support,verify", CONFIG)
    checks, scorers = every[:7], [*every[7:], *more]
    hosts, _ = find_hosts(studies.snapshot, studies, [*checks, *scorers])
    assert len(hosts) == len(cases)
    kinds = load_kinds(ProveSettings(), names)
    found = run_trial(hosts, len(cases), studies, Panel(checks, scorers), kinds)
    return {row.name: row for row in by_kind(found, kinds, ProveSettings())}


def test_right_answers_and_abstentions(tmp_path: Path) -> None:
    names = (
        "abstention_made_guess,answer_made_abstention,right_figure_changed,right_name_changed,"
        "addition,emptied"
    )
    found = rows(tmp_path / "s", QUESTIONS, names)
    assert {name: (row.tried, row.rate) for name, row in found.items()} == {
        "abstention_made_guess": (1, 1.0),
        "answer_made_abstention": (2, 1.0),
        "right_figure_changed": (1, 1.0),
        "right_name_changed": (1, 1.0),
        "addition": (2, 1.0),
        "emptied": (3, 1.0),
    }
    assert found["emptied"].by_mode == {"empty": 3}


def test_harmless_edits_of_answers_without_quotes(tmp_path: Path) -> None:
    names = "nothing,greeting_and_sign_off,entities,crlf,non_breaking"
    found = rows(tmp_path / "s", (*QUESTIONS, COUNTED), names)
    assert {row.rate for row in found.values()} == {1.0}
    assert found["nothing"].tried == 4


def test_what_code_does_not_claim_is_neither_missed_nor_held_against_it(tmp_path: Path) -> None:
    names = "figure_changed,date_changed,claim_denied,overgeneralised,cut_short,repeated"
    found = rows(tmp_path / "s", (COUNTED,), names)
    assert found["overgeneralised"].not_claimed == found["cut_short"].not_claimed == 1
    assert found["repeated"].not_claimed == 1
    for row in found.values():
        assert (row.missed, row.unscored, row.falls_short) == (0, 0, False)
        assert row.tried == row.good + row.not_claimed


def test_a_changed_figure_stands_nowhere_in_what_the_answer_rests_on(tmp_path: Path) -> None:
    studies = Studies(snapshot(tmp_path / "s", [COUNTED]), CONFIG)
    (host,), _ = find_hosts(studies.snapshot, studies, [])
    for kind in load_kinds(ProveSettings(), "figure_changed,date_changed,bound_changed"):
        for seed in range(20):
            draft = plant(kind, host, str(seed))
            assert draft
            assert write(draft, "as_is") != host.text
            assert ("52" in draft.text) + ("2019" in draft.text) == 1


def test_a_persons_labels_overrule_the_checks(tmp_path: Path) -> None:
    studies = Studies(snapshot(tmp_path / "s", [app_case("Rien.", "a"), app_case("Si.", "b")]))
    checks = [replace(loud, version="1")]

    def hosts(*labels: Label) -> list[str]:
        return [host.case.id for host in find_hosts(studies.snapshot, studies, checks, labels)[0]]

    clean = Label(case_id="a", mode="loud", label=False, annotator="ana")
    assert hosts() == []
    assert hosts(clean) == ["a"]
    assert hosts(clean.model_copy(update={"answer_hash": "0" * 16})) == []
    assert hosts(clean, Label(case_id="a", mode="off", label=True, annotator="ana")) == []
    found, answers = find_hosts(studies.snapshot, studies, checks, [clean])
    kinds = load_kinds(ProveSettings(), "nothing,emptied")
    trial = run_trial(found, answers, studies, Panel(checks), kinds, shapes=["as_is"])
    emptied, nothing = sorted(by_kind(trial, kinds, ProveSettings()), key=lambda row: row.name)
    assert (nothing.other, emptied.good) == (1, 1)


def test_what_judges_add_to_the_code(
    data: Snapshot, configure: Callable[..., None], capfd: pytest.CaptureFixture[str]
) -> None:
    judge = words(overgeneralisation="Tous", boilerplate_answer="des avis variés")
    kinds = "made_boilerplate,answer_to_another_question,altered_digit,respondent_swapped"
    command = ["prove", "--judges", "three", "--kinds", kinds, "--shapes", "as_is"]
    with OpenAIServer(obliging(judge)) as server:
        configure(server)
        assert invoke(*command, "--dry-run") == 0
        assert "calls, about" in capfd.readouterr().out
        assert not server.calls
        assert invoke(*command, "--json", "cells.json") == 1
        assert server.calls
        cells = {cell["kind"]: cell for cell in json.loads(Path("cells.json").read_text())}
        boilerplate, other = cells["made_boilerplate"], cells["answer_to_another_question"]
        assert boilerplate["right"] == boilerplate["by_judges"] == boilerplate["tried"] > 0
        assert (other["missed"], other["by_judges"]) == (other["tried"], 0)
        swapped = cells["respondent_swapped"]
        assert (swapped["right"], swapped["by_judges"]) == (swapped["tried"], 0)
        asked = len(server.calls)
        assert invoke(*command, "--json", "cells.json", "--no-cache", "--budget-tokens", "0") == 3
        assert len(server.calls) == asked
    cells = {cell["kind"]: cell for cell in json.loads(Path("cells.json").read_text())}
    assert cells["made_boilerplate"]["unscored"] == cells["made_boilerplate"]["tried"]
