"""Known answers instead of a model: ``--mock responses.json``."""

from collections.abc import Iterable
from pathlib import Path

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
    """The answers of ``path``, a JSON list of objects with ``id`` and ``answer`` (or ``state`` and
    ``reason``): exactly one for each case.

    Raises:
        UsageError: the file cannot be read, an answer is missing or one too many, an id is unknown
            or stands twice.
    """
    ids = list(case_ids)
    try:
        answers = _Answers.validate_json(path.read_text(encoding="utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: cannot be read: {error}") from None
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}") from None
    by_id: dict[str, MockAnswer] = {}
    for given in answers:
        if given.id in by_id:
            raise UsageError(f"{path}: two answers for case {given.id!r}")
        by_id[given.id] = given
    known = set(ids)
    if unknown := [case_id for case_id in by_id if case_id not in known]:
        raise UsageError(f"{path}: no case {unknown[0]!r} in the snapshot")
    if absent := [case_id for case_id in ids if case_id not in by_id]:
        raise UsageError(
            f"{path}: {len(by_id)} answers for {len(ids)} cases; "
            f"none for {absent[0]!r}" + (f" and {len(absent) - 1} others" if absent[1:] else "")
        )
    return Mock(by_id)


_Answers = TypeAdapter(list[MockAnswer])
