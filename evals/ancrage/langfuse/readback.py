"""Read back: a run counts as sent when it was seen, item by item and score by score."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ancrage.domain import Frozen
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.reads import (
    ItemRow,
    ScoreRow,
    experiment_items,
    find_experiment,
    scores,
    scores_of_traces,
)
from ancrage.langfuse.scores import Note, ScoreBody, content_of, note_of
from ancrage.langfuse.target import Target, TracePlace

FIELDS = "core,dataset,experimentMetadata"
Say = Callable[[str], None]


@dataclass(frozen=True)
class Sent:
    """A score as it must be stored."""

    label: str
    """What it is, and on which item."""
    content: str
    note: Note | None = None
    trace_id: str | None = None

    @classmethod
    def of(cls, body: ScoreBody, label: str) -> "Sent":
        """What to expect of a score that is posted."""
        note = Note.model_validate(body.metadata) if "evaluator" in (body.metadata or {}) else None
        return cls(label, body.content, note, body.trace_id)


@dataclass(frozen=True)
class Stored:
    """A score as it is stored."""

    name: str
    content: str
    note: Note | None = None
    timestamp: datetime | None = None

    @classmethod
    def of(cls, row: ScoreRow) -> "Stored":
        """What a row says."""
        return cls(row.name, content_of(row), note_of(row), row.timestamp)


@dataclass(frozen=True)
class Expected:
    """What the local record says must be there."""

    target: Target
    since: datetime
    """No item started before it."""
    places: dict[str, TracePlace]
    """By item id."""
    failed: frozenset[str]
    """Item ids whose output is not ``ok``: their level must be ERROR."""
    scores: dict[str, Sent]
    """By score id."""
    run_uid: str
    """Items of this run, but of an earlier attempt, are not foreign."""


class Missing(Frozen):
    """What is not there, or not as it should be; all empty when the run can be seen whole."""

    items: tuple[str, ...] = ()
    """Item ids that are absent."""
    levels: tuple[str, ...] = ()
    """Item ids that failed and do not show it, or the reverse."""
    versions: tuple[str, ...] = ()
    """Item ids seen on another version of the dataset."""
    foreign: tuple[str, ...] = ()
    """Item ids that another run wrote under the same name."""
    scores: tuple[str, ...] = ()
    """Scores that are absent or differ in anything that was written."""

    @property
    def nothing(self) -> bool:
        """Whether all is there."""
        return not any((self.items, self.levels, self.versions, self.foreign, self.scores))

    def __str__(self) -> str:
        parts = (
            (self.items, "items absent"),
            (self.levels, "items with another level"),
            (self.versions, "items on another version"),
            (self.foreign, "items of another run"),
            (self.scores, "scores absent or different"),
        )
        return "; ".join(
            f"{len(found):,} {label} ({', '.join(found[:3])}{', …' if len(found) > 3 else ''})"
            for found, label in parts
            if found
        )


@dataclass
class Seen:
    """What was seen of an experiment so far."""

    items: dict[str, list[ItemRow]] = field(default_factory=dict)
    """By item id; several when the item was run more than once."""
    scores: dict[str, Stored] = field(default_factory=dict)
    """By score id."""

    def add(self, rows: Iterable[ScoreRow]) -> None:
        """Note scores."""
        self.scores |= {row.id: Stored.of(row) for row in rows}

    def holds(self, score_id: str, sent: Sent) -> bool:
        """Whether the score is stored as it was sent."""
        stored = self.scores.get(score_id)
        return stored is not None and stored.content == sent.content


def read_back(
    connection: Connection,
    expected: Expected,
    seen: Seen | None = None,
    *,
    deadline: float | None = None,
    say: Say = lambda _: None,
) -> tuple[Seen, Missing]:
    """Look until nothing is missing or the deadline has passed; returns all that was seen.

    What is written is seen after some seconds, up to some minutes on a busy server, in any order.
    Only what could not be seen yet is asked for again.

    Args:
        seen: an earlier look, of which only what is missing is read again.

    Raises:
        LangfuseError: Langfuse cannot be read.
    """
    settings = connection.settings
    end = time.monotonic() + (settings.deadline if deadline is None else deadline)
    seen = seen or Seen()
    first = not seen.items and not seen.scores
    while True:
        last = time.monotonic() >= end
        row = find_experiment(connection, expected.target.experiment_id, _since(expected))
        count = row.item_count if row else 0
        if row and (count >= len(expected.places) or last):
            _look(connection, expected, seen, whole=first)
            first = False
        missing = compare(seen, expected)
        if missing.nothing or last or missing.foreign:
            return seen, missing
        say(f"waiting for Langfuse to show {missing if not first else f'{count:,} items'}")
        time.sleep(min(settings.poll, max(0.0, end - time.monotonic())))


def _since(expected: Expected) -> datetime:
    return expected.since - timedelta(hours=1)


def _look(connection: Connection, expected: Expected, seen: Seen, *, whole: bool) -> None:
    """Read the items of an experiment, and the scores of its items and its own."""
    missing = compare(seen, expected)
    if whole or missing.items or missing.levels or missing.versions:
        seen.items.clear()
        for item in experiment_items(
            connection, expected.target.experiment_id, _since(expected), FIELDS
        ):
            seen.items.setdefault(item.experiment_item_id, []).append(item)
    wanted = [sent for name, sent in expected.scores.items() if not seen.holds(name, sent)]
    traces = {sent.trace_id for sent in wanted if sent.trace_id}
    if whole:
        traces |= {place.trace_id for place in expected.places.values()}
    seen.add(scores_of_traces(connection, sorted(traces)))
    if whole or any(sent.trace_id is None for sent in wanted):
        seen.add(scores(connection, experimentId=expected.target.experiment_id))


def compare(seen: Seen, expected: Expected) -> Missing:
    """What ``expected`` has and ``seen`` has not."""
    absent, levels, versions, foreign = [], [], [], []
    for name, place in expected.places.items():
        for item in seen.items.get(name, ()):
            if (item.trace_id, item.id) == (place.trace_id, place.observation_id):
                if (item.level == "ERROR") != (name in expected.failed):
                    levels.append(name)
                if item.experiment_item_version != expected.target.version:
                    versions.append(name)
                break
        else:
            absent.append(name)
    for name, items in seen.items.items():
        own = expected.places.get(name)
        if any(
            (own is None or item.trace_id != own.trace_id)
            and (item.experiment_metadata or {}).get("uid") != expected.run_uid
            for item in items
        ):
            foreign.append(name)
    different = [sent.label for name, sent in expected.scores.items() if not seen.holds(name, sent)]
    return Missing(
        items=tuple(absent),
        levels=tuple(levels),
        versions=tuple(versions),
        foreign=tuple(foreign),
        scores=tuple(different),
    )
