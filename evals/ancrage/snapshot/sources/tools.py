"""Studies made of what the assistant's tools returned, where no other source has them."""

import json
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Literal

from ancrage.domain import Case, Frozen, JsonValue, Message, Question, Study, StudyPart
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.contract import Source, Window
from ancrage.snapshot.sources.fields import FieldError, identifier
from ancrage.snapshot.sources.shapes import Shape, find_rows
from ancrage.snapshot.sources.studies import unusable

NOTHING_RECORDED = "no tool output is recorded, and there is no other source"
NO_ROWS = "no tool output has rows with an id and a text"
NO_QUESTIONS = "no tool gave a list of questions"
NO_PEOPLE = "the tools name no respondent"


class ToolOptions(Frozen):
    """The table ``[sources.NAME.studies.from_tools]``; what is left out is found out."""

    tools: tuple[str, ...] = ()
    """Names of tools, or patterns such as ``search_*``; all of them when empty."""
    rows: str | None = None
    """Dotted path to the rows in a tool's output."""
    id: str | None = None
    respondent_id: str | None = None
    text: str | None = None
    question_ref: str | None = None
    per: Literal["study", "case"] = "study"
    """``case``: a study of each answer's own tools, where ids are only unique among them."""


class FromTools(Frozen):
    """The table ``[sources.NAME.studies]`` where studies are made of tool outputs."""

    from_tools: ToolOptions | bool
    """``true`` finds out all that the table does not say."""


@dataclass(frozen=True)
class _Reading:
    """How the rows of one shape are read."""

    id: str
    text: str
    respondent: str | None
    question: str | None
    questions: bool

    def __str__(self) -> str:
        told = {"id": self.id, "text": self.text}
        if not self.questions:
            told |= {"respondent": self.respondent or "-", "question": self.question or "-"}
        fields = ", ".join(f"{part} = {name}" for part, name in told.items())
        return f"{'questions' if self.questions else 'messages'}, {fields}"


