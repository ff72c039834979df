"""What Langfuse holds of experiments: a row each, with its scores."""

from datetime import UTC, datetime
from statistics import fmean

from langfuse.api import Experiment

from evals.domain import (
    Frozen,
)
from evals.langfuse.connection import Connection
from evals.langfuse.dataset import Dataset
from evals.langfuse.proof import pages
from evals.langfuse.reads import experiment_items, scores

BEGINNING = datetime(2020, 1, 1, tzinfo=UTC)


class ExperimentRow(Frozen):
    """One experiment of a dataset."""

    id: str
    name: str
    started: datetime
    items: int
    group: str | None = None
    repeat: int | None = None
    scores: dict[str, float] = {}
    """The run's own scores; for experiments of other tools, the means over their items."""
    own: bool = True
    """Whether the scores are the run's own."""


def list_experiments(
    connection: Connection, dataset: Dataset, since: datetime | None = None
) -> list[ExperimentRow]:
    """The experiments on a dataset, latest first, with their scores."""
    rows = []
    for found in pages(
        connection,
        connection.api.experiments.list,
        from_start_time=since or BEGINNING,
        dataset_id=dataset.id,
        fields="core,metadata",
    ):
        own = {
            score.name: score.number
            for score in scores(connection, experimentId=found.id)
            if score.number is not None
        }
        metadata = found.metadata or {}
        rows.append(
            ExperimentRow(
                id=found.id,
                name=found.name,
                started=found.start_time,
                items=found.item_count,
                group=metadata.get("group"),
                repeat=metadata.get("repeat"),
                scores=own or _means(connection, found),
                own=bool(own),
            )
        )
    return rows


def _means(connection: Connection, experiment: Experiment) -> dict[str, float]:
    values: dict[str, list[float]] = {}
    items = experiment_items(connection, experiment.id, BEGINNING, "core,scores")
    for item in items:
        for score in item.scores:
            if score.number is not None:
                values.setdefault(score.name, []).append(score.number)
    return {name: fmean(found) for name, found in values.items()}
