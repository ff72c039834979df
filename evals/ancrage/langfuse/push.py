"""Push a snapshot to a dataset: only what changed is written."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from langfuse.api import DatasetItem

from ancrage.domain import Frozen
from ancrage.errors import AncrageError, ExitCode, UsageError
from ancrage.langfuse.connection import Connection, LangfuseError, checked_name
from ancrage.langfuse.dataset import find_record, list_items, studies_of
from ancrage.langfuse.items import (
    KEY,
    LARGEST,
    Item,
    ItemInput,
    ItemOutput,
    TooLargeError,
    study_items,
    to_item,
    too_large,
)
from ancrage.snapshot import Snapshot

LOCKS = Path(".ancrage")
"""The folder of the project's locks: one push to a dataset at a time."""


class Refusal(Frozen):
    """An item that was not sent, or not taken."""

    source: str
    """The case, or ``study`` and its id."""
    reason: str


class Pushed(Frozen):
    """Where every case went: created, updated, unchanged or refused."""

    dataset: str
    cases: int = 0
    created: int = 0
    updated: int = 0
    unchanged: int = 0
    refused: tuple[Refusal, ...] = ()
    """Cases."""
    trimmed: int = 0
    """Of those created or updated: sent without tool outputs, too large otherwise."""
    archived: int = 0
    left: int = 0
    """Items of an earlier push that the snapshot no longer has, left as they are."""
    studies: int = 0
    """Items of studies written."""
    refused_studies: tuple[Refusal, ...] = ()
    """A study with a part that was refused cannot be read back from Langfuse."""
    unstable: bool = False
    """Cases changed that were there before, and pseudonyms are drawn anew for each snapshot."""


class PushStoppedError(AncrageError):
    """The push ended before its end; what was written stays, and is not written again."""

    exit_code = ExitCode.INCOMPLETE


def push(
    connection: Connection, snapshot: Snapshot, dataset: str, *, archive: bool = False
) -> Pushed:
    """Make ``dataset`` hold the cases of ``snapshot``; see ``Pushed``.

    Raises:
        UsageError: no dataset can bear the name, or another process pushes to it.
        LangfuseError: Langfuse could not be reached at all.
        PushStoppedError: it failed on the way; run it again to go on.
    """
    checked_name(dataset)
    with _alone(connection, dataset):
        _ = connection.server
        return _push(connection, snapshot, dataset, archive)


@contextmanager
def _alone(connection: Connection, dataset: str) -> Iterator[None]:
    """Keep another process of the project from pushing to ``dataset``: of what both find not yet
    there, each would write a version, the same but for its time."""
    from filelock import FileLock, Timeout

    keys = connection.credentials
    place = hashlib.sha256(f"{keys.base_url} {keys.public_key} {dataset}".encode()).hexdigest()
    lock = FileLock(LOCKS / f"push-{place[:16]}.lock", timeout=0)
    try:
        LOCKS.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except Timeout:
        raise UsageError(
            f"another process is pushing to the dataset {dataset!r}; wait for it"
        ) from None
    except OSError:
        pass  # a push writes nothing here, and from a folder that is read-only it may go on
    try:
        yield
    finally:
        lock.release()


