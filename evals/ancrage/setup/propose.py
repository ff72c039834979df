"""Propose a configuration from the files themselves: which hold what, under which field names."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from ancrage.setup import roles
from ancrage.setup.columns import columns, words_of
from ancrage.snapshot.sources.fields import FieldError, at
from ancrage.snapshot.sources.mapping import AnswerFields, MessageFields, QuestionFields, to_case
from ancrage.snapshot.sources.records import SUFFIXES, read_records
from ancrage.snapshot.sources.rows import Record

SAMPLE = 200
"""Rows looked at in each file."""
EXPORTED = b"run,case,study,"
"""How the tables begin that ``export`` writes."""


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
    guess: dict[str, str] = field(default_factory=dict)
    """Of a file of unknown kind, the roles that some columns may play."""

    def ids(self, role: str) -> list[str]:
        """The values of a role in the sample."""
        values = [at(row, self.fields.get(role, role)) for row in self.rows]
        return [str(value) for value in values if isinstance(value, str | int)]

    @property
    def line(self) -> str:
        """What would be read, in a line."""
        of = f"{self.readable} of the first {len(self.rows) + self.faults} rows"
        named = ", ".join(f"{ours} ← {theirs}" for ours, theirs in self.fields.items())
        line = f"{self.path}: {self.kind}, {of}" + (f"; {named}" if named else "")
        if self.kind == "unknown" or not self.readable:
            line += f"\n  columns: {', '.join(columns(self.rows)) or 'none'}"
            guessed = ", ".join(f"{ours} ← {theirs}" for ours, theirs in self.guess.items())
            line += f"\n  guess: {guessed or 'none'}"
        return line


def sample(paths: Iterable[Path]) -> list[Sampled]:
    """The files that hold rows, with what they seem to be.

    Answers are told first: the ids that they cite tell which columns of the others hold ids.

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
        found.append(Sampled(path, rows, faults))
    for file in found:
        _if_answers(file)
    cited = words_of([text for file in found for text in answers_of(file)])
    for file in found:
        _if_questions(file)
    refs = frozenset(
        ref.casefold() for file in found if file.kind == "questions" for ref in file.ids("ref")
    )
    for file in found:
        _if_messages(file, cited, refs)
    return found


def candidates(folder: Path) -> list[Path]:
    """The files of ``folder`` and its ``data`` that a source could read."""
    here = [*folder.iterdir(), *(folder / "data").glob("*")]
    return sorted(
        path.relative_to(folder)
        for path in here
        if path.suffix.lower() in SUFFIXES and path.is_file()
        if path.name != "package.json" and not _exported(path)
    )


def _exported(path: Path) -> bool:
    """Whether a table is one that ``export`` wrote."""
    if path.suffix.lower() != ".csv":
        return False
    with path.open("rb") as file:
        return file.readline(4096).removeprefix(b"\xef\xbb\xbf").startswith(EXPORTED)


def _if_answers(file: Sampled) -> None:
    rows = file.rows
    if not rows:
        return
    if all(isinstance(row.get("messages"), list) and "questions" in row for row in rows):
        file.kind, file.readable = "studies", len(rows)
        return
    if all(isinstance(row.get("input"), dict) and "provenance" in row for row in rows):
        file.kind, file.readable = "answers", len(rows)
        return
    found = columns(rows)
    cast = roles.answers(found)
    file.guess = cast
    if not {"question", "answer"} <= cast.keys():
        return
    answer, question = found[cast["answer"]], found[cast["question"]]
    people = [each for each in found.values() if roles.named(each, roles.PEOPLE) and each.code]
    # Of people's replies there are many to each question, and they cite nobody.
    if answer.cites < 0.3 and people and question.distinct <= 0.5:
        return
    file.kind = "answers"
    file.fields = _renamed(cast, AnswerFields())
    file.readable = _cases(rows, file.fields)


def _if_questions(file: Sampled) -> None:
    found = columns(file.rows)
    cast = roles.questions(found)
    if file.kind != "unknown" or not {"ref", "text"} <= cast.keys():
        return
    text = found[cast["text"]]
    if text.asks >= 0.5 or (roles.named(text, roles.LABEL) and len(found) <= 4):
        others = roles.messages(found, frozenset())
        if "respondent_id" not in others:
            file.kind = "questions"
            file.fields = _renamed(cast, QuestionFields())
            file.readable = len(file.rows)


