"""A Langfuse server for each test, and the SDK left as it was found."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from ancrage.config import load
from ancrage.langfuse.connection import Connection, Credentials, Settings
from tests.servers.langfuse_server import LangfuseServer

Link = Callable[..., Connection]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[LangfuseServer]:
    """A server, with its credentials in the environment and no proxy between."""
    monkeypatch.chdir(tmp_path)
    load.cache_clear()
    with LangfuseServer() as server:
        for name in ("LANGFUSE_HOST", "LANGFUSE_SAMPLE_RATE", "LANGFUSE_TRACING_ENABLED"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("LANGFUSE_BASE_URL", server.url)
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", server.public_key)
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", server.secret_key)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
        yield server


@pytest.fixture
def link(server: LangfuseServer) -> Iterator[Link]:
    """A connection to the server; settings by name."""
    made = []

    def connect(**settings: Any) -> Connection:
        keys = Credentials(server.public_key, server.secret_key, server.url)
        made.append(Connection(keys, Settings(**{"poll": 0.05, "deadline": 5.0, **settings})))
        return made[-1]

    yield connect
    for connection in made:
        connection.close()
