"""The one loop of the project: produce outputs, score them, and lose nothing.

Audit, replay, verification and re-scoring differ only in the producer they pass. Whatever an
assistant, a check or a scorer raises becomes the state of its item; only what concerns the whole
run, such as a full disk, ends it, and what was done is kept.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar

from ancrage.domain import (
    Case,
    Output,
    OutputState,
    Run,
    RunState,
    Scored,
    ScoreState,
    Scoring,
)
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator
from ancrage.redact import told
from ancrage.runs.record import RunFolder, ScoringFolder, finish
from ancrage.runs.scoring import evaluate, release, unscored
from ancrage.runs.shield import CASE_SECONDS, shielded
from ancrage.studies import Studies

T = TypeVar("T")

Producer = Callable[[Case], Awaitable[Output]]
"""Gives the output of a case. Known failures are states of the output; what it raises is
recorded as ``failed`` with the exception's words."""

OnItem = Callable[[Case, Output, Scored], None]


@dataclass(frozen=True)
class Steps:
    """The two steps of a case; each is in its journal when it returns."""

    answer: Callable[[Case], Awaitable[Output]]
    score: Callable[[Case, Output], Awaitable[Scored]]


Drive = Callable[[Steps, Iterable[Case], int], Awaitable[None]]
"""Takes each case through both steps, so many at once; another runner can take its place."""

RETRIED = frozenset({OutputState.FAILED, OutputState.OVER_BUDGET})
"""States that ``--resume`` tries again; the other ones are what the assistant really did."""


async def recorded(case: Case) -> Output:
    """The producer of an audit: production's own answer, as it was captured."""
    state = case.state
    if state is OutputState.OK and case.output is None:
        state = OutputState.MISSING
    if state is OutputState.OK and case.output and not case.output.text.strip():
        state = OutputState.EMPTY
    return Output(
        case_id=case.id,
        state=state,
        answer=case.output,
        reason=None if state is OutputState.OK else f"recorded as {state} in the snapshot",
        usage=case.output.usage if case.output else None,
    )


async def run_experiment(
    folder: RunFolder,
    cases: Iterable[Case],
    produce: Producer,
    evaluators: Sequence[Evaluator],
    studies: Studies,
    *,
    concurrency: int = 1,
    case_seconds: float = CASE_SECONDS,
    on_item: OnItem | None = None,
    drive: Drive | None = None,
) -> Run:
    """Produce and score every case that the record does not hold yet; returns the manifest.

    Both journals are flushed for each item, outputs first, so that a killed run resumes where it
    was: cases already answered are scored if need be, never produced again (but for those that
    had ``failed`` or run ``over_budget``). The run ends ``complete`` when each case has an output
    that is not ``over_budget``, whatever its state, and each output has its scores.

    Raises:
        UsageError: another process fills the run.
        IncompleteError: the record can no longer be written.
    """
    with folder.lock():
        scoring = folder.scoring_of(evaluators) or folder.new_scoring(evaluators)
        answers = folder.output_index()
        retried = {output.case_id for output in answers.values() if output.state in RETRIED}
        scored = set(scoring.index()) - retried
        folder.save(folder.run.model_copy(update={"state": RunState.RUNNING, "finished": None}))
        with folder.journal() as outputs:

            async def answer(case: Case) -> Output:
                known = None if case.id in retried else answers.get(case.id)
                if known is None:
                    known = await _produce(produce, case, case_seconds)
                    try:
                        outputs.append(known)
                    except ValueError as error:
                        known = _failed(case, f"its output cannot be written: {told(error)}")
                        outputs.append(known)
                return known

            todo = (case for case in cases if case.id not in scored)
            try:
                await _fill(
                    scoring,
                    todo,
                    answer,
                    evaluators,
                    studies,
                    concurrency,
                    case_seconds,
                    on_item,
                    drive,
                )
            finally:
                closed = close_scoring(folder, scoring)
                total = studies.snapshot.manifest.counts.kept
                run = close_run(folder, total, scored=closed.state is RunState.COMPLETE)
    return run


