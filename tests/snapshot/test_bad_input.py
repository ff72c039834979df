"""Input that misled: it is read rightly, or said and scored as missing; never silently clean."""

import json
import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from ancrage.config import load
from ancrage.domain import Output, OutputState
from ancrage.errors import UsageError
from ancrage.evaluators import select
from ancrage.snapshot import Filters, Snapshot, newest_snapshot, open_snapshot
from ancrage.snapshot.manifest import PseudonymMode
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.sources.sql import SqlSource
from ancrage.snapshot.take import take_snapshot
from ancrage.studies import Studies

Write = Callable[[str, str | bytes], Path]

ANSWERS = "id,question,answer\n1,q,« trop cher » [Q1] [R-1;M1]\n2,q,« absent » [R-9;M9]\n"
MESSAGES = "id,respondent_id,text,question_ref\nM1,R-1,c'est trop cher,Q1\nM2,R-2,déçu,Q1\n"


class Done:
    """How a command ended."""

    def __init__(self, code: int, said: str) -> None:
        self.code, self.said = code, said


@pytest.fixture
def snapshot(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Done]:
    """Run ``ancrage snapshot`` in the test's folder, into ``out``."""
    from ancrage.cli.app import run as command

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    load.cache_clear()

    def run(*options: str) -> Done:
        code = command(["snapshot", "--pseudonymise", "none", "--out", "out", *options])
        told = capsys.readouterr()
        return Done(code, told.out + told.err)

    return run


Run = Callable[..., Done]


async def reasons(snapshot: Snapshot, case_id: str) -> dict[str, tuple[float | None, str]]:
    """Score, and reason for none, of each mode."""
    case = snapshot.case(case_id)
    subject = Studies(snapshot).subject(
        case, Output(case_id=case.id, state=OutputState.OK, answer=case.output)
    )
    found = {}
    for evaluator in select("none", ""):
        for score in (await evaluator.evaluate(subject)).scores:
            found[score.name] = (score.value, score.reason or "")
    return found


async def test_references_without_a_list_of_questions_are_unscored(
    write: Write, tmp_path: Path, snapshot: Run
) -> None:
    write("a.csv", ANSWERS)
    write("m.csv", MESSAGES)
    done = snapshot("--source", "a.csv", "--studies", "m.csv")
    assert done.code == 0, done.said
    assert "1 study without questions: references are unscored" in done.said
    taken = open_snapshot(tmp_path / "out")
    found = await reasons(taken, "1")
    assert found["unknown_ref"] == (
        None, "one of the questions was not found, and the study has no list of questions"
    )  # fmt: skip
    assert found["unknown_message_id"][0] == found["non_verbatim_quote"][0] == 0
    assert (await reasons(taken, "2"))["unknown_message_id"][0] == 1


async def test_questions_can_be_given(write: Write, tmp_path: Path, snapshot: Run) -> None:
    write("a.csv", ANSWERS)
    write("m.csv", MESSAGES)
    write("q.csv", "code;text\nQ1;Pourquoi ?\n")
    done = snapshot(
        "--source", "a.csv", "--studies", "m.csv", "--questions", "q.csv",
        "--map", "questions.ref=code",
    )  # fmt: skip
    assert done.code == 0, done.said
    assert (await reasons(open_snapshot(tmp_path / "out"), "1"))["unknown_ref"][0] == 0
    told = str(open_snapshot(tmp_path / "out").manifest)
    assert told == "2 answers, 1 study, 2 messages, 1 question"


async def test_what_is_not_found_beside_rejected_rows_is_unscored(
    write: Write, tmp_path: Path, snapshot: Run
) -> None:
    write("a.csv", ANSWERS)
    write("m.csv", MESSAGES + "M9,R-9\n")
    done = snapshot("--source", "a.csv", "--studies", "m.csv")
    assert done.code == 0
    assert "m.csv:4 2 columns where the header has 4" in done.said
    taken = open_snapshot(tmp_path / "out")
    assert taken.manifest.warnings[0].startswith("1 row of studies rejected")
    value, reason = (await reasons(taken, "2"))["unknown_message_id"]
    assert value is None
    assert reason == "one of the messages was not found, and 1 row of m.csv could not be used"


def test_a_mapped_column_is_trimmed_as_headers_are(
    write: Write, tmp_path: Path, snapshot: Run
) -> None:
    write("a.csv", ANSWERS)
    write("m.csv", MESSAGES.replace("id,respondent_id", "no ,qui"))
    done = snapshot(
        "--source", "a.csv", "--studies", "m.csv",
        "--map", "messages.id=no ", "--map", " messages.respondent_id = qui",
    )  # fmt: skip
    assert done.code == 0, done.said
    assert open_snapshot(tmp_path / "out").manifest.counts.messages == 2


