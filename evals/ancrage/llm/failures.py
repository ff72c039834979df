"""What went wrong with a call: its kind, whether to try again, when, and the words for it."""

import json
import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from typing import Any

from ancrage.domain import Frozen
from ancrage.redact import bounded, told

_LIMITED = frozenset({"rate_limit_exceeded", "rate_limit_error", "too_many_requests", "429"})
_SERVERS = re.compile(r"server_error|internal|overloaded|timeout|unavailable|5\d\d", re.IGNORECASE)
_SPENT = frozenset({"insufficient_quota", "billing_hard_limit_reached"})


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
    status: int | None = None
    """Of HTTP, where it was no success."""


def of_exception(error: BaseException, timeout: float) -> Failure:
    """The failure behind an exception raised while a request was under way."""
    import httpx2

    if isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout | httpx2.ProxyError):
        words = f"no connection: {told(error)}"
        return Failure(error="connection", words=words, passing=True)
    if isinstance(error, TimeoutError | httpx2.TimeoutException):
        words = f"no answer within {timeout:g} s"
        return Failure(error="timeout", words=words, passing=True, lost=True)
    if isinstance(
        error, httpx2.UnsupportedProtocol | httpx2.InvalidURL | httpx2.LocalProtocolError
    ):
        return Failure(error="rejected", words=told(error), passing=False)
    if isinstance(error, httpx2.TransportError | OSError):
        words = f"no connection: {told(error)}"
        return Failure(error="connection", words=words, passing=True, lost=True)
    words = f"the reply cannot be read: {told(error)}"
    return Failure(error="malformed", words=words, passing=True, lost=True)


def of_reply(error: BrokenReply) -> Failure:
    """The failure in a reply that had status 200."""
    words, code = bounded(str(error)), error.code
    if code in _LIMITED:
        return Failure(error="rate_limit", words=words, passing=True)
    if code in _SPENT:
        return Failure(error="rate_limit", words=words, passing=False)
    if code is None:
        return Failure(error="malformed", words=words, passing=True, lost=True)
    if _SERVERS.search(code):
        return Failure(error="server", words=words, passing=True, lost=True)
    return Failure(error="rejected", words=f"{code}: {words}", passing=False)


def of_status(status: int, headers: Mapping[str, str], content: str) -> Failure:
    """The failure behind an HTTP status that is no success."""
    message, code = _error_in(content)
    words = f"{status}: {bounded(message) or 'no words'}"
    if status == 429:
        kind, passing = "rate_limit", code not in _SPENT
    elif status in (401, 403, 407):
        kind, passing = "auth", False
    elif status in (408, 409) or status >= 500:
        kind, passing = "server", True
    else:
        kind, passing = "rejected", False
    wait = _retry_after(headers) if passing else None
    return Failure(error=kind, words=words, passing=passing, retry_after=wait, status=status)


def _error_in(content: str) -> tuple[str, str | None]:
    """A server's words and its code: of OpenAI's form, of FastAPI's, of a page, or as they are."""
    try:
        body: Any = json.loads(content)
    except (ValueError, RecursionError):
        title = re.search(r"<title>(.*?)</title>", content, re.IGNORECASE | re.DOTALL)
        return (title[1] if title else content).strip(), None
    inner = body.get("error", body) if isinstance(body, dict) else body
    if not isinstance(inner, dict):
        return str(inner), None
    message = inner.get("message") or inner.get("detail") or json.dumps(inner, ensure_ascii=False)
    return str(message), inner.get("code") or inner.get("type")


def _retry_after(headers: Mapping[str, str]) -> float | None:
    for name, unit in (("retry-after-ms", 1000.0), ("retry-after", 1.0)):
        value = headers.get(name)
        if value is None:
            continue
        try:
            seconds = float(value) / unit
        except ValueError:
            try:
                seconds = parsedate_to_datetime(value).timestamp() - time.time()
            except (ValueError, OverflowError):
                continue
        if math.isfinite(seconds):
            return max(0.0, seconds)
    return None
