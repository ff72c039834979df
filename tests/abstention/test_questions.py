"""A file of questions as a source of snapshots, its evaluators, and ``evaluation.json``."""

import json
from pathlib import Path
from typing import Any

import pytest

from ancrage.abstention.evaluation import QAEvaluation
from ancrage.abstention.evaluator import question_evaluator
from ancrage.abstention.source import QASource
from ancrage.cli.app import run
from ancrage.config import load
from ancrage.domain import Answer, Case, Evaluation, Output, OutputState
from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources import Window
from ancrage.snapshot.sources.questions import holds_questions

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
ROW = {"question": "How much?", "expected": "12 euros", "support": "It costs 12 euros.",
       "must_abstain": False}  # fmt: skip
OUT = {"question": "Who?", "expected": None, "support": ["It costs 12 euros."],
       "must_abstain": True}  # fmt: skip


def opened(folder: Path, rows: "list[Any]", answers: Any = None) -> "list[Case | Reject]":
    (folder / "cases.json").write_text(json.dumps({"cases": rows}), encoding="utf-8")
    options = {"cases": "cases.json"}
    if answers is not None:
        (folder / "answers.json").write_text(json.dumps(answers), encoding="utf-8")
        options["answers"] = "answers.json"
    return list(QASource("qa", options, folder).cases(Window()))


def test_each_question_is_a_case_with_what_is_known(tmp_path: Path) -> None:
    first, second = opened(tmp_path, [ROW | {"note": "x"}, OUT], {"1": "12 euros"})
    assert isinstance(first, Case)
    assert isinstance(second, Case)
    assert (first.id, first.output, first.state) == ("1", Answer(text="12 euros"), OutputState.OK)
    assert first.metadata == {
        "must_abstain": False, "expected": "12 euros", "support": "It costs 12 euros.", "note": "x",
    }  # fmt: skip
    assert "It costs 12 euros." in (first.input.system_prompt or "")
    assert (second.output, second.state) == (None, OutputState.MISSING)


@pytest.mark.parametrize(
    ("row", "field"),
    [
        (ROW | {"expected": " "}, "expected"),
        (ROW | {"must_abstain": "no"}, "must_abstain"),
        (ROW | {"question": ""}, "question"),
        ({"question": "How?"}, "expected"),
        (ROW | {"id": "a"}, "id"),
        (ROW, "question"),
        ("text", None),
    ],
)
def test_a_faulty_row_is_set_aside_and_the_others_kept(
    tmp_path: Path, row: Any, field: "str | None"
) -> None:
    good, bad = opened(tmp_path, [ROW | {"id": "a"}, row])
    assert isinstance(good, Case)
    assert isinstance(bad, Reject)
    assert (bad.line, bad.field) == (2, field)


@pytest.mark.parametrize(
    ("answers", "fault"),
    [(["a"], "1 answers for 2 cases"), ({"9": "a"}, "'9' is the id of no"), ({"1": None}, "text")],
)
def test_answers_that_fit_no_case_are_refused(tmp_path: Path, answers: Any, fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        opened(tmp_path, [ROW, OUT], answers)


def test_a_file_of_answers_is_no_file_of_questions(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_text('{"id": "1", "question": "How?", "answer": "So."}\n', encoding="utf-8")
    assert not holds_questions(path)
    assert holds_questions(EXAMPLES / "abstention-cases.json")


async def scored(name: Any, answer: str, **known: Any) -> Evaluation:
    row = {"id": 1, **ROW, **known}
    case = Case.model_validate(
        {"id": "1", "input": {"question": row["question"]}, "provenance": {"source": "test"},
         "metadata": {key: row[key] for key in ("must_abstain", "expected", "support")}}
    )  # fmt: skip
    output = Output(case_id="1", state=OutputState.OK, answer=Answer(text=answer))
    return await question_evaluator(name, load()).evaluate(Subject(case, output, None))


@pytest.mark.parametrize(
    ("answer", "must_abstain", "fault"),
    [
        ("12 euros", False, None),
        ("I don't know.", False, "false_refusal"),
        ("I don't know.", True, None),
        ("12 euros", True, "false_answer"),
    ],
)
async def test_abstention_is_right_where_it_must_be(
    answer: str, must_abstain: bool, fault: "str | None"
) -> None:
    found = await scored("abstention", answer, must_abstain=must_abstain)
    assert {score.name for score in found.scores if score.value} == ({fault} if fault else set())
    assert [finding.mode for finding in found.findings] == ([fault] if fault else [])


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        ("It costs 12 euros.", None),
        ("15 euros", "wrong_answer"),
        ("12 euros. It opened in 1987.", "unsupported_addition"),
        ("I don't know.", None),
    ],
)
async def test_support_owns_what_is_said(answer: str, fault: "str | None") -> None:
    found = await scored("support", answer)
    assert [finding.mode for finding in found.findings] == ([fault] if fault else [])
    assert all(finding.evidence.text in answer for finding in found.findings)


async def test_a_case_that_does_not_say_is_unscored() -> None:
    found = await scored("abstention", "So.", must_abstain="maybe")
    assert {score.value for score in found.scores} == {None}


def test_the_ten_cases(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    cases, answers = (EXAMPLES / f"abstention-{name}.json" for name in ("cases", "responses"))
    for line in (
        f"snapshot --source {cases} --answers {answers} --out s",
        "experiment --snapshot s --scorers lexical",
        "export latest --rows evaluation",
        "score latest --scorers abstention,support",
        "export latest --rows evaluation --out all.json",
    ):
        assert run(line.split()) == 0, line
    said = " ".join(capsys.readouterr().out.split())
    assert "Not run, since a file of questions has no study: distorted_quote," in said
    assert "Incomplete" not in said
    found = QAEvaluation.model_validate_json(Path("outputs/evaluation.json").read_bytes())
    assert str(found) == "total=10 faithful=8 score=0.80 failed_cases=[7, 10]"
    both = QAEvaluation.model_validate_json(Path("all.json").read_bytes())
    assert set(both.evaluators) == {"abstention", "support", "lexical"}
    assert (both.false_answers, both.false_refusals, both.balanced_accuracy) == (0, 0, 1.0)
    assert both.groups["must_abstain"].total == 2
