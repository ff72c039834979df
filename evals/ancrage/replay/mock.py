"""Known answers instead of a model: ``--mock responses.json``."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError, field_validator

from ancrage.domain import Answer, Case, Frozen, Output, OutputState
from ancrage.errors import UsageError, describe


class MockAnswer(Frozen):
    """One entry: the answer to a case, or the state in which it ended."""

    id: str
    answer: str | None = None
    state: OutputState = OutputState.OK
    reason: str | None = None

    @field_validator("state")
    @classmethod
    def _is_an_outcome(cls, value: OutputState) -> OutputState:
        if value is OutputState.NOT_RUN:
            raise ValueError("a case that has an entry was run")
        return value


class Mock:
    """A producer that gives the answers of a file, each to the case that it is for."""

    def __init__(self, answers: dict[str, MockAnswer]) -> None:
        self._answers = answers

    async def __call__(self, case: Case) -> Output:
        given = self._answers[case.id]
        state, reason = given.state, given.reason
        if state is OutputState.OK and not (given.answer or "").strip():
            state, reason = OutputState.EMPTY, reason or "the answer has no content"
        return Output(
            case_id=case.id,
            state=state,
            answer=Answer(text=given.answer) if given.answer else None,
            reason=None if state is OutputState.OK else reason or f"given as {state}",
            details={"mock": True},
        )


def read_mock(path: Path, case_ids: Iterable[str]) -> Mock:
    """The answers of ``path``: exactly one for each case.

    Three forms: an object from case id to answer; a list of objects with ``id`` and ``answer``
    (or ``state`` and ``reason``); a list of texts in the order of the cases.

    Raises:
        UsageError: the file cannot be read, an answer is missing or one too many, an id is unknown
            or stands twice.
    """
    ids = list(case_ids)
    try:
        raw: Any = json.loads(path.read_text(encoding="utf-8-sig"), object_pairs_hook=_Pairs)
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    try:
        answers = _answers(raw, ids)
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}") from None
    except ValueError as error:
        raise UsageError(f"{path}: {error}") from None
    by_id: dict[str, MockAnswer] = {}
    for each in answers:
        if each.id in by_id:
            raise UsageError(f"{path}: two answers for case {each.id!r}")
        by_id[each.id] = each
    known = set(ids)
    if unknown := [each for each in by_id if each not in known]:
        raise UsageError(f"{path}: no case {unknown[0]!r} in the snapshot")
    if absent := [each for each in ids if each not in by_id]:
        raise UsageError(
            f"{path}: {len(by_id)} answers for {len(ids)} cases; "
            f"none for {absent[0]!r}" + (f" and {len(absent) - 1} others" if absent[1:] else "")
        )
    return Mock(by_id)


class _Pairs(dict[str, Any]):
    """A JSON object that refuses a key written twice."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        if len(self) != len(pairs):
            keys = [key for key, _ in pairs]
            twice = next(key for key in keys if keys.count(key) > 1)
            raise ValueError(f"two entries for {twice!r}")


def _answers(raw: Any, ids: list[str]) -> list[MockAnswer]:
    if isinstance(raw, dict):
        texts = TypeAdapter(dict[str, str]).validate_python(dict(raw))
        return [MockAnswer(id=case_id, answer=text) for case_id, text in texts.items()]
    if not isinstance(raw, list):
        raise ValueError("neither an object nor a list of answers")
    if raw and all(isinstance(each, str) for each in raw):
        if len(raw) != len(ids):
            raise ValueError(f"{len(raw)} answers for {len(ids)} cases")
        return [MockAnswer(id=case_id, answer=text) for case_id, text in zip(ids, raw, strict=True)]
    return TypeAdapter(list[MockAnswer]).validate_python([_plain(each) for each in raw])


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, dict) else value
