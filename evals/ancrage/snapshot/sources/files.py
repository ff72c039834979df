"""Answers and studies in JSON, JSON Lines, CSV and TSV files."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError

from ancrage.domain import Case, Frozen, Study
from ancrage.errors import describe
from ancrage.snapshot.folder import Seen
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources import Window, validated
from ancrage.snapshot.sources.fields import FieldError, at
from ancrage.snapshot.sources.mapping import (
    AnswerFields,
    MessageFields,
    QuestionFields,
    to_case,
)
from ancrage.snapshot.sources.records import RAW_KEPT, Record, read_records, resolve
from ancrage.snapshot.sources.studies import StudyRows

Globs = Annotated[
    tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
]


class MessageFiles(Frozen):
    """Files with one respondent's message a row."""

    files: Globs
    fields: MessageFields = MessageFields()


class QuestionFiles(Frozen):
    """Files with one question a row."""

    files: Globs
    fields: QuestionFields = QuestionFields()


class FileOptions(Frozen):
    """The table ``[sources.NAME]`` of type ``jsonl``."""

    answers: Globs
    """Paths or globs. Rows in the project's own shape of a case need no ``fields``."""
    fields: AnswerFields = AnswerFields()
    studies: Globs = ()
    """Whole studies (id, title, language, questions, messages), or messages one a row with
    study_id, id, respondent_id, text."""
    messages: MessageFiles | None = None
    questions: QuestionFiles | None = None
    study: str | None = None
    """The study that rows naming none belong to."""


class FileSource:
    """A ``Source`` over files; answers stream, rows of studies wait in a temporary index."""

    def __init__(self, name: str, options: Mapping[str, Any], root: Path) -> None:
        self.label = f"{name} (files)"
        self._name = name
        self._options = validated(name, options, FileOptions)
        self._root = root
        self._answers = resolve(self._options.answers, root)
        self._studies = self._study_files()
        self._db: sqlite3.Connection | None = None

    def cases(self, window: Window) -> Iterator[Case | Reject]:
        """See ``Source``; duplicates are found across the files."""
        seen = Seen()
        try:
            for path in self._answers:
                for record in read_records(path, self._where(path)):
                    yield record if isinstance(record, Reject) else self._case(record, seen)
        finally:
            seen.close()

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """See ``Source``."""
        if self._db is None:
            self._db = self._index(reject)
        rows = StudyRows(study_id, reject)
        found = self._db.execute(
            "select kind, place, line, body from rows where study = ? order by rank", (study_id,)
        )
        messages, questions = self._options.messages, self._options.questions
        for kind, where, line, body in found:
            row = json.loads(body)
            if kind == "study":
                rows.whole(where, line, row)
            elif kind == "row":
                rows.message(where, line, row, MessageFields())
            elif kind == "message" and messages:
                rows.message(where, line, row, messages.fields)
            elif kind == "question" and questions:
                rows.question(where, line, row, questions.fields)
        return rows.study()

    def close(self) -> None:
        """See ``Source``."""
        if self._db is not None:
            self._db.close()

    def _case(self, record: Record, seen: Seen) -> Case | Reject:
        row = record.row
        try:
            if isinstance(row.get("input"), dict) and "provenance" in row:
                case = Case.model_validate(row)
            else:
                case = to_case(row, self._options.fields, self._name)
            if case.study_id is None and self._options.study:
                case = case.model_copy(update={"study_id": self._options.study})
        except FieldError as error:
            return self._reject(record, error.field, str(error))
        except ValidationError as error:
            field, _, message = describe(error).partition(": ")
            return self._reject(record, field, message)
        if not seen.add(case.id):
            return self._reject(
                record, self._options.fields.id, f"duplicate id {case.id!r}", id=case.id
            )
        return case

    def _reject(self, record: Record, field: str, error: str, id: str | None = None) -> Reject:
        text = json.dumps(record.row, ensure_ascii=False).encode("utf-8", "backslashreplace")
        return Reject(
            where=record.where,
            line=record.line,
            id=id,
            field=field,
            error=error,
            raw=text.decode()[:RAW_KEPT],
            duplicate=id is not None,
        )

    def _where(self, path: Path) -> str:
        return str(path.relative_to(self._root) if path.is_relative_to(self._root) else path)

    def _study_files(self) -> list[tuple[str, list[Path], str]]:
        """Kind, files and path of the study's id, for each kind of row that studies have."""
        options = self._options
        tables = [("study", options.studies, "id")]
        if options.messages:
            tables.append(("message", options.messages.files, options.messages.fields.study_id))
        if options.questions:
            tables.append(("question", options.questions.files, options.questions.fields.study_id))
        return [(kind, resolve(globs, self._root), id_path) for kind, globs, id_path in tables]

    def _index(self, reject: Callable[[Reject], None]) -> sqlite3.Connection:
        """All rows of studies by study id, on disk, gone when closed."""
        db = sqlite3.connect("", isolation_level=None)
        db.execute(
            "create table rows (rank integer primary key, study text, kind text, "
            "place text, line integer, body text)"
        )
        db.execute("begin")
        for kind, paths, id_path in self._studies:
            for path in paths:
                for record in read_records(path, self._where(path)):
                    self._file(db, kind, id_path, record, reject)
        db.execute("create index by_study on rows (study)")
        db.execute("commit")
        return db

    def _file(
        self,
        db: sqlite3.Connection,
        kind: str,
        id_path: str,
        record: Record | Reject,
        reject: Callable[[Reject], None],
    ) -> None:
        if isinstance(record, Reject):
            reject(record.model_copy(update={"study": True}))
            return
        where, line, row = record
        if kind == "study" and "respondent_id" in row and "messages" not in row:
            kind, id_path = "row", "study_id"
        study_id = at(row, id_path)
        if study_id in (None, "") and kind != "study":
            study_id = self._options.study
        if isinstance(study_id, str | int) and study_id != "":
            # Escaped: bytes that were no UTF-8 reach the models and are refused there.
            db.execute(
                "insert into rows (study, kind, place, line, body) values (?, ?, ?, ?, ?)",
                (
                    str(study_id).encode("utf-8", "replace").decode(),
                    kind,
                    where,
                    line,
                    json.dumps(row),
                ),
            )
        else:
            error = "missing" if study_id in (None, "") else "expected an identifier"
            reject(Reject(where=where, line=line, field=id_path, error=error, study=True))
