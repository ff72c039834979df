"""A Langfuse server for each test, and the SDK left as it was found."""

from collections.abc import Iterator

import pytest

from tests.servers.langfuse_server import LangfuseServer


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[LangfuseServer]:
    """A server, with its credentials in the environment and no proxy between."""
    with LangfuseServer() as server:
        for name in ("LANGFUSE_HOST", "LANGFUSE_SAMPLE_RATE", "LANGFUSE_TRACING_ENABLED"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setenv("LANGFUSE_BASE_URL", server.url)
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", server.public_key)
        monkeypatch.setenv("LANGFUSE_SECRET_KEY", server.secret_key)
        monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
        yield server
