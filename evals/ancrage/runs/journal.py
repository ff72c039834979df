"""An append-only file of JSON lines that survives a process killed at any moment."""

import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from pydantic import BaseModel

from ancrage.errors import IncompleteError
from ancrage.files import read_jsonl

M = TypeVar("M", bound=BaseModel)


class Journal(Generic[M]):
    """Append models to ``path``, one JSON line each, flushed at every line.

    A line torn by a crash (no final newline) is cut away when the journal is reopened for
    appending, and passed over when it is read: its item was never acknowledged. The file can be
    read by its owner alone.
    """

    def __init__(self, path: Path) -> None:
        _cut_torn_line(path)
        self._path = path
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def append(self, entry: M) -> None:
        """Write one entry; when this returns, the operating system has the whole line.

        Raises:
            IncompleteError: the disk is full, or the file can no longer be written.
            ValueError: the entry holds what JSON cannot, such as half a surrogate pair.
        """
        self.write(line_of(entry))

    def write(self, line: bytes) -> None:
        """Write an entry that is JSON already, without line break."""
        left = memoryview(line + b"\n")
        try:
            while left:  # a disk that is nearly full takes a part, then raises
                left = left[os.write(self._file, left) :]
        except OSError as error:
            raise IncompleteError(
                f"{self._path}: {error.strerror}; what was done is kept"
            ) from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self._file)


def line_of(entry: BaseModel) -> bytes:
    """An entry as its line in a journal, without line break.

    Raises:
        ValueError: it holds what JSON cannot, such as half a surrogate pair.
    """
    return entry.model_dump_json(exclude_defaults=True).encode()


def read(path: Path, model: type[M]) -> Iterator[M]:
    """The entries of a journal in the order written; nothing when the file does not exist.

    Raises:
        UsageError: a complete line is not a valid ``model``; names file and line.
    """
    if path.exists():
        yield from (entry for _, entry in read_jsonl(path, model, complete=True))


def _cut_torn_line(path: Path) -> None:
    if not path.exists():
        return
    with path.open("rb+") as file:
        size = file.seek(0, 2)
        end = size
        while end:
            start = max(0, end - 65536)
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end < size:
            file.truncate(end)
