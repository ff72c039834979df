"""Files of cases and of answers: what is refused, where, and what is kept."""

import json
from pathlib import Path
from typing import Any

import pytest

from ancrage.abstention import CaseFile, check_cases, read_cases, read_mock
from ancrage.domain import OutputState
from ancrage.errors import UsageError

GOOD: dict[str, Any] = {
    "question": "Quand ?",
    "expected": "1998",
    "support": "Le pont a ouvert en 1998.",
    "must_abstain": False,
}
OUT: dict[str, Any] = {**GOOD, "question": "Combien ?", "expected": "", "must_abstain": True}


def write(path: Path, value: Any, *, encoding: str = "utf-8") -> Path:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    path.write_text(text, encoding=encoding, newline="")
    return path


def file_of(tmp_path: Path, *cases: dict[str, Any]) -> CaseFile:
    return read_cases(write(tmp_path / "cases.json", list(cases)))


def test_the_three_layouts_are_one(tmp_path: Path) -> None:
    lines = "\r\n".join(json.dumps(case) for case in (GOOD, OUT)) + "\r\n\r\n"
    files = [
        read_cases(write(tmp_path / "list.json", [GOOD, OUT])),
        read_cases(write(tmp_path / "object.json", {"cases": [GOOD, OUT]}, encoding="utf-8-sig")),
        read_cases(write(tmp_path / "lines.jsonl", lines, encoding="utf-8-sig")),
        read_cases(write(tmp_path / "lines.json", lines)),
    ]
    assert {file.hash for file in files} == {files[0].hash}
    assert [case.id for case in files[0].cases] == [1, 2]
    assert files[0].counts == {"-": {"answerable": 1, "must abstain": 1}}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"question": "  "}, "question: empty"),
        ({"question": None}, "question: Input should be a valid string"),
        ({"expected": ""}, "expected: empty; every answer contains it"),
        ({"expected": None}, "expected: empty; every answer contains it"),
        ({"must_abstain": "false"}, "must_abstain: Input should be a valid boolean"),
        ({"must_abstain": None}, "must_abstain: Input should be a valid boolean"),
        ({"support": 3}, "support: Input should be a valid string"),
        ({"prompt": ""}, "prompt: empty"),
        ({"id": True}, "id: Input should be a valid"),
    ],
)
def test_a_fault_is_named_with_its_place(tmp_path: Path, change: dict[str, Any], said: str) -> None:
    path = write(tmp_path / "cases.json", [OUT, {**GOOD, **change}])
    file = check_cases(path)
    assert len(file.cases) == 1
    assert file.faults[0].startswith(f"{path}: 2: {said}")
    with pytest.raises(UsageError, match=r"cases\.json: 2:"):
        read_cases(path)


def test_a_missing_field_is_named_beside_its_misspelling(tmp_path: Path) -> None:
    case = {name: value for name, value in GOOD.items() if name != "must_abstain"}
    file = check_cases(write(tmp_path / "c.json", [{**case, "must_abstian": True}]))
    assert file.faults == (f"{tmp_path}/c.json: 1: must_abstain: missing (unknown: must_abstian)",)


def test_a_bad_line_is_named_and_the_others_are_kept(tmp_path: Path) -> None:
    text = f'{json.dumps(GOOD)}\n{{"question": "a", "question": "b"}}\n{{cut\n{json.dumps(OUT)}\n'
    path = write(tmp_path / "c.jsonl", text)
    file = check_cases(path)
    assert len(file.cases) == 2
    assert f"{path}:2: not valid JSON: 'question' is given twice" in file.faults
    assert any(fault.startswith(f"{path}:3: not valid JSON") for fault in file.faults)


def test_duplicates(tmp_path: Path) -> None:
    again = {**GOOD, "question": "QUAND…"}
    elsewhere = {**GOOD, "question": "quand", "support": "Un autre texte de 1998."}
    file = check_cases(
        write(tmp_path / "c.json", [{**GOOD, "id": "a"}, {**OUT, "id": "a"}, again, elsewhere])
    )
    assert [fault.partition(": ")[2] for fault in file.faults] == [
        f"2: id: 'a' is also the id of {file.path}: 1",
        f"3: question: asked already by {file.path}: 1, of the same support",
    ]
    assert file.warnings == (
        f"{file.path}: 4: question: asked already by {file.path}: 1, of another support",
    )


def test_what_is_suspect_is_a_warning(tmp_path: Path) -> None:
    file = check_cases(write(tmp_path / "c.json", [{**GOOD, "support": "", "kind": "direct"}]))
    assert file.faults == ()
    assert [w.partition("1: ")[2].partition(":")[0] for w in file.warnings] == ["kind", "support"]
    assert file.cases[0].metadata == {"kind": "direct"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        ("{}", "expected a list of cases"),
        ("[1]", "1: expected an object, not int"),
        ("[]", "no case"),
        ('[{"question": ]', ":1: not valid JSON"),
    ],
)
def test_a_file_without_cases(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said.replace("[", r"\[")):
        read_cases(write(tmp_path / "c.json", text))


def test_a_file_that_is_not_there_or_not_utf8(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        read_cases(tmp_path / "none.json")
    (tmp_path / "l1.json").write_bytes('["é"]'.encode("latin-1"))
    with pytest.raises(UsageError, match="not UTF-8"):
        read_cases(tmp_path / "l1.json")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["a"], "1 answers for 2 cases"),
        (["a", "b", "c"], "3 answers for 2 cases"),
        (["a", None], "answer to case 2: expected a text, not null"),
        (["a", 3], "answer to case 2: expected a text, not int"),
        ({"1": "a", "7": "b"}, "'7' is the id of no case"),
        ({"1": "a", "2": None}, "answer to case 2: expected a text, not null"),
        ('{"1": "a", "1": "b"}', "'1' is given twice"),
        ('"a"', "expected a list of answers"),
        ("[", "not valid JSON"),
    ],
)
def test_answers_that_do_not_fit_are_refused(tmp_path: Path, given: Any, said: str) -> None:
    file = file_of(tmp_path, GOOD, OUT)
    with pytest.raises(UsageError, match=said):
        read_mock(write(tmp_path / "r.json", given), file)


def test_an_answer_that_is_not_there_is_missing_and_an_empty_one_empty(tmp_path: Path) -> None:
    file = file_of(tmp_path, GOOD, OUT)
    states = [
        answer.state for answer in read_mock(write(tmp_path / "r.json", {"2": " "}), file).answers
    ]
    assert states == [OutputState.MISSING, OutputState.EMPTY]
