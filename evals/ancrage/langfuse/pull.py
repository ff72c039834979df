"""Rebuild the local record of an experiment in Langfuse.

A run of ours comes back as it was published: its scores carry the record. Of an experiment that
another tool made, what the API gives is read: outputs by the conventions for traces, and scores,
which stay apart as another tool's, since nobody knows whether more of them is better.
"""

import os
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ancrage.domain import (
    Answer,
    Evaluation,
    EvaluatorInfo,
    FailureMode,
    Frozen,
    JsonValue,
    Output,
    OutputState,
    RunState,
    Score,
    Scored,
    Scoring,
    SnapshotRef,
)
from ancrage.errors import IncompleteError, UsageError
from ancrage.files import built_aside
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.dataset import (
    Dataset,
    find_dataset,
    list_datasets,
    local_snapshot,
    read_dataset,
)
from ancrage.langfuse.publish import new_target
from ancrage.langfuse.reads import (
    BEGINNING,
    Experiment,
    ItemRow,
    PagingError,
    ScoreRow,
    experiment_items,
    experiments,
    scores,
    scores_of_traces,
)
from ancrage.langfuse.scores import (
    ANCHORED,
    CASES,
    ItemRecord,
    RunRecord,
    ScoredBy,
    note_of,
    record_of,
)
from ancrage.langfuse.shapes import at, text_of, value_of
from ancrage.langfuse.target import KEY, Target
from ancrage.runs import RUNS, RunFolder, create_run
from ancrage.runs.loop import close_run, close_scoring
from ancrage.runs.record import run_id
from ancrage.snapshot import Snapshot

EXTERNAL = "external"
"""The kind of evaluators that are not ours."""
FOREIGN = ("langfuse", "1")
"""Name and version of the evaluator that scores of other tools come from."""


class Pulled(Frozen):
    """What ``pull`` made of an experiment."""

    run_id: str
    path: str
    items: int
    scores: int
    left_out: dict[str, int] = {}
    """What a run record has no place for, or could not be read, by name."""
    lacking: int = 0
    """Items whose outputs or scores could not be read whole."""


def pull(
    connection: Connection, reference: str, dataset: str | None = None, root: Path = RUNS
) -> Pulled:
    """Rebuild the local record of an experiment, by its name or id, under ``root``.

    The run appears there when it is whole; killed before, the same call does it again.

    Raises:
        UsageError: no experiment, or several, answer to it; the run is here already, or another
            process is pulling it.
        LangfuseError: Langfuse cannot be read, or not whole.
        OSError: the run, or its snapshot, cannot be written; names its folder.
    """
    _ = connection.server
    found = _find(connection, reference, dataset)
    rows = list(experiment_items(connection, found.id, BEGINNING, "core,dataset,io"))
    if len(rows) < found.item_count:
        raise PagingError(
            f"experiment {found.name!r}: Langfuse says {found.item_count:,} items and gave "
            f"{len(rows):,}; try again"
        )
    items = _latest(rows)
    source = _dataset(connection, found, items, dataset)
    snapshot = local_snapshot(connection, source)
    written: dict[str, list[ScoreRow]] = {}
    for row in scores_of_traces(connection, [item.trace_id for item in items]):
        written.setdefault(str(row.trace_id), []).append(row)
    record = _run_record(scores(connection, experimentId=found.id, name=CASES))
    known = record.run.id if record else found.name
    name = run_id(known if re.search(r"\w", known) else found.id)
    taken = f"run {name!r} exists already in {root}; move it away to pull it again"
    try:
        with built_aside(root / name, taken) as new:
            target = new_target(connection, source, found.name, found.id)
            folder = _create(new, root / name, snapshot, found, record, target)
            return _fill(folder, source, snapshot, found, items, written, record).model_copy(
                update={"path": str(root / name)}
            )
    except IncompleteError as error:
        if isinstance(error.__cause__, OSError):  # a journal's, which keeps what it has: not here
            error.__cause__.filename = str(root / name)
            raise error.__cause__ from None
        raise


