"""A run as a table: one row an answer or a quote, what is known of it, and what fails."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ancrage.domain import Message, OutputState
from ancrage.quotes.language import detect

if TYPE_CHECKING:
    from ancrage.runs import Item, RunView

Field = str
MOST_VALUES = 12
"""A field of more values than this, but for studies, keeps its most frequent ones."""
_MESSAGES = "languages of the messages"
_SHORT, _LONG = 600, 2000
"""Characters up to which an answer is short, and from which it is long."""


@dataclass
class Table:
    """Rows of one kind; every list has one entry a row."""

    noun: str
    """``answers`` or ``quotes``."""
    cases: list[str] = field(default_factory=list)
    studies: list[str] = field(default_factory=list)
    """The study of each row; its case where it has none."""
    fields: list[dict[Field, str]] = field(default_factory=list)
    failures: dict[str, list[float | None]] = field(default_factory=dict)
    """By mode: 1 fails, 0 passes, None unscored."""

    def add(
        self, item: "Item", fields: dict[Field, str], failures: Mapping[str, float | None]
    ) -> None:
        """One row more; a mode that it lacks, or that the rows before lack, is unscored there."""
        for mode in failures:
            self.failures.setdefault(mode, [None] * len(self.cases))
        for mode, column in self.failures.items():
            column.append(failures.get(mode))
        self.cases.append(item.case.id)
        self.studies.append(item.case.study_id or f"case {item.case.id}")
        self.fields.append(fields)


class Languages:
    """The language of each message, as its study says or as it reads; None where it is unclear.

    Taken from the message that a quote cites, not from what the verification of the quote noted:
    that is known of failing quotes alone, and would explain every failure by itself.
    """

    def __init__(self, view: "RunView") -> None:
        self._snapshot = view.snapshot
        self._known: dict[str, dict[str, Message]] = {}
        self._told: dict[tuple[str, str], str | None] = {}

    def of(self, study_id: str | None, cited: Iterable[str]) -> list[str]:
        """The languages of those of the messages ``cited`` that there are, in order."""
        if study_id is None:
            return []
        found = (self._message(study_id, name) for name in cited)
        return [language for language in found if language]

    def _message(self, study_id: str, name: str) -> str | None:
        if study_id not in self._known:
            study = self._snapshot.study(study_id)
            messages = study.messages if study else ()
            self._known[study_id] = {message.id: message for message in messages}
        message = self._known[study_id].get(name)
        if message is None:
            return None
        key = study_id, name
        if key not in self._told:
            self._told[key] = message.language or detect(message.text)
        return self._told[key]


def tables(view: "RunView") -> tuple[Table, Table]:
    """The answers of a run with their modes, and its quotes with what became of each."""
    modes = [mode.name for mode in view.modes]
    answers, quotes = Table("answers"), Table("quotes")
    kinds: set[str] = set()
    held = []
    languages = Languages(view)
    for item in view.items():
        known = fields(item, languages)
        if item.output.state is OutputState.OK:
            scores = item.scores
            answers.add(
                item,
                known,
                {mode: _fails(scores[mode].value) for mode in modes if mode in scores},
            )
        for quote in item.anchors.quotes if item.anchors else ():
            if quote.tier is not None:
                kinds.update([quote.diagnosis] if quote.diagnosis else [])
                more = {
                    "language of the quote": detect(quote.evidence.text),
                    "language of the message": next(
                        iter(languages.of(item.case.study_id, quote.cited)), None
                    ),
                }
                own = {name: value for name, value in known.items() if name != _MESSAGES}
                held.append((item, own | _told(more), quote.diagnosis))
    for item, known, diagnosis in held:
        quotes.add(item, known, {kind: float(kind == diagnosis) for kind in sorted(kinds)})
    return answers, quotes


def _fails(value: float | None) -> float | None:
    return None if value is None else float(value > 0)


def fields(item: "Item", languages: Languages) -> dict[Field, str]:
    """What is known of an answer and of what led to it; unknown fields are left out.

    Nothing here may depend on whether the answer fails.
    """
    case, output = item.case, item.output
    source = case.provenance
    text = output.answer.text if output.answer else ""
    tools = {call.name for call in (*case.input.tool_calls, *output.tool_calls)}
    spoken = (
        {q.source_language for q in item.anchors.quotes if q.source_language}
        if item.anchors
        else set()
    )
    quotes = item.anchors.quotes if item.anchors else ()
    cited = [name for quote in quotes for name in quote.cited]
    spoken = set(languages.of(case.study_id, cited))
    model = output.details.get("model") or source.model
    known: dict[Field, object] = {
        "language of the question": detect(case.input.question),
        "language of the answer": detect(text),
        _MESSAGES: " + ".join(sorted(spoken)),
        "study": case.study_id,
        "model": model,
        "prompt version": source.prompt_version,
        "history": "with history" if case.input.history else "first question",
        "length of the answer": _length(text),
        "month": f"{source.time:%Y-%m}" if source.time else None,
        "tools": " + ".join(sorted(tools)) or "none",
    }
    known |= {f"metadata {name}": value for name, value in case.metadata.items()}
    return _told(known)


def _told(values: Mapping[Field, object]) -> dict[Field, str]:
    return {
        name: str(value)
        for name, value in values.items()
        if isinstance(value, str | int | bool) and str(value) and len(str(value)) <= 80
    }


def _length(text: str) -> str:
    if len(text) <= _SHORT:
        return f"up to {_SHORT} characters"
    if len(text) < _LONG:
        return f"{_SHORT} to {_LONG} characters"
    return f"from {_LONG} characters"


def values_of(rows: Iterable[Mapping[Field, str]]) -> Iterator[tuple[Field, list[str]]]:
    """Each field that varies, with its values, most frequent first."""
    counts: dict[Field, Counter[str]] = {}
    for row in rows:
        for name, value in row.items():
            counts.setdefault(name, Counter())[value] += 1
    for name, found in counts.items():
        if len(found) > 1 or any(name not in row for row in rows):
            most = None if name == "study" else MOST_VALUES
            yield name, [value for value, _ in found.most_common(most)]


def by_field(view: "RunView", name: Field) -> list[tuple[str, str, int, int]]:
    """For each value of a field and each mode: ``(value, mode, failing, scored)``.

    Raises:
        UsageError: no answer has the field.
    """
    from ancrage.errors import UsageError

    rows = []
    for table in tables(view):
        for value in dict(values_of(table.fields)).get(name, []):
            at = [place for place, row in enumerate(table.fields) if row.get(name) == value]
            for mode, column in table.failures.items():
                scored = [column[place] for place in at if column[place] is not None]
                label = mode if table.noun == "answers" else f"{mode} quotes"
                rows.append(
                    (value, label, round(sum(map(float, filter(None, scored)))), len(scored))
                )
    if not rows:
        only = {row[name] for table in tables(view) for row in table.fields if name in row}
        if only:
            raise UsageError(f"--by {name}: is {only.pop()} everywhere: nothing to set beside it")
        known = {field for table in tables(view) for field, _ in values_of(table.fields)}
        raise UsageError(f"--by {name}: known fields: auto, {', '.join(sorted(known))}")
    return rows
