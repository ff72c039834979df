"""A run on a dataset of Langfuse: published item by item while it grows, read back at its end.

Sending is off the run's own path: items wait in a short queue for a thread that sends them. Those
that find it full, or Langfuse away, are sent by ``finish``, which reads everything back; the
record in ``runs/`` is whole whatever becomes of any of it.
"""

import queue
import threading
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Self

from ancrage.domain import Case, JsonValue, Output, Scored
from ancrage.errors import AncrageError, UsageError
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.dataset import Dataset, local_snapshot, read_dataset
from ancrage.langfuse.delivery import Sender
from ancrage.langfuse.publication import Only, Publication, fails
from ancrage.langfuse.publish import made_as, new_target, publish
from ancrage.langfuse.readback import Say
from ancrage.langfuse.reads import find_experiment
from ancrage.langfuse.receipt import Receipt
from ancrage.langfuse.target import KEY
from ancrage.runs import Item, RunFolder, RunView
from ancrage.snapshot import Snapshot

WAITING = 500
"""Items that may wait to be sent."""
TOGETHER = 16
"""Items sent at once, where so many wait."""


@dataclass(frozen=True)
class Session:
    """A dataset ready to be run on: one version of it, and the local snapshot of its cases."""

    connection: Connection
    dataset: Dataset
    snapshot: Snapshot

    def details(self, run_name: str) -> dict[str, JsonValue]:
        """What makes a run the experiment of that name: the details to create it with.

        Raises:
            UsageError: Langfuse has a run of that name on this dataset already.
        """
        target = new_target(self.connection, self.dataset, run_name)
        if find_experiment(self.connection, target.experiment_id):
            raise UsageError(
                f"Langfuse has a run named {run_name!r} on dataset {self.dataset.name!r}; its "
                "items would mix with these: give another --run-name"
            )
        return {KEY: target.model_dump(mode="json")}


def open_session(connection: Connection, dataset: str, version: datetime | None = None) -> Session:
    """Everything that is checked before any work: server, dataset, cases.

    Raises:
        UsageError: there is no such dataset, or no item of it is a case.
        LangfuseError: Langfuse cannot be reached, refuses the keys or is too old.
    """
    _ = connection.server
    found = read_dataset(connection, dataset, version)
    return Session(connection, found, local_snapshot(connection, found))


def resume_session(connection: Connection, folder: RunFolder) -> Session:
    """The session that a run was made in, to go on with it.

    Raises:
        UsageError: the run was made without Langfuse.
    """
    if not (target := made_as(folder.run)):
        raise UsageError(f"run {folder.run.id} was not made on a dataset of Langfuse")
    dataset = read_dataset(connection, target.dataset, target.version)
    return Session(connection, dataset, folder.snapshot())


class Follower:
    """Publishes the items of one run as they are done: ``with Follower(…) as follower``, pass
    ``follower.on_item`` to the loop, then ``finish``."""

    def __init__(
        self, session: Session, folder: RunFolder, only: Only = "all", say: Say = lambda _: None
    ) -> None:
        found = made_as(folder.run)
        if found is None:
            raise UsageError(f"run {folder.run.id} was not made on a dataset of Langfuse")
        self.session, self.folder, self.target, self.only = session, folder, found, only
        self._say = say
        self._whole = True
        """Whether all items were sent and taken."""
        self._queue: queue.Queue[Item | None] = queue.Queue(WAITING)
        self._thread = threading.Thread(target=self._work, name="langfuse", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._queue.put(None)
        self._thread.join()

    def on_item(self, case: Case, output: Output, scored: Scored) -> None:
        """Take an item that is in the record now; returns at once."""
        item = Item(case, output, scored.evaluations, scored.anchors)
        if self.only == "all" or fails(item):
            try:
                self._queue.put_nowait(item)
            except queue.Full:
                self._whole = False  # ``finish`` sends it.

    def _work(self) -> None:
        publication, sender = None, Sender(self.session.connection)
        for batch in iter(self._batch, []):
            if sender.delivery.stopped:
                continue  # Langfuse is away; the queue is emptied all the same.
            try:
                publication = publication or Publication(
                    self.session.connection,
                    RunView(self.folder),
                    self.target,
                    self.session.dataset,
                    self.only,
                )
                known = [i for i in batch if i.case.id in self.session.dataset.by_case]
                sender.spans(span for item in known for span in publication.spans(item))
                sender.scores(body for item in known for body in publication.scores(item))
            except AncrageError as error:
                sender.delivery.stopped = str(error)
            self._whole &= not (sender.delivery.stopped or sender.delivery.rejected)
            if sender.delivery.stopped:
                self._say(f"the run goes on without Langfuse: {sender.delivery.stopped}")

    def _batch(self) -> list[Item]:
        """What waits, up to so many; empty at the end."""
        item = self._queue.get()
        batch = []
        while item is not None:
            batch.append(item)
            if len(batch) == TOGETHER or self._queue.empty():
                return batch
            item = self._queue.get()
        if batch:
            self._queue.put(None)  # The end is seen again by the next call.
        return batch

    def finish(self) -> Receipt:
        """Send what is missing, read everything back, write the receipt.

        Raises:
            LangfuseError: Langfuse cannot be reached; the local record is whole.
        """
        return publish(
            self.session.connection,
            self.folder,
            session=(self.target, self.session.dataset),
            only=self.only,
            fresh=self._whole,
            say=self._say,
        )
