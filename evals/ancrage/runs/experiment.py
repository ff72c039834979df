"""The one loop of the project: produce outputs, score them, and lose nothing.

Audit, replay and re-scoring differ only in the producer they pass.
"""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
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
from ancrage.evaluator import Evaluator
from ancrage.runs.record import RunFolder, ScoringFolder, finish
from ancrage.runs.scoring import evaluate, release
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


async def drive(steps: Steps, cases: Iterable[Case], concurrency: int) -> None:
    """The runner of the project itself: draws cases as they are needed."""

    async def work(case: Case) -> None:
        await steps.score(case, await steps.answer(case))

    await _each(work, cases, concurrency)


async def run_experiment(
    folder: RunFolder,
    cases: Iterable[Case],
    produce: Producer,
    evaluators: Sequence[Evaluator],
    sources: Studies,
    *,
    concurrency: int = 1,
    on_item: OnItem | None = None,
    drive: Drive = drive,
) -> Run:
    """Produce and score every case that the record does not hold yet; returns the manifest.

    Both journals are flushed for each item, outputs first, so that a killed run resumes where it
    was: cases already answered are scored if need be, never produced again (but for those that
    had ``failed`` or run ``over_budget``). The run ends ``complete`` when each case has an output
    that is not ``over_budget``, whatever its state, and each output has its scores.
    """
    scoring = _scoring_to_fill(folder, evaluators)
    retried = {output.case_id for output in folder.outputs() if output.state in RETRIED}
    scored = {entry.case_id for entry in scoring.scored()} - retried
    unscored = {
        output.case_id: output
        for output in folder.outputs()
        if output.case_id not in scored and output.case_id not in retried
    }
    folder.save(folder.run.model_copy(update={"state": RunState.RUNNING, "finished": None}))
    interrupted = True
    try:
        with ExitStack() as stack:
            outputs = stack.enter_context(folder.journal())
            scores = stack.enter_context(scoring.journal())

            async def answer(case: Case) -> Output:
                output = unscored.pop(case.id, None)
                if output is None:
                    output = await _produce(produce, case)
                    outputs.append(output)
                return output

            async def score(case: Case, output: Output) -> Scored:
                entry = await evaluate(sources.subject(case, output), evaluators)
                scores.append(entry)
                if on_item:
                    on_item(case, output, entry)
                return entry

            todo = (case for case in cases if case.id not in scored)
            await drive(Steps(answer, score), todo, concurrency)
        interrupted = False
    finally:
        await release(evaluators)
        run = close(folder, scoring, sources, interrupted=interrupted)
    return run


async def score_run(
    folder: RunFolder,
    evaluators: Sequence[Evaluator],
    sources: Studies,
    *,
    concurrency: int = 1,
    on_item: OnItem | None = None,
) -> Scoring:
    """Score the outputs of a run anew, beside the scorings it has; produces nothing."""
    scoring = folder.new_scoring(evaluators)
    with scoring.journal() as scores:

        async def work(output: Output) -> None:
            case = sources.snapshot.case(output.case_id)
            entry = await evaluate(sources.subject(case, output), evaluators)
            scores.append(entry)
            if on_item:
                on_item(case, output, entry)

        try:
            await _each(work, folder.outputs(), concurrency)
        finally:
            await release(evaluators)
    return _close_scoring(scoring, RunState.COMPLETE)


def close(
    folder: RunFolder, scoring: ScoringFolder, sources: Studies, *, interrupted: bool = False
) -> Run:
    """Count what the journals hold, write both manifests, and return the run's."""
    states = Counter(output.state for output in folder.outputs())
    total = sources.snapshot.manifest.counts.kept
    counts = {"cases": total, **{str(state): n for state, n in sorted(states.items())}}
    if absent := total - states.total():
        counts[OutputState.NOT_RUN] = absent
    short = interrupted or absent or states[OutputState.OVER_BUDGET]
    state = RunState.INCOMPLETE if short else RunState.COMPLETE
    _close_scoring(scoring, state)
    run = finish(folder.run, counts, state)
    folder.save(run)
    return run


def _scoring_to_fill(folder: RunFolder, evaluators: Sequence[Evaluator]) -> ScoringFolder:
    """The unfinished scoring of these very evaluators, or a new one."""
    wanted = [(each.name, each.version) for each in evaluators]
    for candidate in reversed(folder.scorings()):
        scoring = candidate.scoring
        if [(each.name, each.version) for each in scoring.evaluators] == wanted:
            return candidate
    return folder.new_scoring(evaluators)


def _close_scoring(folder: ScoringFolder, state: RunState) -> Scoring:
    counts: Counter[str] = Counter()
    for entry in folder.scored():
        counts["cases"] += 1
        for evaluation in entry.evaluations:
            counts["findings"] += len(evaluation.findings)
            for score in evaluation.scores:
                counts["unscored" if score.state is ScoreState.UNSCORED else "scored"] += 1
    scoring = folder.scoring
    scoring = scoring.model_copy(
        update={"counts": dict(counts), "state": state, "finished": datetime.now(UTC)}
    )
    folder.save(scoring)
    return scoring


async def _produce(produce: Producer, case: Case) -> Output:
    try:
        return await produce(case)
    except asyncio.CancelledError:
        raise
    except Exception as error:  # noqa: BLE001  one case must not stop the run
        return Output(
            case_id=case.id,
            state=OutputState.FAILED,
            reason=f"{type(error).__name__}: {error}",
        )


async def _each(work: Callable[[T], Awaitable[None]], items: Iterable[T], concurrency: int) -> None:
    """Run ``work`` over ``items``, at most ``concurrency`` at once, drawing them as needed."""
    queue = iter(items)

    async def worker() -> None:
        for item in queue:
            await work(item)

    async with asyncio.TaskGroup() as group:
        for _ in range(max(1, concurrency)):
            group.create_task(worker())