async def score_run(
    folder: RunFolder,
    evaluators: Sequence[Evaluator],
    studies: Studies,
    *,
    resume: bool = False,
    concurrency: int = 1,
    case_seconds: float = CASE_SECONDS,
    on_item: OnItem | None = None,
) -> Scoring:
    """Score the outputs of a run anew, beside the scorings it has; produces nothing.

    ``resume`` takes up the newest scoring by these very evaluators that was interrupted.

    Raises:
        UsageError: another process fills the run, or there is nothing to resume.
        IncompleteError: the record can no longer be written.
    """
    with folder.lock():
        scoring = folder.scoring_of(evaluators, interrupted=True) if resume else None
        if resume and scoring is None:
            raise UsageError(
                f"run {folder.path.name} has no interrupted scoring by these evaluators, in "
                "these versions; leave out --resume to begin one"
            )
        scoring = scoring or folder.new_scoring(evaluators)
        answers, scored = folder.output_index(), set(scoring.index())

        async def answer(case: Case) -> Output:
            return answers.get(case.id) or _failed(case, "the run did not come to it")

        todo = (
            case
            for case in studies.snapshot.cases()
            if case.id in answers and case.id not in scored
        )
        try:
            await _fill(
                scoring, todo, answer, evaluators, studies, concurrency, case_seconds, on_item
            )
        finally:
            closed = close_scoring(folder, scoring)
    return closed


async def _fill(
    scoring: ScoringFolder,
    cases: Iterable[Case],
    answer: Callable[[Case], Awaitable[Output]],
    evaluators: Sequence[Evaluator],
    studies: Studies,
    concurrency: int,
    case_seconds: float,
    on_item: OnItem | None,
    drive: Drive | None = None,
) -> None:
    """Take each case through both steps, at most ``concurrency`` at once, drawn as needed."""
    with scoring.journal() as scores:

        async def score(case: Case, output: Output) -> Scored:
            entry = await _score(studies, case, output, evaluators, case_seconds)
            try:
                scores.append(entry)
            except ValueError as error:
                reason = f"its scores cannot be written: {told(error)}"
                entry = unscored(output, evaluators, reason)
                scores.append(entry)
            if on_item:
                on_item(case, output, entry)
            return entry

        async def work(case: Case) -> None:
            await score(case, await answer(case))

        try:
            if drive:
                await drive(Steps(answer, score), cases, concurrency)
            else:
                await for_each(work, cases, concurrency)
        finally:
            await release(evaluators)


async def for_each(
    work: Callable[[T], Awaitable[None]], items: Iterable[T], concurrency: int
) -> None:
    """Run ``work`` over ``items``, at most ``concurrency`` at once, drawing them as needed.

    What ``work`` raises ends it, with the exception itself.
    """
    queue = iter(items)

    async def worker() -> None:
        for item in queue:
            await work(item)
            await asyncio.sleep(0)  # work that never waits must not outlast an interrupt

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(max(1, concurrency)):
                group.create_task(worker())
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


async def _produce(produce: Producer, case: Case, seconds: float) -> Output:
    async def call() -> Output:
        output = await produce(case)
        if not isinstance(output, Output) or output.case_id != case.id:
            raise TypeError(f"the assistant gave {type(output).__name__}, not the case's Output")
        return output

    return await shielded(call(), lambda error: _failed(case, told(error)), seconds)


async def _score(
    studies: Studies,
    case: Case,
    output: Output,
    evaluators: Sequence[Evaluator],
    seconds: float,
) -> Scored:
    try:
        subject = studies.subject(case, output)
    except Exception as error:  # noqa: BLE001  a study that cannot be read costs its cases alone
        return unscored(output, evaluators, told(error))
    return await evaluate(subject, evaluators, seconds)


def _failed(case: Case, reason: str) -> Output:
    return Output(case_id=case.id, state=OutputState.FAILED, reason=reason)


def close_run(folder: RunFolder, total: int, *, scored: bool = True) -> Run:
    """Count the outputs of ``total`` cases, write the manifest, and return it."""
    states: Counter[OutputState] = Counter(output.state for output in folder.outputs())
    counts = {"cases": total, **{str(state): n for state, n in sorted(states.items())}}
    if absent := total - states.total():
        counts[OutputState.NOT_RUN] = absent
    short = absent or states[OutputState.OVER_BUDGET]
    state = RunState.INCOMPLETE if short or not scored else RunState.COMPLETE
    run = finish(folder.run, counts, state)
    folder.save(run)
    return run


def close_scoring(folder: RunFolder, scoring: ScoringFolder) -> Scoring:
    """Count what a scoring holds and write its manifest: complete when each output is in it."""
    counts: Counter[str] = Counter()
    left = set(folder.output_index())
    for entry in scoring.scored():
        left.discard(entry.case_id)
        counts["cases"] += 1
        for evaluation in entry.evaluations:
            counts["findings"] += len(evaluation.findings)
            for score in evaluation.scores:
                counts["unscored" if score.state is ScoreState.UNSCORED else "scored"] += 1
    closed = scoring.scoring.model_copy(
        update={
            "counts": dict(counts),
            "state": RunState.INCOMPLETE if left else RunState.COMPLETE,
            "finished": datetime.now(UTC),
        }
    )
    scoring.save(closed)
    return closed
