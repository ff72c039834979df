"""The one loop of the project: produce outputs, score them, and lose nothing.

Audit, replay, verification and re-scoring differ only in the producer they pass. Whatever an
assistant, a check or a scorer raises becomes the state of its item; only what concerns the whole
run, such as a full disk, ends it, and what was done is kept.
"""

import asyncio
from collections import Counter
from collections.abc import (
    AsyncIterator,
    Awaitable,
    Callable,
    Container,
    Coroutine,
    Iterable,
    Sequence,
)
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

from ancrage.domain import (
    Case,
    Output,
    OutputState,
    Run,
    RunState,
    Scored,
    Scoring,
)
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator
from ancrage.files import Index
from ancrage.runs.journal import Journal, line_of
from ancrage.runs.parallel import Done, Lines, Pool, job_of
from ancrage.runs.record import RunFolder, ScoringFolder, finish
from ancrage.runs.scoring import release
from ancrage.runs.shield import CASE_SECONDS
from ancrage.runs.steps import Producer, produce_output, recorded, score_output
from ancrage.studies import Studies

T = TypeVar("T")

OnItem = Callable[[Case, Output, Scored], None]
Progress = Callable[[], None]


RETRIED = frozenset({OutputState.FAILED, OutputState.OVER_BUDGET})
"""States that ``--resume`` tries again; the other ones are what the assistant really did."""


async def run_experiment(
    folder: RunFolder,
    cases: Iterable[Case],
    produce: Producer,
    evaluators: Sequence[Evaluator],
    studies: Studies,
    *,
    concurrency: int = 1,
    pool: Pool | None = None,
    case_seconds: float = CASE_SECONDS,
    progress: Progress = lambda: None,
    on_item: OnItem | None = None,
    scoring_loop: asyncio.AbstractEventLoop | None = None,
) -> Run:
    """Produce and score every case that the record does not hold yet; returns the manifest.

    Both journals are flushed for each item, outputs first, so that a killed run resumes where it
    was: cases already answered are scored if need be, never produced again (but for those that
    had ``failed`` or run ``over_budget``). The run ends ``complete`` when each case has an output
    that is not ``over_budget``, whatever its state, and each output has its scores.

    Args:
        concurrency: cases under way at once, in this process.
        pool: where evaluators that call no model work, of an audit when nobody listens to its
            items; the record is the same.
        case_seconds: after how long a case is given up.
        progress: called once an item.
        on_item: called with each item and its scores.
        scoring_loop: the loop of another thread that answers are scored in, so that a check that
            computes holds no answer up; by default they are scored here.

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
        total = studies.snapshot.manifest.counts.kept
        if retried or len(answers) < total:
            _reopen(other for other in folder.scorings() if other.path != scoring.path)
        try:
            with folder.journal() as outputs, scoring.journal() as scores:
                filling = _Filling(
                    studies, evaluators, case_seconds, answers, retried, outputs, scores,
                    progress, on_item, scoring_loop,
                )  # fmt: skip
                names = (name for name in studies.snapshot.case_ids() if name not in scored)
                far = produce is recorded and pool
                if not (far and await filling.in_pool(far, names, concurrency)):
                    todo = (case for case in cases if case.id not in scored)
                    await for_each(partial(filling.one, produce), todo, concurrency)
        finally:
            await _in_loop(scoring_loop, release(evaluators))
            closed = close_scoring(folder, scoring)
            run = close_run(folder, total, scored=closed.state is RunState.COMPLETE)
    return run


async def score_run(
    folder: RunFolder,
    evaluators: Sequence[Evaluator],
    studies: Studies,
    *,
    resume: bool = False,
    concurrency: int = 1,
    pool: Pool | None = None,
    case_seconds: float = CASE_SECONDS,
    progress: Progress = lambda: None,
    on_item: OnItem | None = None,
) -> Scoring:
    """Score the outputs of a run anew, beside the scorings it has; produces nothing.

    ``resume`` takes up the newest scoring by these very evaluators that was interrupted. For the
    other arguments see ``run_experiment``.

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
        known = studies.snapshot.case_ids()
        names = (name for name in known if name in answers and name not in scored)
        try:
            with scoring.journal() as scores:
                filling = _Filling(
                    studies, evaluators, case_seconds, answers, set(), None, scores,
                    progress, on_item,
                )  # fmt: skip
                if not (pool and await filling.in_pool(pool, names, concurrency)):
                    todo = (studies.snapshot.case(name) for name in names)
                    await for_each(partial(filling.one, recorded), todo, concurrency)
        finally:
            await release(evaluators)
            closed = close_scoring(folder, scoring)
    return closed


