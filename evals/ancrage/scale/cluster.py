"""Evaluators over a Ray cluster: the same lines in, the same lines out, as over processes.

The tasks are idempotent and keep nothing but what can be loaded again: a worker or a node that
dies costs the chunks it held, which Ray gives to another. The record is written by the process
that fills the run alone, so that one whose head is gone goes on with ``--resume``.
"""

import logging
import os
from collections import deque
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ancrage.errors import IncompleteError, UsageError
from ancrage.runs.parallel import Done, Job, Lines, Load, Pool, Scorer, chunked

if TYPE_CHECKING:
    from ray import ObjectRef

_DEATHS = 3
"""Times that workers may die over the same cases."""
_AHEAD = 3
"""Chunks under way for each processor."""


def cluster(load: Load, scorers: Iterable[str] = ()) -> Pool:
    """Workers of the cluster that ``RAY_ADDRESS`` names, or of one made for the run, here.

    Raises:
        UsageError: Ray is not installed.
    """
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    try:
        import ray  # noqa: F401
    except ModuleNotFoundError:
        raise UsageError("--engine ray needs Ray: pip install 'ancrage[scale]'") from None
    return Pool(score_lines, load, frozenset(scorers))


async def score_lines(job: Job, lines: Iterable[Lines]) -> AsyncIterator[Done]:
    """What each line gives, in the order of ``lines``; memory holds a few chunks a processor.

    Where an evaluator needs a model of its own (NLI) and the cluster has GPUs, each task takes
    one.

    Raises:
        UsageError: no cluster can be reached, or its workers lack the project or the snapshot.
        IncompleteError: workers died ``_DEATHS`` times over the same cases, or the cluster did.
    """
    import ray
    from ray.exceptions import RayError, RayTaskError

    chunks = chunked(lines)
    waiting: deque[ObjectRef[list[Done]]] = deque()
    with _connected():
        found = ray.cluster_resources()  # type: ignore[no-untyped-call]
        gpus = found.get("GPU", 0) if _needs_model(job) else 0
        slots = max(1, int(gpus or found.get("CPU", 1)))
        task = ray.remote(
            num_cpus=1,
            num_gpus=int(gpus > 0),
            max_retries=_DEATHS,
            max_calls=0,  # a worker is kept, and its model with it
        )(_work)
        shared = ray.put((job, str(Path.cwd())))
        try:
            while True:
                for chunk in islice(chunks, _AHEAD * slots - len(waiting)):
                    waiting.append(task.remote(shared, chunk))
                if not waiting:
                    return
                for done in await waiting.popleft():
                    yield done
        except RayTaskError as error:
            raise error.cause if isinstance(error.cause, UsageError | OSError) else error from None
        except RayError as error:
            words = " ".join(str(error).split())[:300]
            raise IncompleteError(f"the cluster: {words}; what was done is kept") from None


def _needs_model(job: Job) -> bool:
    return any("nli" in version for _, version in job.evaluators)


@contextmanager
def _connected() -> Iterator[None]:
    import ray

    if ray.is_initialized():
        yield
        return
    try:
        ray.init(
            include_dashboard=False if not os.environ.get("RAY_ADDRESS") else None,
            configure_logging=True,
            logging_level=logging.ERROR,
            log_to_driver=False,
        )
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise UsageError(f"--engine ray: {' '.join(str(error).split())[:300]}") from None
    try:
        yield
    finally:
        ray.shutdown()


_held: dict[Path, Scorer] = {}
"""What a worker process keeps from one chunk of a run to the next, by the run's scratch folder."""


def _work(given: tuple[Job, str], chunk: list[Lines]) -> list[Done]:
    job, folder = given
    if job.scratch not in _held:
        if Path(folder).is_dir():
            os.chdir(folder)
        if not job.snapshot.is_dir():
            raise UsageError(f"--engine ray: a worker cannot read {job.snapshot}; share the folder")
        _held.clear()
        _held[job.scratch] = Scorer.of(job)
    return _held[job.scratch].score(chunk)
