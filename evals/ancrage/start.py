"""Where the console command begins: an interrupt is in good hands before anything is imported."""

import os
import signal
from types import FrameType
from typing import NoReturn

_INCOMPLETE = 3
"""``ancrage.errors.ExitCode.INCOMPLETE``, which is not imported yet."""


def main() -> None:
    """Run the command line; an interrupt before it is ready is told in one line, status 3."""
    waiting = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if waiting:
        signal.signal(signal.SIGINT, _stop)
    from ancrage.cli.app import main as command

    try:
        if waiting:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command()
    except KeyboardInterrupt:
        _stop(signal.SIGINT, None)


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    os.write(2, b"ancrage: interrupted\n")
    os._exit(_INCOMPLETE)