def _reopen(scorings: Iterable[ScoringFolder]) -> None:
    """Outputs are about to come that these scorings lack: they are complete no longer."""
    for folder in scorings:
        if folder.scoring.state is RunState.COMPLETE:
            folder.save(folder.scoring.model_copy(update={"state": RunState.INCOMPLETE}))


@dataclass(frozen=True)
class _Filling:
    """A run being filled: what it holds already, and the journals that take the rest."""

    studies: Studies
    evaluators: Sequence[Evaluator]
    seconds: float
    answers: Index[Output]
    retried: Container[str]
    outputs: Journal[Output] | None
    """None when nothing is produced."""
    scores: Journal[Scored]
    progress: Progress
    on_item: OnItem | None
    scoring_loop: asyncio.AbstractEventLoop | None = None

    async def one(self, produce: Producer, case: Case) -> None:
        """Answer a case if it has no answer yet, and score it."""
        output = None if case.id in self.retried else self.answers.get(case.id)
        if output is None:
            output, line = await produce_output(produce, case, self.seconds)
            if self.outputs:
                self.outputs.write(line)
        entry, line = await _in_loop(
            self.scoring_loop,
            score_output(self.studies, case, output, self.evaluators, self.seconds),
        )
        self.scores.write(line)
        self.progress()
        if self.on_item:
            self.on_item(case, output, entry)

    async def in_pool(self, pool: Pool, names: Iterable[str], concurrency: int) -> bool:
        """Score cases in other processes; what these cannot load is done here, over their lines.

        Returns:
            Whether it was done; nothing was, where they can load none of the evaluators.
        """
        if self.on_item:
            return False
        with TemporaryDirectory(prefix="ancrage-") as scratch:
            job = job_of(self.studies, self.evaluators, self.seconds, pool, Path(scratch))
            if job is None:
                return False
            given = [(each.name, each.version) for each in self.evaluators]
            others = [
                evaluator
                for evaluator, named in zip(self.evaluators, given, strict=True)
                if named not in job.evaluators
            ]
            lines = (
                Lines(
                    self.studies.snapshot.case_line(name),
                    None if name in self.retried else self.answers.line(name),
                )
                for name in names
            )
            slots = asyncio.Semaphore(concurrency)
            async with _one_error(), asyncio.TaskGroup() as group:
                async for done in pool.score(job, lines):
                    if done.is_new and self.outputs:
                        self.outputs.write(done.output)
                    if others:
                        await slots.acquire()
                        task = group.create_task(self._rest(done, others))
                        task.add_done_callback(lambda _: slots.release())
                    else:
                        self.scores.write(done.scored)
                        self.progress()
        return True

    async def _rest(self, done: Done, others: Sequence[Evaluator]) -> None:
        """Add what ``others`` say to what the workers said, in the order of the evaluators."""
        output = Output.model_validate_json(done.output)
        entry = Scored.model_validate_json(done.scored)
        case = self.studies.snapshot.case(output.case_id)
        more, _ = await score_output(self.studies, case, output, others, self.seconds)
        said = {each.evaluator: each for each in (*entry.evaluations, *more.evaluations)}
        ordered = tuple(said[evaluator.name] for evaluator in self.evaluators)
        self.scores.write(line_of(entry.model_copy(update={"evaluations": ordered})))
        self.progress()


async def _in_loop(loop: asyncio.AbstractEventLoop | None, work: Coroutine[Any, Any, T]) -> T:
    """Await ``work`` in the loop of another thread; here where none is given."""
    if loop is None:
        return await work
    return await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop))


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

    async with _one_error(), asyncio.TaskGroup() as group:
        for _ in range(max(1, concurrency)):
            group.create_task(worker())


@asynccontextmanager
async def _one_error() -> AsyncIterator[None]:
    """Of the errors that ended a group of tasks, the first one itself."""
    try:
        yield
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None


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
    """Write a scoring's manifest: complete when each output of the run is in it."""
    scored = scoring.index()
    left = any(name not in scored for name in folder.output_index())
    closed = scoring.scoring.model_copy(
        update={
            "counts": {"cases": len(scored)},
            "state": RunState.INCOMPLETE if left else RunState.COMPLETE,
            "finished": datetime.now(UTC),
        }
    )
    scoring.save(closed)
    return closed
