"""Questions with a support and a known answer, as a source of snapshots (type ``qa``)."""

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, ValidationError
from pydantic_core import from_json

from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Frozen,
    JsonValue,
    OutputState,
    Provenance,
    Study,
)
from ancrage.errors import UsageError, describe
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.contract import Window, validated
from ancrage.snapshot.sources.questions import question_records
from ancrage.snapshot.sources.rows import RAW_KEPT, Record

PROMPT = """\
Answer the question from the text alone, briefly and in the language of the question. \
If the text does not hold the answer, say so and give none.

Text:
{support}
"""


def _joined(value: Any) -> Any:
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    return "" if value is None else value


class QACase(Frozen):
    """One question. ``must_abstain``: the support does not hold the answer."""

    id: StrictInt | StrictStr
    question: StrictStr = Field(pattern=r"\S")
    expected: Annotated[StrictStr, BeforeValidator(_joined)]
    """What a right answer says; never empty unless the case must abstain."""
    support: Annotated[StrictStr, BeforeValidator(_joined)]
    """The text to answer from; several passages have a blank line between them."""
    must_abstain: StrictBool
    answer: StrictStr | None = None
    prompt: StrictStr | None = Field(default=None, pattern=r"\S")
    """System prompt of a replay, instead of the usual one."""
    group: StrictStr | None = Field(default=None, pattern=r"\S")
    metadata: dict[str, JsonValue] = {}

    def to_case(self, source: str, answer: str | None) -> Case:
        """The same as a case of a snapshot, answered with ``answer``."""
        said = self.answer if answer is None else answer
        known: dict[str, JsonValue] = {
            "must_abstain": self.must_abstain,
            "expected": self.expected,
            "support": self.support,
        }
        if self.group:
            known["group"] = self.group
        return Case(
            id=str(self.id),
            input=CaseInput(
                question=self.question,
                system_prompt=self.prompt or PROMPT.format(support=self.support),
            ),
            output=None if said is None else Answer(text=said),
            state=_state(said),
            provenance=Provenance(source=source),
            metadata=self.metadata | known,
        )


def _state(answer: str | None) -> OutputState:
    if answer is None:
        return OutputState.MISSING
    return OutputState.OK if answer.strip() else OutputState.EMPTY


class QAOptions(Frozen):
    """The table ``[sources.NAME]`` of type ``qa``."""

    cases: str
    """JSON (a list, or ``{"cases": [...]}``) or JSON Lines."""
    answers: str | None = None
    """JSON: a list in the order of the cases, or an object from id to answer."""


class QASource:
    """A ``Source`` over one file of questions, which may have a file of answers."""

    def __init__(self, name: str, options: Mapping[str, Any], root: Path) -> None:
        self.label = f"{name} (questions)"
        self.notes: list[str] = []
        self._name = name
        found = validated(name, options, QAOptions)
        self._path = root / found.cases
        self._answers = root / found.answers if found.answers else None

    def cases(self, window: Window) -> Iterator[Case | Reject]:
        """See ``Source``; a case without an answer is missing one, and counted as such."""
        records = list(question_records(self._path))
        answers = read_answers(self._answers, records) if self._answers else {}
        seen: dict[str, int] = {}
        asked: dict[tuple[str, str], int] = {}
        for rank, record in enumerate(records, start=1):
            if isinstance(record, Reject):
                yield record
                continue
            case = _case(record, rank)
            if isinstance(case, QACase):
                where = seen.setdefault(str(case.id), record.line)
                same = asked.setdefault((case.question, case.support), record.line)
                if where != record.line:
                    case = _fault(record, "id", f"{case.id!r} is also the id of {where}")
                elif same != record.line:
                    case = _fault(record, "question", f"asked of the same support by {same}")
            if isinstance(case, Reject):
                yield case
            else:
                yield case.to_case(self._name, answers.get(str(case.id)))

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """Questions have no study."""
        return None

    def close(self) -> None:
        """Nothing is held."""


def read_answers(path: Path, records: list[Record | Reject]) -> dict[str, str]:
    """The answers of a file by the id of the case.

    Raises:
        UsageError: it cannot be read, a list has another length, an id is unknown, or an answer
            is no text.
    """
    try:
        value = from_json(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {error}") from None
    ids = [_id(record, rank) for rank, record in enumerate(records, start=1)]
    if isinstance(value, list):
        if len(value) != len(ids):
            raise UsageError(f"{path}: {len(value)} answers for {len(ids)} cases")
        value = dict(zip(ids, value, strict=True))
    if not isinstance(value, dict):
        raise UsageError(f"{path}: expected a list of answers, or an object from id to answer")
    for name, text in value.items():
        if name not in ids:
            raise UsageError(f"{path}: {name!r} is the id of no case")
        if not isinstance(text, str):
            raise UsageError(f"{path}: answer to case {name}: not a text")
    return value


def _id(record: Record | Reject, rank: int) -> str:
    found = record.row.get("id") if isinstance(record, Record) else None
    return str(rank if found is None else found)


def _case(record: Record, rank: int) -> QACase | Reject:
    given = record.row.items()
    row = {"id": rank} | {
        name: value for name, value in given if value is not None or name in ("expected", "support")
    }
    own = {name: value for name, value in row.items() if name in QACase.model_fields}
    others = {name: value for name, value in row.items() if name not in own}
    if isinstance(own.get("metadata", {}), dict):
        own["metadata"] = others | own.get("metadata", {})
    try:
        case = QACase.model_validate(own)
    except ValidationError as error:
        field, _, message = describe(error).partition(": ")
        return _fault(record, field, message)
    if not case.expected.strip() and not case.must_abstain:
        return _fault(record, "expected", "empty; every answer contains it")
    return case


def _fault(record: Record, field: str, error: str) -> Reject:
    raw = json.dumps(record.row, ensure_ascii=False)[:RAW_KEPT]
    return Reject(where=record.where, line=record.line, field=field, error=error, raw=raw)
