"""Answers and studies in JSON, JSON Lines, CSV, TSV, Excel and Parquet files."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, ValidationError

from ancrage.domain import Case, Frozen, Study, StudyPart
from ancrage.errors import UsageError, describe
from ancrage.snapshot.folder import Seen
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.contract import Window, validated
from ancrage.snapshot.sources.fields import FieldError, at, has, missing, plain, unknown
from ancrage.snapshot.sources.mapping import (
    AnswerFields,
    Fields,
    MessageFields,
    PartFields,
    QuestionFields,
    to_case,
)
from ancrage.snapshot.sources.records import TABLES, read_records, resolve
from ancrage.snapshot.sources.rows import RAW_KEPT, Record
from ancrage.snapshot.sources.studies import StudyRows, unusable

Globs = Annotated[
    tuple[str, ...], BeforeValidator(lambda value: (value,) if isinstance(value, str) else value)
]


class MessageFiles(Frozen):
    """Files with one respondent's message a row; ``fields`` hold for those of ``studies`` too."""

    files: Globs = ()
    fields: MessageFields = MessageFields()


class QuestionFiles(Frozen):
    """Files with one question a row."""

    files: Globs = ()
    fields: QuestionFields = QuestionFields()


class FileOptions(Frozen):
    """The table ``[sources.NAME]`` of type ``jsonl``."""

    answers: Globs
    """Paths or globs. Rows in the project's own shape of a case need no ``fields``."""
    fields: AnswerFields = AnswerFields()
    studies: Globs = ()
    """Whole studies (id, title, language, questions, messages), or messages one a row."""
    messages: MessageFiles = MessageFiles()
    questions: QuestionFiles = QuestionFiles()
    study: str | None = None
    """The study that rows naming none belong to. Messages or questions in a file without a column
    for it belong to every study, and by default to one named after the file."""
    encoding: str | None = None
    """Of the text files; found out when left out."""


