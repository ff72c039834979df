"""Score production traces in place: the scores of a run go to the traces its cases come from."""

import re
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from evals.domain import Frozen
from evals.langfuse.connection import Connection, LangfuseError
from evals.langfuse.proof import TRACES
from evals.langfuse.reads import scores
from evals.langfuse.scores import ScoreBody, deliver, item_scores
from evals.langfuse.target import Place
from evals.runs import RunFolder, RunView

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
    """Send the scores of a run to the traces of its cases, those that are not there yet.

    Ids depend on the trace and the mode, times on the trace alone: scoring a trace again, in this
    run or another, replaces its scores. The receipt is written to the run's folder.

    Raises:
        LangfuseError: Langfuse cannot be reached.
    """
    _ = connection.server
    view = RunView(folder)
    cases = sum(1 for _ in view.items())
    traces = [
        item.case.provenance.trace_id for item in view.items() if item.case.provenance.trace_id
    ]
    expected = {score.id: score.value for score in _scores(view)}
    known = _look(connection, traces)
    todo = [score for score in _scores(view) if known.get(score.id) != score.value]
    if todo:
        say(f"sending {len(todo):,} scores to {len(traces):,} traces")
    delivery = deliver(connection, todo)
    stopped = delivery.stopped
    end = time.monotonic() + (0.0 if stopped else connection.settings.deadline)
    try:
        while todo:
            known = _look(connection, traces)
            seen = sum(known.get(name) == value for name, value in expected.items())
            if seen == len(expected) or time.monotonic() >= end:
                break
            say(f"waiting for Langfuse to show {seen:,} of {len(expected):,} scores")
            time.sleep(connection.settings.poll)
    except LangfuseError as error:
        stopped = stopped or str(error)
    receipt = TraceReceipt(
        checked=datetime.now(UTC),
        cases=cases,
        traces=len(traces),
        scores=len(expected),
        seen=sum(known.get(name) == value for name, value in expected.items()),
        sent=delivery.accepted,
        rejected=delivery.rejected,
        stopped=stopped,
    )
    (folder.path / RECEIPT).write_text(receipt.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return receipt


def _scores(view: RunView) -> Iterator[ScoreBody]:
    for item in view.items():
        trace_id = item.case.provenance.trace_id
        if trace_id is None:
            continue
        environment = str(item.case.metadata.get("environment", ""))
        yield from item_scores(
            Place(trace_id=trace_id),
            item.evaluations,
            item.case.provenance.time or view.run.created,
            environment if ENVIRONMENT.fullmatch(environment) else None,
        )


def _look(connection: Connection, traces: list[str]) -> dict[str, float]:
    known: dict[str, float] = {}
    for start in range(0, len(traces), TRACES):
        batch = ",".join(traces[start : start + TRACES])
        for score in scores(connection, traceId=batch):
            if score.number is not None:
                known[score.id] = score.number
    return known
