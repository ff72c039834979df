"""A small snapshot with tools, and a folder to run commands in."""

from pathlib import Path

import pytest

from ancrage.config import load
from ancrage.domain import Answer, Case, CaseInput, Provenance, ToolCall, Turn
from ancrage.replay.plan import prompt_hash
from ancrage.snapshot import Snapshot
from tests.builders import snapshot as build

PROMPT = "Réponds à propos de app."


def make_case(number: int) -> Case:
    """A case with one tool call, a history, and parameters of production."""
    return Case(
        id=f"c{number:03d}",
        study_id="app",
        input=CaseInput(
            question=f"Question {number} : que disent-ils ?",
            history=(
                Turn(role="user", content="Bonjour"),
                Turn(role="assistant", content="Bonjour, que cherchez-vous ?"),
            ),
            tool_calls=(
                ToolCall(name="count_theme", arguments={"theme": f"t{number}"}, output={"n": 3}),
            ),
            system_prompt=PROMPT,
            system_prompt_hash=prompt_hash(PROMPT),
            context={"study": "app"},
        ),
        output=Answer(text="« L'appli est rapide, j'adore ! » [R-001, M-0001]"),
        provenance=Provenance(
            source="test", model="old", parameters={"reasoning_effort": "low", "top_p": None}
        ),
    )


@pytest.fixture
def cases() -> list[Case]:
    return [make_case(number) for number in range(12)]


@pytest.fixture
def data(cases: list[Case], workplace: Path) -> Snapshot:
    return build(workplace / "snapshots" / "app", cases)


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    load.cache_clear()
    return tmp_path
