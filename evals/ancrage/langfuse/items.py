"""A case as an item of a dataset, and back; a study as a few items of its own.

Inputs and expected outputs are objects: the server reads a bare string as JSON and would turn
"4" into a number.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator
from typing import Any

from langfuse.api import DatasetItem
from pydantic import ValidationError

from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Frozen,
    JsonValue,
    Message,
    OutputState,
    Provenance,
    Study,
    StudyPart,
    ToolCall,
    Turn,
    Usage,
)
from ancrage.errors import UsageError, describe
from ancrage.langfuse.connection import batches
from ancrage.langfuse.shapes import asked, text_of, value_of

KEY = "ancrage"
"""Where our own part of an item's metadata lies; the rest is the user's."""
LONGEST_ID = 255
LARGEST = 4_400_000
"""Bytes of a request; the server takes 4.5 million."""
STUDY_PART = 1_000_000
"""Bytes of messages, as JSON, in one item of a study."""


class Background(Frozen):
    """What an item's question came with."""

    study_id: str | None = None
    history: tuple[Turn, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()
    system_prompt: str | None = None
    system_prompt_hash: str | None = None
    context: dict[str, JsonValue] = {}


class ItemInput(Frozen):
    """The input of an item.

    PostgreSQL keeps the keys of objects by their length, then by alphabet, and lists show the
    beginning alone: the names are such that the question stands first.
    """

    question: str
    background: Background = Background()


class Recorded(Frozen):
    """What became of an answer in production."""

    state: OutputState = OutputState.OK
    finish_reason: str | None = None
    usage: Usage | None = None


class ItemOutput(Frozen):
    """What was answered in production; the answer's text stands first, see ``ItemInput``."""

    answer: str | None = None
    recorded: Recorded = Recorded()


class Note(Frozen):
    """Our part of an item's metadata."""

    format: int = 1
    hash: str
    """SHA-256 of the case, to know whether the item has to be written again."""
    case_id: str
    provenance: Provenance
    source_missing: str | None = None
    metadata: dict[str, JsonValue] = {}
    trimmed: tuple[str, ...] = ()
    """Parts left out because the item was too large; the checks need none of them."""


class Item(Frozen):
    """An item as it is sent."""

    id: str
    input: dict[str, JsonValue]
    expected_output: dict[str, JsonValue]
    metadata: dict[str, JsonValue]
    source_trace_id: str | None = None
    source_observation_id: str | None = None
    hash: str
    source: str
    """The case, or the study, that it comes from."""

    def body(self, dataset: str) -> dict[str, Any]:
        """The arguments of the SDK's call."""
        fields = {
            "dataset_name": dataset,
            "id": self.id,
            "input": self.input,
            "expected_output": self.expected_output,
            "metadata": self.metadata,
            "status": "ACTIVE",
            "source_trace_id": self.source_trace_id,
            "source_observation_id": self.source_observation_id,
        }
        return {name: value for name, value in fields.items() if value is not None}

    def size(self, dataset: str) -> int:
        """Bytes of the request."""
        return len(json.dumps(self.body(dataset), ensure_ascii=False).encode())


class TooLargeError(ValueError):
    """A case whose item would be refused for its size, even without what can be left out."""


def too_large(size: int) -> str:
    """Why an item of that many bytes is refused."""
    return f"{size:,} bytes, where Langfuse takes {LARGEST:,}"


def item_id(dataset: str, key: str) -> str:
    """The id of the item of a case: prefixed, as ids are unique in the whole project."""
    plain = f"{dataset}:{key}"
    if len(plain) <= LONGEST_ID:
        return plain
    return f"{plain[:180]}:{hashlib.sha256(plain.encode()).hexdigest()}"


def to_item(case: Case, dataset: str) -> Item:
    """The item of a case, without tool outputs and then system prompt where it is too large.

    Raises:
        TooLargeError: it is too large even so; gives the size.
    """
    digest = case_digest(case)
    trimmed: tuple[str, ...] = ()
    for part in ("tool_calls", "system_prompt", None):
        item = _item(case, dataset, digest, trimmed)
        if (size := item.size(dataset)) <= LARGEST:
            return item
        if part:
            case, trimmed = _without(case, part), (*trimmed, part)
    raise TooLargeError(too_large(size))


def case_digest(case: Case) -> str:
    """The hash of what was asked and answered, and how; not of where it was read."""
    content = case.model_dump(mode="json", exclude={"provenance": {"source"}})
    return hashlib.sha256(_canonical(content)).hexdigest()


def _item(case: Case, dataset: str, digest: str, trimmed: tuple[str, ...]) -> Item:
    asked = case.input.model_dump(exclude={"question"})
    given = ItemInput(
        question=case.input.question, background=Background(**asked, study_id=case.study_id)
    )
    answer = case.output
    expected = ItemOutput(
        answer=answer.text if answer else None,
        recorded=Recorded(
            state=case.state,
            finish_reason=answer.finish_reason if answer else None,
            usage=answer.usage if answer else None,
        ),
    )
    note = Note(
        hash=digest,
        case_id=case.id,
        provenance=case.provenance,
        source_missing=case.source_missing,
        metadata=case.metadata,
        trimmed=trimmed,
    )
    return Item(
        id=item_id(dataset, case.id),
        input=_dump(given),
        # Never empty: an absent answer has to replace an earlier one.
        expected_output=_dump(expected) or {"answer": None},
        metadata={KEY: _dump(note)},
        source_trace_id=case.provenance.trace_id,
        source_observation_id=case.provenance.observation_id,
        hash=digest,
        source=case.id,
    )


def _without(case: Case, part: str) -> Case:
    given = case.input
    if part == "system_prompt":
        update: dict[str, Any] = {"system_prompt": None}
        if given.system_prompt and not given.system_prompt_hash:
            digest = hashlib.sha256(given.system_prompt.encode()).hexdigest()
            update["system_prompt_hash"] = digest
    else:
        calls = [call.model_copy(update={"output": None}) for call in given.tool_calls]
        update = {"tool_calls": tuple(calls)}
    return case.model_copy(update={"input": given.model_copy(update=update)})


def note_of(item: DatasetItem) -> Note | None:
    """Our part of an item's metadata; None when the item was not pushed by us."""
    found = item.metadata.get(KEY) if isinstance(item.metadata, dict) else None
    if not isinstance(found, dict) or "case_id" not in found:
        return None
    try:
        return Note.model_validate(found)
    except ValidationError:
        return None


def to_case(item: DatasetItem) -> Case:
    """The case of an item, whoever wrote it.

    Raises:
        UsageError: no question can be found in it.
    """
    note = note_of(item)
    if note is None:
        return _foreign(item)
    try:
        given = ItemInput.model_validate(item.input)
        expected = ItemOutput.model_validate(item.expected_output or {})
        recorded = expected.recorded
        answered = Answer(
            text=expected.answer or "", finish_reason=recorded.finish_reason, usage=recorded.usage
        )
        background = given.background.model_dump(exclude={"study_id"})
        return Case(
            id=note.case_id,
            study_id=given.background.study_id,
            input=CaseInput(question=given.question, **background),
            output=None if expected.answer is None else answered,
            state=recorded.state,
            source_missing=note.source_missing,
            provenance=note.provenance,
            metadata=note.metadata,
        )
    except ValidationError as error:
        raise UsageError(f"item {item.id} of {item.dataset_name}: {describe(error)}") from None


def _foreign(item: DatasetItem) -> Case:
    """An item made by hand or by another tool, read by the conventions for traces."""
    question, system, history = asked(value_of(item.input))
    if question is None:
        raise UsageError(f"item {item.id} of {item.dataset_name}: no question in its input")
    answer = text_of(value_of(item.expected_output))
    metadata = item.metadata if isinstance(item.metadata, dict) else {}
    study = metadata.get("study_id")
    return Case(
        id=item.id,
        study_id=str(study) if study else None,
        input=CaseInput.model_validate(
            {"question": question, "system_prompt": system, "history": history}
        ),
        output=None if answer is None else Answer(text=answer),
        state=OutputState.MISSING if answer is None else OutputState.OK,
        provenance=Provenance(
            source=f"langfuse dataset {item.dataset_name}",
            trace_id=item.source_trace_id,
            observation_id=item.source_observation_id,
        ),
        metadata=metadata,
    )


def study_items(study: Study, dataset: str) -> Iterator[Item]:
    """A study in parts, each small enough for any server."""
    digest = hashlib.sha256(_canonical(study.model_dump(mode="json"))).hexdigest()
    parts = list(batches(study.messages, len(study.messages), STUDY_PART, _bytes_of)) or [[]]
    for number, messages in enumerate(parts):
        part = study.model_copy(update={"messages": tuple(messages)})
        name = f"{study.id}:{number}"
        yield Item(
            id=item_id(dataset, name),
            input={"study_id": study.id, "part": number, "parts": len(parts)},
            expected_output=part.model_dump(mode="json"),
            metadata={KEY: {"hash": digest, "part": number}},
            hash=digest,
            source=f"study {study.id}",
        )


def to_studies(items: Iterable[DatasetItem]) -> dict[str, Study]:
    """The studies that items hold; one whose parts are not all there says so in ``missing``.

    Parts of one study belong together by its hash: what is left of an earlier, longer version of
    it is not mixed with the present one. A whole version goes before one in part.
    """
    versions: dict[tuple[str, str], dict[int, Study]] = {}
    wanted: dict[tuple[str, str], int] = {}
    for item in items:
        try:
            study = Study.model_validate(item.expected_output)
            version = study.id, str(item.metadata[KEY]["hash"])
            wanted[version] = int(item.input["parts"])
            versions.setdefault(version, {})[int(item.input["part"])] = study
        except (ValidationError, KeyError, TypeError, ValueError):
            continue
    found: dict[str, Study] = {}
    for version, parts in versions.items():
        messages = tuple(message for number in sorted(parts) for message in parts[number].messages)
        study = next(iter(parts.values())).model_copy(update={"messages": messages})
        if lacking := wanted[version] - len(parts):
            why = f"{lacking} of its {wanted[version]} parts are not in Langfuse: push it again"
            partial: dict[StudyPart, str] = dict.fromkeys(("messages", "respondents"), why)
            study = study.model_copy(update={"missing": {**study.missing, **partial}})
        if study.id not in found or not lacking:
            found[study.id] = study
    return found


def _bytes_of(message: Message) -> int:
    return len(message.model_dump_json().encode())


def _dump(model: Frozen) -> dict[str, JsonValue]:
    return model.model_dump(mode="json", exclude_defaults=True)


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":")).encode()
