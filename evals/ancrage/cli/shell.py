"""What every command shares: option types, one-line errors, exit codes."""

import functools
import math
import os
import sys
from collections.abc import Callable, Iterable
from typing import Any, NoReturn, Self, cast

from invoke.exceptions import Exit
from invoke.tasks import Task, task

from ancrage.errors import AncrageError, ExitCode


class Whole(int):
    """A whole-number option; Invoke builds one from the text that was typed."""

    def __new__(cls, value: int | str) -> Self:
        try:
            return super().__new__(cls, value)
        except ValueError:
            raise Exit(f"{value!r} is not a whole number", code=ExitCode.WRONG_USE) from None


class Number(float):
    """A numeric option; Invoke builds one from the text that was typed."""

    def __new__(cls, value: float | str) -> Self:
        try:
            number = super().__new__(cls, value)
        except ValueError:
            number = super().__new__(cls, "nan")
        if not math.isfinite(number):
            raise Exit(f"{value!r} is not a number", code=ExitCode.WRONG_USE)
        return number


def fail(message: str, code: ExitCode = ExitCode.WRONG_USE) -> NoReturn:
    """End the command with one line on standard error.

    Raises:
        Exit: always.
    """
    raise Exit(message, code=code)


def deafen() -> None:
    """Send what is still printed nowhere: whoever read it (``| head``) has gone away."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def command(
    *, help: dict[str, str], iterable: Iterable[str] = ()
) -> Callable[[Callable[..., ExitCode | None]], "Task[Any]"]:
    """Declare a command: an Invoke task whose known failures are one line, never a traceback.

    Parameters without a default are positional; those named in ``iterable`` can be repeated.
    The function may return an ``ExitCode``; anything but ``OK`` ends the process with it.
    """

    def declare(function: Callable[..., ExitCode | None]) -> "Task[Any]":
        @functools.wraps(function)
        def run(*arguments: Any, **options: Any) -> None:
            try:
                code = function(*arguments, **options)
            except AncrageError as error:
                fail(f"{function.__name__.replace('_', '-')}: {error}", error.exit_code)
            except BrokenPipeError:
                deafen()
                raise Exit(code=ExitCode.INCOMPLETE) from None
            except OSError as error:
                place = f"{error.filename}: " if error.filename else ""
                fail(f"{function.__name__.replace('_', '-')}: {place}{error.strerror or error}")
            except KeyboardInterrupt:
                fail("interrupted; what was done is kept", ExitCode.INCOMPLETE)
            if code:
                sys.stdout.flush()
                raise Exit(code=code)

        declared = task(
            run,
            help=help,
            iterable=list(iterable),
            auto_shortflags=False,
        )
        return cast("Task[Any]", declared)

    return declare
