"""An append-only file of JSON lines that survives a process killed at any moment."""

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Generic, Self, TypeVar

from pydantic import BaseModel, ValidationError

from ancrage.errors import UsageError, describe

M = TypeVar("M", bound=BaseModel)


class Journal(Generic[M]):
    """Append models to ``path``, one JSON line each, flushed at every line.

    A line torn by a crash (no final newline) is cut away when the journal is reopened for
    appending, and passed over when it is read: its item was never acknowledged.
    """

    def __init__(self, path: Path) -> None:
        _cut_torn_line(path)
        self._file = path.open("ab", buffering=0)

    def append(self, entry: M) -> None:
        """Write one entry; when this returns, the operating system has the whole line."""
        left = memoryview(entry.model_dump_json(exclude_defaults=True).encode() + b"\n")
        while left:  # a disk that is nearly full takes a part, then raises
            left = left[self._file.write(left) :]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._file.close()


def read(path: Path, model: type[M]) -> Iterator[M]:
    """The entries of a journal in the order written; nothing when the file does not exist.

    Raises:
        UsageError: a complete line is not a valid ``model``; names file and line.
    """
    for number, line in _complete_lines(path):
        try:
            yield model.model_validate_json(line)
        except ValidationError as error:
            raise UsageError(f"{path}:{number}: {describe(error)}") from None


def read_latest(path: Path, model: type[M], key: str = "case_id") -> Iterator[M]:
    """Like ``read``, but only the last entry written for each value of ``key``.

    Two passes over the file; memory holds the keys and line numbers, never the entries.
    """
    last = {getattr(entry, key): number for number, entry in enumerate(read(path, model))}
    kept = set(last.values())
    return (entry for number, entry in enumerate(read(path, model)) if number in kept)


def _complete_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    if not path.exists():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if line.endswith(b"\n"):
                yield number, line


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
