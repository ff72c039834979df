"""Progress of a run: a bar on a terminal, plain lines elsewhere."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_EVERY = 10.0
"""Seconds between two plain lines."""


@contextmanager
def track(label: str, total: int) -> Iterator[Callable[[], None]]:
    """Give a function to call once an item; shows rate and remaining time on standard error."""
    if not sys.stderr.isatty():
        yield _plain(label, total)
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task(label, total=total, rate="")

        def advance() -> None:
            speed = progress.tasks[bar].speed
            progress.update(bar, advance=1, rate=f"{speed:,.0f}/s" if speed else "")

        yield advance


def _plain(label: str, total: int) -> Callable[[], None]:
    start = last = time.monotonic()
    count = 0

    def advance() -> None:
        nonlocal count, last
        count += 1
        now = time.monotonic()
        if count < total and now - last < _EVERY:
            return
        last = now
        rate = count / max(now - start, 1e-9)
        left = f", {(total - count) / rate:.0f} s left" if count < total else ""
        print(f"{label}: {count}/{total}, {rate:,.0f}/s{left}", file=sys.stderr, flush=True)  # noqa: T201

    return advance
