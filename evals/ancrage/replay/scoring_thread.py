"""Scoring in a thread with an event loop of its own.

A check that computes for half a second would otherwise hold up the replies that arrive meanwhile,
and its time would be counted as the model's latency.
"""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def scoring_thread() -> Iterator[asyncio.AbstractEventLoop]:
    """An event loop that runs in a thread, which ends with the block."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="scoring", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(5)
        if not thread.is_alive():
            loop.close()
