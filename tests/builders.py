"""Small studies, cases and snapshots for tests."""

from collections.abc import Iterable
from pathlib import Path

from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Message,
    Output,
    OutputState,
    Provenance,
    Question,
    Study,
)
from ancrage.evaluator import Subject
from ancrage.ids import IdPolicy
from ancrage.snapshot import Snapshot, open_snapshot, write_snapshot
from ancrage.studies import IndexedStudy

STUDY = Study(
    id="app",
    title="Application mobile",
    language="fr",
    questions=(
        Question(ref="Q1", text="Qu'est-ce qui vous plaît le plus dans l'application ?"),
        Question(ref="Q2", text="What should we change first?"),
    ),
    messages=(
        Message(
            id="M-0001",
            respondent_id="R-001",
            text="L'appli est rapide, j'adore ! Par contre le prix n'est pas clair du tout.",
            question_ref="Q1",
            language="fr",
        ),
        Message(
            id="M-0002",
            respondent_id="R-002",
            text="Honestly the login screen crashes every single morning before work.",
            question_ref="Q2",
            language="en",
        ),
        Message(
            id="M-0003",
            respondent_id="R-003",
            text="rien à dire, 2 ans que je l'utilise sans souci",
            question_ref="Q1",
            language="fr",
        ),
    ),
)


def case(text: str | None, id: str = "c1", study_id: str | None = "app") -> Case:
    """A case whose recorded answer is ``text``."""
    return Case(
        id=id,
        study_id=study_id,
        input=CaseInput(question="Que pensent les clients de l'application ?"),
        output=None if text is None else Answer(text=text),
        state=OutputState.MISSING if text is None else OutputState.OK,
        provenance=Provenance(source="test"),
    )


def snapshot(path: Path, cases: Iterable[Case], studies: Iterable[Study] = (STUDY,)) -> Snapshot:
    """A snapshot on disk with these cases and studies."""
    by_id = {study.id: study for study in studies}
    write_snapshot(path, cases, by_id.get, source="test")
    return open_snapshot(path)


def subject(text: str) -> Subject:
    """An answer about ``STUDY``, ready to be evaluated."""
    one = case(text)
    output = Output(case_id=one.id, state=OutputState.OK, answer=one.output)
    return Subject(one, output, IndexedStudy(STUDY, IdPolicy()))
