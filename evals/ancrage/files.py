"""Files: atomic writes, JSON Lines with line numbers, models whose faults name file and field."""

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, BinaryIO, Generic, NamedTuple, TypeVar

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json

from ancrage.errors import UsageError, describe

M = TypeVar("M", bound=BaseModel)
_BOM = b"\xef\xbb\xbf"


class Line(NamedTuple):
    """One line of a file that is not blank, without its line break."""

    number: int
    offset: int
    """Where the content begins, in bytes."""
    content: bytes


def write_atomic(
    path: Path, content: str | bytes | Iterable[str | bytes], *, private: bool = False
) -> None:
    """Put ``content`` at ``path`` in one step: a reader sees the old file or the new, whole one.

    A symbolic link is followed. Folders on the way are made. ``private`` files can be read by
    their owner alone; others have the permissions of the file that they replace, or the usual.

    Raises:
        UsageError: ``path`` is a folder, a device or a pipe.
        OSError: the file cannot be written; what was there before is untouched.
    """
    target = path.resolve()
    mode = target.stat().st_mode if target.exists() else None
    if mode is not None and not stat.S_ISREG(mode):
        raise UsageError(f"{path} is not a file that can be replaced")
    target.parent.mkdir(parents=True, exist_ok=True)
    pieces = [content] if isinstance(content, str | bytes) else content
    handle, draft = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            for piece in pieces:
                file.write(piece.encode() if isinstance(piece, str) else piece)
        if not private:
            Path(draft).chmod(stat.S_IMODE(mode) if mode is not None else 0o666 & ~_umask())
        Path(draft).replace(target)
    except BaseException as error:
        Path(draft).unlink(missing_ok=True)
        if isinstance(error, OSError) and not error.filename:  # a full disk names no file
            error.filename = str(path)
        raise


@contextmanager
def built_aside(target: Path, taken: str) -> Iterator[Path]:
    """Where to make the folder that goes to ``target``, in one step, when the block ends well.

    That place is in a hidden folder beside ``target``, the same for all tries, so that what a
    process killed left goes at the next one; it is locked while a process works in it.

    Args:
        taken: what to say when ``target`` exists already.

    Raises:
        UsageError: it exists already, or another process is making it.
        OSError: something cannot be written; names ``target``, of which nothing is there.
    """
    from filelock import FileLock, Timeout

    work = target.with_name(f".{target.name}.making")
    lock = FileLock(work / ".lock", timeout=0)
    try:
        _absent(target, taken)
        work.mkdir(mode=0o700, parents=True, exist_ok=True)
        with lock:
            try:
                _absent(target, taken)  # another process may just have ended
                new = work / target.name
                shutil.rmtree(new, ignore_errors=True)
                yield new
                _absent(target, taken)
                new.rename(target)
            finally:
                shutil.rmtree(work, ignore_errors=True)
    except Timeout:
        raise UsageError(f"{target}: another process is making it; wait for it") from None
    except OSError as error:
        named = Path(os.fsdecode(error.filename or work))
        if named.is_relative_to(work) or work.is_relative_to(named):  # not what is read meanwhile
            error.filename = str(target)
        raise


def _absent(path: Path, taken: str) -> None:
    if path.exists() or path.is_symlink():
        raise UsageError(taken)


def save_model(path: Path, model: BaseModel, *, private: bool = False) -> None:
    """Write ``model`` as indented JSON, in one step."""
    write_atomic(path, model.model_dump_json(indent=2) + "\n", private=private)


def read_model(path: Path, model: type[M]) -> M:
    """The JSON file ``path`` as a ``model``.

    Raises:
        UsageError: there is no such file, or it is not valid; names file and field.
    """
    try:
        return model.model_validate_json(path.read_bytes().removeprefix(_BOM))
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None
    except ValidationError as error:
        raise UsageError(f"{path}: {describe(error)}") from None


def lines(path: Path, *, complete: bool = False) -> Iterator[Line]:
    """The lines of ``path`` that are not blank; a byte order mark is no part of the first.

    ``complete`` leaves out a last line without line break: one that was torn as it was written.

    Raises:
        UsageError: the file cannot be read.
    """
    offset = 0
    try:
        with path.open("rb") as file:
            for number, raw in enumerate(file, start=1):
                start, offset = offset, offset + len(raw)
                if complete and not raw.endswith(b"\n"):
                    return
                content = raw.rstrip(b"\r\n")
                if number == 1 and content.startswith(_BOM):
                    content, start = content[len(_BOM) :], len(_BOM)
                if content.strip():
                    yield Line(number, start, content)
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}") from None


