"""The long listings of the API, read straight into small models, every page checked.

The SDK resolves the type hints of every object that it parses, some 10 ms for a score; a run of a
thousand items has thousands of scores.
"""

from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime
from typing import Any, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from ancrage.langfuse.connection import Connection, LangfuseError, batches

PAGE = 100
"""The most rows that the API gives at once."""
TRACES = 50
"""Trace ids in one request."""
BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)
"""Before any experiment: a listing has to say since when."""


class _Row(BaseModel):
    model_config = ConfigDict(alias_generator=to_camel, frozen=True, extra="ignore")


class ScoreRow(_Row):
    """A score as it is stored, with its details."""

    id: str
    name: str
    value: bool | float | str
    data_type: str = "NUMERIC"
    source: str = "API"
    comment: str | None = None
    metadata: dict[str, Any] | None = None
    timestamp: AwareDatetime | None = None
    subject: dict[str, str] | None = None
    author_user_id: str | None = None
    """Who annotated; only where it was asked for."""

    @property
    def number(self) -> float | None:
        """The value; None for a text or a category."""
        return None if isinstance(self.value, str) else float(self.value)

    @property
    def trace_id(self) -> str | None:
        """The trace that it is about, or lies in."""
        subject = self.subject or {}
        return subject.get("id") if subject.get("kind") == "trace" else subject.get("traceId")


class Experiment(_Row):
    """An experiment."""

    id: str
    name: str
    start_time: AwareDatetime
    item_count: int
    dataset_id: str | None = None


class ItemRow(_Row):
    """The root observation of an item of an experiment; ``id`` is the observation's."""

    id: str
    trace_id: str
    start_time: AwareDatetime
    level: str
    experiment_id: str
    experiment_item_id: str
    experiment_item_version: AwareDatetime | None = None
    output: Any = None
    experiment_metadata: dict[str, Any] | None = None


Row = TypeVar("Row", bound=_Row)
Page = tuple[list[Any], Any, int | None]
"""Rows, where the next page is (None: nowhere), and how many rows there are, where it is said."""


class PagingError(LangfuseError):
    """A listing that cannot be whole: what was read of it would pass for all there is."""


def pages(
    what: str, ask: Callable[[Any], Page], first: Any, key: Callable[[Any], Any]
) -> Iterator[list[Any]]:
    """Every page of a listing, each row once.

    Args:
        what: names the listing in messages.
        ask: the page at a position.
        first: the position of the first page.
        key: what tells rows apart.

    Raises:
        PagingError: a page has nothing new and says that there is more, or in the end the rows
            are not as many as were said to be.
        LangfuseError: a page cannot be read.
    """
    seen: set[Any] = set()
    position = first
    while True:
        rows, following, total = ask(position)
        fresh = []
        for row in rows:
            if (name := key(row)) not in seen:
                seen.add(name)
                fresh.append(row)
        yield fresh
        if following is None:
            break
        if not fresh or following == position:
            raise PagingError(
                f"{what}: Langfuse repeats a page and says that there is more after it; "
                f"{len(seen):,} read, try again"
            )
        position = following
    if total is not None and total != len(seen):
        raise PagingError(
            f"{what}: Langfuse says {total:,} and gave {len(seen):,} different ones; try again"
        )


def numbered(
    connection: Connection, what: str, listing: Callable[..., Any], **query: Any
) -> Iterator[Any]:
    """Every row of a listing of the SDK that has numbered pages."""

    def ask(page: int) -> Page:
        answer = connection.call(listing, page=page, limit=PAGE, **query)
        more = page + 1 if page < answer.meta.total_pages else None
        return answer.data, more, answer.meta.total_items

    for rows in pages(what, ask, 1, lambda row: row.id):
        yield from rows


def experiments(
    connection: Connection, where: dict[str, str], since: datetime = BEGINNING
) -> Iterator[Experiment]:
    """Every experiment active after ``since``, latest first.

    Args:
        where: ``id``, ``name`` or ``datasetId``, or several.
    """
    query = {**where, "fromStartTime": _written(since), "fields": "core"}
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
    query = {"experimentId": experiment_id, "fromStartTime": _written(since), "fields": fields}
    return _rows(connection, "/experiment-items", ItemRow, query)


def scores(connection: Connection, **where: str) -> Iterator[ScoreRow]:
    """Every score of a subject (``traceId=…`` or ``experimentId=…``), with its details.

    No other listing has them: the scores inside an experiment or its items come without comment
    and metadata.
    """
    return _rows(connection, "/v3/scores", ScoreRow, {"fields": "details,subject", **where})


def scores_of_traces(
    connection: Connection, traces: Iterable[str], **where: str
) -> Iterator[ScoreRow]:
    """Every score on these traces and what lies in them, several requests at once."""

    def read(batch: list[str]) -> list[ScoreRow]:
        return list(scores(connection, traceId=",".join(batch), **where))

    for _, rows in connection.each(read, batches(traces, TRACES)):
        yield from rows


def _written(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def _rows(
    connection: Connection, path: str, model: type[Row], query: dict[str, Any]
) -> Iterator[Row]:
    def ask(cursor: str) -> Page:
        position = {"cursor": cursor} if cursor else {}
        answer = connection.get(path, {"limit": PAGE, **query, **position})
        rows = [model.model_validate(row) for row in answer["data"]]
        return rows, answer["meta"].get("cursor") or None, answer["meta"].get("totalItems")

    # One id can be stored under several names or days.
    for rows in pages(path.strip("/"), ask, "", _identity):
        yield from rows


def _identity(row: Any) -> Any:
    return (row.id, row.name, row.timestamp) if isinstance(row, ScoreRow) else row.id
