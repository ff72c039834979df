"""Put a study together from rows, keeping every row that can be used."""

from collections.abc import Callable, Mapping
from typing import Any

from ancrage.domain import Message, Question, Study
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.fields import FieldError
from ancrage.snapshot.sources.mapping import (
    MessageFields,
    QuestionFields,
    to_message,
    to_question,
)


class StudyRows:
    """The rows of one study as they come; those that cannot be used go to ``reject``."""

    def __init__(self, study_id: str, reject: Callable[[Reject], None]) -> None:
        self._study_id = study_id
        self._reject = reject
        self._messages: dict[str, Message] = {}
        self._questions: dict[str, Question] = {}
        self._title = ""
        self._language: str | None = None
        self._known = False

    def message(self, where: str, line: int, row: Any, fields: MessageFields) -> None:
        """Take one message; of two with the same id the first stands."""
        self._take(where, line, row, lambda: to_message(row, fields), self._messages, fields.id)

    def question(self, where: str, line: int, row: Any, fields: QuestionFields) -> None:
        """Take one question; of two with the same ref the first stands."""
        self._take(where, line, row, lambda: to_question(row, fields), self._questions, fields.ref)

    def about(self, title: Any, language: Any) -> None:
        """What the source says of the study as a whole."""
        self._known = True
        self._title = title if isinstance(title, str) else self._title
        self._language = language if isinstance(language, str) and language else self._language

    def whole(self, where: str, line: int, row: Mapping[str, Any]) -> None:
        """Take a study in one row: title, language, questions, messages."""
        self.about(row.get("title"), row.get("language"))
        for name, take in (("questions", self._plain_question), ("messages", self._plain_message)):
            listed = row.get(name) or []
            if isinstance(listed, list):
                for each in listed:
                    take(where, line, each)
            else:
                self._refuse(where, line, FieldError(name, "expected a list"))

    def study(self) -> Study | None:
        """The study; None when nothing at all was found of it."""
        if not (self._messages or self._questions or self._known):
            return None
        return Study(
            id=self._study_id,
            title=self._title,
            language=self._language,
            questions=tuple(self._questions.values()),
            messages=tuple(self._messages.values()),
        )

    def _plain_message(self, where: str, line: int, row: Any) -> None:
        self.message(where, line, row, MessageFields())

    def _plain_question(self, where: str, line: int, row: Any) -> None:
        self.question(where, line, row, QuestionFields())

    def _refuse(self, where: str, line: int, error: FieldError) -> None:
        self._reject(
            Reject(where=where, line=line, field=error.field, error=str(error), study=True)
        )

    def _take(
        self,
        where: str,
        line: int,
        row: Any,
        build: Callable[[], Any],
        taken: dict[str, Any],
        id_field: str,
    ) -> None:
        try:
            if not isinstance(row, Mapping):
                raise FieldError("row", f"expected an object, found {type(row).__name__}")
            built = build()
            key = built.id if isinstance(built, Message) else built.ref
            if key in taken:
                raise FieldError(id_field, f"duplicate {key!r} in study {self._study_id!r}")
            taken[key] = built
        except FieldError as error:
            self._refuse(where, line, error)
