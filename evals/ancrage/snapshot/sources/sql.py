"""Answers and studies in any database that SQLAlchemy speaks to."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator
from sqlalchemy import (
    Connection,
    DateTime,
    TextClause,
    bindparam,
    column,
    literal_column,
    select,
    table,
    text,
)
from sqlalchemy.exc import DataError, SQLAlchemyError
from sqlalchemy.sql import Executable

from ancrage.domain import Case, Frozen, Study
from ancrage.errors import UsageError
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.contract import Window, validated
from ancrage.snapshot.sources.database import read_only_engine
from ancrage.snapshot.sources.fields import FieldError, at, has, unknown
from ancrage.snapshot.sources.mapping import (
    AnswerFields,
    Fields,
    MessageFields,
    QuestionFields,
    to_case,
)
from ancrage.snapshot.sources.studies import StudyRows

BATCH = 500
"""Rows fetched at a time."""
MARGIN = timedelta(days=2)
"""How much wider than the window the database is asked for: a column without time zone may be in
any, and SQLite compares times as text. The window itself is applied afterwards, and counted."""


class _Rows(Frozen):
    query: str | None = None
    table: str | None = None
    """Instead of a query; ``schema.table`` where needed."""

    @model_validator(mode="after")
    def _one_of_the_two(self) -> Self:
        if (self.query is None) == (self.table is None):
            raise ValueError("takes either a query or a table")
        return self


class AnswerRows(_Rows):
    """The answers; a query may use ``:since`` and ``:until`` to read less."""

    fields: AnswerFields = AnswerFields()


class MessageRows(_Rows):
    """The messages of one study; a query takes ``:study_id``."""

    fields: MessageFields = MessageFields()


class QuestionRows(_Rows):
    """The questions of one study; a query takes ``:study_id``."""

    fields: QuestionFields = QuestionFields()


class StudyFields(Fields):
    """Where each part of a study's own row stands."""

    study_id: str = "id"
    title: str = "title"
    language: str = "language"


class StudyRow(_Rows):
    """The studies themselves, for title and language; a query takes ``:study_id``."""

    fields: StudyFields = StudyFields()


class SqlOptions(Frozen):
    """The table ``[sources.NAME]`` of type ``sql``."""

    url_env: str = "DATABASE_URL"
    """The environment variable (or line of ``.env``) with the address; never the address."""
    answers: AnswerRows
    messages: MessageRows | None = None
    questions: QuestionRows | None = None
    studies: StudyRow | None = None