class FileSource:
    """A ``Source`` over files; answers stream, rows of studies wait in a temporary index."""

    def __init__(self, name: str, options: Mapping[str, Any], root: Path) -> None:
        self.label = f"{name} (files)"
        self.notes: list[str] = []
        self._name = name
        self._options = validated(name, options, FileOptions)
        self._root = root
        self._answers = resolve(self._options.answers, root)
        messages, questions = self._options.messages, self._options.questions
        parts: tuple[tuple[StudyPart, Globs, PartFields], ...] = (
            ("messages", self._options.studies + messages.files, messages.fields),
            ("questions", questions.files, questions.fields),
        )
        self._studies = [(part, resolve(globs, root), fields) for part, globs, fields in parts]
        self._study = self._options.study or self._only_study()
        self._unplaced: Counter[tuple[StudyPart, str]] = Counter()
        self._db: sqlite3.Connection | None = None

    def cases(self, window: Window) -> Iterator[Case | Reject]:
        """See ``Source``; duplicates are found across the files."""
        seen = Seen()
        try:
            for path in self._answers:
                for record in self._records(path, self._options.fields):
                    yield record if isinstance(record, Reject) else self._case(record, seen)
        finally:
            seen.close()

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """See ``Source``."""
        if self._db is None:
            self._db = self._index(reject)
        rows = StudyRows(study_id, reject)
        found = self._db.execute(
            "select kind, place, line, body from rows where study in (?, '') order by rank",
            (study_id,),
        )
        for kind, where, line, body in found:
            row = json.loads(body)
            if kind == "study":
                rows.whole(where, line, row)
            elif kind == "messages":
                rows.message(where, line, row, self._options.messages.fields)
            else:
                rows.question(where, line, row, self._options.questions.fields)
        for (part, where), count in self._unplaced.items():
            rows.lacks(part, unusable(count, where))
        return rows.study()

    def close(self) -> None:
        """See ``Source``."""
        if self._db is not None:
            self._db.close()

    def _records(self, path: Path, fields: Fields) -> Iterator[Record | Reject]:
        """The rows of a file.

        Raises:
            UsageError: a column that somebody named is not in a table.
        """
        where = str(path.relative_to(self._root) if path.is_relative_to(self._root) else path)
        unchecked = path.suffix.lower() in TABLES
        for record in read_records(path, where, self._options.encoding, self.notes):
            if unchecked and isinstance(record, Record):
                unchecked = False
                for setting, column in fields.chosen().items():
                    if not has(record.row, column):
                        raise UsageError(f"{where}: {setting}: {unknown(column, record.row)}")
            yield record

    def _case(self, record: Record, seen: Seen) -> Case | Reject:
        row = record.row
        try:
            if isinstance(row.get("input"), dict) and "provenance" in row:
                case = Case.model_validate(row)
            else:
                case = to_case(row, self._options.fields, self._name)
            if case.study_id is None and self._study:
                case = case.model_copy(update={"study_id": self._study})
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
        text = json.dumps(plain(record.row), ensure_ascii=False)
        return Reject(
            where=record.where,
            line=record.line,
            id=id,
            field=field,
            error=error,
            raw=text.encode("utf-8", "backslashreplace").decode()[:RAW_KEPT],
            duplicate=id is not None,
        )

    def _only_study(self) -> str | None:
        """The study of messages that no column gives to one: it is named after their file."""
        for part, paths, fields in self._studies:
            for path in paths if part == "messages" else ():
                records = self._records(path, fields)
                first = next((found for found in records if isinstance(found, Record)), None)
                if first and _kind(path, part, first.row, fields) == part:
                    return None if has(first.row, fields.study_id) else path.stem
        return None

    def _index(self, reject: Callable[[Reject], None]) -> sqlite3.Connection:
        """All rows of studies by study id, on disk, gone when closed; '' is every study."""
        db = sqlite3.connect("", isolation_level=None)
        db.execute(
            "create table rows (rank integer primary key, study text, kind text, "
            "place text, line integer, body text)"
        )
        db.execute("begin")
        for part, paths, fields in self._studies:
            for path in paths:
                for record in self._records(path, fields):
                    try:
                        self._place(db, part, path, fields, record)
                    except FieldError as error:
                        fault = Reject(
                            where=record.where, line=record.line, field=error.field or None,
                            error=str(error), study=True,
                        )  # fmt: skip
                        if (
                            isinstance(record, Reject)
                            or _kind(path, part, record.row, fields) == part
                        ):
                            self._unplaced[part, fault.where] += 1
                        reject(fault)
        db.execute("create index by_study on rows (study)")
        db.execute("commit")
        return db

    def _place(
        self,
        db: sqlite3.Connection,
        part: StudyPart,
        path: Path,
        fields: PartFields,
        record: Record | Reject,
    ) -> None:
        """
        Raises:
            FieldError: the row belongs to no study that can be told.
        """
        if isinstance(record, Reject):
            raise FieldError(record.field or "", record.error)
        where, line, row = record
        kind = _kind(path, part, row, fields)
        id_path = "id" if kind == "study" else fields.study_id
        study_id = at(row, id_path)
        if study_id in (None, "") and kind != "study":
            study_id = self._options.study or study_id
            if study_id is None and not has(row, id_path):
                study_id = ""
        if study_id is None or (study_id == "" and has(row, id_path)):
            raise missing(row, id_path)
        if isinstance(study_id, bool) or not isinstance(study_id, str | int):
            raise FieldError(id_path, f"expected an identifier, found {type(study_id).__name__}")
        # Escaped: bytes that were no text reach the models and are refused there.
        name = str(study_id).encode("utf-8", "replace").decode()
        db.execute(
            "insert into rows (study, kind, place, line, body) values (?, ?, ?, ?, ?)",
            (name, kind, where, line, json.dumps(plain(row))),
        )


def _kind(path: Path, part: StudyPart, row: Mapping[str, Any], fields: PartFields) -> str:
    """Whether a row is a message, a question, or a whole study; no table holds whole ones."""
    whole = part == "messages" and path.suffix.lower() not in TABLES
    if whole and ("messages" in row or not has(row, fields.text)):
        return "study"
    return part
