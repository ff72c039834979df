"""The files of a snapshot's folder: their names, their hashes, and how they come to be."""

import contextlib
import hashlib
import re
import sqlite3
from pathlib import Path
from typing import IO, Self

from ancrage.domain import Study
from ancrage.snapshot.manifest import Manifest

CASES = "cases.jsonl"
REJECTS = "rejects.jsonl"
MANIFEST = "manifest.json"


def study_file(study_id: str) -> str:
    """The file of a study, relative to the snapshot: legible, safe and unique for any id."""
    legible = re.sub(r"[^A-Za-z0-9]+", "-", study_id).strip("-")[:40] or "study"
    return f"studies/{legible}-{hashlib.sha256(study_id.encode()).hexdigest()[:16]}.json"


def content_hash(files: dict[str, str]) -> str:
    """The hash of a snapshot's content from the hashes of its files; rejects do not count."""
    listed = sorted((name, digest) for name, digest in files.items() if name != REJECTS)
    return hashlib.sha256(
        "".join(f"{name} {digest}\n" for name, digest in listed).encode()
    ).hexdigest()


class Seen:
    """The ids met so far, on disk, so that memory does not grow with their number."""

    def __init__(self) -> None:
        # The empty name is SQLite's own temporary file, gone when the connection closes.
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("create table seen (id text primary key) without rowid")
        self._db.execute("begin")

    def add(self, id: str) -> bool:
        """Whether ``id`` is new."""
        return self._db.execute("insert or ignore into seen values (?)", (id,)).rowcount == 1

    def close(self) -> None:
        self._db.close()


class _HashedFile:
    """A file being written, and the SHA-256 of what went in."""

    def __init__(self, path: Path) -> None:
        self._file: IO[bytes] = path.open("xb")
        self._digest = hashlib.sha256()

    def write(self, line: bytes) -> None:
        self._file.write(line)
        self._digest.update(line)

    def close(self) -> str:
        self._file.close()
        return self._digest.hexdigest()


class Folder:
    """The files of a snapshot under construction at ``new``."""

    def __init__(self, new: Path) -> None:
        (new / "studies").mkdir(parents=True)
        self.new = new
        self.files: dict[str, str] = {}
        self.cases = _HashedFile(new / CASES)
        self.rejects = _HashedFile(new / REJECTS)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        for file in (self.cases, self.rejects):
            with contextlib.suppress(OSError):  # a full disk; what is whole was closed before
                file.close()

    def has(self, study_id: str) -> bool:
        return study_file(study_id) in self.files

    def write_study(self, study: Study) -> None:
        name = study_file(study.id)
        file = _HashedFile(self.new / name)
        file.write(study.model_dump_json(exclude_defaults=True, indent=1).encode() + b"\n")
        self.files[name] = file.close()

    def finish(self, manifest: Manifest) -> None:
        (self.new / MANIFEST).write_text(
            manifest.model_dump_json(indent=2) + "\n", encoding="utf-8"
        )
