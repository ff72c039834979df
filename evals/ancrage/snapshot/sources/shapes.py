"""Find rows in what tools returned, and which of their fields are id, text, person and question.

Structure decides, names only choose between fields of one structure; an id is best known by the
answers that cite it.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from pydantic_core import from_json

from ancrage.domain import JsonValue

DEPTH = 12
KEY, VALUE = "(key)", "(value)"
"""Fields of the rows of an object that has ids for names."""
_PEOPLE = frozenset({
    "respondent", "repondant", "participant", "panelist", "panellist", "author", "auteur",
    "user", "speaker", "person", "personne", "customer", "client", "member", "membre",
    "interviewee",
})  # fmt: skip
_QUESTIONS = frozenset({"question", "questions"})
_ENDINGS = ("id", "uuid", "uid", "ref", "key", "code", "no", "number", "url", "uri", "source")
_OTHERS = frozenset({
    "study", "survey", "session", "trace", "run", "conversation", "thread", "parent", "etude",
})  # fmt: skip
"""What an id can be of, and is no message."""
_TEXTS = frozenset({
    "text", "texte", "verbatim", "message", "body", "content", "contenu", "answer", "response",
    "reponse", "comment", "commentaire", "quote", "snippet", "excerpt", "extrait", "passage",
    "utterance", "reply", "review", "feedback", "transcript",
})  # fmt: skip
_TITLES = frozenset({
    "title", "titre", "name", "nom", "label", "theme", "topic", "summary", "url", "uri", "link",
    "type",
})  # fmt: skip
_WORDS = 3
"""Mean words from which a field of any name is somebody's text."""


def find_rows(
    value: JsonValue, path: str = "", depth: int = 0
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object in ``value`` that can be a row, with the path to it; nested fields flat.

    JSON in a text is entered. In a path, items of lists and entries of objects that have ids for
    names leave no trace.
    """
    value = _parsed(value)
    if depth > DEPTH:
        return
    if isinstance(value, list):
        for item in value:
            yield from find_rows(item, path, depth + 1)
    elif isinstance(value, dict):
        if entries := _entries(value):
            for row in entries:
                yield from find_rows(row, path, depth + 1)
            return
        yield path, _flat(value)
        for name, item in value.items():
            yield from find_rows(item, f"{path}.{name}" if path else name, depth + 1)


def _parsed(value: JsonValue) -> JsonValue:
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            parsed: JsonValue = from_json(value, allow_inf_nan=False)
        except ValueError:
            return value
        return parsed
    return value


def _entries(value: dict[str, JsonValue]) -> list[JsonValue]:
    """The rows of an object whose names are ids."""
    items = list(value.values())
    if len(items) < 2 or not all(re.search("[0-9]", name) for name in value):
        return []
    if all(isinstance(item, dict) for item in items):
        return [{KEY: name, **item} for name, item in value.items() if isinstance(item, dict)]
    if all(isinstance(item, str) for item in items):
        return [{KEY: name, VALUE: item} for name, item in value.items()]
    return []


def _flat(value: Mapping[str, JsonValue], prefix: str = "", depth: int = 0) -> dict[str, Any]:
    row: dict[str, Any] = {}
    for name, item in value.items():
        if isinstance(item, dict) and depth < 2:
            row |= _flat(item, f"{prefix}{name}.", depth + 1)
        elif isinstance(item, str | int | float) and not isinstance(item, bool):
            row[prefix + name] = item
    return row


@dataclass
class _Field:
    """What one field of a shape holds, over all rows."""

    filled: int = 0
    words: int = 0
    blanks: int = 0
    texts: int = 0
    cited: int = 0

    def add(self, value: Any, answer: str) -> None:
        if value == "":
            return
        self.filled += 1
        if isinstance(value, str):
            self.texts += 1
            self.words += len(value.split())
            self.blanks += len(value.split()) > 1
            self.cited += (
                len(value) > 1 and re.search("[0-9]", value) is not None and value in answer
            )


@dataclass
class Shape:
    """The rows that one tool returns at one path."""

    tool: str
    path: str
    rows: int = 0
    most: int = 0
    """Rows of the longest output."""
    fields: dict[str, _Field] = field(default_factory=dict)

    def add(self, row: Mapping[str, Any], answer: str) -> None:
        """Take one row into account, and what the answer made of it says."""
        self.rows += 1
        for name, value in row.items():
            self.fields.setdefault(name, _Field()).add(value, answer)

    def __str__(self) -> str:
        return f"{self.tool}: {self.path}" if self.path else self.tool

    def text(self) -> str | None:
        """The field with the words."""
        told = [
            (bool(_TEXTS & set(tokens(name))), seen.words / seen.texts, name)
            for name, seen in self.fields.items()
            if seen.texts and not (_PEOPLE | _TITLES) & set(tokens(name)[-1:])
        ]
        fit = [entry for entry in told if entry[0] or entry[1] >= _WORDS or entry[2] == VALUE]
        return max(fit)[2] if fit else None

    def respondent(self) -> str | None:
        """The field that says who wrote the words."""
        people = [
            (seen.cited, tokens(name)[-1] in _ENDINGS, seen.filled, name)
            for name, seen in self.fields.items()
            if _PEOPLE & set(tokens(name)) and seen.blanks == 0 and seen.filled
        ]
        return max(people)[3] if people else None

    def question(self) -> str | None:
        """The field that says to which question the words reply."""
        asked = [
            (-seen.blanks, seen.filled, name)
            for name, seen in self.fields.items()
            if _QUESTIONS & set(tokens(name)) and seen.filled
        ]
        return max(asked)[2] if asked else None

    def id(self, *taken: str | None) -> str | None:
        """The field that tells the rows apart: what answers cite, else what is named for it."""
        found = [
            (seen.cited > 0, name in ("id", KEY), -_rank(name), name)
            for name, seen in self.fields.items()
            if name not in taken and seen.filled == self.rows and seen.blanks == 0
            if not _OTHERS & set(tokens(name))
            if name == KEY or tokens(name)[-1] in _ENDINGS or seen.cited
        ]
        return max(found)[3] if found else None

    @property
    def about_questions(self) -> bool:
        """Whether tool or path is named for questions."""
        return bool(_QUESTIONS & set(tokens(self.tool) + tokens(self.path.rpartition(".")[2])))

    def cites(self, name: str | None) -> bool:
        """Whether an answer cites what the field holds."""
        return name is not None and name in self.fields and self.fields[name].cited > 0


def _rank(name: str) -> int:
    last = tokens(name)[-1]
    return _ENDINGS.index(last) if last in _ENDINGS else len(_ENDINGS)


def tokens(name: str) -> list[str]:
    """The words of a name: ``messageId``, ``message_id`` and ``message.id`` are alike."""
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode()
    return [word.lower() for word in re.findall("[A-Z]?[a-z]+|[A-Z]+(?![a-z])", plain)] or [name]
