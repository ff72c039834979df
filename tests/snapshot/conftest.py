"""Fixtures of the snapshot's tests."""

import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ancrage.domain import Answer, Case, CaseInput, Message, Provenance, Study
from tests.snapshot import postgres as postgres_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a real PostgreSQL server's database."""
    with postgres_server.server() as address:
        yield address


@pytest.fixture
def make_case() -> Callable[..., Case]:
    """Build a case from its id, its answer and its study."""

    def make(
        id: str,
        text: str | None = "An answer",
        study_id: str | None = "S",
        **provenance: object,
    ) -> Case:
        return Case(
            id=id,
            study_id=study_id,
            input=CaseInput(question="What do they say?"),
            output=None if text is None else Answer(text=text),
            provenance=Provenance.model_validate({"source": "test", **provenance}),
        )

    return make


@pytest.fixture
def study() -> Study:
    """Two respondents, three messages."""
    return Study(
        id="S",
        messages=(
            Message(id="M1", respondent_id="R-012", text="Le café est trop cher."),
            Message(id="M2", respondent_id="R-013", text="Comme dit R-012, c'est cher."),
            Message(id="M3", respondent_id="R-013", text="Écrivez-moi : anna@exemple.fr"),
        ),
    )


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file of the test's folder."""

    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.fixture
def peak() -> Callable[[Callable[[], object]], int]:
    """Measure the most bytes of Python memory held at once during a call."""

    def measure(call: Callable[[], object]) -> int:
        tracemalloc.start()
        try:
            call()
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    return measure