def _if_messages(file: Sampled, cited: frozenset[str], refs: frozenset[str]) -> None:
    if file.kind != "unknown" or not file.rows:
        return
    found = columns(file.rows)
    cast = roles.messages(found, cited, refs)
    if {"id", "text"} <= cast.keys() and (
        "respondent_id" in cast or found[cast["id"]].cited(cited) >= 0.3
    ):
        file.kind = "messages"
        file.fields = _renamed(cast, MessageFields())
        needed = [cast[name] for name in ("id", "respondent_id", "text") if name in cast]
        file.readable = sum(
            all(at(row, name) not in (None, "") for name in needed) for row in file.rows
        )
    elif len(cast) > len(file.guess):
        file.guess = cast


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


def ids_of(files: Iterable[Sampled]) -> dict[str, list[str]]:
    """The ids that exist in the samples, by kind of reference."""
    found: dict[str, list[str]] = {"message": [], "respondent": [], "question": []}
    for file in files:
        if file.kind == "messages":
            found["message"] += file.ids("id")
            found["respondent"] += file.ids("respondent_id")
        elif file.kind == "questions":
            found["question"] += file.ids("ref")
        elif file.kind == "studies":
            for row in file.rows:
                listed = [item for item in row["messages"] if isinstance(item, dict)]
                found["message"] += [str(item["id"]) for item in listed if "id" in item]
                found["respondent"] += [
                    str(item["respondent_id"]) for item in listed if item.get("respondent_id")
                ]
    return found


def _text(row: Mapping[str, Any], path: str) -> Any:
    output = row["output"]
    return output.get("text") if isinstance(output, dict) and "text" in output else at(row, path)


def source_table(files: Sequence[Sampled], name: str) -> str:
    """The table ``[sources.NAME]`` that reads the files, as TOML.

    Where none of the files seems to hold answers, a skeleton to fill in.
    """
    by_kind: dict[str, list[Sampled]] = {}
    for file in files:
        by_kind.setdefault(file.kind, []).append(file)
    answers = by_kind.get("answers")
    if not answers:
        return _skeleton(by_kind.get("unknown", []), name)
    parts = [f"[sources.{name}]", 'type = "jsonl"', f"answers = {_paths(answers)}"]
    if studies := by_kind.get("studies"):
        parts.append(f"studies = {_paths(studies)}")
    parts += _fields(f"sources.{name}.fields", answers[0].fields)
    for kind in ("messages", "questions"):
        if found := by_kind.get(kind):
            parts += ["", f"[sources.{name}.{kind}]", f"files = {_paths(found)}"]
            parts += _fields(f"sources.{name}.{kind}.fields", found[0].fields)
    return "\n".join(parts) + "\n"


def _skeleton(unknown: Sequence[Sampled], name: str) -> str:
    """The lines to complete: the fields that a source of answers needs, with what was guessed."""
    file = max(unknown, key=lambda file: len(file.guess), default=None)
    path = file.path.as_posix() if file else "answers.jsonl"
    guess = file.guess if file else {}
    listed = json.dumps([path], ensure_ascii=False)
    return "\n".join([
        "# No file of answers was recognised: complete these lines.",
        f"[sources.{name}]", 'type = "jsonl"', f"answers = {listed}",
        "", f"[sources.{name}.fields]",
        f"# columns: {' '.join(', '.join(columns(file.rows)).split()) if file else 'none'}",
        *(
            f"{ours} = {json.dumps(guess.get(ours, 'COLUMN'), ensure_ascii=False)}"
            for ours in ("id", "question", "answer")
        ),
        "", f"# [sources.{name}.messages]", '# files = ["messages.csv"]',
        f"# [sources.{name}.messages.fields]", '# id = "COLUMN"', '# respondent_id = "COLUMN"',
        '# text = "COLUMN"', "",
    ])  # fmt: skip


def _paths(files: Sequence[Sampled]) -> str:
    return json.dumps([file.path.as_posix() for file in files], ensure_ascii=False)


def _fields(table: str, fields: Mapping[str, str]) -> list[str]:
    if not fields:
        return []
    lines = [f"{name} = {json.dumps(path, ensure_ascii=False)}" for name, path in fields.items()]
    return ["", f"[{table}]", *lines]