def _fill(
    folder: RunFolder,
    source: Dataset,
    snapshot: Snapshot,
    found: Experiment,
    items: Sequence[ItemRow],
    written: Mapping[str, Sequence[ScoreRow]],
    record: RunRecord | None,
) -> Pulled:
    """Write the outputs and scores of ``items``."""
    left_out: Counter[str] = Counter()
    lacking = 0
    case_of = {item.id: name for name, item in source.by_case.items()}
    entries: list[Scored] = []
    with folder.journal() as outputs:
        for item in items:
            case_id = case_of.get(item.experiment_item_id)
            if case_id is None:
                left_out["items no longer in the dataset"] += 1
                lacking += 1
                continue
            own = written.get(item.trace_id, ())
            whole = _item_record(own, case_id) if record else None
            if record and whole is None:
                left_out["items whose record is missing: publish the run again"] += 1
                lacking += 1
            if whole is None:
                output = _output(item, case_id, found.id)
                entry = _scored(case_id, own, record, left_out)
            else:
                output = whole.output
                others = _foreign_scores([row for row in own if not _ours(row)], record, left_out)
                evaluations = (*whole.evaluations, *others)
                entry = Scored(case_id=case_id, evaluations=evaluations, anchors=whole.anchors)
            outputs.append(output)
            entries.append(entry)
    _save_scorings(folder, found, record, entries)
    run = close_run(folder, snapshot.manifest.counts.kept)
    if record:
        ended = {"state": record.run.state, "finished": record.run.finished}
        folder.save(run.model_copy(update=ended if run.state is RunState.COMPLETE else {}))
    return Pulled(
        run_id=folder.run.id,
        path=str(folder.path),
        items=len(entries),
        scores=sum(len(done.scores) for entry in entries for done in entry.evaluations),
        left_out=dict(left_out),
        lacking=lacking,
    )


def _create(
    new: Path,
    home: Path,
    snapshot: Snapshot,
    experiment: Experiment,
    record: RunRecord | None,
    target: Target,
) -> RunFolder:
    """The run's folder and its manifest: the published one, but for where things lie."""
    kind = record.run.kind if record else "langfuse"
    folder = create_run(snapshot, kind=kind, name=new.name, root=new.parent)
    path = os.path.relpath(snapshot.path.resolve(), home.resolve())
    lies = {"snapshot": SnapshotRef(path=path, hash=snapshot.hash)}
    made = folder.run.model_copy(update=lies)
    if record:
        made = record.run.model_copy(update=lies)
    else:
        made = made.model_copy(
            update={"name": experiment.name, "created": experiment.start_time, "versions": {}}
        )
    folder.save(
        made.model_copy(update={"details": {**made.details, KEY: target.model_dump(mode="json")}})
    )
    return folder


def _save_scorings(
    folder: RunFolder, experiment: Experiment, record: RunRecord | None, entries: Sequence[Scored]
) -> None:
    """One scoring for each that the published run was scored in, with its own time."""
    known = {found.info.name: found for found in record.evaluators} if record else {}
    met = {done.evaluator for entry in entries for done in entry.evaluations}
    for name in sorted(met - known.keys()):
        info = _info(name, entries)
        known[name] = ScoredBy(info=info, made=experiment.start_time)
    groups: dict[datetime, list[ScoredBy]] = {}
    for found in known.values():
        groups.setdefault(found.made, []).append(found)
    for number, (made, together) in enumerate(sorted(groups.items())):
        scoring = folder.new_scoring(())
        names = {found.info.name for found in together}
        infos = tuple(found.info for found in together)
        scoring.save(
            Scoring.model_validate(
                {**scoring.scoring.model_dump(), "created": made, "evaluators": infos}
            )
        )
        with scoring.journal() as journal:
            for entry in entries:
                own = tuple(done for done in entry.evaluations if done.evaluator in names)
                # How the answer was read is one thing, whoever scored it: kept once.
                anchors = entry.anchors if number == 0 else None
                journal.append(entry.model_copy(update={"evaluations": own, "anchors": anchors}))
        closed = close_scoring(folder, scoring)
        finished = {"finished": made, "state": max(found.state for found in together)}
        if closed.state is RunState.COMPLETE:
            scoring.save(closed.model_copy(update=finished))


def _find(connection: Connection, reference: str, dataset: str | None) -> Experiment:
    query = {"datasetId": find_dataset(connection, dataset).id} if dataset else {}
    named = experiments(connection, {"name": reference, **query})
    found = [*named, *experiments(connection, {"id": reference, **query})]
    if len(found) == 1:
        return found[0]
    if not found:
        where = f" on dataset {dataset!r}" if dataset else ""
        raise UsageError(f"Langfuse has no run {reference!r}{where}: see its page Experiments")
    raise UsageError(
        f"Langfuse has {len(found)} runs named {reference!r}: say which with --dataset, or by id "
        f"({', '.join(row.id for row in found)})"
    )


def _latest(items: Iterable[ItemRow]) -> list[ItemRow]:
    """The last attempt at each item, oldest first."""
    kept: dict[str, ItemRow] = {}
    for item in sorted(items, key=lambda item: item.start_time):
        kept[item.experiment_item_id] = item
    return list(kept.values())


