"""Nothing that is said holds a secret, however it is written, or goes on for ever."""

import asyncio
import base64
import html
import json
from pathlib import Path
from urllib.parse import quote

import pytest

from ancrage.config import secret
from ancrage.errors import UsageError
from ancrage.redact import bounded, redact, remember, told

KEY = "sk-test/é+key=42 with'quotes\"and\\more"


@pytest.mark.parametrize(
    "write",
    [
        str,
        repr,
        json.dumps,
        quote,
        lambda key: quote(key, safe=""),
        html.escape,
        lambda key: repr(key.encode()),
        lambda key: json.dumps(key, ensure_ascii=False),
        lambda key: str(key.encode().decode("latin-1").encode("latin-1").decode()),
        lambda key: base64.b64encode(key.encode()).decode(),
        lambda key: base64.b64encode(f"pk:{key}".encode()).decode(),
        lambda key: base64.urlsafe_b64encode(f"a{key}".encode()).decode(),
    ],
)
def test_a_secret_is_taken_out_however_it_is_written(write: object) -> None:
    remember(f" {KEY}\n")
    assert callable(write)
    said = redact(f"Incorrect key: {write(KEY)}.")
    assert "[secret]" in said
    for form in (KEY, KEY[:12], repr(KEY)[1:-1], base64.b64encode(KEY[3:].encode()).decode()[4:-4]):
        assert form not in said


def test_passwords_in_addresses_are_taken_out() -> None:
    said = redact(
        "no connection to postgresql+psycopg://me:p4ss!word@db:5432/x (http://u:pw@proxy)"
    )
    assert said == "no connection to postgresql+psycopg://me:***@db:5432/x (http://u:***@proxy)"


def test_words_that_are_no_secret_stay() -> None:
    remember("none")
    assert redact("none of them at https://host:8000/v1") == "none of them at https://host:8000/v1"


def test_a_key_read_from_the_environment_is_clean(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("A_KEY", " sk-something-long \n")
    assert secret("A_KEY") == "sk-something-long"
    assert redact("with sk-something-long") == "with [secret]"
    monkeypatch.setenv("B_KEY", "sk-first-half\nsecond-half")
    with pytest.raises(UsageError, match="B_KEY") as caught:
        secret("B_KEY")
    assert "half" not in str(caught.value)


def test_messages_are_bounded() -> None:
    page = "<html>" + "x" * 110_000
    assert len(bounded(page)) < 600
    assert "110,006" in bounded(page)


async def test_a_group_of_errors_tells_its_causes() -> None:
    async def fail() -> None:
        raise ValueError("the real cause")

    with pytest.raises(BaseExceptionGroup) as caught:
        async with asyncio.TaskGroup() as group:
            group.create_task(fail())
    assert told(caught.value) == "ValueError: the real cause"


def test_an_error_without_words_tells_its_cause() -> None:
    error = RuntimeError()
    error.__cause__ = OSError("disk on fire")
    assert told(error) == "RuntimeError: OSError: disk on fire"


def test_what_a_project_reads_by_itself_is_taken_out_too(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("THEIR_API_KEY", "sk-theirs-0001\nX-Two: 1")
    monkeypatch.setenv("THEIR_PUBLIC_KEY", "pk-anybody-may")
    monkeypatch.setenv("KEYS_FILE_KEY", str(tmp_path))
    monkeypatch.setenv("THEIR_BASE", "http://me:p@ss%2Fword1@host/x")
    said = redact(f"b'Bearer sk-theirs-0001' pk-anybody-may {tmp_path} p@ss/word1")
    assert said == f"b'Bearer [secret]' pk-anybody-may {tmp_path} [secret]"


def test_a_password_with_an_at_sign_is_taken_out_whole() -> None:
    remember("mysql://bob:passw@rd@[bad/x")  # no address that urllib reads
    assert redact("cannot open mysql://bob:passw@rd@[bad/x") == "cannot open mysql://bob:***@[bad/x"
