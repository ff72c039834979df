"""Send a local run to Langfuse, or what is missing of it, and read it back.

What was seen already is not sent again; ids and times are fixed, so that what is sent twice is
there once. The receipt, ``langfuse.json`` in the run's folder, says what could be seen.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from ancrage.domain import JsonValue, OutputState, Run
from ancrage.errors import UsageError
from ancrage.langfuse.connection import Connection, LangfuseError
from ancrage.langfuse.dataset import Dataset, find_dataset, read_dataset
from ancrage.langfuse.delivery import Delivery, deliver
from ancrage.langfuse.proof import Expected, Missing, Seen, compare, prove
from ancrage.langfuse.reads import ScoreRow
from ancrage.langfuse.receipt import Receipt, published_target, write_receipt
from ancrage.langfuse.scores import (
    ScoreBody,
    item_scores,
    run_score_id,
    run_scores,
    score_id,
)
from ancrage.langfuse.spans import ReliableExporter, item_spans
from ancrage.langfuse.target import (
    ENVIRONMENT,
    KEY,
    Place,
    RunNote,
    Target,
    experiment_id,
    place,
    run_uid,
)
from ancrage.runs import Item, RunFolder, RunView

if TYPE_CHECKING:
    from ancrage.judges.account import Account

Say = Callable[[str], None]
PARAMETERS = 2_000
"""Characters of a run's parameters that an experiment carries; longer ones stay local."""


def publish(
    connection: Connection,
    folder: RunFolder,
    dataset: str | None = None,
    *,
    session: tuple[Target, Dataset] | None = None,
    fresh: bool = False,
    say: Say = lambda _: None,
) -> Receipt:
    """Send what Langfuse does not show of a run, and wait until all can be seen.

    Args:
        dataset: the dataset that holds the run's cases; by default the one the run was made on
            or last published to, then ``[langfuse] dataset``.
        session: target and dataset, where the caller has just read them.
        fresh: the SDK has just sent the spans; wait for them before sending any again.
        say: called with a line on what is going on.

    Returns:
        The receipt, as written to the run's folder; see ``Receipt.complete``.

    Raises:
        UsageError: no dataset is known, or it does not hold the run's cases.
        LangfuseError: Langfuse cannot be reached.
    """
    server = connection.server
    view = RunView(folder)
    target, cases = session or resolve(connection, folder, dataset)
    outputs = {output.case_id for output in folder.outputs()}
    absent = sorted(outputs - cases.by_case.keys())
    if absent:
        raise UsageError(
            f"dataset {target.dataset!r} lacks {len(absent):,} cases of the run "
            f"({', '.join(absent[:3])}); push its snapshot first: "
            f"invoke push {view.snapshot.path} --dataset {target.dataset}"
        )
    job = _Job(connection, view, target, cases, outputs)
    expected = job.expected()
    seen = Seen()
    missing = compare(seen, expected)
    if not fresh:
        seen, missing = prove(connection, expected, deadline=0.0)
        if missing.foreign:
            raise UsageError(
                f"Langfuse has another run named {target.run_name!r} on dataset "
                f"{target.dataset!r}; delete it there, or make the run again under another name"
            )
    delivery = job.send_scores(seen.scores, say)
    sent_items = 0
    try:
        if fresh:
            seen, missing = job.look(expected, delivery, say)
        sent_items = job.send_items(missing, delivery, say)
        if sent_items or (delivery.accepted and not fresh):
            seen, missing = job.look(expected, delivery, say)
        job.take_back(seen.scores)
    except LangfuseError as error:
        delivery.stopped = delivery.stopped or str(error)
    receipt = Receipt(
        run=view.run.id,
        target=target,
        url=target.url,
        server=server.version,
        checked=datetime.now(UTC),
        cases=view.run.counts.get("cases", len(outputs)),
        items=len(expected.places),
        items_seen=len(expected.places) - len(missing.items),
        scores=len(expected.scores),
        scores_seen=len(expected.scores) - len(missing.scores),
        sent_items=sent_items,
        sent_scores=delivery.accepted,
        rejected={expected.scores[name][0]: why for name, why in delivery.rejected.items()},
        stopped=delivery.stopped,
        missing=missing,
    )
    write_receipt(folder, receipt)
    return receipt


