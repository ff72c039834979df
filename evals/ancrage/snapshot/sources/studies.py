"""Put a study together from rows, keeping every row that can be used."""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

from ancrage.domain import Message, Question, Study, StudyPart
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.fields import FieldError
from ancrage.snapshot.sources.mapping import (
    MessageFields,
    QuestionFields,
    to_message,
    to_question,
)


def unusable(count: int, where: str) -> str:
    """That so many rows of a file or table were set aside."""
    return f"{count:,} {'row' if count == 1 else 'rows'} of {where} could not be used"


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
        self._refused: Counter[tuple[StudyPart, str]] = Counter()
        self._lacking: list[tuple[StudyPart, str]] = []

    def refuse(self, reject: Reject, part: StudyPart) -> None:
        """Set a row aside; whatever is then not found in ``part`` may have stood there."""
        if not reject.duplicate:
            self._refused[part, reject.where] += 1
        self._reject(reject.model_copy(update={"study": True}))

    def lacks(self, part: StudyPart, reason: str) -> None:
        """Something of ``part`` is not there, for a reason that no row tells of."""
        self._lacking.append((part, reason))

    def message(self, where: str, line: int, row: Any, fields: MessageFields) -> None:
        """Take one message; of two with the same id the first stands."""
        self._take(
            "messages", where, line, row, lambda: to_message(row, fields), self._messages, fields.id
        )

    def question(self, where: str, line: int, row: Any, fields: QuestionFields) -> None:
        """Take one question; of two with the same ref the first stands."""
        self._take(
            "questions",
            where,
            line,
            row,
            lambda: to_question(row, fields),
            self._questions,
            fields.ref,
        )

    def about(self, title: Any, language: Any) -> None:
        """What the source says of the study as a whole."""
        self._known = True
        self._title = title if isinstance(title, str) else self._title
        self._language = language if isinstance(language, str) and language else self._language

    def whole(self, where: str, line: int, row: Mapping[str, Any]) -> None:
        """Take a study in one row: title, language, questions, messages."""
        self.about(row.get("title"), row.get("language"))
        if isinstance(lacking := row.get("missing"), dict):
            self._lacking += lacking.items()
        for item in self._listed("questions", where, line, row):
            self.question(where, line, item, QuestionFields())
        for item in self._listed("messages", where, line, row):
            self.message(where, line, item, MessageFields())

    def _listed(self, part: StudyPart, where: str, line: int, row: Mapping[str, Any]) -> list[Any]:
        listed = row.get(part) or []
        if isinstance(listed, list):
            return listed
        error = f"expected a list, found {type(listed).__name__}"
        self.refuse(Reject(where=where, line=line, field=part, error=error), part)
        return []

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
            missing=self._missing(),
            rejected=sum(self._refused.values()),
        )

    def _missing(self) -> dict[StudyPart, str]:
        found: dict[StudyPart, list[str]] = {}
        for (part, where), count in self._refused.items():
            found.setdefault(part, []).append(unusable(count, where))
        for part, reason in self._lacking:
            found.setdefault(part, []).append(reason)
        if not self._questions:
            found.setdefault("questions", []).append("the study has no list of questions")
        if not self._messages:
            found.setdefault("messages", []).append("the study has no messages")
        elif not all(message.respondent_id for message in self._messages.values()):
            found.setdefault("respondents", []).append("not every message names its respondent")
        if "messages" in found:
            found.setdefault("respondents", []).extend(found["messages"])
        return {part: "; ".join(reasons) for part, reasons in found.items()}

    def _take(
        self,
        part: StudyPart,
        where: str,
        line: int,
        row: Any,
        build: Callable[[], Any],
        taken: dict[str, Any],
        id_field: str,
    ) -> None:
        at = Reject(where=where, line=line, field=id_field, error="")
        try:
            if not isinstance(row, Mapping):
                raise FieldError("row", f"expected an object, found {type(row).__name__}")
            built = build()
        except FieldError as error:
            self.refuse(at.model_copy(update={"field": error.field, "error": str(error)}), part)
            return
        key = built.id if isinstance(built, Message) else built.ref
        if taken.setdefault(key, built) is not built:
            again = f"duplicate {key!r} in study {self._study_id!r}"
            self.refuse(at.model_copy(update={"error": again, "duplicate": True}), part)
