"""A folder to run commands in, whose judges call a server on loopback."""

from collections.abc import Callable
from pathlib import Path

import pytest

from ancrage.config import load
from ancrage.snapshot import Snapshot
from tests.builders import case
from tests.builders import snapshot as build
from tests.servers.openai_server import OpenAIServer

ANSWERS = {
    "clean": "Trois personnes répondent ; la rapidité vient d'abord : « L'appli est rapide, "
    "j'adore ! » [R-001, M-0001].",
    "general": "Il faut rester à l'écoute des clients. « L'appli est rapide, j'adore ! » "
    "[R-001, M-0001]",
    "everyone": "Tous les clients adorent l'application. Le prix, aussi.",
    "figure": "La lenteur concerne 31 % des clients, soit le premier irritant.",
}


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    load.cache_clear()
    return tmp_path


@pytest.fixture
def data(workplace: Path) -> Snapshot:
    """Four answers and one that is missing."""
    cases = [case(text, id=name) for name, text in ANSWERS.items()]
    return build(workplace / "snapshots" / "app", [*cases, case(None, id="missing")])


@pytest.fixture
def configure(workplace: Path) -> Callable[..., None]:
    """Write the configuration that makes judges call a server."""

    def write(server: OpenAIServer, tier: str = "", judges: str = "", more: str = "") -> None:
        (workplace / "evals.toml").write_text(
            f'[tiers.judge]\nmodel = "m"\nendpoint = "{server.url}"\nretries = 0\n{tier}\n'
            f"[judges]\n{judges}\n{more}\n",
            encoding="utf-8",
        )
        load.cache_clear()

    return write
