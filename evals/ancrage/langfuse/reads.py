"""The long listings of the API, read straight into small models.

The SDK resolves the type hints of every object that it parses, some 10 ms for a score; a run of a
thousand items has thousands of scores.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from ancrage.domain import Frozen
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.shapes import value_of

PAGE = 100
"""The most rows that the API gives at once."""
INLINE_SCORES = 50
"""The most scores that an item or an experiment carries in a listing; more are asked for."""
BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)
"""Before any experiment: a listing has to say since when."""


class _Row(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True, extra="ignore")


class ScoreRow(_Row):
    """A score as it is stored."""

    id: str
    name: str
    value: bool | float | str
    comment: str | None = None
    metadata: dict[str, Any] | None = None
    timestamp: AwareDatetime | None = None

    @property
    def number(self) -> float | None:
        """The value; None for a text or a category."""
        return None if isinstance(self.value, str) else float(self.value)


class Experiment(_Row):
    """An experiment."""

    id: str
    name: str
    start_time: AwareDatetime
    item_count: int
    dataset_id: str | None = None
    metadata: dict[str, Any] | None = None
    scores: tuple[ScoreRow, ...] | None = None
    """Its own; only where they were asked for."""


class ItemRow(_Row):
    """The root observation of an item of an experiment; ``id`` is the observation's."""

    id: str
    trace_id: str
    start_time: AwareDatetime
    level: str
    experiment_id: str
    experiment_item_id: str
    experiment_item_version: AwareDatetime | None = None
    input: Any = None
    output: Any = None
    experiment_metadata: dict[str, Any] | None = None
    scores: tuple[ScoreRow, ...] = ()


Row = TypeVar("Row", bound=_Row)
Note = TypeVar("Note", bound=Frozen)


def experiments(
    connection: Connection,
    where: dict[str, str],
    since: datetime = BEGINNING,
    fields: str = "core,metadata",
) -> Iterator[Experiment]:
    """Every experiment active after ``since``, latest first.

    Args:
        where: ``id``, ``name`` or ``datasetId``, or several.
    """
    query = {**where, "fromStartTime": _written(since), "fields": fields}
    return _rows(connection, "/experiments", Experiment, query)


def find_experiment(
    connection: Connection, experiment_id: str, since: datetime = BEGINNING
) -> Experiment | None:
    """The experiment of that id; None when it cannot be seen."""
    return next(experiments(connection, {"id": experiment_id}, since), None)


def experiment_items(
    connection: Connection, experiment_id: str, since: datetime, fields: str
) -> Iterator[ItemRow]:
    """Every item of an experiment that started after ``since``, page by page."""
    query = {
        "experimentId": experiment_id,
        "fromStartTime": _written(since),
        "fields": fields,
        "scoreLimit": INLINE_SCORES,
    }
    return _rows(connection, "/experiment-items", ItemRow, query)


def scores(connection: Connection, **subject: str) -> Iterator[ScoreRow]:
    """Every score of a subject (``traceId=…`` or ``experimentId=…``), with its details."""
    return _rows(connection, "/v3/scores", ScoreRow, {**subject, "fields": "details,subject"})


def note(model: type[Note], metadata: dict[str, Any] | None) -> Note | None:
    """Metadata as we write it; None when it is someone else's."""
    try:
        # Some versions of the server keep what is nested as JSON text.
        return model.model_validate({k: value_of(v) for k, v in (metadata or {}).items()})
    except ValidationError:
        return None


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _rows(
    connection: Connection, path: str, model: type[Row], query: dict[str, Any]
) -> Iterator[Row]:
    cursor = None
    while True:
        position: dict[str, Any] = {"cursor": cursor} if cursor else {}
        answer = connection.get(path, {"limit": PAGE, **query, **position})
        yield from (model.model_validate(row) for row in answer["data"])
        cursor = answer["meta"].get("cursor")
        if not cursor:
            return
