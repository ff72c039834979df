"""Snapshots of SQL databases: SQLite and a real PostgreSQL server, over the real survey."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Engine, create_engine, text

from ancrage.domain import Answer, OutputState
from ancrage.errors import UsageError
from ancrage.snapshot import Filters, Manifest, Snapshot, open_snapshot
from ancrage.snapshot.manifest import PseudonymMode, Reject
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.sources import Window
from ancrage.snapshot.sources.sql import SqlSource
from ancrage.snapshot.take import take_snapshot
from tests.snapshot import surveydb


@pytest.fixture(params=["sqlite", "postgresql"])
def database(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Engine]:
    """An empty database of either kind, its address in SURVEY_URL."""
    address = f"sqlite:///{tmp_path / 'survey.db'}"
    driver_address = address
    if request.param == "postgresql":
        address = request.getfixturevalue("postgres")
        driver_address = address.replace("postgresql:", "postgresql+psycopg:")
    monkeypatch.setenv("SURVEY_URL", address)
    engine = create_engine(driver_address)
    if request.param == "postgresql":
        with engine.begin() as connection:
            connection.execute(text("DROP SCHEMA public CASCADE; CREATE SCHEMA public"))
    yield engine
    engine.dispose()


def take(
    options: dict[str, Any],
    path: Path,
    filters: Filters | None = None,
    mode: PseudonymMode = PseudonymMode.NONE,
) -> tuple[Manifest, Snapshot]:
    table = {name: value for name, value in options.items() if name != "type"}
    with closing(SqlSource("survey", table, path.parent)) as source:
        manifest = take_snapshot(source, path, filters or Filters(), Pseudonymiser(mode))
    return manifest, open_snapshot(path)


@pytest.mark.parametrize("options", [surveydb.TABLES, surveydb.QUERIES], ids=["tables", "queries"])
def test_real_survey_comes_through_whole(
    database: Engine, shared: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    expected = surveydb.build(database, shared / "data" / "survey")
    manifest, snapshot = take(options, tmp_path / "snapshot")
    counts = manifest.counts
    assert (counts.read, counts.kept, counts.rejected) == (60, 60, 0)
    assert (counts.studies, counts.source_missing, counts.without_answer) == (1, 10, 10)
    study = snapshot.study(surveydb.STUDY)
    assert study is not None
    assert len(study.messages) == expected.messages
    assert {question.ref for question in study.questions} == {"Q1", "Q2", "Q3"}
    texts = {message.id: message.text for message in study.messages}
    cases = {case.id: case for case in snapshot.cases()}
    assert cases.keys() == expected.quotes.keys()
    assert {case.id for case in cases.values() if case.source_missing} == expected.without_source
    for answer_id, quotes in expected.quotes.items():
        case = cases[answer_id]
        missing = answer_id in expected.without_answer
        assert case.state is (OutputState.MISSING if missing else OutputState.OK)
        assert case.provenance.parameters == {"reasoning_effort": "low"}
        assert case.provenance.time is not None
        assert [turn.content for turn in case.input.history] == ["Hello"]
        assert case.input.tool_calls[0].name == "read"
        for quote in quotes:
            assert case.output is not None
            assert quote.text in case.output.text
            if quote.defect is None and not case.source_missing:
                assert quote.text in texts[quote.message_id]
            if quote.defect == "non_verbatim_quote":
                assert quote.text not in texts[quote.message_id]


def test_pseudonyms_leave_no_respondent_and_keep_quotes_verbatim(
    database: Engine, shared: Path, tmp_path: Path
) -> None:
    expected = surveydb.build(database, shared / "data" / "survey")
    path = tmp_path / "snapshot"
    _, snapshot = take(surveydb.TABLES, path, mode=PseudonymMode.TEXT)
    written = b"".join(file.read_bytes() for file in path.rglob("*") if file.is_file()).decode()
    assert [each for each in expected.respondents if each in written] == []
    study = snapshot.study(surveydb.STUDY)
    assert study is not None
    assert len({message.respondent_id for message in study.messages}) == len(expected.respondents)
    messages = {message.id: message for message in study.messages}
    for answer_id, quotes in expected.quotes.items():
        if answer_id in expected.without_source:
            continue
        output = snapshot.case(answer_id).output
        for quote in quotes:
            assert output is not None
            if quote.defect is None:
                message = messages[quote.message_id]
                assert f"”{' '}[{message.respondent_id}, {message.id}]" in output.text
                assert quote.text in message.text


def test_window_is_pushed_down_and_the_sample_ignores_row_order(
    database: Engine, shared: Path, tmp_path: Path
) -> None:
    surveydb.build(database, shared / "data" / "survey")
    since = surveydb.NEWEST - timedelta(days=30)
    filters = Filters(limit=12, seed=7, since=since)
    by_query, one = take(surveydb.QUERIES, tmp_path / "one", filters)
    by_table, two = take(surveydb.TABLES, tmp_path / "two", filters)
    assert (by_query.counts.read, by_query.counts.outside_window) == (33, 2)
    assert (by_table.counts.read, by_table.counts.outside_window) == (60, 29)
    assert by_query.counts.kept == by_table.counts.kept == 12
    assert by_query.counts.sampled_out == by_table.counts.sampled_out == 19
    assert [case.id for case in one.cases()] == [case.id for case in two.cases()]


def test_types_of_postgresql_become_json(
    postgres: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SURVEY_URL", postgres)
    query = """
        SELECT '3f2a9c1e-77b0-4c1d-9e2f-aa01bb02cc03'::uuid AS id, 5::numeric AS study_id,
        'q' AS question, '{"text": "a"}'::jsonb AS reply, '[{"role": "user", "content": "h"}]'::json
        AS history, '2026-01-31 10:00+01'::timestamptz AS time,
        '{"effort": "low"}'::jsonb AS parameters,
        1.5::numeric AS price, now()::date AS day, 'a:b :: c' AS colons, '50 %' AS percent
    """
    paths = {"price": "price", "colons": "colons", "percent": "percent"}
    options = {
        "url_env": "SURVEY_URL",
        "answers": {"query": query, "fields": {"answer": "reply.text", "metadata": paths}},
    }
    _, snapshot = take(options, tmp_path / "snapshot")
    case = snapshot.case("3f2a9c1e-77b0-4c1d-9e2f-aa01bb02cc03")
    assert case.study_id == "5"
    assert case.output == Answer(text="a")
    assert case.input.history[0].content == "h"
    assert case.provenance.time == datetime(2026, 1, 31, 9, tzinfo=UTC)
    assert case.provenance.parameters == {"effort": "low"}
    assert case.metadata == {"price": "1.5", "colons": "a:b :: c", "percent": "50 %"}


def test_bad_rows_are_set_aside_and_the_rest_kept(database: Engine, tmp_path: Path) -> None:
    with database.begin() as connection:
        for statement in (
            "CREATE TABLE answers (id INT, study_id INT, question TEXT, answer TEXT)",
            "ALTER TABLE answers ADD COLUMN tool_calls TEXT",
            "ALTER TABLE answers ADD COLUMN time TEXT",
            "CREATE TABLE messages (study_id INTEGER, id TEXT, respondent_id INTEGER, text TEXT)",
            "INSERT INTO answers VALUES (1, 5, 'q', 'fine', NULL, '2026-01-31 10:00')",
            "INSERT INTO answers VALUES (2, 5, NULL, 'no question', NULL, NULL)",
            "INSERT INTO answers VALUES (3, 5, 'q', 'a', '{broken', NULL)",
            "INSERT INTO answers VALUES (4, 5, 'q', 'a', NULL, 'yesterday')",
            "INSERT INTO answers VALUES (1, 5, 'q', 'again', NULL, NULL)",
            "INSERT INTO answers VALUES (6, 5, 'q', '', '[]', NULL)",
            "INSERT INTO messages VALUES (5, 'M1', 12, 'words')",
            "INSERT INTO messages VALUES (5, 'M2', NULL, 'nobody''s')",
        ):
            connection.execute(text(statement))
    options = {
        "url_env": "SURVEY_URL",
        "answers": {"table": "answers"},
        "messages": {"table": "messages"},
    }
    manifest, snapshot = take(options, tmp_path / "snapshot")
    assert [case.id for case in snapshot.cases()] == ["1", "6"]
    assert snapshot.case("6").state is OutputState.EMPTY
    assert (manifest.counts.rejected, manifest.counts.duplicates) == (3, 1)
    rejected = {(each.line, each.field) for each in snapshot.rejects() if not each.study}
    assert rejected == {(2, "question"), (3, "tool_calls"), (4, "time"), (None, "id")}
    assert manifest.counts.study_rows_rejected == 1
    study = snapshot.study("5")
    assert study is not None
    assert [message.respondent_id for message in study.messages] == ["12"]


def test_study_id_of_another_type_is_a_missing_study(database: Engine, tmp_path: Path) -> None:
    with database.begin() as connection:
        connection.execute(text("CREATE TABLE messages (study_id INTEGER, id TEXT)"))
    options = {
        "url_env": "SURVEY_URL",
        "answers": {"query": "SELECT 1"},
        "messages": {"query": "SELECT * FROM messages WHERE study_id = :study_id"},
    }
    rejects: list[Reject] = []
    with closing(SqlSource("survey", options, tmp_path)) as source:
        assert source.study("'; DROP TABLE messages; --", rejects.append) is None
        assert source.study("7", rejects.append) is None
    with database.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM messages")).scalar() == 0


def test_source_only_reads(database: Engine, tmp_path: Path) -> None:
    writing = "INSERT INTO answers VALUES ('x', 'q') RETURNING id, question"
    with database.begin() as connection:
        connection.execute(text("CREATE TABLE answers (id TEXT, question TEXT)"))
        if database.dialect.name == "postgresql":
            connection.execute(text("CREATE SEQUENCE numbers"))
            writing = "SELECT nextval('numbers') AS id, 'q' AS question"
    options = {"url_env": "SURVEY_URL", "answers": {"query": writing}}
    with (
        closing(SqlSource("survey", options, tmp_path)) as source,
        pytest.raises(UsageError, match=r"read-?only"),
    ):
        list(source.cases(Window()))
    with database.begin() as connection:
        assert connection.execute(text("SELECT count(*) FROM answers")).scalar() == 0


def test_memory_does_not_grow_with_rows(
    database: Engine, tmp_path: Path, peak: Callable[[Callable[[], object]], int]
) -> None:
    series = (
        "SELECT value AS n FROM generate_series(1, 8000) AS value"
        if database.dialect.name == "postgresql"
        else "WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 8000) "
        "SELECT n FROM s"
    )
    with database.begin() as connection:
        connection.execute(text("CREATE TABLE answers (id INTEGER, question TEXT, answer TEXT)"))
        filler = "x" * 1_000
        connection.execute(
            text(f"INSERT INTO answers SELECT n, 'q', '{filler}' FROM ({series}) AS s")  # noqa: S608
        )
    options = {"url_env": "SURVEY_URL", "answers": {"table": "answers"}}
    used = peak(lambda: take(options, tmp_path / "snapshot", Filters(limit=50, seed=1)))
    assert used < 5_000_000, "8 MB of answers went through"


@pytest.mark.parametrize(
    ("address", "message"),
    [
        (None, "set SURVEY_URL"),
        ("not an address", "SURVEY_URL does not hold the address"),
        ("nodb://user:s3cret@host/base", "no such kind of database"),
        ("postgresql://user:s3cret@127.0.0.1:1/base", "SURVEY_URL"),
    ],
)
def test_bad_address_is_one_line_without_the_password(
    address: str | None, message: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SURVEY_URL", raising=False)
    if address:
        monkeypatch.setenv("SURVEY_URL", address)
    with pytest.raises(UsageError, match=message) as caught:
        take(surveydb.TABLES, tmp_path / "snapshot")
    assert "s3cret" not in str(caught.value)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answers": {}}, r"\[sources.survey\] answers: .*either a query or a table"),
        ({"url": "postgresql://u:p@h/d"}, r"\[sources.survey\] url: is no field"),
        ({"answers": {"table": "a", "fields": {"timezone": "Mars"}}}, "unknown time zone"),
    ],
)
def test_bad_table_names_the_field(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=message):
        SqlSource("survey", {"answers": {"table": "answers"}, **change}, tmp_path)


def test_unknown_table_is_one_line(database: Engine, tmp_path: Path) -> None:
    with database.begin() as connection:
        connection.execute(text("CREATE TABLE others (id TEXT)"))
    with pytest.raises(UsageError, match=r"\[sources.survey\] answers .*answers") as caught:
        take(surveydb.TABLES, tmp_path / "snapshot")
    assert "\n" not in str(caught.value)


def test_manifest_has_no_address(database: Engine, shared: Path, tmp_path: Path) -> None:
    surveydb.build(database, shared / "data" / "survey")
    path = tmp_path / "snapshot"
    take(surveydb.TABLES, path, Filters(limit=1))
    manifest = (path / "manifest.json").read_text()
    assert json.loads(manifest)["source"] == "survey (sql)"
    assert "not-a-secret" not in manifest
