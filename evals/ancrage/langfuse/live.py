"""Score production traces in place: the scores of a run go to the traces its cases come from."""

import asyncio
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ancrage.config import load
from ancrage.domain import Frozen
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator
from ancrage.langfuse.connection import Connection, LangfuseError
from ancrage.langfuse.delivery import deliver
from ancrage.langfuse.proof import TRACES
from ancrage.langfuse.reads import ScoreRow, scores
from ancrage.langfuse.scores import ScoreBody, item_scores, score_id
from ancrage.langfuse.target import Place
from ancrage.runs import RunFolder, RunView, create_run, recorded, run_experiment
from ancrage.runs.progress import track
from ancrage.snapshot import open_snapshot
from ancrage.snapshot.manifest import Filters, PseudonymMode
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.sources import open_source
from ancrage.snapshot.take import take_snapshot
from ancrage.studies import Studies

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
                Studies(data),
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
    known = _look(connection, traces)
    expected = {score.id: score for score in _scores(view, known)}
    todo = [score for score in expected.values() if not score.is_stored(known.get(score.id))]
    if todo:
        say(f"sending {len(todo):,} scores to {len(traces):,} traces")
    delivery = deliver(connection, todo)
    awaited = expected.keys() - delivery.rejected.keys()

    def seen(names: AbstractSet[str]) -> int:
        rows = {name: known.get(name) for name in names}
        return sum(row is not None and row.number == expected[n].value for n, row in rows.items())

    stopped = delivery.stopped
    try:
        for stale in _stale(view, known.keys() - expected.keys()):
            connection.call(connection.api.scores.delete, stale)
        end = time.monotonic() + (0.0 if stopped else connection.settings.deadline)
        while todo:
            known = _look(connection, traces)
            if seen(awaited) == len(awaited) or time.monotonic() >= end:
                break
            say(f"waiting for Langfuse to show {seen(awaited):,} of {len(awaited):,} scores")
            time.sleep(connection.settings.poll)
    except LangfuseError as error:
        stopped = stopped or str(error)
    receipt = TraceReceipt(
        checked=datetime.now(UTC),
        cases=cases,
        traces=len(traces),
        scores=len(expected),
        seen=seen(expected.keys()),
        sent=delivery.accepted,
        rejected={
            f"{expected[name].name} on trace {expected[name].trace_id}": why
            for name, why in delivery.rejected.items()
        },
        stopped=stopped,
    )
    (folder.path / RECEIPT).write_text(receipt.model_dump_json(indent=2) + "\n", encoding="utf-8")
    return receipt


def _scores(view: RunView, known: Mapping[str, ScoreRow]) -> Iterator[ScoreBody]:
    for item in view.items():
        trace_id = item.case.provenance.trace_id
        if trace_id is None:
            continue
        environment = str(item.case.metadata.get("environment", ""))
        time_of_trace = item.case.provenance.time
        for score in item_scores(
            Place(trace_id=trace_id),
            item.evaluations,
            time_of_trace or view.run.created,
            environment if ENVIRONMENT.fullmatch(environment) else None,
        ):
            # The day is part of a score's identity: where the case knows no time, an earlier
            # score's is kept, or scoring again would double it.
            earlier = None if time_of_trace else known.get(score.id)
            if earlier and earlier.timestamp:
                score = score.model_copy(update={"timestamp": earlier.timestamp})
            yield score


def _stale(view: RunView, others: AbstractSet[str]) -> Iterator[str]:
    """Scores that an earlier run put there for modes that are unscored now."""
    for item in view.items():
        where = Place(trace_id=item.case.provenance.trace_id or "")
        ids = (score_id(where, mode.name) for mode in view.modes)
        yield from (found for found in ids if found in others)


def _look(connection: Connection, traces: list[str]) -> dict[str, ScoreRow]:
    known: dict[str, ScoreRow] = {}
    for start in range(0, len(traces), TRACES):
        batch = ",".join(traces[start : start + TRACES])
        known |= {score.id: score for score in scores(connection, traceId=batch)}
    return known