def ends_whole(path: Path) -> bool:
    """Whether the last line of a file has its line break; a file that is empty does too."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - 1))
        return not size or file.read() == b"\n"


def json_lines(path: Path) -> Iterator[tuple[int, Any]]:
    """Each line's number and its JSON value.

    Raises:
        UsageError: the file cannot be read, or a line is not JSON; names file and line.
    """
    for line in lines(path):
        try:
            yield line.number, json.loads(line.content)
        except (ValueError, RecursionError) as error:
            raise UsageError(f"{path}:{line.number}: not JSON: {error}") from None


def read_jsonl(path: Path, model: type[M], *, complete: bool = False) -> Iterator[tuple[int, M]]:
    """Each line's number and the ``model`` it holds.

    Raises:
        UsageError: the file cannot be read, or a line is not valid; names file, line and field.
    """
    for line in lines(path, complete=complete):
        yield line.number, parse_line(path, line, model)


def parse_line(path: Path, line: Line, model: type[M]) -> M:
    """The ``model`` that a line of ``path`` holds.

    Raises:
        UsageError: it holds none; names file, line and field.
    """
    try:
        return model.model_validate_json(line.content)
    except ValidationError as error:
        raise UsageError(f"{path}:{line.number}: {describe(error)}") from None


class Index(Generic[M]):
    """The last line written for each key of a JSON Lines file, read when asked for.

    Memory holds keys and offsets, never entries. Lines appended later are not seen; a last line
    without line break, torn as it was written, is passed over.
    """

    def __init__(self, path: Path, model: type[M], key: str = "case_id") -> None:
        """Read the keys of ``path``; a file that does not exist is empty.

        Raises:
            UsageError: a line is not JSON or has no such key; names file and line.
        """
        self._path, self._model, self._key = path, model, key
        start = f'{{"{key}":"'.encode()
        self._at: dict[str, tuple[int, int, int]] = {}
        for line in lines(path, complete=True) if path.exists() else ():
            name = _leading(line.content, start) or self._parsed_key(line)
            self._at.pop(name, None)
            self._at[name] = line.number, line.offset, len(line.content)

    def __contains__(self, name: object) -> bool:
        return name in self._at

    def __len__(self) -> int:
        return len(self._at)

    def __iter__(self) -> Iterator[str]:
        """The keys, in the order in which their last lines were written."""
        return iter(self._at)

    def get(self, name: str) -> M | None:
        """The last entry of ``name``; None when there is none.

        Raises:
            UsageError: its line is not valid; names file, line and field.
        """
        return self._read(self._at[name]) if name in self._at else None

    def line(self, name: str) -> bytes | None:
        """The last line of ``name`` as it stands in the file; None when there is none."""
        if name not in self._at:
            return None
        _, offset, length = self._at[name]
        return os.pread(self._file.fileno(), length, offset)

    def values(self) -> Iterator[M]:
        """The last entry of each key, in the order written.

        Raises:
            UsageError: a line is not valid; names file, line and field.
        """
        return (self._read(place) for place in self._at.values())

    def _read(self, place: tuple[int, int, int]) -> M:
        number, offset, length = place
        content = os.pread(self._file.fileno(), length, offset)
        return parse_line(self._path, Line(number, offset, content), self._model)

    @cached_property
    def _file(self) -> BinaryIO:
        return self._path.open("rb")

    def _parsed_key(self, line: Line) -> str:
        try:
            return str(from_json(line.content)[self._key])
        except (ValueError, TypeError, KeyError):
            raise UsageError(
                f"{self._path}:{line.number}: not an entry with {self._key!r}"
            ) from None


def _leading(content: bytes, start: bytes) -> str | None:
    """The value of the first field, when it is the key and plain; the rest is not parsed."""
    if not content.startswith(start):
        return None
    end = content.find(b'"', len(start))
    raw = content[len(start) : end]
    return None if end < 0 or b"\\" in raw else raw.decode()


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
