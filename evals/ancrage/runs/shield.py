"""Whatever the code of others raises is the state of one item, never the end of a run."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ancrage.errors import IncompleteError

T = TypeVar("T")

CASE_SECONDS = 900.0
"""How long the answer of one case, or one evaluator's verdict on it, may take."""


async def shielded(
    work: Awaitable[T], on_error: Callable[[BaseException], T], seconds: float = CASE_SECONDS
) -> T:
    """What ``work`` gives, or what ``on_error`` makes of whatever it raises, even ``SystemExit``.

    Work that takes longer than ``seconds`` is cancelled, and its error a ``TimeoutError``. Only
    what concerns the whole run passes: Ctrl-C, the cancellation of the task that waits here, and an
    ``IncompleteError``, such as of a disk that is full.
    """
    try:
        async with asyncio.timeout(seconds) as limit:
            return await work
    except (KeyboardInterrupt, IncompleteError):
        raise
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return on_error(error)
    except TimeoutError as error:
        return on_error(TimeoutError(f"no end within {seconds:g} s") if limit.expired() else error)
    except BaseException as error:  # noqa: BLE001  one case must not stop the run
        return on_error(error)
