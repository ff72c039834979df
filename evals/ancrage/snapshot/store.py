"""The snapshot folder: written once and atomically, then only read.

``manifest.json`` says what was taken and carries the hashes; ``cases.jsonl`` has one answer a
line; ``studies/`` one JSON file a study; ``rejects.jsonl`` the rows set aside and why.
"""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import from_json, to_json

from ancrage.domain import Case, OutputState, Study
from ancrage.errors import UsageError, describe
from ancrage.files import Index, built_aside, read_jsonl, read_model
from ancrage.program import called
from ancrage.snapshot.folder import (
    CASES,
    MANIFEST,
    REJECTS,
    Folder,
    Seen,
    content_hash,
    study_file,
)
from ancrage.snapshot.manifest import FORMAT, Counts, Filters, Manifest, Pseudonymisation, Reject

STUDIES_IN_MEMORY = 8


class Snapshot:
    """A snapshot on disk; cases stream, studies are read when asked for."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self.path = path
        self.manifest = manifest
        self.study = lru_cache(maxsize=STUDIES_IN_MEMORY)(self._study)

    @property
    def hash(self) -> str:
        """SHA-256 of the content, in hexadecimal: the same for the same cases and studies."""
        return self.manifest.hash

    def cases(self) -> Iterator[Case]:
        """The cases in file order, one in memory at a time.

        Raises:
            UsageError: a line is not a case; names file, line and field.
        """
        for _, case in read_jsonl(self.path / CASES, Case):
            yield case

    def case_ids(self) -> Iterator[str]:
        """The ids of the cases in file order; nothing else of them is read."""
        return iter(self._index)

    def case_line(self, case_id: str) -> bytes:
        """The line of ``cases.jsonl`` that holds a case, without line break.

        Raises:
            UsageError: there is no such case.
        """
        found = self._index.line(case_id)
        if found is None:
            raise UsageError(f"{self.path}: no case {case_id!r}")
        return found

    def case(self, case_id: str) -> Case:
        """The case ``case_id``, found without reading the others.

        Raises:
            UsageError: there is no such case.
        """
        found = self._index.get(case_id)
        if found is None:
            raise UsageError(f"{self.path}: no case {case_id!r}")
        return found

    def _study(self, study_id: str) -> Study | None:
        """The study ``study_id``; None when the snapshot does not have it."""
        name = study_file(study_id)
        if name not in self.manifest.files:
            return None
        return read_model(self.path / name, Study)

    def rejects(self) -> Iterator[Reject]:
        """The rows that were set aside, in the order met."""
        yield from (reject for _, reject in read_jsonl(self.path / REJECTS, Reject))

    def verify(self) -> None:
        """Compare every file with the hash in the manifest.

        Raises:
            UsageError: a file is absent or differs from what was written.
        """
        for name, expected in self.manifest.files.items():
            try:
                with (self.path / name).open("rb") as file:
                    found = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise UsageError(f"{self.path / name}: {error.strerror}") from None
            if found != expected:
                raise UsageError(
                    f"{self.path / name}: changed since the snapshot was taken; take it again"
                )
        if content_hash(self.manifest.files) != self.manifest.hash:
            raise UsageError(f"{self.path / MANIFEST}: hash does not agree with the files listed")

    @cached_property
    def _index(self) -> Index[Case]:
        return Index(self.path / CASES, Case, key="id")


def open_snapshot(path: str | Path, *, verify: bool = True) -> Snapshot:
    """The snapshot in the folder ``path``, its files checked against their hashes.

    Raises:
        UsageError: not a snapshot, another format version, or changed since it was taken.
    """
    path = Path(path)
    file = path / MANIFEST
    try:
        raw = file.read_bytes()
    except OSError:
        raise UsageError(
            f"{path}: not a snapshot (no {MANIFEST}); take one: {called('snapshot')}"
        ) from None
    try:
        found = from_json(raw)
        version = found.get("format") if isinstance(found, dict) else None
        if version != FORMAT:
            raise UsageError(
                f"{file}: snapshot format {version!r}, this version reads {FORMAT}; take it again"
            )
        snapshot = Snapshot(path, Manifest.model_validate_json(raw))
    except ValidationError as error:
        raise UsageError(f"{file}: {describe(error)}") from None
    except ValueError as error:
        raise UsageError(f"{file}: not JSON: {error}") from None
    if verify:
        snapshot.verify()
    return snapshot


def newest_snapshot(folder: Path = Path("snapshots")) -> Path:
    """The snapshot of ``folder`` that was taken last, by its own account.

    Raises:
        UsageError: there is none.
    """
    found = [path.parent for path in folder.glob("*/manifest.json")]
    if not found:
        raise UsageError(f"no snapshot in {folder}/; take one with: {called('snapshot')}")
    taken = {path: open_snapshot(path, verify=False).manifest.created for path in found}
    return max(found, key=lambda path: (taken[path], path.name))


def write_snapshot(
    path: str | Path,
    cases: Iterable[Case | Reject],
    study_of: Callable[[str], Study | None],
    *,
    source: str,
    filters: Filters | None = None,
    left_out: Counter[str] | None = None,
    pseudonyms: Callable[[], Pseudonymisation] = Pseudonymisation,
    notes: Sequence[str] = (),
    created: datetime | None = None,
) -> Manifest:
    """Write a snapshot folder at ``path``; either all of it appears there or nothing does.

    Args:
        cases: the answers, streamed; a ``Reject`` among them is set aside and counted.
        study_of: the study of an id, asked once a study; None when it no longer exists.
        source: what the manifest names as the origin.
        filters: what the caller asked for, for the manifest.
        left_out: how many answers the caller's filters held back, by field of ``Counts``; read
            once ``cases`` is exhausted.
        pseudonyms: what was hidden; called once ``cases`` is exhausted.
        notes: how the source was read; looked at once ``cases`` is exhausted.
        created: the moment the snapshot was taken (default: now).

    Returns:
        The manifest as written.

    Raises:
        UsageError: ``path`` exists already, or another process is writing it.
        OSError: it cannot be written; names ``path``.
    """
    counts: Counter[str] = Counter()
    missing: set[str] = set()
    seen = Seen()
    try:
        taken = f"{path} exists already; a snapshot is never overwritten: choose another --out"
        with built_aside(Path(path), taken) as new, Folder(new) as folder:
            for item in cases:
                case = item if isinstance(item, Case) else None
                reject = item if isinstance(item, Reject) else None
                if case and not seen.add(case.id):
                    reject = Reject(
                        where=source, id=case.id, field="id",
                        error=f"duplicate id {case.id!r}", duplicate=True,
                    )  # fmt: skip
                if reject:
                    counts[_kind(reject)] += 1
                    folder.rejects.write(
                        reject.model_dump_json(exclude_defaults=True).encode() + b"\n"
                    )
                    continue
                assert case is not None  # noqa: S101
                case = _with_source_state(case, study_of, folder, missing, counts)
                counts["kept"] += 1
                counts["source_missing"] += case.source_missing is not None
                counts["without_study"] += case.study_id is None
                counts["without_answer"] += case.state is not OutputState.OK
                folder.cases.write(_line(case))
            counts += left_out or Counter()
            files = {
                CASES: folder.cases.close(),
                REJECTS: folder.rejects.close(),
                **dict(sorted(folder.files.items())),
            }
            counts["studies"] = len(folder.files)
            counts["read"] = sum(counts[name] for name in _PARTS)
            manifest = Manifest(
                created=created or datetime.now(UTC),
                source=source,
                counts=Counts(**counts),
                notes=tuple(notes),
                filters=filters or Filters(),
                pseudonyms=pseudonyms(),
                files=files,
                hash=content_hash(files),
            )
            folder.finish(manifest)
            return manifest
    finally:
        seen.close()


_PARTS = ("kept", "rejected", "duplicates", "outside_window", "undated", "sampled_out")


def _kind(reject: Reject) -> str:
    if reject.study:
        return "study_rows_rejected"
    return "duplicates" if reject.duplicate else "rejected"


def _line(case: Case) -> bytes:
    """A case as it is written: the order of keys inside its parts is no content, and a database
    that a case has been through (Langfuse's) changes it."""
    parts = case.model_dump(mode="json", exclude_defaults=True)
    return to_json({name: _in_order(part) for name, part in parts.items()}) + b"\n"


def _in_order(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _in_order(value[name]) for name in sorted(value)}
    return [_in_order(part) for part in value] if isinstance(value, list) else value


def _with_source_state(
    case: Case,
    study_of: Callable[[str], Study | None],
    folder: Folder,
    missing: set[str],
    counts: Counter[str],
) -> Case:
    """The case, its study written if it was not yet, or marked when there is none any more."""
    updates: dict[str, object] = {}
    if case.study_id is not None and not folder.has(case.study_id):
        study = None if case.study_id in missing else study_of(case.study_id)
        if study is not None:
            folder.write_study(study)
            messages, questions = len(study.messages), len(study.questions)
            counts["messages"] += messages
            counts["questions"] += questions
            counts["without_messages"] += not messages
            counts["without_questions"] += not questions
            counts["studies_mostly_rejected"] += study.rejected > messages + questions
        else:
            missing.add(case.study_id)
            if case.source_missing is None:
                updates["source_missing"] = f"study {case.study_id!r} is not in the source"
    if case.output is None and case.state is OutputState.OK:
        updates["state"] = OutputState.MISSING
    return case.model_copy(update=updates) if updates else case
