import resource
from pathlib import Path

import pytest

from ancrage.domain import Output, OutputState
from ancrage.errors import IncompleteError, UsageError
from ancrage.files import Index
from ancrage.runs.journal import Journal, read


def _output(case_id: str, state: OutputState = OutputState.OK) -> Output:
    return Output(case_id=case_id, state=state)


def test_what_is_appended_is_read_back_in_order(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal[Output](path) as journal:
        for name in ("a", "b\u2028é", "c"):
            journal.append(_output(name))
    assert [each.case_id for each in read(path, Output)] == ["a", "b\u2028é", "c"]


def test_each_line_is_on_disk_as_soon_as_append_returns(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal[Output](path) as journal:
        journal.append(_output("a"))
        assert [each.case_id for each in read(path, Output)] == ["a"]


@pytest.mark.parametrize("torn", [b"{", b'{"case_id":"b","sta', b'{"case_id":"b","state":"ok"}'])
def test_a_torn_line_is_passed_over_then_cut_away(tmp_path: Path, torn: bytes) -> None:
    path = tmp_path / "j.jsonl"
    with Journal[Output](path) as journal:
        journal.append(_output("a"))
    path.write_bytes(path.read_bytes() + torn)
    assert [each.case_id for each in read(path, Output)] == ["a"]
    with Journal[Output](path) as journal:
        journal.append(_output("c"))
    assert [each.case_id for each in read(path, Output)] == ["a", "c"]


def test_a_file_that_is_one_torn_line_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b"x" * 200_000)
    with Journal[Output](path):
        pass
    assert path.read_bytes() == b""


def test_a_damaged_whole_line_names_file_and_line(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    path.write_bytes(b'{"case_id":"a","state":"ok"}\n{"case_id":"b","state":"fine"}\n')
    with pytest.raises(UsageError, match=r"j\.jsonl:2: state"):
        list(read(path, Output))


def test_the_last_entry_of_a_case_counts(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    with Journal[Output](path) as journal:
        journal.append(_output("a", OutputState.FAILED))
        journal.append(_output("b"))
        journal.append(_output("a"))
    latest = list(Index(path, Output).values())
    assert [(each.case_id, each.state) for each in latest] == [("b", "ok"), ("a", "ok")]


def test_no_file_reads_as_empty(tmp_path: Path) -> None:
    assert list(read(tmp_path / "none.jsonl", Output)) == []


def test_a_line_that_a_full_disk_takes_in_part_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "j.jsonl"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal[Output](path) as journal:
        journal.append(_output("a"))
        try:
            resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 5, hard))
            with pytest.raises(IncompleteError, match="File too large"):
                journal.append(_output("lost"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with Journal[Output](path) as journal:
        journal.append(_output("b"))
    assert [each.case_id for each in read(path, Output)] == ["a", "b"]
