"""Retries, one-line failures, preflight: every fault of the server, and no secret anywhere."""

import socket
import time

import httpx
import pytest

from ancrage.errors import ExitCode, UsageError
from ancrage.langfuse.connection import (
    Connection,
    Credentials,
    LangfuseError,
    Settings,
    connect,
    credentials,
)
from tests.langfuse.conftest import Link
from tests.servers.langfuse_server import LangfuseServer


def test_preflight_says_what_the_server_is(link: Link, server: LangfuseServer) -> None:
    found = link().server
    assert (found.version, found.project_id, found.single_scores) == ("4.59.0", "project-1", False)


@pytest.mark.parametrize(
    ("version", "single"), [("4.16.2", True), ("4.59.0", False), ("v5.0.0-rc.1", False)]
)
def test_preflight_knows_which_servers_take_scores_one_by_one(
    link: Link, server: LangfuseServer, version: str, single: bool
) -> None:
    server.version = version
    if version.startswith("v"):
        server.version = version.removeprefix("v")
    assert link().server.single_scores is single


def test_a_server_without_experiments_is_refused_before_any_work(
    link: Link, server: LangfuseServer
) -> None:
    server.version = "3.150.0"
    with pytest.raises(UsageError, match=r"3\.150\.0.*upgrade the server to 4\.59"):
        _ = link().server


@pytest.mark.parametrize(
    ("status", "words", "code"),
    [
        (400, "answered 400", ExitCode.WRONG_USE),
        (401, "check LANGFUSE_PUBLIC_KEY", ExitCode.WRONG_USE),
        (403, "may not do this", ExitCode.WRONG_USE),
        (404, "does not exist there", ExitCode.WRONG_USE),
        (413, "too large", ExitCode.INCOMPLETE),
        (429, "rate limit", ExitCode.INCOMPLETE),
        (500, "try again later", ExitCode.INCOMPLETE),
        (503, "try again later", ExitCode.INCOMPLETE),
    ],
)
def test_a_refusal_is_one_line_that_says_what_to_do(
    link: Link, server: LangfuseServer, status: int, words: str, code: ExitCode
) -> None:
    server.fail("/projects", status, headers={"Retry-After": "0"})
    with pytest.raises(LangfuseError, match=words) as failure:
        _ = link(attempts=2).server
    assert failure.value.exit_code == code
    assert "\n" not in str(failure.value)
    assert server.secret_key not in str(failure.value)


def test_what_may_pass_is_tried_again(link: Link, server: LangfuseServer) -> None:
    server.fail("/projects", 503, times=2, headers={"Retry-After": "0"})
    assert link().server.project_id == "project-1"
    server.fail("/health", 400, times=1)
    with pytest.raises(LangfuseError):
        _ = link().server
    assert [status for _, path, status in server.requests if path == "/health"] == [200, 400]


def test_retry_after_is_respected(link: Link, server: LangfuseServer) -> None:
    server.fail("/projects", 429, times=1, headers={"Retry-After": "1"})
    start = time.monotonic()
    assert link().server.project_id == "project-1"
    assert time.monotonic() - start >= 1.0
    server.fail("/projects", 429, times=1, headers={"Retry-After": "86400"})
    with pytest.raises(LangfuseError, match="429"):
        _ = link().server


def test_a_server_that_is_down_slow_or_something_else(link: Link, server: LangfuseServer) -> None:
    server.faults.down = True
    with pytest.raises(LangfuseError, match="cannot be reached"):
        _ = link(attempts=1).server
    server.faults.down = False
    server.faults.slow["/health"] = 0.6
    with pytest.raises(LangfuseError, match=r"did not answer within 0\.2 s"):
        _ = link(attempts=1, timeout=0.2).server
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{free.getsockname()[1]}"
    lost = Connection(Credentials("pk", "sk-very-secret", nowhere), Settings(attempts=1))
    with pytest.raises(LangfuseError, match="cannot be reached") as failure:
        _ = lost.server
    assert "sk-very-secret" not in str(failure.value) + repr(lost.credentials)


def test_the_keys_come_from_the_environment(
    server: LangfuseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = credentials()
    assert found is not None
    assert found.base_url == server.url
    monkeypatch.delenv("LANGFUSE_SECRET_KEY")
    with pytest.raises(UsageError, match="LANGFUSE_SECRET_KEY"):
        connect()


def test_a_proxy_in_the_environment_does_not_come_between(
    server: LangfuseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    assert connect().server.project_id == "project-1"
    with pytest.raises(httpx.HTTPError):
        httpx.get("http://example.invalid/", timeout=2)


def test_an_address_without_scheme_is_said_before_any_work(
    server: LangfuseServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LANGFUSE_BASE_URL", "langfuse.example.org")
    with pytest.raises(UsageError, match=r"https://langfuse\.example\.org"):
        credentials()
