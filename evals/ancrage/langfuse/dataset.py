"""A dataset at one version, and the local snapshot that stands for it."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property
from pathlib import Path
from urllib.parse import quote

from langfuse.api import Dataset as Record
from langfuse.api import DatasetItem

from ancrage.domain import Case, Study
from ancrage.errors import UsageError
from ancrage.langfuse.connection import Connection, LangfuseError, checked_name
from ancrage.langfuse.items import KEY, case_digest, note_of, to_case, to_studies
from ancrage.langfuse.reads import numbered
from ancrage.program import called
from ancrage.snapshot import Reject, Snapshot, open_snapshot, write_snapshot

SNAPSHOTS = Path("snapshots")


@dataclass(frozen=True)
class Dataset:
    """The active items of a dataset as they were at ``version``."""

    record: Record
    version: datetime
    items: tuple[DatasetItem, ...]

    @property
    def id(self) -> str:
        """The dataset's id."""
        return self.record.id

    @property
    def name(self) -> str:
        """The dataset's name, folders included."""
        return self.record.name

    @property
    def snapshot_hash(self) -> str | None:
        """The hash of the snapshot last pushed to it; None when it was made otherwise."""
        metadata = self.record.metadata
        note = metadata.get(KEY) if isinstance(metadata, dict) else None
        return note.get("snapshot") if isinstance(note, dict) else None

    @cached_property
    def by_case(self) -> dict[str, DatasetItem]:
        """The item of each case id."""
        return {note.case_id if (note := note_of(item)) else item.id: item for item in self.items}

    @cached_property
    def _read(self) -> tuple[list[Case], list[Reject]]:
        cases: list[Case] = []
        rejects: list[Reject] = []
        for item in self.items:
            try:
                cases.append(to_case(item))
            except UsageError as error:
                where = f"langfuse dataset {self.name}"
                rejects.append(Reject(where=where, id=item.id, error=str(error)))
        return sorted(cases, key=lambda case: case.id), sorted(rejects, key=str)

    @property
    def cases(self) -> list[Case]:
        """The cases, by id."""
        return self._read[0]

    @property
    def rejects(self) -> list[Reject]:
        """The items that are no case, and why."""
        return self._read[1]


def studies_of(dataset: str) -> str:
    """The dataset beside ``dataset`` that holds the studies its cases speak of."""
    return f"{dataset}/studies"


def find_record(connection: Connection, name: str) -> Record | None:
    """What Langfuse says of the dataset ``name``; None when there is none.

    Raises:
        LangfuseError: it cannot be read.
    """
    try:
        found: Record = connection.call(
            connection.api.datasets.get, quote(checked_name(name), safe="")
        )
    except LangfuseError as error:
        if error.status != 404:
            raise
        return None
    return found


def find_dataset(connection: Connection, name: str) -> Record:
    """What Langfuse says of the dataset ``name``, its items left unread.

    Raises:
        UsageError: there is no such dataset.
        LangfuseError: it cannot be read.
    """
    found = find_record(connection, name)
    if found is None:
        raise UsageError(
            f"Langfuse has no dataset {name!r}; make it with: "
            f"{called(f'push SNAPSHOT --dataset {name}')}"
        )
    return found


def list_items(
    connection: Connection, dataset: str, version: datetime | None = None
) -> Iterator[DatasetItem]:
    """The active items of a dataset, newest first, each once.

    Raises:
        LangfuseError: there is no such dataset, it cannot be read, or its pages repeat.
    """
    listing = connection.api.dataset_items.list
    what = f"items of the dataset {dataset!r}"
    return numbered(connection, what, listing, dataset_name=dataset, version=version)


def list_datasets(connection: Connection) -> Iterator[Record]:
    """Every dataset of the project."""
    return numbered(connection, "datasets", connection.api.datasets.list)


def read_dataset(connection: Connection, name: str, version: datetime | None = None) -> Dataset:
    """The dataset ``name`` at ``version``; by default as it is now, with that moment as version.

    Raises:
        UsageError: there is no such dataset, or it has no item.
        LangfuseError: it cannot be read.
    """
    found = find_dataset(connection, name)
    items = tuple(list_items(connection, name, version))
    if not items:
        raise UsageError(f"dataset {name!r} has no active item" + (" then" if version else ""))
    if version is None:
        # The server's clock may be ahead of ours, and it keeps milliseconds.
        newest = max(item.updated_at for item in items)
        now = max(datetime.now(UTC), newest) + timedelta(milliseconds=1)
        version = now.replace(microsecond=now.microsecond // 1000 * 1000)
    return Dataset(found, version, items)


def local_snapshot(connection: Connection, dataset: Dataset, root: Path = SNAPSHOTS) -> Snapshot:
    """The snapshot with the very cases of ``dataset``: the one that was pushed, or written now.

    Raises:
        UsageError: no item is a case; gives the reason of the first.
        LangfuseError: the studies cannot be read.
    """
    cases = dataset.cases
    if not cases:
        raise UsageError(f"dataset {dataset.name!r} has no case: {dataset.rejects[0].error}")
    for path in sorted(root.glob("*/manifest.json")):
        try:
            snapshot = open_snapshot(path.parent, verify=False)
        except UsageError:
            continue  # A damaged neighbour is none of this dataset's concern.
        if snapshot.hash == dataset.snapshot_hash and _same(snapshot, dataset, cases):
            snapshot.verify()
            return snapshot
    slug = re.sub(r"[^\w-]+", "-", dataset.name).strip("-")
    path = (
        root / f"{slug}-{dataset.version:%Y%m%d-%H%M%S}-{dataset.version.microsecond // 1000:03d}"
    )
    if path.exists():
        return open_snapshot(path)
    studies = _studies(connection, dataset) if any(case.study_id for case in cases) else {}
    write_snapshot(
        path, [*cases, *dataset.rejects], studies.get, source=f"langfuse dataset {dataset.name}"
    )
    return open_snapshot(path)


def _same(snapshot: Snapshot, dataset: Dataset, cases: list[Case]) -> bool:
    """Whether the items are the snapshot's cases; one trimmed for its size counts by its hash."""
    if snapshot.manifest.counts.kept != len(cases):
        return False
    found = {case.id: case for case in cases}
    for case in snapshot.cases():
        item = dataset.by_case.get(case.id)
        note = note_of(item) if item else None
        if note is None:
            return False
        if case_digest(case) != (note.hash if note.trimmed else case_digest(found[case.id])):
            return False
    return True


def _studies(connection: Connection, dataset: Dataset) -> dict[str, Study]:
    try:
        return to_studies(list_items(connection, studies_of(dataset.name)))
    except LangfuseError as error:
        if error.status != 404:
            raise
        return {}
