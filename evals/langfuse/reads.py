"""The long listings of the API, read straight into small models.

The SDK resolves the type hints of every object that it parses, some 10 ms for a score; a run of a
thousand items has thousands of scores.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from evals.langfuse.connection import Connection

PAGE = 100
"""The most rows that the API gives at once."""
INLINE_SCORES = 50
"""The most scores that an item carries in a listing; more are asked for by trace."""


class _Row(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True, extra="ignore")


class ScoreRow(_Row):
    """A score as it is stored."""

    id: str
    name: str
    value: bool | float | str
    comment: str | None = None
    metadata: dict[str, Any] | None = None

    @property
    def number(self) -> float | None:
        """The value; None for a text or a category."""
        return None if isinstance(self.value, str) else float(self.value)


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


def experiment_items(
    connection: Connection, experiment_id: str, since: datetime, fields: str
) -> Iterator[ItemRow]:
    """Every item of an experiment that started after ``since``, page by page."""
    query = {
        "experimentId": experiment_id,
        "fromStartTime": since.astimezone(UTC).isoformat().replace("+00:00", "Z"),
        "fields": fields,
        "scoreLimit": INLINE_SCORES,
    }
    return _rows(connection, "/experiment-items", ItemRow, query)


def scores(connection: Connection, **subject: str) -> Iterator[ScoreRow]:
    """Every score of a subject (``traceId=…`` or ``experimentId=…``), with its details."""
    return _rows(connection, "/v3/scores", ScoreRow, {**subject, "fields": "details,subject"})


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
