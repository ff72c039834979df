"""Propose a configuration from the files themselves: which hold what, under which field names."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ancrage.errors import UsageError
from ancrage.snapshot.sources.fields import FieldError, at
from ancrage.snapshot.sources.mapping import AnswerFields, MessageFields, QuestionFields, to_case
from ancrage.snapshot.sources.records import SUFFIXES, read_records
from ancrage.snapshot.sources.rows import Record

SAMPLE = 200
"""Rows looked at in each file."""

_ANSWER = {
    "id": ("id", "case_id", "answer_id", "message_id", "trace_id", "uuid", "identifiant"),
    "study_id": ("study_id", "study", "survey_id", "survey", "etude", "étude", "project_id"),
    "question": ("question", "prompt", "query", "user_message", "input", "user", "demande"),
    "answer": (
        "answer", "response", "output", "completion", "reply", "assistant", "réponse", "reponse",
    ),
    "history": ("history", "messages", "conversation"),
    "tool_calls": ("tool_calls", "tools"),
    "system_prompt": ("system_prompt", "system"),
    "time": ("time", "timestamp", "created_at", "createdAt", "date", "datetime"),
    "model": ("model", "model_name", "modele", "modèle"),
}  # fmt: skip
_MESSAGE = {
    "study_id": _ANSWER["study_id"],
    "id": ("id", "message_id", "msg_id", "verbatim_id"),
    "respondent_id": (
        "respondent_id", "respondent", "participant_id", "participant", "user_id", "author",
        "répondant", "repondant",
    ),
    "text": ("text", "message", "content", "verbatim", "answer", "response", "réponse", "reponse"),
    "question_ref": ("question_ref", "question_id", "question", "ref"),
    "language": ("language", "lang", "langue"),
}  # fmt: skip
_QUESTION = {
    "study_id": _ANSWER["study_id"],
    "ref": ("ref", "question_ref", "question_id", "code", "id"),
    "text": ("text", "label", "wording", "question", "libellé", "libelle"),
}


@dataclass
class Sampled:
    """A file, the first rows of it, and what they seem to be."""

    path: Path
    rows: list[dict[str, Any]]
    faults: int
    kind: str = "unknown"
    """``answers``, ``studies``, ``messages``, ``questions`` or ``unknown``."""
    fields: dict[str, str] = field(default_factory=dict)
    """Of the fields that have another name there, the name."""
    readable: int = 0
    """Rows of ``rows`` that can be used with these fields."""

    @property
    def line(self) -> str:
        """What would be read, in a line."""
        of = f"{self.readable} of the first {len(self.rows) + self.faults} rows"
        named = ", ".join(f"{ours} ← {theirs}" for ours, theirs in self.fields.items())
        return f"{self.path}: {self.kind}, {of}" + (f"; {named}" if named else "")


def sample(paths: Iterable[Path]) -> list[Sampled]:
    """The files that hold rows, with what they seem to be.

    Raises:
        UsageError: a file that was named cannot be read.
    """
    found = []
    for path in paths:
        rows: list[dict[str, Any]] = []
        faults = 0
        for record in islice(read_records(path, str(path)), SAMPLE):
            if isinstance(record, Record):
                rows.append(record.row)
            else:
                faults += 1
        found.append(_recognised(Sampled(path, rows, faults)))
    return found


def candidates(folder: Path) -> list[Path]:
    """The files of ``folder`` and its ``data`` that a source could read."""
    here = [*folder.iterdir(), *(folder / "data").glob("*")]
    return sorted(
        path.relative_to(folder)
        for path in here
        if path.suffix.lower() in SUFFIXES and path.is_file() and path.name != "package.json"
    )


def _recognised(file: Sampled) -> Sampled:
    rows = file.rows
    if not rows:
        return file
    if all(isinstance(row.get("messages"), list) and "questions" in row for row in rows):
        file.kind, file.readable = "studies", len(rows)
        return file
    names = _names(rows)
    answer, message, question = (
        _mapped(names, wanted) for wanted in (_ANSWER, _MESSAGE, _QUESTION)
    )
    if {"respondent_id", "text"} <= message.keys() and "history" not in answer:
        file.kind = "messages"
        file.fields = _renamed(message, MessageFields())
        needed = [message.get("id", "id"), message["respondent_id"], message["text"]]
        file.readable = sum(all(at(row, name) not in (None, "") for name in needed) for row in rows)
    elif {"question", "answer"} <= answer.keys() or all("input" in row for row in rows):
        file.kind = "answers"
        native = all(isinstance(row.get("input"), dict) and "provenance" in row for row in rows)
        file.fields = {} if native else _renamed(answer, AnswerFields())
        file.readable = len(rows) if native else _cases(rows, file.fields)
    elif {"ref", "text"} <= question.keys():
        file.kind = "questions"
        file.fields = _renamed(question, QuestionFields())
        file.readable = len(rows)
    return file


def _names(rows: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Columns and dotted paths of two levels, with how many rows have something there."""
    names: Counter[str] = Counter()
    for row in rows:
        for name, value in row.items():
            if value not in (None, ""):
                names[name] += 1
            if isinstance(value, dict):
                names.update(f"{name}.{inner}" for inner, v in value.items() if v not in (None, ""))
    return names


