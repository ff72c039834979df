"""What an exception of the SDK means: what went wrong, whether to try again, when."""

import time
from email.utils import parsedate_to_datetime
from typing import Any

from ancrage.domain import Frozen


class BrokenReply(Exception):  # noqa: N818 - what came back, not what went wrong here
    """A reply with status 200 that is none: cut off, without content, or an error in its place."""

    def __init__(self, words: str, code: str | None = None) -> None:
        super().__init__(words)
        self.code = code
        """The server's own, where it gave one."""


class Failure(Frozen):
    """One failed try."""

    error: str
    """As in ``Completion.error``."""
    words: str
    """The server's own where it gave some."""
    passing: bool
    """Whether another try may succeed."""
    retry_after: float | None = None
    """Seconds that the server asks to wait."""
    lost: bool = False
    """Whether the server may have worked for it, and may bill it."""


def understand(error: Exception, timeout: float) -> Failure:
    """The failure behind an exception raised while calling a model."""
    import httpx
    import openai

    if isinstance(error, (TimeoutError, openai.APITimeoutError)):
        words = f"no answer within {timeout:g} s"
        return Failure(error="timeout", words=words, passing=True, lost=True)
    if isinstance(error, BrokenReply):
        return _broken(error)
    if isinstance(error, openai.APIStatusError):
        return _status(error)
    if isinstance(error, openai.APIConnectionError):
        cause = error.__cause__ or error
        began = not isinstance(cause, httpx.ConnectError)
        return Failure(
            error="connection", words=f"no connection: {cause}", passing=True, lost=began
        )
    if isinstance(error, openai.APIResponseValidationError) or not isinstance(
        error, openai.OpenAIError
    ):
        words = f"the reply cannot be read: {type(error).__name__}: {error}"
        return Failure(error="malformed", words=words, passing=True, lost=True)
    # An error event inside a stream, or a failure of the SDK itself.
    return Failure(error="server", words=str(error), passing=True, lost=True)


def _broken(error: BrokenReply) -> Failure:
    if error.code == "rate_limit_exceeded":
        return Failure(error="rate_limit", words=str(error), passing=True)
    if error.code is None or error.code == "server_error":
        kind = "server" if error.code else "malformed"
        return Failure(error=kind, words=str(error), passing=True, lost=True)
    return Failure(error="rejected", words=f"{error.code}: {error}", passing=False)


def _status(error: Any) -> Failure:
    status: int = error.status_code
    words = f"{status}: {_words(error)}"
    if status == 429:
        spent = error.code in ("insufficient_quota", "billing_hard_limit_reached")
        return Failure(
            error="rate_limit", words=words, passing=not spent, retry_after=_retry_after(error)
        )
    if status in (401, 403):
        return Failure(error="auth", words=words, passing=False)
    if status in (408, 409) or status >= 500:
        return Failure(error="server", words=words, passing=True, retry_after=_retry_after(error))
    return Failure(error="rejected", words=words, passing=False)


def _words(error: Any) -> str:
    body = error.body
    if isinstance(body, dict):
        inner = body.get("error", body)
        message = inner.get("message") if isinstance(inner, dict) else inner
        if message:
            return str(message)
    return str(error.message)


def _retry_after(error: Any) -> float | None:
    headers = error.response.headers
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            return max(0.0, float(value) / unit)
        except ValueError:
            pass
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
        except ValueError:
            continue
    return None
