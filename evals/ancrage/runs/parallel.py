"""Evaluators over processes: the same record, byte for byte, from as many cores as there are.

Workers hold the snapshot, its studies and the evaluators by themselves; lines of JSON go in and
come out, in order. What calls a language model stays with the run, whose limiter and budget hold
for all. Whatever dies with a worker is done again.
"""

import asyncio
import multiprocessing
import os
import signal
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Self

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import Case, Output
from ancrage.errors import IncompleteError, UsageError
from ancrage.evaluator import Evaluator
from ancrage.runs.steps import produce_output, recorded, score_output
from ancrage.snapshot import open_snapshot
from ancrage.studies import Studies

CHUNK = 64
"""Cases sent to a worker at once."""
_DEATHS = 3
"""Times that workers may die over the same cases."""
FEWEST = 1_000
"""Cases from which further processes are worth their start, a second or so each."""


class Lines(NamedTuple):
    """A case as it stands in the snapshot, and its output as it stands in the record."""

    case: bytes
    output: bytes | None
    """None when the case has no output yet: the recorded answer becomes it."""


class Done(NamedTuple):
    """What is to be written, as lines without line break."""

    output: bytes
    scored: bytes
    is_new: bool
    """Whether the output is not in the record yet."""


@dataclass(frozen=True)
class Job:
    """All that a worker needs to make the same verdicts by itself."""

    snapshot: Path
    config: Config
    load: "Load"
    evaluators: tuple[tuple[str, str], ...]
    """Names and versions."""
    seconds: float
    scratch: Path
    """A folder where the workers of one machine share the indexes of large studies."""


Load = Callable[[Config], Sequence[Evaluator]]
"""Gives the evaluators by themselves; a function that other processes can import."""


@dataclass(frozen=True)
class Pool:
    """Workers beside the process that fills the run."""

    score: Callable[[Job, Iterable[Lines]], AsyncIterator[Done]]
    """What each line gives, in order."""
    load: Load = load_checks
    scorers: frozenset[str] = frozenset()
    """Names of evaluators that ``load`` gives beside the checks."""


def processes(workers: int, load: Load = load_checks, scorers: Iterable[str] = ()) -> Pool | None:
    """Workers on this machine; None for one, which is this process."""
    if workers == 1:
        return None
    return Pool(partial(score_lines, workers=workers), load, frozenset(scorers))


def count_workers(wanted: int | str, cases: int) -> int:
    """How many processes to use: ``auto`` takes every core when there are cases enough.

    Raises:
        UsageError: ``wanted`` is neither ``auto`` nor a number from 1 on.
    """
    if wanted == "auto":
        return _cores() if cases >= FEWEST else 1
    try:
        number = int(wanted)
    except ValueError:
        number = 0
    if number < 1:
        raise UsageError(f"--workers {wanted!r}: give a number from 1 on, or auto")
    return number


def job_of(
    studies: Studies, evaluators: Sequence[Evaluator], seconds: float, pool: Pool, scratch: Path
) -> Job | None:
    """What to tell workers; None when they could load none of these evaluators by themselves."""
    checks = {(check.name, check.version) for check in load_checks(studies.config)}
    given = [(evaluator.name, evaluator.version) for evaluator in evaluators]
    wanted = tuple(each for each in given if each in checks or each[0] in pool.scorers)
    if not wanted:
        return None
    path = studies.snapshot.path.resolve()
    return Job(path, studies.config, pool.load, wanted, seconds, scratch)


async def score_lines(job: Job, lines: Iterable[Lines], workers: int) -> AsyncIterator[Done]:
    """What each line gives, in the order of ``lines``; memory holds a few chunks for each worker.

    Workers that die (killed for memory, say) are replaced, and what they held is done again.

    Raises:
        IncompleteError: workers died ``_DEATHS`` times over the same cases.
    """
    chunks = chunked(lines)
    held: deque[list[Lines]] = deque()
    waiting: deque[Future[list[Done]]] = deque()
    pool, deaths = _pool(job, workers), 0
    try:
        while True:
            held.extend(islice(chunks, 3 * workers - len(held)))
            if not held:
                return
            try:
                while len(waiting) < len(held):
                    waiting.append(pool.submit(_work, held[len(waiting)]))
                found = await asyncio.wrap_future(waiting[0])
            except BrokenProcessPool:
                deaths += 1
                if deaths == _DEATHS:
                    raise IncompleteError(
                        f"worker processes died {_DEATHS} times over the same cases (memory?); "
                        "what was done is kept"
                    ) from None
                pool.shutdown(wait=False, cancel_futures=True)
                waiting.clear()
                pool = _pool(job, workers)
                continue
            deaths = 0
            held.popleft()
            waiting.popleft()
            for done in found:
                yield done
    finally:
        pool.shutdown(wait=False, cancel_futures=True)


def _pool(job: Job, workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _start, (job,))


def chunked(lines: Iterable[Lines]) -> Iterator[list[Lines]]:
    """The lines, ``CHUNK`` at a time."""
    rest = iter(lines)
    while chunk := list(islice(rest, CHUNK)):
        yield chunk


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@dataclass(frozen=True)
class Scorer:
    """What a worker holds: its own copies of all that its verdicts depend on."""

    studies: Studies
    evaluators: Sequence[Evaluator]
    seconds: float

    @classmethod
    def of(cls, job: Job) -> Self:
        """Load what a job names.

        Raises:
            UsageError: the code is no longer that of the run.
        """
        loaded = {(made.name, made.version): made for made in job.load(job.config)}
        if missing := [name for name, version in job.evaluators if (name, version) not in loaded]:
            raise UsageError(f"the code of {', '.join(missing)} changed while the run was going on")
        studies = Studies(open_snapshot(job.snapshot, verify=False), job.config, job.scratch)
        return cls(studies, [loaded[wanted] for wanted in job.evaluators], job.seconds)

    def score(self, chunk: Iterable[Lines]) -> list[Done]:
        """What each line gives."""
        return asyncio.run(self._score(chunk))

    async def _score(self, chunk: Iterable[Lines]) -> list[Done]:
        found = []
        for line in chunk:
            case = Case.model_validate_json(line.case)
            if line.output is None:
                output, written = await produce_output(recorded, case, self.seconds)
            else:
                output, written = Output.model_validate_json(line.output), line.output
            _, scored = await score_output(
                self.studies, case, output, self.evaluators, self.seconds
            )
            found.append(Done(written, scored, line.output is None))
        return found


_scorer: Scorer | UsageError | OSError


def _start(job: Job) -> None:
    global _scorer
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the parent hears Ctrl-C for all
    threading.Thread(target=_end_with_the_parent, daemon=True).start()
    try:
        _scorer = Scorer.of(job)
    except (UsageError, OSError) as error:  # told by ``_work``: the pool does not pass it on
        _scorer = error


def _end_with_the_parent() -> None:
    """A parent that is killed cannot tell its workers to end."""
    if parent := multiprocessing.parent_process():
        parent.join()
        os._exit(1)


def _work(chunk: list[Lines]) -> list[Done]:
    if isinstance(_scorer, Exception):
        raise _scorer
    return _scorer.score(chunk)
