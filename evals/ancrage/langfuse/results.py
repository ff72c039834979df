"""What Langfuse holds of experiments: a row each, with its scores."""

from datetime import datetime
from statistics import fmean

from ancrage.domain import Frozen
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.reads import (
    BEGINNING,
    INLINE_SCORES,
    Experiment,
    ScoreRow,
    experiment_items,
    experiments,
    scores,
)


class ExperimentRow(Frozen):
    """One experiment of a dataset."""

    name: str
    started: datetime
    items: int
    scores: dict[str, float] = {}
    """The run's own scores; for experiments of other tools, the means over their items."""
    own: bool = True
    """Whether the scores are the run's own."""


def list_experiments(
    connection: Connection, dataset_id: str, since: datetime = BEGINNING, last: int | None = None
) -> tuple[list[ExperimentRow], int]:
    """The ``last`` experiments on a dataset, latest first, and how many older ones there are.

    Raises:
        LangfuseError: they cannot be read.
    """
    _ = connection.server
    fields = "core,metadata,scores"
    found = list(experiments(connection, {"datasetId": dataset_id}, since, fields))
    return [_row(connection, each) for each in found[:last]], len(found[last or len(found) :])


def _row(connection: Connection, found: Experiment) -> ExperimentRow:
    rows: tuple[ScoreRow, ...] = found.scores or ()
    if len(rows) >= INLINE_SCORES:
        rows = tuple(scores(connection, experimentId=found.id))
    own = {row.name: row.number for row in rows if row.number is not None}
    return ExperimentRow(
        name=found.name,
        started=found.start_time,
        items=found.item_count,
        scores=own or _means(connection, found),
        own=bool(own),
    )


def _means(connection: Connection, experiment: Experiment) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    for item in experiment_items(connection, experiment.id, BEGINNING, "core,scores"):
        for score in item.scores:
            if score.number is not None:
                values.setdefault(score.name, []).append(score.number)
    return {name: fmean(found) for name, found in values.items()}
