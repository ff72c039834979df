"""The snapshot folder: what is written is what is read, or the reader says why not."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ancrage.domain import Answer, Case, CaseInput, OutputState, Provenance, Study
from ancrage.errors import UsageError
from ancrage.snapshot import Reject, Snapshot, open_snapshot, write_snapshot
from ancrage.snapshot.folder import study_file

Make = Callable[..., Case]


@pytest.fixture
def snapshot(tmp_path: Path, make_case: Make, study: Study) -> Snapshot:
    """Three cases, one study, one study gone."""
    cases = [make_case("a"), make_case("b", text=None), make_case("c", study_id="gone")]
    path = tmp_path / "snapshots" / "one"
    write_snapshot(path, cases, {"S": study}.get, source="test")
    return open_snapshot(path)


def test_cases_and_studies_come_back(snapshot: Snapshot, study: Study) -> None:
    assert [case.id for case in snapshot.cases()] == ["a", "b", "c"]
    assert snapshot.study("S") == study
    assert snapshot.study("gone") is None
    assert snapshot.case("b").state is OutputState.MISSING
    assert "gone" in (snapshot.case("c").source_missing or "")
    counts = snapshot.manifest.counts
    assert (counts.read, counts.kept, counts.source_missing) == (3, 3, 1)
    assert (counts.without_answer, counts.studies) == (1, 1)
    with pytest.raises(UsageError, match="no case 'zzz'"):
        snapshot.case("zzz")


@settings(
    deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40
)
@given(
    ids=st.lists(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), unique=True),
    text=st.text(st.characters(exclude_categories=["Cs"])),
)
def test_any_ids_and_text_survive(
    ids: list[str], text: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    def cases() -> Iterator[Case]:
        for id in ids:  # noqa: A001
            yield Case(
                id=id,
                study_id=id,
                input=CaseInput(question=text),
                output=Answer(text=text),
                provenance=Provenance(source="test"),
            )

    path = tmp_path_factory.mktemp("any") / "snapshot"
    write_snapshot(path, cases(), lambda each: Study(id=each, title=text), source="test")
    snapshot = open_snapshot(path)
    assert list(snapshot.cases()) == list(cases())
    for id in ids:  # noqa: A001
        assert snapshot.case(id).input.question == text
        assert snapshot.study(id) == Study(id=id, title=text)


@pytest.mark.parametrize(
    "hostile", ["../../etc/passwd", "/", ".", "..", "CON", "a\x00b", "é" * 300, "a/b\\c:d*?", " "]
)
def test_hostile_study_ids_stay_in_their_folder(
    hostile: str, tmp_path: Path, make_case: Make
) -> None:
    path = tmp_path / "snapshot"
    write_snapshot(path, [make_case("a", study_id=hostile)], lambda id: Study(id=id), source="t")
    assert open_snapshot(path).study(hostile) == Study(id=hostile)
    assert len(list((path / "studies").iterdir())) == 1
    assert [each.name for each in tmp_path.iterdir()] == ["snapshot"]
    assert len(study_file(hostile)) < 80


def test_ids_that_differ_by_case_have_files_that_differ_otherwise() -> None:
    assert study_file("S1").lower() != study_file("s1").lower()


def test_existing_folder_is_never_overwritten(snapshot: Snapshot, make_case: Make) -> None:
    before = (snapshot.path / "cases.jsonl").read_bytes()
    with pytest.raises(UsageError, match="exists already"):
        write_snapshot(snapshot.path, [make_case("z")], lambda _: None, source="test")
    assert (snapshot.path / "cases.jsonl").read_bytes() == before
    empty = snapshot.path.parent / "empty"
    empty.mkdir()
    with pytest.raises(UsageError, match="exists already"):
        write_snapshot(empty, [], lambda _: None, source="test")


def test_interrupted_write_leaves_nothing(tmp_path: Path, make_case: Make) -> None:
    def cases() -> Iterator[Case]:
        yield make_case("a")
        raise RuntimeError("the source went away")

    with pytest.raises(RuntimeError, match="went away"):
        write_snapshot(tmp_path / "one", cases(), lambda id: Study(id=id), source="test")
    assert list(tmp_path.iterdir()) == []


def test_what_a_killed_write_left_goes_and_two_at_once_do_not_mix(
    tmp_path: Path, make_case: Make
) -> None:
    (tmp_path / ".one.making" / "one" / "studies").mkdir(parents=True)
    (tmp_path / ".one.making" / "one" / "cases.jsonl").write_text("torn")

    def cases() -> Iterator[Case]:
        yield make_case("a")
        with pytest.raises(UsageError, match="one: another process is making it"):
            write_snapshot(tmp_path / "one", [], lambda _: None, source="second")

    write_snapshot(tmp_path / "one", cases(), lambda id: Study(id=id), source="first")
    assert [path.name for path in tmp_path.iterdir()] == ["one"]
    assert open_snapshot(tmp_path / "one").manifest.source == "first"


@pytest.mark.parametrize("name", ["cases.jsonl", "rejects.jsonl", study_file("S")])
def test_changed_file_is_refused(snapshot: Snapshot, name: str) -> None:
    file = snapshot.path / name
    file.write_bytes(file.read_bytes() + b"\n")
    with pytest.raises(UsageError, match=f"{name}.*changed since"):
        open_snapshot(snapshot.path)
    open_snapshot(snapshot.path, verify=False)


def test_missing_file_is_refused(snapshot: Snapshot) -> None:
    (snapshot.path / study_file("S")).unlink()
    with pytest.raises(UsageError, match="No such file"):
        open_snapshot(snapshot.path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"format": 2}', r"snapshot format 2, this version reads 1"),
        ("{}", "snapshot format None"),
        ("[]", "snapshot format None"),
        ("{", "not JSON"),
        ('{"format": 1}', "created: is missing"),
        (None, "not a snapshot"),
    ],
)
def test_unreadable_manifest_says_why(
    snapshot: Snapshot, content: str | None, message: str
) -> None:
    manifest = snapshot.path / "manifest.json"
    manifest.unlink()
    if content is not None:
        manifest.write_text(content)
    with pytest.raises(UsageError, match=message):
        open_snapshot(snapshot.path)


def test_hash_is_of_the_content_alone(tmp_path: Path, make_case: Make, study: Study) -> None:
    reject = Reject(where="f", error="e")
    contents: dict[str, list[Case | Reject]] = {
        "a": [make_case("1", text="x")],
        "b": [make_case("1", text="x"), reject],
        "c": [make_case("1", text="y")],
    }
    hashes = [
        write_snapshot(tmp_path / name, items, {"S": study}.get, source=name).hash
        for name, items in contents.items()
    ]
    assert hashes[0] == hashes[1] != hashes[2]


def test_duplicates_and_rejects_are_set_aside_and_counted(
    tmp_path: Path, make_case: Make, study: Study
) -> None:
    items: list[Case | Reject] = [
        make_case("a", text="first"),
        Reject(where="f.jsonl", line=2, field="question", error="missing"),
        make_case("a", text="second"),
        Reject(where="f.csv", line=9, error="bad", study=True),
    ]
    left_out = Counter(sampled_out=4, undated=1)
    path = tmp_path / "one"
    counts = write_snapshot(path, items, {"S": study}.get, source="t", left_out=left_out).counts
    assert (counts.read, counts.kept, counts.rejected, counts.duplicates) == (8, 1, 1, 1)
    assert (counts.sampled_out, counts.undated, counts.study_rows_rejected) == (4, 1, 1)
    snapshot = open_snapshot(path)
    assert snapshot.case("a").output == Answer(text="first")
    assert [str(reject) for reject in snapshot.rejects()] == [
        "f.jsonl:2 question: missing",
        "t id: duplicate id 'a'",
        "f.csv:9 bad",
    ]


def test_hand_edited_cases_with_bom_and_crlf_are_read(snapshot: Snapshot) -> None:
    file = snapshot.path / "cases.jsonl"
    lines = file.read_bytes().splitlines()
    file.write_bytes(b"\xef\xbb\xbf" + b"\r\n\r\n".join(lines) + b"\r\n")
    edited = open_snapshot(snapshot.path, verify=False)
    assert [case.id for case in edited.cases()] == ["a", "b", "c"]
    assert edited.case("c").id == "c"


def test_damaged_case_names_file_line_and_field(snapshot: Snapshot) -> None:
    file = snapshot.path / "cases.jsonl"
    lines = file.read_text().splitlines()
    broken = json.loads(lines[1])
    del broken["input"]
    file.write_text("\n".join([lines[0], json.dumps(broken), lines[2]]))
    edited = open_snapshot(snapshot.path, verify=False)
    with pytest.raises(UsageError, match=r"cases.jsonl:2: input: is missing"):
        list(edited.cases())


def test_a_million_characters_in_one_line(tmp_path: Path, make_case: Make) -> None:
    text = "« mot » é\n" * 150_000
    write_snapshot(tmp_path / "one", [make_case("a", text=text)], lambda _: None, source="t")
    assert next(open_snapshot(tmp_path / "one").cases()).output == Answer(text=text)


def test_memory_does_not_grow_with_cases(
    tmp_path: Path, make_case: Make, study: Study, peak: Callable[[Callable[[], object]], int]
) -> None:
    def cases(count: int) -> Iterator[Case]:
        yield from (make_case(f"case-{rank}", text="x" * 2_000) for rank in range(count))

    def write_and_read(count: int) -> None:
        path = tmp_path / str(count)
        write_snapshot(path, cases(count), {"S": study}.get, source="t")
        assert sum(1 for _ in open_snapshot(path).cases()) == count

    write_and_read(10)
    few, many = peak(lambda: write_and_read(500)), peak(lambda: write_and_read(10_000))
    assert many < few + 1_000_000, "20 MB of cases went through"


def test_studies_in_memory_are_few(tmp_path: Path, make_case: Make) -> None:
    cases = [make_case(str(rank), study_id=str(rank)) for rank in range(30)]
    write_snapshot(tmp_path / "one", cases, lambda id: Study(id=id), source="t")
    snapshot = open_snapshot(tmp_path / "one")
    for rank in range(30):
        assert snapshot.study(str(rank)) == Study(id=str(rank))
    assert snapshot.study.cache_info().currsize == 8
