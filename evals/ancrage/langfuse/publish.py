"""Publish a run: send what Langfuse does not show of it, and read it back.

The record is the only source, whether the run has ended, grows, or was pulled: what was seen
already is not sent again, ids and times are fixed so that what is sent twice is there once, and
nothing is ever deleted. The receipt, ``langfuse.json`` in the run's folder, says what was seen.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

from ancrage.domain import Run
from ancrage.errors import UsageError
from ancrage.langfuse.connection import Connection, LangfuseError
from ancrage.langfuse.dataset import Dataset, find_dataset, read_dataset
from ancrage.langfuse.delivery import Delivery, Sender
from ancrage.langfuse.publication import Only, Publication
from ancrage.langfuse.readback import Expected, Missing, Say, Seen, Stored, compare, read_back
from ancrage.langfuse.reads import experiments
from ancrage.langfuse.receipt import Receipt, published_target, write_receipt
from ancrage.langfuse.scores import Note, ScoreBody, score_id, unscored
from ancrage.langfuse.target import ENVIRONMENT, KEY, Target, experiment_id
from ancrage.program import called
from ancrage.runs import RunFolder, RunView


def publish(
    connection: Connection,
    folder: RunFolder,
    dataset: str | None = None,
    *,
    session: tuple[Target, Dataset] | None = None,
    only: Only = "all",
    force: bool = False,
    fresh: bool = False,
    say: Say = lambda _: None,
) -> Receipt:
    """Send what Langfuse does not show of a run, and wait until all can be seen.

    Args:
        dataset: the dataset that holds the run's cases; by default the one the run was made on
            or last published to, then ``[langfuse] dataset``.
        session: target and dataset, where the caller has just read them.
        only: ``failing`` sends the answers that fail or could not be given, and the scores of
            the whole run.
        force: overwrite what Langfuse holds of this run even where this record knows less.
        fresh: all items have just been sent; wait for them before sending any again.
        say: called with a line on what is going on.

    Returns:
        The receipt, as written to the run's folder; see ``Receipt.complete``.

    Raises:
        UsageError: no dataset is known, it does not hold the run's cases, or Langfuse holds more
            of the run than this record.
        LangfuseError: Langfuse cannot be reached.
    """
    server = connection.server
    view = RunView(folder)
    before = published_target(folder)
    target, cases = session or resolve(connection, folder, dataset)
    outputs = {output.case_id for output in folder.outputs()}
    if absent := sorted(outputs - cases.by_case.keys()):
        raise UsageError(
            f"dataset {target.dataset!r} lacks {len(absent):,} cases of the run "
            f"({', '.join(absent[:3])}); push its snapshot first: "
            f"{called(f'push {view.snapshot.path} --dataset {target.dataset}')}"
        )
    whole = Publication(connection, view, target, cases, only)
    expected = whole.expected()
    if fresh:
        of_items = {n: sent for n, sent in expected.scores.items() if sent.trace_id}
        seen, _ = read_back(connection, replace(expected, scores=of_items), say=say)
        missing = compare(seen, expected)
    else:
        seen, missing = read_back(connection, expected, deadline=0.0)
    if missing.foreign:
        raise UsageError(
            f"Langfuse has another run named {target.run_name!r} on dataset {target.dataset!r}; "
            "delete it there, or make the run again under another name"
        )
    also = frozenset(seen.items)
    if only == "failing" and also - expected.places.keys():
        expected = whole.expected(also)
        seen, missing = read_back(connection, expected, deadline=0.0)
    superseded = list(_superseded(whole, expected, seen, force=force))
    sender = Sender(connection, say)
    delivery = sender.delivery
    wanted = {*missing.items, *missing.levels, *missing.versions}
    if wanted:
        say(f"sending {len(wanted):,} items")
        chosen = (item for item in whole.items(also) if whole.item_id(item) in wanted)
        sender.spans(span for item in chosen for span in whole.spans(item))
    todo = {n for n, sent in expected.scores.items() if not seen.holds(n, sent)}
    if todo or superseded:
        say(f"sending {len(todo) + len(superseded):,} scores")
        bodies = (body for body in _bodies(whole, also) if body.id in todo)
        sender.scores(bodies, len(todo))
        sender.scores(superseded)
    if wanted or delivery.accepted:
        awaited = {n: s for n, s in expected.scores.items() if n not in delivery.rejected}
        asked = replace(expected, scores=awaited)
        try:
            deadline = 0.0 if delivery.stopped else None
            seen, missing = read_back(connection, asked, seen, deadline=deadline, say=say)
        except LangfuseError as error:
            delivery.stopped = delivery.stopped or str(error)
        refused = tuple(expected.scores[name].label for name in delivery.rejected)
        missing = missing.model_copy(update={"scores": (*missing.scores, *refused)})
    receipt = _receipt(whole, expected, missing, delivery, before, len(wanted), server.version)
    write_receipt(folder, receipt)
    return receipt


def _bodies(whole: Publication, also: frozenset[str]) -> Iterator[ScoreBody]:
    for item in whole.items(also):
        yield from whole.scores(item)
    yield from whole.run_scores()


def _superseded(
    whole: Publication, expected: Expected, seen: Seen, *, force: bool
) -> Iterator[ScoreBody]:
    """What replaces the scores of modes that the run has no more.

    Raises:
        UsageError: Langfuse holds more of the run than this record, and ``force`` was not given.
    """
    made = {found.info.name: found.made for found in whole.record.evaluators}
    richer = [
        stored.name
        for name, stored in seen.scores.items()
        if (sent := expected.scores.get(name))
        and stored.note
        and sent.note
        and sent.note.poorer_than(stored.note)
    ]
    gone: list[tuple[str, Stored, Note]] = []
    for name, stored in seen.scores.items():
        if name in expected.scores or stored.note is None:
            continue
        newer = made.get(stored.note.evaluator)
        if newer is None or newer <= datetime.fromisoformat(stored.note.made):
            richer.append(stored.name)
        gone.append((name, stored, stored.note))
    if richer and not force:
        modes = ", ".join(f"{mode} ({n:,})" for mode, n in Counter(richer).most_common(3))
        raise UsageError(
            f"Langfuse holds more of this run than this record: {len(richer):,} scores by later "
            f"or fuller scorings: {modes}. Get it in another folder: "
            f"{called(f'pull {whole.target.experiment_id}')}; or overwrite it: --force"
        )
    ids = {score_id(where, s.name): where for where in expected.places.values() for _, s, _ in gone}
    for name, stored, note in gone:
        where = ids.get(name)
        said = unscored(f"{stored.name} is no longer looked for")
        if (
            where
            and stored.content
            != (
                body := ScoreBody(
                    id=name,
                    trace_id=where.trace_id,
                    observation_id=where.observation_id,
                    name=stored.name,
                    environment=ENVIRONMENT,
                    timestamp=stored.timestamp or whole.run.created,
                    metadata=note.model_dump(),
                    **said,
                )
            ).content
        ):
            yield body


def _receipt(
    whole: Publication,
    expected: Expected,
    missing: Missing,
    delivery: Delivery,
    before: Target | None,
    sent_items: int,
    server: str,
) -> Receipt:
    view, target = whole.view, whole.target
    baseline = _baseline(whole)
    worst = whole.worst()
    moved = before is not None and before.base_url != target.base_url
    return Receipt(
        run=view.run.id,
        target=target,
        url=target.url(baseline),
        failing_url=target.url(baseline, worst) if worst else None,
        worst=worst,
        moved_from=before.url() if before and moved else None,
        server=server,
        checked=datetime.now(UTC),
        cases=view.snapshot.manifest.counts.kept,
        items=len(expected.places),
        items_seen=len(expected.places) - len(missing.items),
        scores=len(expected.scores),
        scores_seen=len(expected.scores) - len(missing.scores),
        sent_items=sent_items,
        sent_scores=delivery.accepted,
        rejected={expected.scores[name].label: why for name, why in delivery.rejected.items()},
        stopped=delivery.stopped,
        missing=missing,
    )


def _baseline(whole: Publication) -> str | None:
    """The experiment on the dataset that began last before this one."""
    try:
        rows = list(experiments(whole.connection, {"datasetId": whole.target.dataset_id}))
    except LangfuseError:
        return None
    others = [
        row
        for row in rows
        if row.id != whole.target.experiment_id and row.start_time < whole.run.created
    ]
    return max(others, key=lambda row: row.start_time).id if others else None


def resolve(
    connection: Connection, folder: RunFolder, dataset: str | None
) -> tuple[Target, Dataset]:
    """Where a run goes, and the dataset as it was when it went there first.

    Where that dataset was deleted and pushed again, the run goes to the new one; where the server
    has another address now, its address is the new one.

    Raises:
        UsageError: no dataset is known.
    """
    run = folder.run
    earlier = [found for found in (made_as(run), published_target(folder)) if found]
    for target in earlier:
        if dataset not in (None, target.dataset):
            continue
        if find_dataset(connection, target.dataset).id == target.dataset_id:
            moved = target.model_copy(update={"base_url": connection.credentials.base_url})
            return moved, read_dataset(connection, target.dataset, target.version)
        dataset = target.dataset
    name = dataset or connection.settings.dataset
    if name is None:
        raise UsageError(
            f"run {run.id} was made without Langfuse: name the dataset that holds its cases "
            "with --dataset, or in [langfuse] dataset"
        )
    found = read_dataset(connection, name)
    return new_target(connection, found, run.id), found


def new_target(
    connection: Connection, dataset: Dataset, run_name: str, known_id: str | None = None
) -> Target:
    """The experiment of that name (and id, where it is there already) on a dataset's version."""
    server = connection.server
    return Target(
        base_url=connection.credentials.base_url,
        project_id=server.project_id,
        dataset=dataset.name,
        dataset_id=dataset.id,
        version=dataset.version,
        experiment_id=known_id or experiment_id(server.project_id, dataset.id, run_name),
        run_name=run_name,
    )


def made_as(run: Run) -> Target | None:
    """The experiment that a run was made as; None when it was made without Langfuse."""
    found = run.details.get(KEY)
    return Target.model_validate(found) if isinstance(found, dict) else None
