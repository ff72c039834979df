"""Score configurations, so that columns explain themselves, and annotation queues for labels."""

from collections.abc import Iterable

from langfuse.api import AnnotationQueueObjectType, ScoreConfigDataType

from ancrage.domain import FailureMode
from ancrage.errors import UsageError
from ancrage.langfuse.connection import Connection, LangfuseError
from ancrage.langfuse.reads import numbered
from ancrage.langfuse.scores import ANCHORED
from ancrage.langfuse.target import TracePlace

ANCHORED_MODE = FailureMode(
    name=ANCHORED,
    title="Anchored",
    definition="1: the answer cites or quotes something and no code check finds a defect; 0: one "
    "does. The one score whose rise is good.",
)


def score_configs(connection: Connection, modes: Iterable[FailureMode]) -> dict[str, str]:
    """The id of the configuration of each mode, made where there is none and the keys allow it.

    Configurations say what a column means; scores do not need them, so that a refusal is none of
    a publication's faults: what could not be had is left out.
    """
    api = connection.api.score_configs
    try:
        listed = list(numbered(connection, "score configurations", api.get))
    except LangfuseError:
        return {}
    known: dict[str, str | None] = {}
    for found in listed:
        bounded = found.min_value or found.max_value is not None
        usable = found.data_type == "NUMERIC" and not found.is_archived and not bounded
        if not known.get(found.name):
            known[found.name] = found.id if usable else None
    for mode in modes:
        if mode.name in known:
            continue
        try:
            made = connection.call(
                api.create,
                name=mode.name,
                data_type=ScoreConfigDataType.NUMERIC,
                min_value=0.0,
                description=f"{mode.title}: {mode.definition}"[:1000],
            )
        except LangfuseError:
            break
        known[mode.name] = made.id
    return {name: found for name, found in known.items() if found}


def make_queue(
    connection: Connection, name: str, modes: Iterable[FailureMode], places: Iterable[TracePlace]
) -> int:
    """Make the annotation queue ``name``, or fill it up, with the answers at ``places``.

    People score there each of ``modes``; ``calibrate`` reads the scores. Returns how many answers
    were added; those that the queue has already are not added twice.

    Raises:
        UsageError: the keys may not make configurations, which a queue needs.
        LangfuseError: Langfuse refuses, or cannot be reached.
    """
    api = connection.api.annotation_queues
    wanted = list(modes)
    configs = score_configs(connection, wanted)
    named = [configs[mode.name] for mode in wanted if mode.name in configs]
    if not named:
        raise UsageError(
            "an annotation queue needs score configurations, and these keys may not make them: "
            "make one for each mode in Langfuse, Settings, Scores"
        )
    queues = numbered(connection, "annotation queues", api.list_queues)
    queue = next((found for found in queues if found.name == name), None)
    if queue is None:
        queue = connection.call(api.create_queue, name=name, score_config_ids=named)
    listing = api.list_queue_items
    held = {item.object_id for item in numbered(connection, name, listing, queue_id=queue.id)}
    added = [place for place in places if (place.observation_id or place.trace_id) not in held]

    def add(place: TracePlace) -> None:
        trace = place.observation_id is None
        kind = AnnotationQueueObjectType.TRACE if trace else AnnotationQueueObjectType.OBSERVATION
        object_id = place.observation_id or place.trace_id
        connection.call(
            api.create_queue_item, queue_id=queue.id, object_id=object_id, object_type=kind
        )

    return sum(1 for _ in connection.each(add, added))
