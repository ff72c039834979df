"""Studies made of recorded tool outputs: every usual shape, and what is then said of a quote."""

import json
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from ancrage.domain import Case, Output, OutputState, Study
from ancrage.evaluators import select
from ancrage.snapshot import Filters, Snapshot, open_snapshot
from ancrage.snapshot.manifest import PseudonymMode
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.sources.files import FileSource
from ancrage.snapshot.sources.tools import NO_PEOPLE, NO_ROWS, ToolOptions, ToolStudies
from ancrage.snapshot.take import take_snapshot
from ancrage.studies import Studies
from tests.conftest import ROOT

Write = Callable[[str, str | bytes], Path]
WORDS = ["Les virements sont beaucoup trop lents.", "Rien à signaler de mon côté, merci."]
ROWS = [
    {"id": "M-1", "respondent_id": "R-1", "question": "Q2", "text": WORDS[0], "score": 0.91},
    {"id": "M-2", "respondent_id": "R-2", "question": "Q2", "text": WORDS[1], "score": 0.52},
]


def take(root: Path, answers: list[dict[str, Any]], options: ToolOptions | None = None) -> Snapshot:
    """The snapshot of answers with their tool calls."""
    lines = (
        json.dumps({"id": f"c{rank}", "question": "q", **row}) for rank, row in enumerate(answers)
    )
    (root / "a.jsonl").write_text("\n".join(lines), encoding="utf-8")
    source = ToolStudies(FileSource("a", {"answers": "a.jsonl"}, root), options or ToolOptions())
    with closing(source):
        take_snapshot(source, root / "out", Filters(), Pseudonymiser(PseudonymMode.NONE))
    return open_snapshot(root / "out")


def called(output: object, name: str = "search", **call: object) -> list[dict[str, object]]:
    return [{"name": name, "arguments": {}, "output": output, **call}]


def only_study(snapshot: Snapshot) -> Study:
    (case,) = snapshot.cases()
    study = snapshot.study(case.study_id or "")
    assert study is not None
    assert study.from_tools
    return study


async def scores(snapshot: Snapshot, case: Case) -> dict[str, tuple[float | None, list[str]]]:
    """By check: the score, and the explanations or the reason for none."""
    output = Output(case_id=case.id, state=OutputState.OK, answer=case.output)
    subject = Studies(snapshot).subject(case, output)
    found: dict[str, tuple[float | None, list[str]]] = {}
    for evaluator in select("none", ""):
        done = await evaluator.evaluate(subject)
        said = [finding.explanation for finding in done.findings]
        for score in done.scores:
            found[score.name] = score.value, said or [score.reason or ""]
    return found


@pytest.mark.parametrize(
    "output",
    [
        ROWS,
        json.dumps({"total": 2, "results": ROWS}),
        {"content": [{"type": "text", "text": json.dumps({"messages": ROWS})}]},
        [{"messageId": r["id"], "authorId": r["respondent_id"], "questionRef": "Q2",
          "verbatim": r["text"]} for r in ROWS],
        {"M-1": {"participant": "R-1", "question_id": "Q2", "réponse": WORDS[0]},
         "M-2": {"participant": "R-2", "question_id": "Q2", "réponse": WORDS[1]}},
        [{"page_content": r["text"], "metadata": {
            "source": r["id"], "respondent": {"id": r["respondent_id"], "name": "Anna M."},
            "question": "Q2"}} for r in ROWS],
        {"hits": [{"_id": r["id"], "_source": {
            "respondent_id": r["respondent_id"], "question": "Q2", "title": "Avis",
            "quoi": r["text"]}} for r in ROWS]},
    ],
    ids=["list", "json", "mcp", "camel", "keyed", "langchain", "elastic"],
)  # fmt: skip
def test_usual_shapes_need_no_configuration(output: Any, tmp_path: Path) -> None:
    answer = f"Certains se plaignent : « {WORDS[0]} » [R-1, M-1]"
    study = only_study(take(tmp_path, [{"answer": answer, "tool_calls": called(output)}]))
    assert [
        (message.id, message.respondent_id, message.question_ref, message.text)
        for message in study.messages
    ] == [("M-1", "R-1", "Q2", WORDS[0]), ("M-2", "R-2", "Q2", WORDS[1])]
    assert set(study.missing) == {"questions"}


async def test_what_no_tool_returned_is_a_finding_that_says_so(tmp_path: Path) -> None:
    answer = f"« {WORDS[0]} » [R-1, M-1] et « Tout va bien. » [R-1, M-1], « Ah non » [R-9, M-9]."
    snapshot = take(tmp_path, [{"answer": answer, "tool_calls": called(ROWS)}])
    (case,) = snapshot.cases()
    found = await scores(snapshot, case)
    assert found["unknown_message_id"] == (1, ["No tool returned message M-9."])
    assert found["non_verbatim_quote"][0] == 1
    assert "studies are made of what tools returned" in snapshot.manifest.notes[0]
    assert snapshot.manifest.notes[1].startswith("search: 2 rows as messages, id = id, text = text")


