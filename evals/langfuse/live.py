"""Score production traces in place: the scores of a run go to the traces its cases come from."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from evals.config import load
from evals.domain import Frozen
from evals.errors import UsageError
from evals.evaluator import Evaluator
from evals.langfuse.connection import Connection, LangfuseError
from evals.langfuse.delivery import deliver
from evals.langfuse.proof import TRACES
from evals.langfuse.reads import scores
from evals.langfuse.scores import ScoreBody, item_scores, score_id
from evals.langfuse.target import Place
from evals.runs import RunFolder, RunView, create_run, recorded, run_experiment
from evals.runs.progress import track
from evals.snapshot import open_snapshot
from evals.snapshot.manifest import Filters, PseudonymMode
from evals.snapshot.pseudonyms import Pseudonymiser
from evals.snapshot.sources import open_source
from evals.snapshot.take import take_snapshot
from evals.source import Sources

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


def check_production(
    source: str,
    days: float,
    evaluators: Sequence[Evaluator],
    *,
    limit: int | None = None,
    concurrency: int = 8,
    say: Callable[[str], None] = lambda _: None,
) -> RunFolder:
    """Take a snapshot of production's last ``days`` and audit it; returns the run.

    Raises:
        UsageError: no trace is a case.
        LangfuseError: production cannot be read.
    """
    config, now = load(), datetime.now(UTC)
    path = Path("snapshots", f"{source}-{now:%Y%m%d-%H%M%S}")
    filters = Filters(limit=limit, days=days, since=now - timedelta(days=days))
    hidden = Pseudonymiser.configured(PseudonymMode.RESPONDENTS, config)
    with closing(open_source(source, config)) as opened:
        counts = take_snapshot(opened, path, filters, hidden).counts
    say(f"{path}: {counts.kept:,} traces kept of {counts.read:,} read")
    if not counts.kept:
        raise UsageError(f"no trace of the last {days:g} days is a case; see {path}/rejects.jsonl")
    data = open_snapshot(path)
    folder = create_run(data, kind="audit")
    with track("Checking", counts.kept) as advance:
        asyncio.run(
            run_experiment(
                folder,
                data.cases(),
                recorded,
                evaluators,
                Sources(data),
                concurrency=concurrency,
                on_item=lambda *_: advance(),
            )
        )
    return folder


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
    try:
        for stale in _stale(view, known.keys() - expected.keys()):
            connection.call(connection.api.scores.delete, stale)
    except LangfuseError as error:
        stopped = stopped or str(error)
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


def _stale(view: RunView, others: AbstractSet[str]) -> Iterator[str]:
    """Scores that an earlier run put there for modes that are unscored now."""
    for item in view.items():
        where = Place(trace_id=item.case.provenance.trace_id or "")
        ids = (score_id(where, mode.name) for mode in view.modes)
        yield from (found for found in ids if found in others)


def _look(connection: Connection, traces: list[str]) -> dict[str, float]:
    known: dict[str, float] = {}
    for start in range(0, len(traces), TRACES):
        batch = ",".join(traces[start : start + TRACES])
        for score in scores(connection, traceId=batch):
            if score.number is not None:
                known[score.id] = score.number
    return known
