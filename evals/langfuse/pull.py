"""Rebuild the local record of an experiment in Langfuse."""

from collections import Counter
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from langfuse.api import Experiment
from pydantic import ValidationError

from evals.domain import (
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
from evals.errors import UsageError
from evals.evaluator import Evaluator
from evals.langfuse.connection import Connection
from evals.langfuse.dataset import Dataset, local_snapshot, read_dataset
from evals.langfuse.items import ItemOutput
from evals.langfuse.proof import pages
from evals.langfuse.reads import ItemRow, experiment_items
from evals.langfuse.results import BEGINNING
from evals.langfuse.scores import UNSCORED
from evals.langfuse.target import KEY, Target
from evals.langfuse.trace import text_of, value_of
from evals.runs import RUNS, RunFolder, create_run
from evals.runs.experiment import close
from evals.source import Sources

EVERYTHING = "core,dataset,io,experimentMetadata,scores"


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
    metadata = found.metadata or {}
    items = _latest(experiment_items(connection, found.id, BEGINNING, EVERYTHING))
    source = _dataset(connection, found, items, dataset)
    snapshot = local_snapshot(connection, source)
    details: dict[str, JsonValue] = {
        KEY: _target(connection, source, found).model_dump(mode="json")
    }
    folder = create_run(
        snapshot,
        kind=str(metadata.get("kind", "langfuse")),
        name=str(metadata.get("run") or found.name),
        root=root,
        group=metadata.get("group"),
        repeat=int(metadata.get("repeat", 0)),
        parameters=metadata.get("parameters") or {},
        details=details,
    )
    created = metadata.get("created")
    folder.save(
        folder.run.model_copy(
            update={
                "created": datetime.fromisoformat(created) if created else found.start_time,
                "name": found.name,
                "versions": {k: str(v) for k, v in (metadata.get("versions") or {}).items()},
            }
        )
    )
    return _fill(folder, found, items, source, Sources(snapshot))


def _fill(
    folder: RunFolder,
    experiment: Experiment,
    items: Sequence[ItemRow],
    dataset: Dataset,
    sources: Sources,
) -> Pulled:
    case_of = {item.id: name for name, item in dataset.by_case.items()}
    entries: list[Scored] = []
    left_out: Counter[str] = Counter()
    with folder.journal() as outputs:
        for item in items:
            case_id = case_of.get(item.experiment_item_id)
            if case_id is None:
                left_out["items no longer in the dataset"] += 1
                continue
            output = _output(item, case_id, experiment.id)
            outputs.append(output)
            text = output.answer.text if output.answer else ""
            entries.append(Scored(case_id=case_id, evaluations=_evaluations(item, text, left_out)))
    evaluators = _evaluators(entries)
    scoring = folder.new_scoring(cast("Sequence[Evaluator]", evaluators))
    with scoring.journal() as journal:
        for entry in entries:
            journal.append(entry)
    close(folder, scoring, sources)
    return Pulled(
        run_id=folder.run.id,
        path=str(folder.path),
        items=len(entries),
        scores=sum(len(each.scores) for entry in entries for each in entry.evaluations),
        left_out=dict(left_out),
    )


def _find(connection: Connection, reference: str, dataset: str | None) -> Experiment:
    query: dict[str, Any] = {"from_start_time": BEGINNING, "fields": "core,metadata"}
    if dataset:
        query["dataset_id"] = read_dataset(connection, dataset).id
    found: list[Experiment] = []
    for field in ("name", "id"):
        query |= {"name": None, "id": None, field: reference}
        found += pages(connection, connection.api.experiments.list, **query)
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
        known = pages(connection, connection.api.datasets.list, by_page=True)
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


def _evaluations(item: ItemRow, text: str, left_out: Counter[str]) -> tuple[Evaluation, ...]:
    given: dict[tuple[str, str], list[Score]] = {}
    findings: dict[tuple[str, str], list[Finding]] = {}
    for score in item.scores:
        metadata = score.metadata or {}
        if score.name == UNSCORED and "evaluator" not in metadata:
            for name, why in (metadata.get("modes") or {}).items():
                owner = (str(why.get("evaluator")), str(why.get("version")))
                reason = str(why.get("reason") or "no reason given")
                given.setdefault(owner, []).append(Score.unscored(name, reason))
            continue
        mode = _mode_name(score.name)
        if mode is None or score.number is None:
            left_out[score.name] += 1
            continue
        owner = (str(metadata.get("evaluator", "langfuse")), str(metadata.get("version", "1")))
        given.setdefault(owner, []).append(Score(name=mode, value=score.number))
        for each in metadata.get("shown") or ():
            if each["end"] > len(text):
                continue
            findings.setdefault(owner, []).append(
                Finding(
                    mode=mode,
                    evidence=Passage.of(text, each["start"], each["end"]),
                    explanation=each["explanation"],
                    source_id=each.get("source_id"),
                    tier=each.get("tier"),
                )
            )
    return tuple(
        Evaluation(
            evaluator=name,
            version=version,
            scores=tuple(found),
            findings=tuple(findings.get((name, version), ())),
        )
        for (name, version), found in sorted(given.items())
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
