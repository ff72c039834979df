"""Proof: a run counts as sent when it has been read back, item by item and score by score."""

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ancrage.domain import Frozen
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.reads import (
    INLINE_SCORES,
    Experiment,
    ItemRow,
    ScoreRow,
    experiment_items,
    find_experiment,
    scores,
)
from ancrage.langfuse.target import Place, Target

TRACES = 40
"""Trace ids in one request."""


@dataclass(frozen=True)
class Expected:
    """What the local record says must be there."""

    target: Target
    since: datetime
    """No item started before it."""
    places: dict[str, Place]
    """By item id."""
    failed: frozenset[str]
    """Item ids whose output is not ``ok``: their level must be ERROR."""
    scores: dict[str, tuple[str, float]]
    """What it is, and its value, by score id."""
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
    """Scores that are absent or have another value."""

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
    """One look at an experiment."""

    experiment: Experiment | None = None
    items: dict[str, list[ItemRow]] = field(default_factory=dict)
    """By item id; several when the item was run more than once."""
    scores: dict[str, ScoreRow] = field(default_factory=dict)
    """By score id."""

    def add(self, scores: Iterable[ScoreRow]) -> None:
        """Note scores."""
        self.scores |= {score.id: score for score in scores}


def prove(
    connection: Connection,
    expected: Expected,
    *,
    deadline: float | None = None,
    say: Callable[[str], None] = lambda _: None,
) -> tuple[Seen, Missing]:
    """Look until nothing is missing or the deadline has passed; returns the last look.

    What is written is seen after some seconds, up to half a minute on a busy server.

    Raises:
        LangfuseError: Langfuse cannot be read.
    """
    settings = connection.settings
    end = time.monotonic() + (settings.deadline if deadline is None else deadline)
    while True:
        last = time.monotonic() >= end
        since = expected.since - timedelta(hours=1)
        row = find_experiment(connection, expected.target.experiment_id, since)
        count = row.item_count if row else 0
        if count >= len(expected.places) or last:
            seen = look(connection, expected, row)
            missing = compare(seen, expected)
            if missing.nothing or last or missing.foreign:
                return seen, missing
            say(f"waiting for Langfuse to show {missing}")
        else:
            say(f"waiting for Langfuse to show {count:,} of {len(expected.places):,} items")
        time.sleep(min(settings.poll, max(0.0, end - time.monotonic())))


def look(connection: Connection, expected: Expected, row: Experiment | None) -> Seen:
    """Read the items of an experiment, and the scores of its items and its own."""
    seen = Seen(row)
    if row is None:
        return seen
    crowded: list[str] = []
    fields = "core,dataset,experimentMetadata,scores"
    since = expected.since - timedelta(hours=1)
    for item in experiment_items(connection, row.id, since, fields):
        seen.items.setdefault(item.experiment_item_id, []).append(item)
        seen.add(item.scores)
        if len(item.scores) >= INLINE_SCORES:
            crowded.append(item.trace_id)
    for start in range(0, len(crowded), TRACES):
        traces = crowded[start : start + TRACES]
        seen.add(scores(connection, traceId=",".join(traces)))
    seen.add(scores(connection, experimentId=row.id))
    return seen


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
    different = [
        label
        for name, (label, value) in expected.scores.items()
        if (row := seen.scores.get(name)) is None or row.number != value
    ]
    return Missing(
        items=tuple(absent),
        levels=tuple(levels),
        versions=tuple(versions),
        foreign=tuple(foreign),
        scores=tuple(different),
    )
