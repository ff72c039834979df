"""Scoring a live agent: beside it, never in its way."""

import asyncio
import functools
import hashlib
import inspect
import logging
import threading
import time
import uuid
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, Protocol, Self, TypeVar, cast

from ancrage.errors import UsageError
from ancrage.evaluator import Subject
from ancrage.verify.context import make_run
from ancrage.verify.result import Verification

logger = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

ToRun = Callable[..., Subject]
"""Makes the run out of an id, the agent's result, and the agent's arguments as it got them."""


def sampled(id: str, rate: float) -> bool:
    """Whether the run ``id`` is in the sample: always the same answer for the same id and rate.

    A larger rate samples all that a smaller one does.
    """
    drawn = int.from_bytes(hashlib.sha256(id.encode("utf-8", "replace")).digest()[:8])
    return drawn < rate * 2**64


class Scorer(Protocol):
    """Verifies one run; ``claim_scorer`` makes one."""

    @property
    def name(self) -> str: ...

    async def score(self, run: Subject) -> Verification: ...


class Live:
    """Scores a share of what an agent answers, in a thread of its own::

        live = Live([scorer], rate=0.1, on_result=store)
        agent = live.wrap(agent)      # sync or async; returns and raises exactly as before
        …
        live.close()                  # before the process ends

    The agent pays for drawing the sample and for ``to_run``, nothing else; nothing that fails here
    reaches it. ``counts`` says what became of its answers: ``answers``, ``agent_errors``,
    ``not_sampled``, ``dropped`` (``max_pending`` were waiting already), ``failed`` (no run could be
    made of it, or a scorer raised), ``unscored`` (a claim has no verdict) and ``scored``. The last
    five and those pending add up to ``answers``. Failures are logged and given to ``on_error``;
    what ``on_result`` raises is too, counted as ``callback_errors``.
    """

    def __init__(
        self,
        scorers: Sequence[Scorer],
        *,
        rate: float = 1.0,
        on_result: Callable[[Subject, str, Verification], None] | None = None,
        on_error: Callable[[str, BaseException], None] | None = None,
        to_run: ToRun | None = None,
        id_of: Callable[..., str] | None = None,
        concurrency: int = 4,
        max_pending: int = 1_000,
    ) -> None:
        """
        Args:
            rate: the share of answers to score, 0 to 1.
            on_result: hears run, scorer and result; called in the scoring thread.
            on_error: hears the run's id and what was raised.
            to_run: see ``ToRun``; by default the first argument is the question and the result is
                a text, an ``Answer`` or an ``Output``.
            id_of: the run's id out of the agent's arguments, such as its trace id, so that a run
                can be found in the sample again; by default a new one is made.

        Raises:
            UsageError: the rate is not between 0 and 1, or there is no scorer.
        """
        if not 0 <= rate <= 1:
            raise UsageError(f"rate {rate:g}: give a share from 0 to 1")
        if not scorers:
            raise UsageError("give at least one scorer")
        self.scorers = tuple(scorers)
        self.rate = rate
        self.counts: Counter[str] = Counter()
        self._on_result = on_result
        self._on_error = on_error
        self._to_run = to_run or _default_run
        self._id_of = id_of
        self._max_pending = max_pending
        self._concurrency = concurrency
        self._changed = threading.Condition()
        self._pending = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._slots: asyncio.Semaphore | None = None

    def wrap(self, agent: Callable[P, T]) -> Callable[P, T]:
        """``agent`` with the same arguments, result and errors, its answers sampled and scored."""
        called = getattr(agent, "__call__", agent)  # noqa: B004  an object can be an agent too
        if inspect.iscoroutinefunction(agent) or inspect.iscoroutinefunction(called):

            @functools.wraps(agent)
            async def wrapped(*arguments: P.args, **options: P.kwargs) -> Any:
                try:
                    result = await cast("Any", agent)(*arguments, **options)
                except BaseException:
                    self._count("agent_errors")
                    raise
                self._take(result, *arguments, **options)
                return result

            return cast("Callable[P, T]", wrapped)

        @functools.wraps(agent)
        def wrapped_sync(*arguments: P.args, **options: P.kwargs) -> T:
            try:
                result = agent(*arguments, **options)
            except BaseException:
                self._count("agent_errors")
                raise
            self._take(result, *arguments, **options)
            return result

        return wrapped_sync

    @property
    def pending(self) -> int:
        """Answers that wait for their score."""
        return self._pending

    def drain(self, timeout: float | None = None) -> bool:
        """Wait until nothing is pending, at most ``timeout`` seconds; whether that came about."""
        end = None if timeout is None else time.monotonic() + timeout
        with self._changed:
            while self._pending:
                left = None if end is None else end - time.monotonic()
                if left is not None and left <= 0:
                    return False
                self._changed.wait(left)
        return True

    def close(self, timeout: float | None = None) -> bool:
        """Drain, and end the scoring thread if nothing is left; it starts again when needed."""
        if not self.drain(timeout):
            return False
        with self._changed:
            loop, self._loop, self._slots = self._loop, None, None
        if loop:
            loop.call_soon_threadsafe(loop.stop)
        return True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take(self, result: object, *arguments: Any, **options: Any) -> None:
        self._count("answers")
        identifier = "(no id)"
        try:
            made = self._id_of(*arguments, **options) if self._id_of else uuid.uuid4().hex
            identifier = str(made)
            if not sampled(identifier, self.rate):
                self._count("not_sampled")
                return
            with self._changed:
                full = self._pending >= self._max_pending
                self._pending += not full
            if full:
                self._count("dropped")
                logger.warning("run %s not scored: %d are waiting", identifier, self._max_pending)
                return
        except Exception as error:  # noqa: BLE001  nothing here may reach the agent
            self._failed(identifier, error)
            return
        try:
            run = self._to_run(identifier, result, *arguments, **options)
            asyncio.run_coroutine_threadsafe(self._score(identifier, run), self._running())
        except Exception as error:  # noqa: BLE001
            self._failed(identifier, error)
            self._done()

    async def _score(self, identifier: str, run: Subject) -> None:
        try:
            if self._slots is None:
                self._slots = asyncio.Semaphore(max(1, self._concurrency))
            async with self._slots:
                results = [(scorer.name, await scorer.score(run)) for scorer in self.scorers]
            complete = all(result.score is not None for _, result in results)
            self._count("scored" if complete else "unscored")
            self._deliver(identifier, run, results)
        except Exception as error:  # noqa: BLE001
            self._failed(identifier, error)
        finally:
            self._done()

    def _deliver(
        self, identifier: str, run: Subject, results: Sequence[tuple[str, Verification]]
    ) -> None:
        if self._on_result is None:
            return
        for name, result in results:
            try:
                self._on_result(run, name, result)
            except Exception as error:  # noqa: BLE001
                self._failed(identifier, error, "callback_errors")

    def _failed(self, identifier: str, error: BaseException, what: str = "failed") -> None:
        self._count(what)
        logger.warning("run %s: %s: %s", identifier, type(error).__name__, error)
        if self._on_error:
            try:
                self._on_error(identifier, error)
            except Exception:
                logger.exception("on_error raised")

    def _count(self, what: str) -> None:
        with self._changed:
            self.counts[what] += 1

    def _done(self) -> None:
        with self._changed:
            self._pending -= 1
            self._changed.notify_all()

    def _running(self) -> asyncio.AbstractEventLoop:
        with self._changed:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                threading.Thread(
                    target=_serve, args=(self._loop,), name="live-scoring", daemon=True
                ).start()
            return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


def _default_run(id: str, result: Any, *arguments: Any, **options: Any) -> Subject:
    question = arguments[0] if arguments else next(iter(options.values()), "")
    return make_run(str(question), result, id=id)
