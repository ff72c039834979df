"""NLI as an evaluator: its premises, its counts, its unscored states."""

from pathlib import Path
from typing import Any

import pytest

from ancrage.claims import COMPARISON_VERSION, extract_claims
from ancrage.config import Config
from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Message,
    Output,
    OutputState,
    Provenance,
    Study,
    ToolCall,
)
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator, Subject
from ancrage.ids import IdPolicy
from ancrage.nli import NLIEvaluator, NLISettings, Verifier, nli_evaluator, rule_of
from ancrage.nli.calibrate import Calibration
from ancrage.nli.evaluator import premises_of
from ancrage.studies import IndexedStudy
from ancrage.tools import tool_text
from tests.nli.test_verify import judge

STUDY = Study(
    id="s",
    messages=(
        Message(id="M-1", respondent_id="R-1", text="The tool is slow and the price is high."),
        Message(id="M-2", respondent_id="R-2", text="I like the colours."),
    ),
)


def subject(text: str, *calls: ToolCall, study: Study | None = STUDY) -> Subject:
    case = Case(
        id="c",
        input=CaseInput(question="What?", tool_calls=calls),
        provenance=Provenance(source="test"),
    )
    output = Output(case_id="c", state=OutputState.OK, answer=Answer(text=text))
    return Subject(case, output, IndexedStudy(study, IdPolicy()) if study else None)


def evaluator() -> NLIEvaluator:
    made = NLIEvaluator(NLISettings(rule="argmax"))
    made.__dict__["verifier"] = Verifier(judge, rule_of(made.settings))
    return made


def test_it_keeps_to_the_protocol() -> None:
    assert isinstance(evaluator(), Evaluator)
    assert [mode.name for mode in evaluator().modes] == ["nli_contradicted", "nli_unsupported"]


def test_its_version_changes_with_all_that_decides(tmp_path: Path) -> None:
    versions = [
        NLIEvaluator(NLISettings(**options)).version
        for options in ({}, {"k": 1.0}, {"score": "difference"}, {"ddof": 1}, {"rule": "fixed"})
    ]
    fitted = {
        "coefficients": (0.0, 1.0, 1.0, 0.0), "strength": 1.0, "rate": 0.5, "alpha": 0.1,
        "precision": 0.8, "delta": 0.1, "correction": 2.0, "responses": (10, 10), "data_hash": "x",
    }  # fmt: skip
    for threshold in (0.3, 0.4):
        path = tmp_path / f"{threshold}.json"
        path.write_text(
            Calibration.model_validate({**fitted, "threshold": threshold}).model_dump_json()
        )
        versions.append(NLIEvaluator(NLISettings(rule="calibrated", calibration=str(path))).version)
    assert len(set(versions)) == len(versions)
    assert all(COMPARISON_VERSION in version for version in versions)


async def test_counts_and_findings_agree() -> None:
    text = (
        "The tool is slow [R-1, M-1]. The tool is cheap [R-1, M-1]. Bananas grow tall [R-2, M-2]."
    )
    evaluation = await evaluator().evaluate(subject(text))
    assert {s.name: s.value for s in evaluation.scores} == {
        "nli_contradicted": 1,
        "nli_unsupported": 1,
    }
    assert [(f.mode, f.evidence.text) for f in evaluation.findings] == [
        ("nli_contradicted", "The tool is cheap [R-1, M-1]."),
        ("nli_unsupported", "Bananas grow tall [R-2, M-2]."),
    ]
    assert all(
        text[f.evidence.start : f.evidence.end] == f.evidence.text for f in evaluation.findings
    )
    assert evaluation.details["claims"] == 3


async def test_nothing_to_hold_claims_against_is_unscored() -> None:
    for study in (STUDY, None):
        evaluation = await evaluator().evaluate(subject("The tool is slow.", study=study))
        assert all(
            s.value is None and "no message cited" in (s.reason or "") for s in evaluation.scores
        )


async def test_an_answer_without_claims_has_none_wrong() -> None:
    evaluation = await evaluator().evaluate(subject("I don't know."))
    assert [s.value for s in evaluation.scores] == [0, 0]
    assert evaluation.details["claims"] == 0


def test_premises_are_cited_messages_then_tool_results() -> None:
    call = ToolCall(name="stats", output={"respondents": 40, "rate": "45 %"})
    failed = ToolCall(name="stats", output="junk", error="timeout")
    text = "The tool is slow [R-1, M-1]. Colours are liked. [R-2, M-2] Forty people replied to it."
    whole = subject(text, call, failed)
    tools = "respondents: 40\nrate: 45 %"
    slow, colours = STUDY.messages[0].text, STUDY.messages[1].text
    assert premises_of(whole, extract_claims(text)) == [
        f"{slow}\n\n{tools}",
        f"{colours}\n\n{tools}",
        f"{slow}\n\n{colours}\n\n{tools}",
    ]


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ("plain words", "plain words"),
        ('{"a": 1, "b": [{"c": "x"}]}', "a: 1\nc: x"),
        ([1, "two"], "1\n\ntwo"),
        (None, ""),
        ('"quoted"', '"quoted"'),
    ],
)
def test_tool_results_as_prose(output: Any, text: str) -> None:
    assert tool_text(output) == text


def test_an_unusable_table_or_model_stops_at_once(torch: Any, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"\[nli\] rule"):
        nli_evaluator(Config(None, {"nli": {"rule": "magic"}}))
    with pytest.raises(UsageError, match="hf download"):
        nli_evaluator(Config(None, {"nli": {"model": "nobody/none", "offline": True}}))


async def test_the_real_model_end_to_end(real_model: Any) -> None:
    settings = NLISettings(model=real_model.settings.model, offline=True, rule="argmax")
    made = nli_evaluator(Config(None, {"nli": settings.model_dump()}))
    message = Message(id="M-9", respondent_id="R-9", text="A man is sleeping on a bench.")
    text = "A man is sleeping [R-9, M-9]. Nobody is sleeping [R-9, M-9]."
    evaluation = await made.evaluate(subject(text, study=Study(id="s", messages=(message,))))
    assert [s.value for s in evaluation.scores] == [1, 0]
