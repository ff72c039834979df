"""Rebuild the local record of an experiment in Langfuse."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from ancrage.domain import (
    Answer,
    Evaluation,
    EvaluatorInfo,
    FailureMode,
    Finding,
    Frozen,
    JsonValue,
    Output,
    OutputState,
    Passage,
    Score,
    Scored,
)
from ancrage.errors import UsageError
from ancrage.evaluator import Evaluator
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.dataset import (
    Dataset,
    find_dataset,
    list_datasets,
    local_snapshot,
    read_dataset,
)
from ancrage.langfuse.items import ItemOutput
from ancrage.langfuse.reads import (
    BEGINNING,
    Experiment,
    ItemRow,
    experiment_items,
    experiments,
    note,
)
from ancrage.langfuse.scores import UNSCORED, ScoreNote, UnscoredNote
from ancrage.langfuse.shapes import text_of, value_of
from ancrage.langfuse.target import KEY, RunNote, Target
from ancrage.runs import RUNS, RunFolder, create_run
from ancrage.runs.loop import close_run, close_scoring
from ancrage.studies import Studies

EVERYTHING = "core,dataset,io,experimentMetadata,scores"
Owner = tuple[str, str]
"""Name and version of an evaluator."""
FOREIGN = ("langfuse", "1")


class Pulled(Frozen):
    """What ``pull`` made of an experiment."""

    run_id: str
    path: str
    items: int
    scores: int
    left_out: dict[str, int] = {}
    """Scores that a run record has no place for, by name: texts and categories."""


def pull(
    connection: Connection, reference: str, dataset: str | None = None, root: Path = RUNS
) -> Pulled:
    """Rebuild the local record of an experiment, by its name or id, under ``root``.

    Raises:
        UsageError: no experiment, or several, answer to it; or the run is here already.
        LangfuseError: Langfuse cannot be read.
    """
    _ = connection.server
    found = _find(connection, reference, dataset)
    items = _latest(experiment_items(connection, found.id, BEGINNING, EVERYTHING))
    source = _dataset(connection, found, items, dataset)
    snapshot = local_snapshot(connection, source)
    ours = note(RunNote, found.metadata)
    name = ours.run if ours else found.name
    details: dict[str, JsonValue] = {
        KEY: _target(connection, source, found).model_dump(mode="json")
    }
    folder = create_run(
        snapshot,
        kind=ours.kind if ours else "langfuse",
        name=name if re.search(r"\w", name) else found.id,
        root=root,
        group=ours.group if ours else None,
        repeat=ours.repeat if ours else 0,
        parameters=ours.parameters if ours else None,
        details=details,
    )
    made = {
        "name": found.name,
        "created": ours.created if ours else found.start_time,
        "versions": ours.versions if ours else {},
    }
    folder.save(folder.run.model_copy(update=made))
    return _fill(folder, found, items, source, Studies(snapshot))


def _fill(
    folder: RunFolder,
    experiment: Experiment,
    items: Sequence[ItemRow],
    dataset: Dataset,
    sources: Studies,
) -> Pulled:
    case_of = {item.id: name for name, item in dataset.by_case.items()}
    entries: list[Scored] = []
    left_out: Counter[str] = Counter()
    owned = {mode for item in items for mode in _owned(item)}
    with folder.journal() as outputs:
        for item in items:
            case_id = case_of.get(item.experiment_item_id)
            if case_id is None:
                left_out["items no longer in the dataset"] += 1
                continue
            output = _output(item, case_id, experiment.id)
            outputs.append(output)
            text = output.answer.text if output.answer else ""
            entries.append(
                Scored(case_id=case_id, evaluations=_evaluations(item, text, owned, left_out))
            )
    evaluators = _evaluators(entries)
    scoring = folder.new_scoring(cast("Sequence[Evaluator]", evaluators))
    with scoring.journal() as journal:
        for entry in entries:
            journal.append(entry)
    close_scoring(folder, scoring)
    close_run(folder, sources.snapshot.manifest.counts.kept)
    return Pulled(
        run_id=folder.run.id,
        path=str(folder.path),
        items=len(entries),
        scores=sum(len(each.scores) for entry in entries for each in entry.evaluations),
        left_out=dict(left_out),
    )


def _find(connection: Connection, reference: str, dataset: str | None) -> Experiment:
    query = {"datasetId": find_dataset(connection, dataset).id} if dataset else {}
    named = experiments(connection, {"name": reference, **query})
    found = [*named, *experiments(connection, {"id": reference, **query})]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UsageError(
            f"Langfuse has no run {reference!r}"
            + (f" on dataset {dataset!r}" if dataset else "")
            + "; list them with: invoke results --dataset NAME"
        )
    raise UsageError(
        f"Langfuse has {len(found)} runs named {reference!r}: say which with --dataset, or by id "
        f"({', '.join(each.id for each in found)})"
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
        name = next((each.name for each in known if each.id == experiment.dataset_id), None)
    if name is None:
        raise UsageError(
            f"run {experiment.name!r} is on no dataset of this project; give --dataset"
        )
    return read_dataset(connection, name, version)


def _target(connection: Connection, dataset: Dataset, experiment: Experiment) -> Target:
    return Target(
        base_url=connection.credentials.base_url,
        project_id=connection.server.project_id,
        dataset=dataset.name,
        dataset_id=dataset.id,
        version=dataset.version,
        experiment_id=experiment.id,
        run_name=experiment.name,
    )


def _output(item: ItemRow, case_id: str, experiment_id: str) -> Output:
    returned = value_of(item.output)
    mark: dict[str, JsonValue] = {
        "experiment_id": experiment_id,
        "trace_id": item.trace_id,
        "observation_id": item.id,
    }
    try:
        shown = ItemOutput.model_validate(returned)
    except ValidationError:
        shown = _foreign(item, returned)
    answer = Answer(text=shown.answer, finish_reason=shown.finish_reason) if shown.answer else None
    return Output(
        case_id=case_id,
        state=shown.state,
        answer=answer,
        reason=shown.reason,
        started=item.start_time,
        details={KEY: mark},
    )


def _foreign(item: ItemRow, returned: Any) -> ItemOutput:
    """The output of a task that is not ours."""
    text = text_of(returned)
    if item.level == "ERROR":
        return ItemOutput(state=OutputState.FAILED, reason=(text or "failed")[:500])
    if text is None:
        return ItemOutput(state=OutputState.EMPTY, reason="no text in the output")
    if not text.strip():
        return ItemOutput(state=OutputState.EMPTY, reason="empty text")
    return ItemOutput(answer=text)


def _owned(item: ItemRow) -> Iterator[str]:
    """The modes that evaluators of ours have scored, or could not."""
    for score in item.scores:
        if found := note(UnscoredNote, score.metadata):
            yield from found.modes
        elif note(ScoreNote, score.metadata):
            yield score.name


def _evaluations(
    item: ItemRow, text: str, owned: AbstractSet[str], left_out: Counter[str]
) -> tuple[Evaluation, ...]:
    """What each evaluator said of an item; the scores of others are one evaluator's, "langfuse".

    A mode has one owner and an item one score of it, so what others say of a mode in ``owned``,
    or say twice, is left out and counted.
    """
    scores: dict[Owner, list[Score]] = {}
    findings: dict[Owner, list[Finding]] = {}
    scored: set[str] = set()
    for row in item.scores:
        if row.name == UNSCORED and (missing := note(UnscoredNote, row.metadata or {"modes": {}})):
            for name, why in missing.modes.items():
                owner = why.evaluator, why.version
                scores.setdefault(owner, []).append(Score.unscored(name, why.reason))
            continue
        ours, mode = note(ScoreNote, row.metadata), _mode_name(row.name)
        taken = mode in scored or (ours is None and mode in owned)
        if mode is None or row.number is None or taken:
            left_out[row.name] += 1
            continue
        scored.add(mode)
        owner = (ours.evaluator, ours.version) if ours else FOREIGN
        scores.setdefault(owner, []).append(Score(name=mode, value=row.number))
        findings.setdefault(owner, []).extend(
            Finding(
                mode=mode,
                evidence=Passage.of(text, each.start, each.end),
                explanation=each.explanation,
                source_id=each.source_id,
                tier=each.tier,
            )
            for each in (ours.shown if ours else ())
            if each.start <= each.end <= len(text)
        )
    return tuple(
        Evaluation(
            evaluator=owner[0],
            version=owner[1],
            scores=tuple(found),
            findings=tuple(findings.get(owner, ())),
        )
        for owner, found in sorted(scores.items())
    )


def _mode_name(name: str) -> str | None:
    """A score's name as that of a failure mode; None when it cannot be one."""
    mode = "".join(letter if letter.isalnum() else "_" for letter in name.lower()).strip("_")
    return mode if mode.isascii() and mode[:1].isalpha() else None


def _evaluators(entries: Iterable[Scored]) -> list[EvaluatorInfo]:
    modes: dict[tuple[str, str], dict[str, FailureMode]] = {}
    for entry in entries:
        for evaluation in entry.evaluations:
            known = modes.setdefault((evaluation.evaluator, evaluation.version), {})
            for score in evaluation.scores:
                title = score.name.replace("_", " ").capitalize()
                known[score.name] = FailureMode(
                    name=score.name, title=title, definition="As scored in Langfuse."
                )
    return [
        EvaluatorInfo(name=name, version=version, modes=tuple(found.values()))
        for (name, version), found in sorted(modes.items())
    ]