def _mapped(names: Counter[str], wanted: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Our fields and the columns that seem to hold them: whole names first, then their ends."""
    found: dict[str, str] = {}
    for ours, theirs in wanted.items():
        exact = [name for word in theirs for name in names if name.casefold() == word]
        inner = [
            name
            for word in theirs
            for name in names
            if name.casefold().rpartition(".")[2] == word and "." in name
        ]
        chosen = next((name for name in [*exact, *inner] if name not in found.values()), None)
        if chosen:
            found[ours] = chosen
    return found


def _renamed(found: Mapping[str, str], ours: Any) -> dict[str, str]:
    return {name: theirs for name, theirs in found.items() if getattr(ours, name) != theirs}


def _cases(rows: Sequence[Mapping[str, Any]], fields: Mapping[str, str]) -> int:
    mapped = AnswerFields.model_validate(dict(fields))
    return sum(_is_case(row, mapped) for row in rows)


def _is_case(row: Mapping[str, Any], fields: AnswerFields) -> bool:
    try:
        return to_case(row, fields, "sample").output is not None
    except FieldError:
        return False


def answers_of(file: Sampled) -> list[str]:
    """The texts of the answers in the sample of a file; none for a file of another kind."""
    if file.kind != "answers":
        return []
    path = file.fields.get("answer", "answer")
    texts = [at(row, path) if "output" not in row else _text(row, path) for row in file.rows]
    return [text for text in texts if isinstance(text, str)]


def _text(row: Mapping[str, Any], path: str) -> Any:
    output = row["output"]
    return output.get("text") if isinstance(output, dict) and "text" in output else at(row, path)


def source_table(files: Sequence[Sampled], name: str) -> str:
    """The table ``[sources.NAME]`` that reads the files, as TOML.

    Raises:
        UsageError: none of the files seems to hold answers.
    """
    by_kind: dict[str, list[Sampled]] = {}
    for file in files:
        by_kind.setdefault(file.kind, []).append(file)
    answers = by_kind.get("answers")
    if not answers:
        looked = ", ".join(str(file.path) for file in files) or "no file"
        raise UsageError(
            f"no answers found (looked at: {looked}): name a file with a question and an answer "
            f"a row, ending in {', '.join(SUFFIXES)}"
        )
    parts = [f"[sources.{name}]", 'type = "jsonl"', f"answers = {_paths(answers)}"]
    if studies := by_kind.get("studies"):
        parts.append(f"studies = {_paths(studies)}")
    parts += _fields(f"sources.{name}.fields", answers[0].fields)
    for kind in ("messages", "questions"):
        if found := by_kind.get(kind):
            parts += ["", f"[sources.{name}.{kind}]", f"files = {_paths(found)}"]
            parts += _fields(f"sources.{name}.{kind}.fields", found[0].fields)
    return "\n".join(parts) + "\n"


def _paths(files: Sequence[Sampled]) -> str:
    return json.dumps([file.path.as_posix() for file in files], ensure_ascii=False)


def _fields(table: str, fields: Mapping[str, str]) -> list[str]:
    if not fields:
        return []
    lines = [f"{name} = {json.dumps(path, ensure_ascii=False)}" for name, path in fields.items()]
    return ["", f"[{table}]", *lines]