def _dataset(
    connection: Connection,
    experiment: Experiment,
    items: Sequence[ItemRow],
    name: str | None,
) -> Dataset:
    versions = Counter(item.experiment_item_version for item in items)
    version = versions.most_common(1)[0][0] if versions else None
    if name is None:
        known = list_datasets(connection)
        name = next((row.name for row in known if row.id == experiment.dataset_id), None)
    if name is None:
        raise UsageError(
            f"run {experiment.name!r} is on no dataset of this project; give --dataset"
        )
    return read_dataset(connection, name, version)


def _run_record(rows: Iterable[ScoreRow]) -> RunRecord | None:
    for row in rows:
        try:
            return RunRecord.model_validate(record_of(row))
        except ValidationError:
            continue
    return None


def _item_record(rows: Iterable[ScoreRow], case_id: str) -> ItemRecord | None:
    for row in rows:
        if row.name != ANCHORED:
            continue
        try:
            found = ItemRecord.model_validate(record_of(row))
        except ValidationError:
            continue
        if found.output.case_id == case_id:
            return found
    return None


def _ours(row: ScoreRow) -> bool:
    return note_of(row) is not None or (row.name == ANCHORED and record_of(row) is not None)


def _output(item: ItemRow, case_id: str, experiment_id: str) -> Output:
    """The output of a task that is not ours, or whose record is missing."""
    mark: dict[str, JsonValue] = {
        "experiment_id": experiment_id,
        "trace_id": item.trace_id,
        "observation_id": item.id,
    }
    returned: Any = value_of(item.output)
    text = text_of(returned)
    state, reason = OutputState.OK, None
    if item.level == "ERROR":
        state, reason = OutputState.FAILED, str(at(returned, "reason") or text or "failed")[:500]
        text = None
    elif text is None:
        state, reason = OutputState.EMPTY, "no text in the output"
    elif not text.strip():
        state, reason = OutputState.EMPTY, "empty text"
    return Output(
        case_id=case_id,
        state=state,
        answer=Answer(text=text) if text else None,
        reason=reason,
        started=item.start_time,
        details={KEY: mark},
    )


def _scored(
    case_id: str, rows: Sequence[ScoreRow], record: RunRecord | None, left_out: Counter[str]
) -> Scored:
    """The scores of an item without record: those of ours are unscored, as their evidence is
    gone; those of others are theirs."""
    lost = [
        Evaluation(
            evaluator=found.info.name,
            version=found.info.version,
            scores=tuple(
                Score.unscored(mode.name, "its record could not be read in Langfuse")
                for mode in found.info.modes
            ),
        )
        for found in (record.evaluators if record else ())
    ]
    others = _foreign_scores([row for row in rows if not _ours(row)], record, left_out)
    return Scored(case_id=case_id, evaluations=(*lost, *others))


def _foreign_scores(
    rows: Sequence[ScoreRow], record: RunRecord | None, left_out: Counter[str]
) -> tuple[Evaluation, ...]:
    """What other tools and people say of an item, as one evaluator's word; a mode that the run's
    own evaluators score, a text, and what is said twice are left out and counted."""
    owned = {
        mode.name for found in (record.evaluators if record else ()) for mode in found.info.modes
    }
    found: dict[str, Score] = {}
    for row in rows:
        mode = _mode_name(row.name)
        if mode is None or row.number is None or mode in found or mode in owned:
            left_out[row.name] += 1
            continue
        found[mode] = Score(name=mode, value=row.number)
    if not found:
        return ()
    return (Evaluation(evaluator=FOREIGN[0], version=FOREIGN[1], scores=tuple(found.values())),)


def _mode_name(name: str) -> str | None:
    """A score's name as that of a failure mode; None when it cannot be one."""
    mode = "".join(letter if letter.isalnum() else "_" for letter in name.lower()).strip("_")
    return mode if mode.isascii() and mode[:1].isalpha() else None


def _info(name: str, entries: Iterable[Scored]) -> EvaluatorInfo:
    modes: dict[str, FailureMode] = {}
    for entry in entries:
        for done in entry.evaluations:
            for score in done.scores if done.evaluator == name else ():
                title = score.name.replace("_", " ").capitalize()
                said = "As scored in Langfuse by another tool; more may be better or worse."
                modes[score.name] = FailureMode(name=score.name, title=title, definition=said)
    return EvaluatorInfo(name=name, version=FOREIGN[1], modes=tuple(modes.values()), kind=EXTERNAL)
