"""Small runs on disk with outcomes of one's choice, written by the run record itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ancrage.compare.results import Anchoring, Mode, Origin, Results, read_results
from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Evaluation,
    FailureMode,
    Finding,
    JsonValue,
    Output,
    OutputState,
    Passage,
    Provenance,
    RunState,
    Score,
    Scored,
)
from ancrage.evaluator import Subject
from ancrage.runs import RunFolder, create_run
from ancrage.runs.record import finish
from ancrage.snapshot import Snapshot
from tests.builders import snapshot

Value = float | None | str
"""A score; None for unscored; words for unscored with that reason."""


@dataclass(frozen=True)
class Scripted:
    """An evaluator of whom only the name, the version and the modes matter."""

    name: str
    version: str
    modes: tuple[FailureMode, ...]

    async def evaluate(self, subject: Subject) -> Evaluation:
        raise NotImplementedError


def mode(name: str) -> FailureMode:
    """A failure mode of that name."""
    return FailureMode(name=name, title=name.replace("_", " ").title(), definition=f"It is {name}.")


def world(path: Path, n: int, studies: int = 10, first: int = 0) -> Snapshot:
    """A snapshot of ``n`` cases from number ``first`` on, dealt out over ``studies`` studies."""
    return snapshot(
        path,
        (
            Case(
                id=f"c{at:03d}",
                study_id=f"s{at % studies}",
                input=CaseInput(question=f"Question {at} ?"),
                output=Answer(text=f"Réponse {at}."),
                provenance=Provenance(source="test"),
            )
            for at in range(first, first + n)
        ),
        (),
    )


def write_run(
    root: Path,
    data: Snapshot,
    name: str,
    outcomes: Mapping[str, Sequence[Value]],
    *,
    version: str = "1",
    state: RunState = RunState.COMPLETE,
    group: str | None = None,
    repeat: int = 0,
    parameters: dict[str, JsonValue] | None = None,
    answers: Mapping[str, str] | None = None,
    reached: int | None = None,
) -> RunFolder:
    """A run over ``data`` whose case number i has the value i of each mode of ``outcomes``."""
    folder = create_run(
        data, kind="replay", name=name, root=root, group=group, repeat=repeat, parameters=parameters
    )
    evaluators = [Scripted(f"check_{each}", version, (mode(each),)) for each in outcomes]
    scoring = folder.new_scoring(evaluators)
    cases = list(data.cases())[:reached]
    with folder.journal() as outputs, scoring.journal() as scores:
        for at, case in enumerate(cases):
            text = (answers or {}).get(case.id, f"Réponse {at} du run {name} au cas « {case.id} ».")
            outputs.append(Output(case_id=case.id, state=OutputState.OK, answer=Answer(text=text)))
            scores.append(
                Scored(
                    case_id=case.id,
                    evaluations=tuple(
                        evaluation(each, values[at], text, version)
                        for each, values in outcomes.items()
                    ),
                )
            )
    scoring.save(scoring.scoring.model_copy(update={"state": state}))
    counts = {"cases": data.manifest.counts.kept, "ok": len(cases)}
    folder.save(finish(folder.run, counts, state))
    return folder


def evaluation(name: str, value: Value, text: str, version: str) -> Evaluation:
    """What the scripted evaluator of the mode ``name`` would have said of ``text``."""
    findings: tuple[Finding, ...] = ()
    if value is None or isinstance(value, str):
        score = Score.unscored(name, value or "no verdict")
    else:
        score = Score(name=name, value=value)
        if value > 0:
            passage = Passage.of(text, 0, min(7, len(text)))
            findings = (Finding(mode=name, evidence=passage, explanation=f"{name} is here"),)
    return Evaluation(
        evaluator=f"check_{name}", version=version, scores=(score,), findings=findings
    )


def results(
    outcomes: Mapping[str, Sequence[float | None]],
    *,
    name: str = "run",
    studies: Sequence[str | None] | None = None,
    state: RunState = RunState.COMPLETE,
    version: str = "1",
    snapshot: str = "5a",
    reached: int | None = None,
    hashed_order: bool = False,
    looks: int = 0,
    anchors: Sequence[Anchoring] | None = None,
    different_quotes: int | None = None,
    parameters: dict[str, JsonValue] | None = None,
) -> Results:
    """Outcomes in memory only; cases ``c000``…, each its own study unless told otherwise."""
    from datetime import UTC, datetime

    n = len(next(iter(outcomes.values()), ()))
    cases = tuple(f"c{at:03d}" for at in range(n))
    return Results(
        origin=Origin(
            id=name,
            name=name,
            kind="replay",
            created=datetime(2026, 1, 1, tzinfo=UTC),
            state=state,
            snapshot=snapshot,
            parameters=parameters or {},
            hashed_order=hashed_order,
            looks=looks,
        ),
        modes={
            each: Mode(
                name=each, title=each, definition="", evaluator=f"check_{each}", version=version
            )
            for each in outcomes
        },
        cases=cases,
        studies=tuple(studies) if studies is not None else (None,) * n,
        states=tuple(
            OutputState.OK if reached is None or at < reached else OutputState.NOT_RUN
            for at in range(n)
        ),
        anchors=dict(zip(cases, anchors or (), strict=False)),
        different_quotes=different_quotes,
        values={
            each: np.array([np.nan if v is None else v for v in values], dtype=np.float64)
            for each, values in outcomes.items()
        },
    )


__all__ = ["mode", "read_results", "results", "world", "write_run"]