async def test_a_study_is_what_all_its_answers_were_told(tmp_path: Path) -> None:
    answers: list[dict[str, Any]] = [
        {"study_id": "S", "answer": f"« {WORDS[1]} » [R-2, M-2]", "tool_calls": called(ROWS[:1])},
        {"study_id": "S", "answer": "", "tool_calls": called([{**ROWS[1], "text": "Rien à…"}])},
        {"study_id": "S", "answer": "", "tool_calls": called(ROWS[1:])},
    ]
    snapshot = take(tmp_path, answers)
    study = snapshot.study("S")
    assert study is not None
    assert [message.text for message in study.messages] == WORDS, "the excerpt is no second text"
    assert (await scores(snapshot, snapshot.case("c0")))["non_verbatim_quote"][0] == 0
    (tmp_path / "apart").mkdir()
    apart = take(tmp_path / "apart", answers, ToolOptions(per="case"))
    found = await scores(apart, apart.case("c0"))
    assert found["unknown_message_id"] == (1, ["No tool returned message M-2."])


async def test_what_was_not_recorded_is_unscored(tmp_path: Path) -> None:
    lost = [*called(ROWS), {"name": "search", "arguments": {}, "output_recorded": False}]
    answers: list[dict[str, Any]] = [
        {"answer": "« Ah » [R-9, M-9]", "tool_calls": lost},
        {"answer": "« Ah » [R-9, M-9]", "tool_calls": called("It is sunny in Paris.")},
        {"answer": "« Ah » [R-9, M-9]", "tool_calls": called(None, error="timeout")},
        {"answer": "« Ah » [R-9, M-9]", "study_id": "S"},
    ]
    snapshot = take(tmp_path, answers)
    reasons = []
    for case in snapshot.cases():
        value, said = (await scores(snapshot, case))["unknown_message_id"]
        assert value is None
        reasons += said
    assert "one of the messages was not found, and 1 tool output is not recorded" in reasons[0]
    assert NO_ROWS in reasons[1]
    assert reasons[2:] == [
        "the case names no study",
        "no tool output is recorded, and there is no other source",
    ]


async def test_rows_without_people_leave_that_mode_unscored(tmp_path: Path) -> None:
    rows = [{"id": row["id"], "text": row["text"]} for row in ROWS]
    answer = f"« {WORDS[0]} » [R-1, M-1]"
    snapshot = take(tmp_path, [{"answer": answer, "tool_calls": called(rows)}])
    (case,) = snapshot.cases()
    found = await scores(snapshot, case)
    assert found["non_verbatim_quote"][0] == 0
    assert found["wrong_respondent_id"][0] is None
    assert NO_PEOPLE in found["wrong_respondent_id"][1][0]


def test_rows_of_other_things_are_no_messages(tmp_path: Path) -> None:
    themes = [{"id": "T-1", "label": "delays of transfers and the like", "count": 9}]
    questions = [{"ref": "Q1", "text": "Pourquoi ?"}, {"ref": "Q2", "text": "Et alors ?"}]
    calls = [*called(ROWS), *called(themes, "themes"), *called(questions, "list_questions")]
    answer = f"« {WORDS[0]} » [R-1, M-1]"
    study = only_study(take(tmp_path, [{"answer": answer, "tool_calls": calls}]))
    assert [message.id for message in study.messages] == ["M-1", "M-2"]
    assert [question.ref for question in study.questions] == ["Q2", "Q1"]
    assert study.missing == {}


def test_fields_and_tools_can_be_named(tmp_path: Path) -> None:
    rows = [
        {"a": row["id"], "b": row["respondent_id"], "c": row["text"], "d": "Q2"} for row in ROWS
    ]
    calls = [*called({"deep": {"rows": rows}}), *called([{**rows[0], "a": "X-1"}], "other")]
    options = ToolOptions(
        tools=("sear*",), rows="deep.rows", id="a", respondent_id="b", text="c", question_ref="d"
    )
    study = only_study(take(tmp_path, [{"answer": "", "tool_calls": calls}], options))
    assert [message.id for message in study.messages] == ["M-1", "M-2"]


async def test_verdicts_on_the_demonstration_are_those_of_the_full_studies(tmp_path: Path) -> None:
    full = open_snapshot(ROOT / "snapshots" / "demo")
    source = ToolStudies(
        FileSource("demo", {"answers": str(full.path / "cases.jsonl")}, ROOT), ToolOptions()
    )
    with closing(source):
        take_snapshot(source, tmp_path / "out", Filters(), Pseudonymiser(PseudonymMode.NONE))
    made = open_snapshot(tmp_path / "out")
    ours, theirs = Studies(full), Studies(made)
    agreed = quotes = 0
    for case in full.cases():
        if case.state is not OutputState.OK or case.source_missing:
            continue
        output = Output(case_id=case.id, state=OutputState.OK, answer=case.output)
        subjects = ours.subject(case, output), theirs.subject(made.case(case.id), output)
        for one, other in zip(*(subject.readings for subject in subjects), strict=True):
            quotes += 1
            agreed += (one.verdict and one.verdict.passed) == (
                other.verdict and other.verdict.passed
            )
    assert quotes > 400
    assert agreed / quotes >= 0.99