def _push(connection: Connection, snapshot: Snapshot, dataset: str, archive: bool) -> Pushed:
    _put_dataset(connection, dataset, snapshot)
    known = {item.id: _hash(item) for item in list_items(connection, dataset)}
    counts: Counter[str] = Counter()
    refused: list[Refusal] = []
    met: set[str] = set()

    def items() -> Iterator[Item]:
        for case in snapshot.cases():
            counts["cases"] += 1
            try:
                item = to_item(case, dataset)
            except TooLargeError as error:
                refused.append(Refusal(source=case.id, reason=str(error)))
                continue
            met.add(item.id)
            if known.get(item.id) == item.hash:
                counts["unchanged"] += 1
                continue
            yield item

    try:
        for item, error in _write(connection, dataset, items()):
            if error:
                refused.append(Refusal(source=item.source, reason=error))
                continue
            counts["updated" if item.id in known else "created"] += 1
            counts["trimmed"] += bool(item.metadata[KEY].get("trimmed"))  # type: ignore[union-attr]
        gone = [name for name, digest in known.items() if digest and name not in met]
        create = connection.api.dataset_items.create
        for name in gone if archive else ():
            connection.call(create, dataset_name=dataset, id=name, status="ARCHIVED")
        counts["studies"], refused_studies = _push_studies(
            connection, snapshot, studies_of(dataset)
        )
    except LangfuseError as error:
        done = counts["created"] + counts["updated"]
        raise PushStoppedError(
            f"stopped after {done:,} items written, {counts['unchanged']:,} unchanged: {error}; "
            "run the same push again, it goes on from there"
        ) from None
    return Pushed(
        dataset=dataset,
        refused=tuple(refused),
        refused_studies=refused_studies,
        archived=len(gone) if archive else 0,
        left=0 if archive else len(gone),
        unstable=bool(counts["updated"]) and snapshot.manifest.pseudonyms.key == "random",
        **counts,
    )


def _put_dataset(connection: Connection, name: str, snapshot: Snapshot) -> None:
    """Create the dataset, or bring its schemas and what it says of the snapshot up to date."""
    wanted: dict[str, Any] = {
        "metadata": {
            KEY: {"format": 1, "snapshot": snapshot.hash, "source": snapshot.manifest.source}
        },
        "input_schema": ItemInput.model_json_schema(),
        "expected_output_schema": ItemOutput.model_json_schema(),
    }
    description = "Cases of an Ancrage snapshot; pushed, not to be edited by hand."
    _upsert(connection, name, description, wanted)


def _upsert(connection: Connection, name: str, description: str, wanted: dict[str, Any]) -> None:
    found = find_record(connection, name)
    if found is not None:
        description = found.description or description
        if isinstance(found.metadata, dict) and "metadata" in wanted:
            wanted = {**wanted, "metadata": {**found.metadata, **wanted["metadata"]}}
        if all(getattr(found, field) == value for field, value in wanted.items()):
            return
    connection.call(connection.api.datasets.create, name=name, description=description, **wanted)


def _push_studies(
    connection: Connection, snapshot: Snapshot, dataset: str
) -> tuple[int, tuple[Refusal, ...]]:
    names = {case.study_id for case in snapshot.cases() if case.study_id}
    if not names:
        return 0, ()
    _upsert(connection, dataset, "Studies that the cases of the dataset above speak of.", {})
    known = {item.id: _hash(item) for item in list_items(connection, dataset)}

    def changed() -> Iterator[Item]:
        for name in sorted(names):
            study = snapshot.study(name)
            for item in study_items(study, dataset) if study else ():
                if known.get(item.id) != item.hash:
                    yield item

    written = 0
    refused: dict[str, str] = {}
    for item, error in _write(connection, dataset, changed()):
        if error:
            refused.setdefault(item.source, error)
        else:
            written += 1
    return written, tuple(Refusal(source=name, reason=why) for name, why in refused.items())


def _write(
    connection: Connection, dataset: str, items: Iterable[Item]
) -> Iterator[tuple[Item, str | None]]:
    """Write items, a few at once; gives each back, with why it was refused if it was.

    Raises:
        LangfuseError: Langfuse cannot be reached or takes nothing any more.
    """

    def send(item: Item) -> str | None:
        if (size := item.size(dataset)) > LARGEST:
            return too_large(size)
        try:
            connection.call(connection.api.dataset_items.create, **item.body(dataset))
        except LangfuseError as error:
            if error.status == 413:
                return f"{item.size(dataset):,} bytes, too large for this server"
            if error.status in (400, 409):
                return str(error)
            raise
        return None

    return connection.each(send, items)


def _hash(item: DatasetItem) -> str:
    """The hash that we wrote; empty for an item of someone else."""
    note = item.metadata.get(KEY) if isinstance(item.metadata, dict) else None
    return str(note.get("hash", "")) if isinstance(note, dict) else ""