class SqlSource:
    """A ``Source`` over a database; it only reads, and fetches answers in batches."""

    def __init__(self, name: str, options: Mapping[str, Any], root: Path) -> None:
        self.label = f"{name} (sql)"
        self.notes: list[str] = []
        self._name = name
        self._options = validated(name, options, SqlOptions)
        self._engine = read_only_engine(name, self._options.url_env)

    def cases(self, window: Window) -> Iterator[Case | Reject]:
        """See ``Source``."""
        rows = self._options.answers
        statement: Executable
        parameters: dict[str, datetime] = {}
        if rows.query is not None:
            clause = text(rows.query)
            for bound, moment, unbounded in (
                ("since", window.since, datetime(1, 1, 1, tzinfo=UTC)),
                ("until", window.until, datetime(9999, 12, 31, tzinfo=UTC)),
            ):
                if _takes(clause, bound):
                    clause = clause.bindparams(bindparam(bound, type_=DateTime(timezone=True)))
                    parameters[bound] = _wider(moment, bound) if moment else unbounded
            statement = clause
        else:
            statement = select(literal_column("*")).select_from(_table(rows.table or ""))
        with self._connection("answers") as connection:
            streamed = connection.execution_options(stream_results=True, yield_per=BATCH)
            found = streamed.execute(statement, parameters)
            self._checked("answers", found.keys(), rows.fields)
            for rank, row in enumerate(found.mappings(), 1):
                yield self._case(rank, dict(row))

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """See ``Source``."""
        options = self._options
        rows = StudyRows(study_id, reject)
        if options.studies:
            about = options.studies.fields
            for _, row in self._rows_of(study_id, "studies", options.studies, about, rows):
                rows.about(at(row, about.title), at(row, about.language))
        if options.questions:
            asked = options.questions.fields
            found = self._rows_of(study_id, "questions", options.questions, asked, rows)
            for rank, row in found:
                rows.question(self._where("questions"), rank, row, asked)
        if options.messages:
            said = options.messages.fields
            found = self._rows_of(study_id, "messages", options.messages, said, rows)
            for rank, row in found:
                rows.message(self._where("messages"), rank, row, said)
        return rows.study()

    def close(self) -> None:
        """See ``Source``."""
        self._engine.dispose()

    def _case(self, rank: int, row: dict[str, Any]) -> Case | Reject:
        fields = self._options.answers.fields
        try:
            return to_case(row, fields, self._name)
        except FieldError as error:
            known = at(row, fields.id)
            return Reject(
                where=self._where("answers"),
                line=rank,
                id=None if known is None else str(known),
                field=error.field,
                error=str(error),
            )

    def _rows_of(
        self,
        study_id: str,
        part: Literal["studies", "messages", "questions"],
        rows: _Rows,
        fields: "MessageFields | QuestionFields | StudyFields",
        study: StudyRows,
    ) -> Iterator[tuple[int, dict[str, Any]]]:
        statement: Executable
        if rows.query is not None:
            clause = text(rows.query)
            if not _takes(clause, "study_id"):
                raise UsageError(f"[sources.{self._name}] {part}.query: takes no :study_id")
            statement = clause
        else:
            statement = (
                select(literal_column("*"))
                .select_from(_table(rows.table or ""))
                .where(column(fields.study_id) == bindparam("study_id"))
            )
        with self._connection(part) as connection:
            try:
                found = connection.execute(statement, {"study_id": study_id})
            except DataError:
                # An id that the column's type cannot hold names no study.
                error = f"study id {study_id!r} is not of the column's type"
                fault = Reject(where=self._where(part), field=fields.study_id, error=error)
                study.refuse(fault, "questions" if part == "questions" else "messages")
                return
            ids = frozenset({"study_id"} if rows.query is not None else ())
            self._checked(part, found.keys(), fields, leave_out=ids)
            for rank, row in enumerate(found.mappings(), 1):
                yield rank, dict(row)

    def _checked(
        self,
        part: str,
        columns: Iterable[str],
        fields: Fields,
        leave_out: frozenset[str] = frozenset(),
    ) -> None:
        """
        Raises:
            UsageError: a column that somebody named is not there.
        """
        row = dict.fromkeys(columns)
        for setting, name in fields.chosen(leave_out).items():
            if not has(row, name):
                raise UsageError(f"[sources.{self._name}.{part}] {setting}: {unknown(name, row)}")

    def _where(self, part: str) -> str:
        return f"{self._name}.{part}"

    @contextmanager
    def _connection(self, part: str) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                if self._engine.dialect.name == "postgresql":
                    connection = connection.execution_options(postgresql_readonly=True)
                yield connection
        # A damaged file: names of columns that cannot be decoded, sizes that nothing can hold.
        except (SQLAlchemyError, UnicodeDecodeError, MemoryError) as error:
            cause = str(getattr(error, "orig", None) or error).strip() or type(error).__name__
            password = self._engine.url.password
            if password:
                cause = cause.replace(password, "***")
            place = f"[sources.{self._name}] {part} ({self._options.url_env})"
            raise UsageError(f"{place}: {' '.join(cause.split())}") from None


def _wider(moment: datetime, bound: str) -> datetime:
    try:
        return moment - MARGIN if bound == "since" else moment + MARGIN
    except OverflowError:
        return moment


def _takes(clause: TextClause, name: str) -> bool:
    return name in clause.compile().params


def _table(name: str) -> Any:
    schema, _, bare = name.rpartition(".")
    return table(bare, schema=schema or None)
