"""Scoring in batch: produce an output for each item, score it, keep everything."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pydantic import Field, ValidationError

from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Frozen,
    JsonValue,
    Output,
    OutputState,
    Provenance,
)
from ancrage.errors import UsageError, describe
from ancrage.evaluator import Subject
from ancrage.verify.context import called, output_of

logger = logging.getLogger(__name__)

Produced = str | Answer | Output | None
Target = Callable[[Case], Produced | Awaitable[Produced]]
"""The assistant under test, async or called in threads, several at once; what it raises is an
output ``failed``."""


class Result(Protocol):
    """What a scorer gives."""

    @property
    def score(self) -> float | None: ...

    @property
    def best(self) -> float: ...

    @property
    def worst(self) -> float: ...

    @property
    def reason(self) -> str: ...


R_co = TypeVar("R_co", bound=Result, covariant=True)
R = TypeVar("R", bound=Result)


class Scorer(Protocol[R_co]):
    """Scores one run; ``claim_scorer`` makes one."""

    @property
    def name(self) -> str: ...

    async def score(self, run: Subject) -> R_co: ...


@dataclass(frozen=True)
class BatchItem(Generic[R]):
    """One item of the data: what was answered, and what each scorer says."""

    case: Case
    output: Output
    results: Mapping[str, R]
    """By scorer; a scorer that raised is in ``errors`` instead."""
    errors: Mapping[str, str]


class Summary(Frozen):
    """One scorer over all items: ``items == scored + unscored``."""

    items: int
    scored: int
    unscored: int
    mean: float | None
    """Over the scored items alone; None when there are none."""
    best: float | None
    """The mean over all items if each unscored one were as good as it can be; None when an item
    has no bounds, because its scorer raised."""
    worst: float | None


@dataclass(frozen=True)
class Batch(Generic[R]):
    """Every item, in the order of the data."""

    items: tuple[BatchItem[R], ...]
    callback_errors: tuple[str, ...] = ()
    """What ``on_item_complete`` raised."""

    def summary(self, scorer: str) -> Summary:
        """The scores of one scorer, with their denominator."""
        given = [item.results.get(scorer) for item in self.items]
        scores = [each.score for each in given if each and each.score is not None]
        bounds = [(each.best, each.worst) for each in given if each]
        whole = bounds and len(bounds) == len(given)
        return Summary(
            items=len(given),
            scored=len(scores),
            unscored=len(given) - len(scores),
            mean=sum(scores) / len(scores) if scores else None,
            best=sum(low for low, _ in bounds) / len(bounds) if whole else None,
            worst=sum(high for _, high in bounds) / len(bounds) if whole else None,
        )


class _Item(Frozen):
    """An item given as a mapping."""

    input: str
    id: str | None = Field(default=None, min_length=1)
    context: tuple[str, ...] | None = None
    metadata: dict[str, JsonValue] = {}


async def run_evals(
    data: Iterable[Case | str | Mapping[str, object]],
    target: Target,
    scorers: Sequence[Scorer[R]],
    on_item_complete: Callable[[BatchItem[R]], Awaitable[None] | None] | None = None,
    *,
    concurrency: int = 4,
) -> Batch[R]:
    """Have ``target`` answer each item of ``data`` and every scorer score the answer.

    An item is a question, a ``Case``, or a mapping with ``input`` and, if wanted, ``id``,
    ``context`` (texts for ``recorded_context``) and ``metadata``. Items without an id get their
    position. Nothing that fails for one item stops the others: a failed target is an output
    ``failed``, a scorer that raises is in the item's ``errors``, a callback that raises in the
    batch's.

    Raises:
        UsageError: an item cannot be read, two have the same id, two scorers the same name, or
            there is nothing to do.
    """
    cases = _cases(data)
    names = [scorer.name for scorer in scorers]
    if not names or len(set(names)) < len(names):
        raise UsageError("give scorers, each with a name of its own")
    done: dict[int, BatchItem[R]] = {}
    faults: list[str] = []
    queue = iter(enumerate(cases))

    async def worker() -> None:
        for position, case in queue:
            output = await _answer(target, case)
            item = done[position] = await _score(Subject(case, output, None), scorers)
            if on_item_complete:
                try:
                    waiting = on_item_complete(item)
                    if inspect.isawaitable(waiting):
                        await waiting
                except Exception as error:  # noqa: BLE001  a callback must not lose results
                    faults.append(f"{case.id}: {type(error).__name__}: {error}")
                    logger.warning("on_item_complete raised for %s: %s", case.id, error)

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, concurrency)):
            group.create_task(worker())
    return Batch(tuple(done[position] for position in range(len(cases))), tuple(faults))


def _cases(data: Iterable[Case | str | Mapping[str, object]]) -> list[Case]:
    cases = [_case(item, position) for position, item in enumerate(data, start=1)]
    if not cases:
        raise UsageError("there is no item to evaluate")
    ids = [case.id for case in cases]
    if twice := next((each for i, each in enumerate(ids) if each in set(ids[:i])), None):
        raise UsageError(f"two items have the id {twice!r}")
    return cases


def _case(item: Case | str | Mapping[str, object], position: int) -> Case:
    if isinstance(item, Case):
        return item
    try:
        read = _Item.model_validate({"input": item} if isinstance(item, str) else item)
    except ValidationError as error:
        raise UsageError(f"item {position}: {describe(error)}") from None
    context: dict[str, JsonValue] = {} if read.context is None else {"context": [*read.context]}
    return Case(
        id=read.id or str(position),
        input=CaseInput(question=read.input),
        provenance=Provenance(source="batch"),
        metadata={**read.metadata, **context},
    )


async def _answer(target: Target, case: Case) -> Output:
    try:
        return output_of(case.id, await called(target, case))
    except Exception as error:  # noqa: BLE001  one item must not stop the batch
        return Output(
            case_id=case.id,
            state=OutputState.FAILED,
            reason=f"{type(error).__name__}: {error}",
        )


async def _score(run: Subject, scorers: Sequence[Scorer[R]]) -> BatchItem[R]:
    results: dict[str, R] = {}
    errors: dict[str, str] = {}
    for scorer in scorers:
        try:
            results[scorer.name] = await scorer.score(run)
        except Exception as error:  # noqa: BLE001  one scorer must not stop the others
            errors[scorer.name] = f"{type(error).__name__}: {error}"
            logger.warning("%s raised for %s: %s", scorer.name, run.case.id, error)
    return BatchItem(run.case, run.output, results, errors)