def test_a_mapped_column_that_is_not_there_is_refused(
    write: Write, tmp_path: Path, snapshot: Run
) -> None:
    write("a.csv", ANSWERS)
    done = snapshot("--source", "a.csv", "--map", "answer=anwser")
    assert done.code == 2
    assert "a.csv: fields.answer: no column 'anwser' among id, question, answer" in done.said
    assert "did you mean answer?" in done.said
    assert not (tmp_path / "out").exists()


def test_most_of_a_study_rejected_is_incomplete(
    write: Write, tmp_path: Path, snapshot: Run
) -> None:
    write("a.csv", ANSWERS)
    write("m.csv", "no,qui,texte\n" + "M1,R-1,mots\n" * 14)
    done = snapshot("--source", "a.csv", "--studies", "m.csv")
    assert done.code == 3
    assert "id: missing: no column 'id' among no, qui, texte" in done.said
    assert "More was rejected than kept" in done.said


@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman", "utf-16", "utf-8-sig"])
def test_encodings_are_found_out_and_said(
    encoding: str, write: Write, tmp_path: Path, snapshot: Run
) -> None:
    texts = [
        "déçu par l'été et le café à 3 euros",
        "où est passée la clé ? très énervé",
        "ça m'a plu",
    ]
    write("a.csv", ANSWERS.encode(encoding))
    rows = "".join(f"M{rank},R-{rank},{text}\n" for rank, text in enumerate(texts))
    write("m.csv", ("id,respondent_id,text\n" + rows).encode(encoding))
    done = snapshot("--source", "a.csv", "--studies", "m.csv")
    assert done.code == 0, done.said
    taken = open_snapshot(tmp_path / "out")
    study = taken.study("m")
    assert study is not None
    assert [message.text for message in study.messages] == texts
    guessed = encoding in {"cp1252", "mac_roman"}
    assert (f"m.csv: not UTF-8, read as {encoding}" in " ".join(taken.manifest.notes)) is guessed


def test_an_encoding_can_be_given(write: Write, tmp_path: Path, snapshot: Run) -> None:
    write("a.csv", "id,question,answer\n1,q,réglé\n".encode("cp850"))
    assert snapshot("--source", "a.csv", "--encoding", "cp850").code == 0
    output = open_snapshot(tmp_path / "out").case("1").output
    assert output is not None
    assert output.text == "réglé"
    done = snapshot("--source", "a.csv", "--encoding", "klingon", "--out", "other")
    assert (done.code, "encoding 'klingon': unknown" in done.said) == (2, True)


@pytest.mark.parametrize("later", ["{rank},q,a", '{rank},q,"a, ""b"" and c"', '{rank},"q\n2",a'])
def test_an_unclosed_quote_costs_one_row(
    later: str, write: Write, tmp_path: Path, snapshot: Run
) -> None:
    rows = [later.format(rank=rank) for rank in range(1_000)]
    rows[3] = '3,q,"never closed'
    write("a.csv", "id,question,answer\n" + "\n".join(rows) + "\n")
    done = snapshot("--source", "a.csv")
    counts = open_snapshot(tmp_path / "out").manifest.counts
    assert (counts.kept, counts.rejected) == (999, 1)
    assert done.code == 0
    assert "a quotation mark that opens in this row is not closed" in done.said


def test_headers_twice_and_declared_separators(write: Write, tmp_path: Path, snapshot: Run) -> None:
    write("a.csv", "id,question,answer,answer\n1,q,a,b\n")
    done = snapshot("--source", "a.csv")
    assert (done.code, "column 'answer' stands twice in the header" in done.said) == (2, True)
    write("b.csv", "sep=;\r\nid;question;answer\r\n1;a,b;c\r\nid;question;answer\r\n2;q;a\r\n")
    assert snapshot("--source", "b.csv").code == 0
    taken = open_snapshot(tmp_path / "out")
    assert [case.input.question for case in taken.cases()] == ["a,b", "q"]
    assert [str(reject) for reject in taken.rejects()] == ["b.csv:4 the header once more"]


@pytest.mark.parametrize("suffix", ["xlsx", "parquet"])
def test_spreadsheets_and_parquet(suffix: str, tmp_path: Path, snapshot: Run) -> None:
    pandas = pytest.importorskip("pandas")
    when = datetime(2026, 1, 31, 10)
    answers = pandas.DataFrame(
        {"id": [1.0, 2.0], "question": ["q", "q"], "answer": ["é", None], "time": [when, when]}
    )
    messages = pandas.DataFrame({"id": ["M1"], "respondent_id": [12], "text": ["mots"]})
    for name, frame in (("a", answers), ("m", messages)):
        path = tmp_path / f"{name}.{suffix}"
        if suffix == "xlsx":
            frame.to_excel(path, index=False)
        else:
            frame.astype({"id": "Int64"} if name == "a" else {}).to_parquet(path)
    done = snapshot("--source", f"a.{suffix}", "--studies", f"m.{suffix}")
    assert done.code == 0, done.said
    taken = open_snapshot(tmp_path / "out")
    one, two = taken.cases()
    assert (one.id, one.output and one.output.text, two.state) == ("1", "é", OutputState.MISSING)
    assert one.provenance.time == when.replace(tzinfo=UTC)
    study = taken.study("m")
    assert study is not None
    assert study.messages[0].respondent_id == "12"


