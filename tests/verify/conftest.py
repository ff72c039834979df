"""A workplace with a configuration and a snapshot."""

from pathlib import Path

import pytest

from ancrage import config
from ancrage.domain import CaseInput, ToolCall
from tests.builders import case, snapshot
from tests.nli.conftest import real_model, torch
from tests.servers.openai_server import OpenAIServer

__all__ = ["real_model", "torch"]

QUOTED = "« L'appli est rapide, j'adore » [R-001, M-0001]."


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of its own, the current one."""
    monkeypatch.chdir(tmp_path)
    config.load.cache_clear()
    return tmp_path


LLM = '[verify]\nverifiers = ["llm"]\n'


def configure(folder: Path, server: OpenAIServer, more: str = LLM) -> None:
    """Write a configuration whose standard tier is ``server``."""
    (folder / "evals.toml").write_text(
        f'[tiers.standard]\nmodel = "judge"\nendpoint = "{server.url}"\nretries = 0\n{more}',
        encoding="utf-8",
    )
    config.load.cache_clear()


def answers(folder: Path) -> None:
    """A snapshot of answers: one sound, one wrong twice, one unfounded, one empty, one missing."""
    call = ToolCall(
        name="count_theme", arguments={"theme": "lenteur"}, output={"count": 9, "base": 52}
    )
    given = CaseInput(question="Que disent les clients ?", tool_calls=(call,))
    texts = {
        "sound": f"Une cliente le dit : {QUOTED} Neuf clients citent la lenteur.",
        "wrong": f"{QUOTED} L'appli est lente. Tous les clients veulent partir.",
        "empty": "   ",
        "missing": None,
    }
    cases = [
        case(text, id=name).model_copy(update={"input": given}) for name, text in texts.items()
    ]
    bare = case("Les clients partent.", id="unfounded")
    snapshot(folder / "snapshots" / "s", [*cases, bare])