class ToolStudies:
    """Another source's answers, with studies made of the tool outputs recorded with them.

    All answers are read, and kept on disk, before the first is given: an answer's study is made of
    what every answer about that study was told. Answers that name no study have one each.
    """

    def __init__(self, source: Source, options: ToolOptions) -> None:
        self.label = source.label
        self.notes = source.notes
        self._source = source
        self._options = options
        self._shapes: dict[tuple[str, str], Shape] = {}
        self._readings: dict[tuple[str, str], _Reading] = {}
        # The empty name is SQLite's own temporary file, gone when the connection closes.
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.executescript(
            "create table cases (rank integer primary key, study text, body text);"
            "create table outputs (study text, recorded integer);"
            "create table rows (study text, tool text, path text, body text);"
            "begin"
        )

    def cases(self, window: Window) -> Iterator[Case | Reject]:
        """See ``Source``."""
        for found in self._source.cases(window):
            if isinstance(found, Reject):
                yield found
                continue
            case, study = found, found.study_id if self._options.per == "study" else None
            if outputs := list(self._given(case)):
                study = study or f"case {case.id}"
                case = case.model_copy(update={"study_id": study, "source_missing": None})
                self._read(study, outputs, case.output.text if case.output else "")
            body = case.model_dump_json(exclude_defaults=True)
            self._db.execute("insert into cases (study, body) values (?, ?)", (study, body))
        for table in ("outputs", "rows"):
            self._db.execute(f"create index {table}_of on {table} (study)")
        self._settle()
        cases = self._db.cursor()
        for study, body in cases.execute("select study, body from cases order by rank"):
            case = Case.model_validate_json(body)
            if study is None or self._outputs(study)[0]:
                yield case
            else:
                yield case.model_copy(update={"source_missing": NOTHING_RECORDED})

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """See ``Source``."""
        recorded, lost = self._outputs(study_id)
        if not recorded:
            return None
        messages: dict[str, _Said] = {}
        questions: dict[str, str] = {}
        refused: Counter[str] = Counter()
        rows = self._db.execute("select tool, path, body from rows where study = ?", (study_id,))
        for tool, path, body in rows:
            reading = self._readings.get((tool, path))
            if reading is None:
                continue
            row = json.loads(body)
            try:
                key, text = identifier(row, reading.id), row.get(reading.text)
                if key is None or not isinstance(text, str):
                    raise FieldError(reading.text if key else reading.id, "missing")
                if reading.questions:
                    questions[key] = text
                    continue
                asked = identifier(row, reading.question) if reading.question else None
                said = messages.setdefault(key, _Said())
                said.add(text)
                said.question = said.question or asked
                said.respondent = said.respondent or (
                    identifier(row, reading.respondent) if reading.respondent else None
                )
                if asked:
                    questions.setdefault(asked, "")
            except FieldError as error:
                refused[tool] += 1
                reject(Reject(where=tool, field=error.field, error=str(error), study=True))
        return Study(
            id=study_id,
            messages=tuple(
                Message(
                    id=key, respondent_id=said.respondent or "", text="\n\n".join(said.texts),
                    question_ref=said.question,
                )
                for key, said in messages.items()
            ),
            questions=tuple(Question(ref=ref, text=text) for ref, text in questions.items()),
            missing=self._missing(messages, refused, lost),
            rejected=refused.total(),
            from_tools=True,
        )  # fmt: skip

    def close(self) -> None:
        """See ``Source``."""
        self._db.close()
        self._source.close()

    def _outputs(self, study_id: str) -> tuple[int, int]:
        """How many tool outputs of a study are recorded, and how many are not."""
        found = self._db.execute(
            "select recorded, count(*) from outputs where study = ? group by recorded", (study_id,)
        )
        counts = dict(found.fetchall())
        return counts.get(1, 0), counts.get(0, 0)

    def _read(self, study_id: str, outputs: list[tuple[str, JsonValue, bool]], answer: str) -> None:
        for tool, output, recorded in outputs:
            self._db.execute("insert into outputs values (?, ?)", (study_id, recorded))
            counts: Counter[str] = Counter()
            for path, row in find_rows(output):
                if self._options.rows not in (None, path):
                    continue
                shape = self._shapes.setdefault((tool, path), Shape(tool, path))
                shape.add(row, answer)
                counts[path] += 1
                shape.most = max(shape.most, counts[path])
                self._db.execute(
                    "insert into rows values (?, ?, ?, ?)",
                    (study_id, tool, path, json.dumps(row)),
                )

    def _given(self, case: Case) -> Iterator[tuple[str, JsonValue, bool]]:
        """Name, output and whether it is recorded, of each tool call that did not fail."""
        wanted = self._options.tools
        for call in case.input.tool_calls:
            if call.error is None and (
                not wanted or any(fnmatchcase(call.name, pattern) for pattern in wanted)
            ):
                yield call.name, call.output, call.output_recorded and call.output is not None
        for turn in case.input.history:
            if turn.role == "tool" and not wanted:
                yield "earlier turns", turn.content, True

    def _settle(self) -> None:
        """Decide how each shape is read, and say so."""
        readings = {key: self._reading(shape) for key, shape in self._shapes.items()}
        sure = {
            key
            for key, reading in readings.items()
            if reading and not reading.questions
            if reading.respondent or self._shapes[key].cites(reading.id)
        }
        for key, reading in readings.items():
            if reading and (reading.questions or not sure or key in sure):
                self._readings[key] = reading
        if not self._shapes:
            return
        self.notes.append("studies are made of what tools returned: there is no other source")
        for key, reading in self._readings.items():
            self.notes.append(f"{self._shapes[key]}: {self._shapes[key].rows:,} rows as {reading}")
        read = {tool for tool, _ in self._readings}
        if unread := sorted({tool for tool, _ in self._shapes} - read):
            self.notes.append(f"no rows with an id and a text: {', '.join(unread)}")

    def _reading(self, shape: Shape) -> _Reading | None:
        told = self._options
        text = told.text or shape.text()
        respondent = told.respondent_id or shape.respondent()
        question = told.question_ref or shape.question()
        questions = shape.about_questions and respondent is None and not told.id
        if questions:
            question = None
        key = told.id or shape.id(text, respondent, question)
        if text is None or key is None or {text, key} - shape.fields.keys():
            return None
        return _Reading(key, text, respondent, question, questions)

    def _missing(
        self, messages: "dict[str, _Said]", refused: Counter[str], lost: int
    ) -> dict[StudyPart, str]:
        reasons = [f"{unusable(count, tool)}: no id or no text" for tool, count in refused.items()]
        if lost:
            reasons.append(
                f"{lost:,} tool {'output is' if lost == 1 else 'outputs are'} not recorded"
            )
        if not messages:
            reasons.append(NO_ROWS)
        missing: dict[StudyPart, str] = {}
        if reasons:
            missing["messages"] = missing["respondents"] = "; ".join(reasons)
        elif not all(said.respondent for said in messages.values()):
            missing["respondents"] = NO_PEOPLE
        listed = any(
            reading.questions and self._shapes[key].most > 1
            for key, reading in self._readings.items()
        )
        if not listed:
            missing["questions"] = NO_QUESTIONS
        return missing


class _Said:
    """What tools returned under one id: the whole text, and not the excerpts of it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.respondent: str | None = None
        self.question: str | None = None

    def add(self, text: str) -> None:
        core = text.rstrip(" .…")
        if any(core in known for known in self.texts):
            return
        self.texts = [known for known in self.texts if known.rstrip(" .…") not in text] + [text]