class _Job:
    """One publication."""

    def __init__(
        self,
        connection: Connection,
        view: RunView,
        target: Target,
        dataset: Dataset,
        outputs: set[str],
    ) -> None:
        self.connection, self.view, self.target = connection, view, target
        self.dataset, self.outputs = dataset, outputs
        self.run: Run = view.run

    def items(self) -> Iterator[tuple[str, Item, Place]]:
        """Item id, item and place of every output."""
        for item in self.view.items():
            if item.case.id in self.outputs:
                name = self.dataset.by_case[item.case.id].id
                yield name, item, place(self.target, self.run, name, item.output)

    def expected(self) -> Expected:
        places: dict[str, Place] = {}
        failed: set[str] = set()
        since = self.run.created
        for name, item, where in self.items():
            places[name] = where
            since = min(since, item.output.started or since)
            if item.output.state is not OutputState.OK:
                failed.add(name)
        item_of = {where.observation_id: name for name, where in places.items()}
        scores = {
            each.id: (f"{each.name} on {item_of.get(each.observation_id, 'the run')}", each.value)
            for each in self.scores()
        }
        return Expected(
            target=self.target,
            since=since,
            places=places,
            failed=frozenset(failed),
            scores=scores,
            run_uid=run_uid(self.run),
        )

    def scores(self) -> Iterator[ScoreBody]:
        """All scores of the run; their time is the run's, so that a new scoring replaces them."""
        if not self.view.scorings:
            return
        created = self.run.created
        for _, item, where in self.items():
            yield from item_scores(where, item.evaluations, created, ENVIRONMENT)
        counts = self.run.counts
        judges: list[Account] = []
        if any("judge" in info.details for info, _ in self.view.evaluators.values()):
            from ancrage.judges.account import current_accounts

            judges = [*current_accounts(self.view)]
        about = self.view.summaries(), counts, created, judges
        yield from run_scores(self.target.experiment_id, *about)

    def look(self, expected: Expected, delivery: Delivery, say: Say) -> tuple[Seen, Missing]:
        """Wait until all that was taken can be seen; look only once where sending stopped."""
        taken = {k: v for k, v in expected.scores.items() if k not in delivery.rejected}
        deadline = 0.0 if delivery.stopped else None
        awaited = replace(expected, scores=taken)
        seen, _ = prove(self.connection, awaited, deadline=deadline, say=say)
        return seen, compare(seen, expected)

    def send_items(self, missing: Missing, delivery: Delivery, say: Say) -> int:
        """Send the items that are absent or wrong; returns how many."""
        wanted = {*missing.items, *missing.levels, *missing.versions}
        if not wanted:
            return 0
        say(f"sending {len(wanted):,} items")
        exporter = ReliableExporter(self.connection)
        metadata = experiment_metadata(self.view)
        exporter.send(
            span
            for name, item, where in self.items()
            if name in wanted
            for span in item_spans(
                self.connection.credentials.public_key,
                self.target,
                item.case,
                item.output,
                where,
                item=self.dataset.by_case[item.case.id],
                started=item.output.started or self.run.created,
                metadata=metadata,
                description=description(self.run),
            )
        )
        exporter.shutdown()
        if exporter.failed:
            delivery.stopped = delivery.stopped or exporter.error
        return len(wanted)

    def send_scores(self, known: Mapping[str, ScoreRow], say: Say) -> Delivery:
        """Deliver the scores that are not stored as they are."""
        missing = [score for score in self.scores() if not score.is_stored(known.get(score.id))]
        if missing:
            say(f"sending {len(missing):,} scores")
        return deliver(self.connection, missing)

    def take_back(self, known: Mapping[str, ScoreRow]) -> None:
        """Delete the scores of ours that have no value any more."""
        for stale in self._stale(known):
            self.connection.call(self.connection.api.scores.delete, stale)

    def _stale(self, known: Mapping[str, ScoreRow]) -> Iterator[str]:
        current = {score.id for score in self.scores()}
        modes = [mode.name for mode in self.view.modes]
        of_run = [f"{name}.rate" for name in modes]
        of_run += [f"cases.{state}" for state in (*OutputState, "not_run")]
        ids = [run_score_id(self.target.experiment_id, name) for name in of_run]
        for _, _, where in self.items():
            ids += [score_id(where, name) for name in modes]
        yield from (found for found in ids if found in known and found not in current)


def resolve(
    connection: Connection, folder: RunFolder, dataset: str | None
) -> tuple[Target, Dataset]:
    """Where a run goes, and the dataset as it was when it went there first.

    Where that dataset was deleted and pushed again, the run goes to the new one.

    Raises:
        UsageError: no dataset is known.
    """
    run = folder.run
    earlier = [found for found in (_target_of(run), published_target(folder)) if found]
    for target in earlier:
        if dataset not in (None, target.dataset):
            continue
        if find_dataset(connection, target.dataset).id == target.dataset_id:
            return target, read_dataset(connection, target.dataset, target.version)
        dataset = target.dataset
    name = dataset or connection.settings.dataset
    if name is None:
        raise UsageError(
            f"run {run.id} was made without Langfuse: name the dataset that holds its cases "
            "with --dataset, or in [langfuse] dataset"
        )
    found = read_dataset(connection, name)
    return new_target(connection, found, run.id), found


def new_target(connection: Connection, dataset: Dataset, run_name: str) -> Target:
    """The experiment of that name on that version of a dataset."""
    server = connection.server
    return Target(
        base_url=connection.credentials.base_url,
        project_id=server.project_id,
        dataset=dataset.name,
        dataset_id=dataset.id,
        version=dataset.version,
        experiment_id=experiment_id(server.project_id, dataset.id, run_name),
        run_name=run_name,
    )


def experiment_metadata(view: RunView) -> dict[str, JsonValue]:
    """What an experiment says of its run; see ``RunNote``."""
    run = view.run
    note = RunNote(
        run=run.id,
        uid=run_uid(run),
        created=run.created,
        kind=run.kind,
        group=run.group,
        repeat=run.repeat,
        snapshot=run.snapshot.hash[:12],
        versions=run.versions,
        evaluators={name: info.version for name, (info, _) in view.evaluators.items()},
        parameters=run.parameters if len(str(run.parameters)) < PARAMETERS else {},
    )
    return note.model_dump(mode="json", exclude_defaults=True)


def description(run: Run) -> str:
    """One line on a run, for the interface."""
    return f"Ancrage {run.kind} {run.name}" + (f", repeat {run.repeat}" if run.group else "")


def _target_of(run: Run) -> Target | None:
    """The experiment that a run was made as; None when it was made without Langfuse."""
    found = run.details.get(KEY)
    return Target.model_validate(found) if isinstance(found, dict) else None
