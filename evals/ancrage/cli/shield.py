"""How a command ends, whatever happens in it: an exit status, one line, and no traceback."""

import codecs
import contextlib
import errno
import io
import logging
import os
import signal
import sys
import threading
import traceback
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import TextIO

from ancrage.errors import AncrageError, ExitCode, IncompleteError
from ancrage.program import how_to_resume, resume_with

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG}
_PLAIN = str.maketrans(
    {"…": "...", "─": "-", "━": "-", "│": "|", "→": "->", "←": "<-", "↑": "^", "↓": "v", "·": "-",
     "▸": ">", "◂": "<", "⟦": "[", "⟧": "]", "✓": "v", "✗": "x", "–": "-", "—": "-", "−": "-",
     "’": "'", "‘": "'", "“": '"', "”": '"', "«": '"', "»": '"', "≥": ">=", "≤": "<=", "×": "x",
     "±": "+/-", "œ": "oe", "Œ": "OE", "ß": "ss", "€": "EUR"}
)  # fmt: skip


def perform(name: str, work: Callable[[], ExitCode | None]) -> int:
    """Do the work of the command ``name``.

    Returns:
        The exit status: the work's own, or that of what stopped it, which is then told in one
        line on standard error.
    """
    resume_with(None)
    try:
        code = work()
        if sys.stdout:
            sys.stdout.flush()
        return int(code or ExitCode.OK)
    except AncrageError as error:
        say(f"{name}: {error}{_going_on() if isinstance(error, IncompleteError) else ''}")
        return error.exit_code
    except KeyboardInterrupt:
        # Of a task that the interrupt ended, asyncio would print the traceback.
        logging.getLogger("asyncio").disabled = True
        _end_workers()
        kept = f"; what was done is kept{_going_on()}" if how_to_resume() else ""
        say(f"{name}: interrupted{kept}")
        return ExitCode.INCOMPLETE
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        full = error.errno in _FULL
        kept = f"; what was done is kept{_going_on()}" if full and how_to_resume() else ""
        say(f"{name}: {place}{error.strerror or error}{kept}")
        return ExitCode.INCOMPLETE if full else ExitCode.WRONG_USE
    except SystemExit as error:
        log = keep_traceback(name)
        say(f"{name}: code of the project ended the program (exit {error.code}); see {log}")
        return ExitCode.INTERNAL
    except BaseException as error:  # noqa: BLE001  nothing else stands between it and the user
        log = keep_traceback(name)
        words = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        say(f"{name}: unforeseen error, {words}; what was done is kept, details in {log}")
        return ExitCode.INTERNAL


def say(message: str) -> None:
    """One line on standard error; no secret is in it, nor a command to the terminal."""
    from ancrage.redact import redact
    from ancrage.report.text import line

    if sys.stderr:
        sys.stderr.write(line(redact(message)) + "\n")
        sys.stderr.flush()


def _going_on() -> str:
    again = how_to_resume()
    return f"; go on with: {again}" if again else ""


def keep_traceback(name: str) -> str:
    """Write the exception under way to a log that only the user can read; its path."""
    import tempfile
    from datetime import UTC, datetime

    from ancrage import __version__
    from ancrage.redact import redact

    head = f"ancrage {__version__}, Python {sys.version}\n{sys.argv}\n\n"
    text = redact(head + traceback.format_exc()).encode("utf-8", "backslashreplace")
    stem = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{name}-"
    for folder in (Path(".ancrage", "errors"), Path(tempfile.gettempdir())):
        with contextlib.suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            number, path = tempfile.mkstemp(".log", stem, folder)
            with os.fdopen(number, "wb") as file:
                file.write(text)
            return path
    return "(no log: nothing can be written here)"


class _Outlet(io.FileIO):
    """A standard stream whose reader may go away (``| head``): the rest is then thrown away."""

    def write(self, data: object, /) -> int:
        try:
            return super().write(data)  # type: ignore[arg-type]
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self.fileno())
            return len(memoryview(data))  # type: ignore[arg-type]


def _in_plain_letters(error: UnicodeError) -> tuple[str, int]:
    """What an encoding lacks, in letters that it is sure to have; ``?`` as a last resort."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end].translate(_PLAIN)
    letters = unicodedata.normalize("NFKD", text)
    return "".join(
        c if c.isascii() else "" if unicodedata.combining(c) else "?" for c in letters
    ), error.end


def print_utf8(pieces: Iterable[str]) -> None:
    """Print what another program reads: UTF-8, whatever encoding the terminal has."""
    sys.stdout.flush()
    for piece in pieces:
        sys.stdout.buffer.write(piece.encode())
    sys.stdout.buffer.flush()


def prepare_streams() -> None:
    """Make standard output and error take any text, in any encoding, for as long as they like."""
    codecs.register_error("ancrage.plain", _in_plain_letters)
    sys.stdout = _prepared(sys.stdout)
    sys.stderr = _prepared(sys.stderr)


def _prepared(stream: TextIO) -> TextIO:
    if not isinstance(stream, io.TextIOWrapper):
        return stream
    if stream.isatty():
        stream.reconfigure(errors="ancrage.plain")
        return stream
    try:
        stream.flush()
        raw = _Outlet(stream.fileno(), "w", closefd=False)
    except (OSError, ValueError):
        return stream
    return io.TextIOWrapper(
        io.BufferedWriter(raw),
        encoding=stream.encoding,
        errors="ancrage.plain",
        newline=None,
        line_buffering=stream.line_buffering,
    )


def stop_at_once_when_asked_twice() -> None:
    """The first Ctrl-C interrupts the work, the second ends the process there and then."""
    asked_for = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if asked_for and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, _first)


def take_no_more_interrupts() -> None:
    """The work is over and its status is known: nothing may change that any more."""
    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _end_workers() -> None:
    """Worker processes do not outlast the interrupt; what they were at is done again."""
    if started := sys.modules.get("multiprocessing"):
        for worker in started.active_children():
            worker.kill()


def _first(_number: int, _frame: FrameType | None) -> None:
    signal.signal(signal.SIGINT, _second)
    raise KeyboardInterrupt


def _second(_number: int, _frame: FrameType | None) -> None:
    kept = f"; what was written is kept{_going_on()}" if how_to_resume() else ""
    words = f"stopped at once{kept}\n"
    os.write(2, words.encode("ascii", "replace"))
    _end_workers()
    os._exit(ExitCode.INCOMPLETE)