@pytest.mark.parametrize("name", ["a.xlsx", "a.parquet"])
def test_what_only_bears_the_ending_is_refused(name: str, write: Write, snapshot: Run) -> None:
    write(name, b"PK\x03\x04 nothing of the kind")
    done = snapshot("--source", name)
    assert done.code == 2
    assert len(done.said.strip().splitlines()) == 1


def sqlite(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def take(root: Path, options: dict[str, Any], filters: Filters | None = None) -> Snapshot:
    with closing(SqlSource("db", {"url_env": "DB_URL", **options}, root)) as source:
        take_snapshot(source, root / "out", filters or Filters(), Pseudonymiser(PseudonymMode.NONE))
    return open_snapshot(root / "out")


def test_a_misspelt_sql_column_names_those_there_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite(
        tmp_path / "s.db",
        "create table answers (id, study_id, question, reply)",
        "create table messages (study_id, id, respondent_id, body)",
        "insert into answers values (1, 'S', 'q', 'a')",
        "insert into messages values ('S', 'M1', 'R1', 'words')",
    )
    monkeypatch.setenv("DB_URL", f"sqlite:///{tmp_path / 's.db'}")
    answers = {"table": "answers", "fields": {"answer": "reply "}}
    messages = {"table": "messages", "fields": {"text": "bodi"}}
    with pytest.raises(
        UsageError, match=r"db\.messages\] fields\.text: no column 'bodi' among study_id"
    ):
        take(tmp_path, {"answers": answers, "messages": messages})
    taken = take(tmp_path, {"answers": answers, "messages": {"table": "messages"}})
    assert taken.case("1").output is not None
    assert taken.manifest.most_rejected
    assert "text: missing: no column 'text' among study_id, id, respondent_id, body" in str(
        next(taken.rejects())
    )


@pytest.mark.parametrize(
    ("stored", "zone", "inside"),
    [
        ("2026-01-31T10:30:00", "UTC", True),
        ("2026-01-31T09:30:00", "UTC", False),
        ("2026-01-31 11:30:00", "Europe/Paris", True),
        ("2026-01-31 10:30:00", "Europe/Paris", False),
        ("2026-01-31 23:30:00", "Pacific/Auckland", True),
        ("2026-01-31 00:30:00", "Pacific/Honolulu", True),
        ("2026-01-31 10:30:00", "Pacific/Honolulu", False),
        ("2026-01-31T10:30:00Z", "UTC", True),
    ],
)
def test_every_answer_is_in_the_window_or_counted_outside(
    stored: str, zone: str, inside: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sqlite(
        tmp_path / "s.db",
        "create table answers (id, question, answer, time)",
        f"insert into answers values (1, 'q', 'a', '{stored}')",  # noqa: S608
    )
    monkeypatch.setenv("DB_URL", f"sqlite:///{tmp_path / 's.db'}")
    query = "select * from answers where time >= :since and time < :until"
    hour = datetime(2026, 1, 31, 10, tzinfo=UTC)
    taken = take(
        tmp_path,
        {"answers": {"query": query, "fields": {"timezone": zone}}},
        Filters(since=hour, until=hour.replace(hour=11)),
    )
    counts = taken.manifest.counts
    assert (counts.kept, counts.outside_window) == ((1, 0) if inside else (0, 1))


def test_infinite_times_are_set_aside(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DB_URL", postgres)
    query = (
        "select n::text as id, 'q' as question, 'a' as answer, t as time from "
        "(values (1, 'infinity'::timestamptz), (2, '2026-01-31 10:00+00')) as rows(n, t)"
    )
    taken = take(tmp_path, {"answers": {"query": query}})
    assert [case.id for case in taken.cases()] == ["2"]
    assert [str(reject) for reject in taken.rejects()] == ["db.answers:1 time: not a date and time"]


def test_a_mistyped_sqlite_path_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DB_URL", f"sqlite:///{tmp_path / 'typo.db'}")
    with pytest.raises(UsageError, match=r"DB_URL: no such file: .*typo\.db"):
        take(tmp_path, {"answers": {"table": "answers"}})
    assert list(tmp_path.iterdir()) == []


def test_the_newest_snapshot_is_the_one_taken_last(
    write: Write, tmp_path: Path, snapshot: Run
) -> None:
    write("a.jsonl", json.dumps({"id": "1", "question": "q", "answer": "a"}))
    for name in ("z-first", "a-second"):
        assert snapshot("--source", "a.jsonl", "--out", f"snapshots/{name}").code == 0
    later = time.time() + 100
    os.utime(tmp_path / "snapshots" / "z-first" / "manifest.json", (later, later))
    assert newest_snapshot().name == "a-second"
