"""Labels: what people write is read as they mean it, or refused with its line."""

from pathlib import Path

import pytest

from ancrage.calibration import read_labels, split_of
from ancrage.errors import UsageError

HEAD = "case_id,mode,label,annotator\n"


def written(path: Path, text: str, name: str = "labels.csv", encoding: str = "utf-8") -> Path:
    """A file with this text."""
    (path / name).write_bytes(text.encode(encoding))
    return path / name


@pytest.mark.parametrize(
    ("word", "label"),
    [
        *((word, True) for word in ("1", "true", "TRUE", "Yes", "oui", "vrai", "1.0", "présent")),
        *((word, False) for word in ("0", "false", "No", "no.", "non", "faux", "absent", "clean")),
        *((word, None) for word in ("?", "cannot_tell", "unsure")),
    ],
)
def test_the_words_people_write(tmp_path: Path, word: str, label: bool | None) -> None:
    (found,) = read_labels([written(tmp_path, f"{HEAD}c1,vague,{word},ana\n")]).labels
    assert found.label is label


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ("c1,vague,maybe,ana", ":3: label"),
        ("c1,vague,0.5,ana", ":3: label"),
        ("c1,vague,-0.2,ana", ":3: label"),
        ("c1,vague,,ana", ":3: label"),
        (",vague,1,ana", ":3: case_id"),
        ("c1,Not A Mode,1,ana", ":3: mode"),
        ("c1,vague,1,ana,more,cells", ":3: more cells than columns"),
    ],
)
def test_a_row_at_fault_is_refused_by_line_and_the_others_kept(
    tmp_path: Path, row: str, words: str
) -> None:
    text = f"{HEAD}c0,vague,1,ana\n{row}\nc2,vague,0,ana\n"
    found = read_labels([written(tmp_path, text)])
    assert [each.case_id for each in found.labels] == ["c0", "c2"]
    assert len(found.refused) == 1
    assert words in found.refused[0]


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (f"\ufeff{HEAD}c1,vague,1,ana\n", "utf-8"),
        (f"{HEAD}c1,vague,1,ana\n".replace("\n", "\r\n"), "utf-8"),
        (f"{HEAD}c1,vague,1,ana\n".replace(",", ";"), "utf-8"),
        (f"{HEAD}c1,vague,1,ana\n".replace(",", "\t"), "utf-8"),
        (f'{HEAD}"c1","vague","1","ana"', "utf-8"),
    ],
)
def test_the_csv_of_any_spreadsheet(tmp_path: Path, text: str, encoding: str) -> None:
    (found,) = read_labels([written(tmp_path, text, encoding=encoding)]).labels
    assert (found.case_id, found.mode, found.label, found.annotator) == ("c1", "vague", True, "ana")


def test_jsonl_with_nulls_faults_and_other_fields(tmp_path: Path) -> None:
    text = (
        '{"case_id": "c1", "mode": "vague", "label": true, "passage": "x\\ny", "question": "?"}\n'
        '{"case_id": "c2", "mode": "vague", "label": null}\n'
        "not json\n[1]\n\n"
        '{"case_id": "c3", "mode": "vague"}\n'
    )
    found = read_labels([written(tmp_path, text, "ben.jsonl")])
    assert [(each.case_id, each.label, each.annotator) for each in found.labels] == [
        ("c1", True, "ben"),
        ("c2", None, "ben"),
    ]
    assert [fault.split(":")[1] for fault in found.refused] == ["3", "4", "6"]
    assert found.ignored == ("question",)


def test_the_last_label_of_a_person_counts_and_several_people_stay_apart(tmp_path: Path) -> None:
    text = f"{HEAD}c1,vague,1,ana\nc1,vague,0,ana\nc1,vague,1,ben\n"
    found = read_labels([written(tmp_path, text)])
    assert {(each.annotator, each.label) for each in found.labels} == {
        ("ana", False),
        ("ben", True),
    }
    assert found.replaced == 1


def test_the_hash_knows_the_content_and_not_the_order(tmp_path: Path) -> None:
    first = written(tmp_path, f"{HEAD}c1,vague,1,ana\nc2,vague,0,ana\n", "a.csv")
    second = written(tmp_path, f"{HEAD}c2,vague,0,ana\nc1,vague,1,ana\n", "b.csv")
    third = written(tmp_path, f"{HEAD}c2,vague,1,ana\nc1,vague,1,ana\n", "c.csv")
    assert read_labels([first]).hash == read_labels([second]).hash
    assert read_labels([first]).hash != read_labels([third]).hash


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("case,mode,label\nc1,vague,1\n", "no column case_id"),
        ("", "no column"),
        (HEAD, "no label can be read"),
        (f"{HEAD}c1,vague,maybe,ana\n", ":2: label"),
    ],
)
def test_a_file_without_a_label_stops_the_command(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(UsageError, match=r"labels\.csv") as fault:
        read_labels([written(tmp_path, text)])
    assert words in str(fault.value)


def test_a_file_that_cannot_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_labels([tmp_path / "none.csv"])
    with pytest.raises(UsageError, match=r"labels\.csv:2: not UTF-8"):
        read_labels([written(tmp_path, HEAD + "é", encoding="latin-1")])


def test_the_split_is_the_same_for_everyone_and_near_its_share() -> None:
    ids = [f"c{number}" for number in range(4000)]
    sides = [split_of(each) for each in ids]
    assert sides == [split_of(each) for each in ids]
    assert 0.46 < sides.count("held-out") / len(sides) < 0.54
    wider = {each for each in ids if split_of(each, 0.7) == "held-out"}
    assert {each for each in ids if split_of(each, 0.3) == "held-out"} < wider
    assert all(split_of(each, 1.0) == "held-out" for each in ids)
