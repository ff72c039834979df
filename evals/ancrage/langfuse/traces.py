"""Score production traces in place: the scores of a run go to the traces its cases come from."""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime

from ancrage.domain import Frozen, OutputState
from ancrage.files import save_model
from ancrage.langfuse.configs import ANCHORED_MODE, score_configs
from ancrage.langfuse.connection import Connection, LangfuseError
from ancrage.langfuse.delivery import Sender
from ancrage.langfuse.readback import Stored
from ancrage.langfuse.reads import BEGINNING, scores_of_traces
from ancrage.langfuse.scores import ItemRecord, ItemScores, ScoreBody, ScoredBy
from ancrage.langfuse.target import TracePlace
from ancrage.runs import RunFolder, RunView

RECEIPT = "langfuse-traces.json"
ENVIRONMENT = re.compile(r"(?!langfuse)[a-z0-9_-]{1,40}")


class TraceReceipt(Frozen):
    """What was sent to production traces, and what of it could be read back."""

    format: int = 1
    checked: datetime
    cases: int
    traces: int
    """Cases that come from a trace; the other ones have no place to go."""
    scores: int
    seen: int
    sent: int
    """By this call, not by earlier ones."""
    rejected: dict[str, str] = {}
    stopped: str | None = None

    @property
    def complete(self) -> bool:
        """Whether every score can be seen."""
        return self.seen == self.scores and self.stopped is None


def score_traces(
    connection: Connection, folder: RunFolder, say: Callable[[str], None] = lambda _: None
) -> TraceReceipt:
    """Send the scores of a run to the traces of its cases, those that are not there as they are.

    Ids depend on the trace and the mode, times on the trace alone: scoring a trace again, in this
    run or another, replaces its scores. The receipt is written to the run's folder.

    Raises:
        LangfuseError: Langfuse cannot be reached.
    """
    _ = connection.server
    view = RunView(folder)
    # Several runs score one trace: which of them said the same thing first is no content.
    evaluators = [ScoredBy(info=info, made=BEGINNING) for info, _ in view.evaluators.values()]
    configs = score_configs(connection, [*view.modes, ANCHORED_MODE])
    builder = ItemScores(evaluators, view.run.created, configs)
    items = [
        item.case.provenance.trace_id
        for item in view.items()
        if item.output.state is not OutputState.NOT_RUN
    ]
    traces = [trace for trace in items if trace]
    known = _look(connection, traces)
    labels = {
        body.id: (body.content, f"{body.name} on trace {body.trace_id}", str(body.trace_id))
        for body in _scores(view, builder, known)
    }

    def absent() -> set[str]:
        return {
            name
            for name, (content, _, _) in labels.items()
            if (stored := known.get(name)) is None or stored.content != content
        }

    todo = absent()
    sender = Sender(connection, say)
    if todo:
        say(f"sending {len(todo):,} scores to {len(traces):,} traces")
        bodies = (body for body in _scores(view, builder, dict(known)) if body.id in todo)
        sender.scores(bodies, len(todo))
    delivery = sender.delivery
    end = time.monotonic() + (0.0 if delivery.stopped else connection.settings.deadline)
    try:
        while todo and (left := absent() - delivery.rejected.keys()):
            known |= _look(connection, sorted({labels[name][2] for name in left}))
            left = absent() - delivery.rejected.keys()
            if not left or time.monotonic() >= end:
                break
            say(f"waiting for Langfuse to show {len(left):,} of {len(labels):,} scores")
            time.sleep(connection.settings.poll)
    except LangfuseError as error:
        delivery.stopped = delivery.stopped or str(error)
    receipt = TraceReceipt(
        checked=datetime.now(UTC),
        cases=len(items),
        traces=len(traces),
        scores=len(labels),
        seen=len(labels) - len(absent()),
        sent=delivery.accepted,
        rejected={labels[name][1]: why for name, why in delivery.rejected.items()},
        stopped=delivery.stopped,
    )
    save_model(folder.path / RECEIPT, receipt, private=True)
    return receipt


def _scores(view: RunView, builder: ItemScores, known: Mapping[str, Stored]) -> Iterator[ScoreBody]:
    for item in view.items():
        trace_id = item.case.provenance.trace_id
        if trace_id is None or item.output.state is OutputState.NOT_RUN:
            continue
        environment = str(item.case.metadata.get("environment", ""))
        moment = item.case.provenance.time
        for body in builder.of(
            TracePlace(trace_id=trace_id),
            ItemRecord(output=item.output, evaluations=item.evaluations, anchors=item.anchors),
            environment if ENVIRONMENT.fullmatch(environment) else None,
            carry=False,
            timestamp=moment,
        ):
            # The day is part of a score's identity: where the case knows no time, an earlier
            # score's is kept, or scoring again would double it.
            earlier = None if moment else known.get(body.id)
            if earlier and earlier.timestamp:
                body = body.model_copy(update={"timestamp": earlier.timestamp})
            yield body


def _look(connection: Connection, traces: list[str]) -> dict[str, Stored]:
    return {row.id: Stored.of(row) for row in scores_of_traces(connection, traces)}
