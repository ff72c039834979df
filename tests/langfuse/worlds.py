"""Snapshots, evaluators and runs for the tests of Langfuse."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Evaluation,
    FailureMode,
    Finding,
    Message,
    OutputState,
    Passage,
    Provenance,
    Score,
    Study,
    ToolCall,
)
from ancrage.evaluator import Evaluator, Subject
from ancrage.langfuse.connection import Connection
from ancrage.langfuse.publication import Only
from ancrage.langfuse.session import Follower, Session, open_session, resume_session
from ancrage.runs import Producer, RunFolder, create_run, recorded, run_experiment
from ancrage.snapshot import Snapshot, open_snapshot, write_snapshot
from ancrage.studies import Studies

TIME = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
STUDY = Study(
    id="etude",
    title="Étude",
    language="fr",
    messages=tuple(
        Message(id=f"M-{n:04d}", respondent_id=f"R-{n:03d}", text=f"L'appli n° {n} est « rapide ».")
        for n in range(50)
    ),
)


def case(number: int, text: str | None = None, **changes: object) -> Case:
    """Case ``number``; its answer is right when the number is even."""
    answer = text or f"Réponse {number} : « 4 » {'juste' if number % 2 == 0 else 'FAUX'}."
    fields: dict[str, object] = {
        "id": f"c{number:04d}",
        "study_id": "etude",
        "input": CaseInput(
            question=f"Que disent-ils du point {number} ?",
            tool_calls=(
                ToolCall(name="search", arguments={"n": number}, output={"hits": [number, 0.5]}),
            ),
            system_prompt="Tu cites mot pour mot.",
        ),
        "output": Answer(text=answer, finish_reason="stop"),
        "provenance": Provenance(
            source="production",
            time=TIME,
            model="m-1",
            parameters={"reasoning_effort": "low", "temperature": 1.0},
            trace_id=f"{number:032x}",
            observation_id=f"{number:016x}",
        ),
        "metadata": {"lang": "fr"},
    }
    return Case.model_validate({**fields, **changes})


def snapshot(
    path: Path, cases: Iterable[Case] | int = 6, studies: Iterable[Study] = (STUDY,)
) -> Snapshot:
    """A snapshot on disk."""
    found = [case(n) for n in range(cases)] if isinstance(cases, int) else cases
    by_id = {study.id: study for study in studies}
    write_snapshot(path, found, by_id.get, source="test")
    return open_snapshot(path)


class Wrong:
    """Scores 1 with a finding where an answer says FAUX, 0 elsewhere."""

    name = "wrong"
    version = "1"
    kind = "check"
    modes = (FailureMode(name="wrong", title="Wrong", definition="Says FAUX."),)

    async def evaluate(self, subject: Subject) -> Evaluation:
        at = subject.text.find("FAUX")
        findings = (
            (
                Finding(
                    mode="wrong",
                    evidence=Passage.of(subject.text, at, at + 4),
                    explanation="says « FAUX » <b>here</b>",
                ),
            )
            if at >= 0
            else ()
        )
        return Evaluation(
            evaluator=self.name,
            version=self.version,
            scores=(Score(name="wrong", value=float(len(findings))),),
            findings=findings,
        )


class Shy:
    """Cannot score the answers whose number ends in 3, and crashes on those that end in 5."""

    name = "shy"
    version = "1"
    modes = (FailureMode(name="shy", title="Shy", definition="Sometimes unscored."),)

    async def evaluate(self, subject: Subject) -> Evaluation:
        if subject.case.id.endswith("5"):
            raise RuntimeError("out of order")
        score = (
            Score.unscored("shy", "cannot tell")
            if subject.case.id.endswith("3")
            else Score(name="shy", value=0.25)
        )
        return Evaluation(evaluator=self.name, version=self.version, scores=(score,))


EVALUATORS = (Wrong(), Shy())
MISSING = {"output": None, "state": OutputState.MISSING}


async def audit(
    data: Snapshot,
    root: Path,
    name: str | None = None,
    evaluators: Sequence[Evaluator] = EVALUATORS,
) -> RunFolder:
    """A local run, made with no Langfuse."""
    folder = create_run(data, kind="audit", name=name, root=root)
    await run_experiment(folder, data.cases(), recorded, evaluators, Studies(data), concurrency=4)
    return folder


async def experiment(
    connection: Connection,
    dataset: str,
    root: Path,
    *,
    name: str = "essai",
    produce: Producer = recorded,
    evaluators: Sequence[Evaluator] = EVALUATORS,
    concurrency: int = 4,
    only: Only = "all",
) -> Follower:
    """A run on a dataset, published as it grows; ``finish`` it to read it back."""
    session = open_session(connection, dataset)
    folder = create_run(
        session.snapshot, kind="audit", name=name, root=root, details=session.details(name)
    )
    return await _follow(session, folder, produce, evaluators, concurrency, only)


async def resume(
    connection: Connection,
    folder: RunFolder,
    *,
    produce: Producer = recorded,
    evaluators: Sequence[Evaluator] = EVALUATORS,
    concurrency: int = 4,
) -> Follower:
    """Go on with a run on a dataset."""
    session = resume_session(connection, folder)
    return await _follow(session, folder, produce, evaluators, concurrency)


async def _follow(
    session: Session,
    folder: RunFolder,
    produce: Producer,
    evaluators: Sequence[Evaluator],
    concurrency: int,
    only: Only = "all",
) -> Follower:
    data = session.snapshot
    with Follower(session, folder, only) as follower:
        await run_experiment(
            folder,
            data.cases(),
            produce,
            evaluators,
            Studies(data),
            concurrency=concurrency,
            on_item=follower.on_item,
        )
    return follower
