"""Production answers from Langfuse, as a source of snapshots.

Reads the observations API, newest first, page by page; the observations under a root are asked
for trace by trace. Traces of experiments are never taken for production.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langfuse.api import ObservationV2
from pydantic import Field

from ancrage.config import load
from ancrage.domain import Case, Frozen, JsonValue, OutputState, Study
from ancrage.langfuse.connection import Connection, connect
from ancrage.langfuse.reads import BEGINNING, Page, pages
from ancrage.langfuse.trace import Trace, to_row, usage_of
from ancrage.plugins import load_object
from ancrage.snapshot.folder import Seen
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.fields import FieldError
from ancrage.snapshot.sources.mapping import AnswerFields, to_case

if TYPE_CHECKING:
    from ancrage.snapshot.sources import Source, Window

FIELDS = "core,basic,time,io,metadata,model,usage,prompt,trace_context"
PAGE = 100
"""Roots a page: their inputs and outputs can be long."""
CHILDREN = 1000
"""The most that the API gives at once."""
EARLIER = timedelta(days=1)
"""How long before its root an observation may have started, by the clock of another machine."""
Mapper = Callable[[Trace], Case | None]


class Options(Frozen):
    """The table of a source of type ``langfuse``; every field can be left out."""

    environment: tuple[str, ...] = ()
    """Only these; all but the ones of experiments and of Langfuse itself when empty."""
    name: str | None = None
    """Only roots of that name."""
    trace_name: str | None = None
    """Only traces of that name."""
    metadata: dict[str, str] = {}
    """Only roots whose metadata has these values."""
    tags: tuple[str, ...] = ()
    """Only traces that have all of these."""
    filter: tuple[dict[str, JsonValue], ...] = ()
    """Further conditions, as the API writes them."""
    sample: float = Field(default=1.0, gt=0, le=1)
    """Share of the traces to read, chosen by their id: the same ones every time."""
    children: bool = True
    """Whether to read what lies under the roots (tool outputs, models); one request a trace."""
    expand: tuple[str, ...] = ()
    """Metadata to read whole, beside that which the mapping names; the rest is cut at 200."""
    fields: AnswerFields = AnswerFields()
    """Where the parts of a case stand in the row of a trace, where convention does not do."""
    mapper: str | None = None
    """``package.module:function`` from a ``Trace`` to a ``Case``, instead of ``fields``."""
    studies: str | None = None
    """Another source that has the studies."""


class LangfuseSource:
    """See the module."""

    def __init__(self, name: str, options: Mapping[str, Any], root: Path) -> None:
        from ancrage.snapshot.sources import validated

        self.options = validated(name, options, Options)
        share = "" if self.options.sample == 1 else f", {self.options.sample:.0%} of the traces"
        self.label = f"{name} (langfuse{share})"
        self.notes: list[str] = []
        self._connection = connect()
        self._map = _mapper(name, self.options)
        self._root = root
        self._studies: Source | None = None

    def cases(self, window: "Window") -> Iterator[Case | Reject]:
        """Every trace in turn, newest first, as a case or the reason why it is none."""
        for trace in read_traces(self._connection, self.options, window):
            try:
                case = self._map(trace)
            except FieldError as fault:
                yield Reject(
                    where=self.label, id=trace.root.trace_id, field=fault.field, error=str(fault)
                )
            else:
                if case is not None:
                    yield case

    def study(self, study_id: str, reject: Callable[[Reject], None]) -> Study | None:
        """The study of that id, from the source named by ``studies``."""
        from ancrage.snapshot.sources import open_source

        if self.options.studies is None:
            return None
        if self._studies is None:
            self._studies = open_source(self.options.studies, load())
        return self._studies.study(study_id, reject)

    def close(self) -> None:
        """Close the connections."""
        self._connection.close()
        if self._studies:
            self._studies.close()


def read_traces(connection: Connection, options: Options, window: "Window") -> Iterator[Trace]:
    """The production traces of a window, newest first, each once.

    Raises:
        LangfuseError: a page could not be read.
    """
    seen = Seen()
    try:
        roots = (
            root
            for page in _pages(
                connection, _conditions(options, window), PAGE, options, window.since or BEGINNING
            )
            for root in _latest(page)
            if seen.add(root.trace_id or root.id) and _wanted(root, options)
        )
        if not options.children:
            yield from (Trace(root, (root,)) for root in roots)
            return
        with ThreadPoolExecutor(connection.settings.concurrency) as pool:
            while batch := list(islice(roots, PAGE)):
                yield from pool.map(lambda root: _whole(connection, root, options), batch)
    finally:
        seen.close()


def _whole(connection: Connection, root: ObservationV2, options: Options) -> Trace:
    if root.trace_id is None:
        return Trace(root, (root,))
    since = root.start_time - EARLIER
    conditions = [
        {"type": "string", "column": "traceId", "operator": "=", "value": root.trace_id},
        _started(">=", since),
    ]
    pages = _pages(connection, conditions, CHILDREN, options, since)
    rows = [row for page in pages for row in page]
    # A parent starts before its children, but clocks are only so fine.
    found = sorted(_latest(rows), key=lambda row: (row.start_time, row.parent_observation_id or ""))
    return Trace(root, tuple(found))


def _pages(
    connection: Connection,
    conditions: list[dict[str, Any]],
    size: int,
    options: Options,
    since: datetime,
) -> Iterator[list[ObservationV2]]:
    expand = sorted({*options.expand, *_named(options.fields), "study_id", "attributes"})

    def ask(cursor: str | None) -> Page:
        answer = connection.call(
            connection.api.observations.get_many,
            fields=FIELDS,
            expand_metadata=",".join(expand),
            limit=size,
            cursor=cursor,
            # The filter has it too, and goes before; servers may want it all the same.
            from_start_time=since,
            filter=json.dumps(conditions),
        )
        return answer.data, answer.meta.cursor or None, None

    # A row comes again where it was updated in the meantime.
    return pages("observations", ask, None, lambda row: (row.id, row.updated_at))


def _named(fields: AnswerFields) -> set[str]:
    """The keys of the metadata that the mapping reads."""
    paths = [value for value in fields.model_dump().values() if isinstance(value, str)]
    paths += [*fields.context.values(), *fields.metadata.values()]
    return {path.split(".")[1] for path in paths if path.startswith("metadata.")}


def _conditions(options: Options, window: "Window") -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"type": "boolean", "column": "isRootObservation", "operator": "=", "value": True}
    ]
    for operator, moment in ((">=", window.since), ("<", window.until)):
        if moment:
            found.append(_started(operator, moment))
    environments = (
        ("any of", options.environment) if options.environment else ("none of", ("sdk-experiment",))
    )
    found.append(
        {
            "type": "stringOptions",
            "column": "environment",
            "operator": environments[0],
            "value": list(environments[1]),
        }
    )
    for column, value in (("name", options.name), ("traceName", options.trace_name)):
        if value:
            found.append({"type": "string", "column": column, "operator": "=", "value": value})
    found += [
        {"type": "stringObject", "column": "metadata", "key": key, "operator": "=", "value": value}
        for key, value in options.metadata.items()
    ]
    if options.tags:
        found.append(
            {
                "type": "arrayOptions",
                "column": "tags",
                "operator": "all of",
                "value": list(options.tags),
            }
        )
    return [*found, *options.filter]


def _started(operator: str, moment: datetime) -> dict[str, Any]:
    text = moment.astimezone(UTC).isoformat().replace("+00:00", "Z")
    return {"type": "datetime", "column": "startTime", "operator": operator, "value": text}


def _wanted(root: ObservationV2, options: Options) -> bool:
    environment = root.environment or "default"
    if not options.environment and environment.startswith("langfuse-"):
        return False
    return sampled(root.trace_id or root.id, options.sample)


def sampled(trace_id: str, share: float) -> bool:
    """Whether a trace is in the sample; the same answer for the same id, in any window."""
    digest = hashlib.sha256(trace_id.encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def _latest(rows: Iterable[ObservationV2]) -> list[ObservationV2]:
    """Each observation once, as it was last updated, in the order first met."""
    kept: dict[str, ObservationV2] = {}
    never = datetime.min.replace(tzinfo=UTC)
    for row in rows:
        known = kept.get(row.id)
        if known is None or (row.updated_at or never) > (known.updated_at or never):
            kept[row.id] = row
    return list(kept.values())


def _mapper(name: str, options: Options) -> Mapper:
    if options.mapper is None:
        return lambda trace: map_trace(trace, options.fields, name)
    found: Mapper = load_object(options.mapper, setting=f"[sources.{name}] mapper")
    return found


def map_trace(trace: Trace, fields: AnswerFields, source: str) -> Case:
    """The case of a trace.

    Raises:
        FieldError: a part is missing or of the wrong kind; names its path.
    """
    case = to_case(to_row(trace), fields, source)
    metadata: dict[str, JsonValue] = {"environment": trace.root.environment or "default"}
    metadata |= case.metadata
    answer = case.output and case.output.model_copy(update={"usage": usage_of(trace)})
    changes: dict[str, Any] = {"output": answer, "metadata": metadata}
    if trace.error:
        # What production said of its failure is kept: the answer did not merely go missing.
        changes["state"] = OutputState.FAILED
        metadata["error"] = trace.error
    return case.model_copy(update=changes)
