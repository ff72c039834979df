"""The connection: credentials, one retry policy, failures in one line, what the server can do."""

import logging
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from functools import cache, cached_property
from importlib.metadata import version
from ssl import SSLContext
from typing import Any, ParamSpec, TypeVar

import httpx
from langfuse.api import LangfuseAPI
from langfuse.api.core import ApiError
from pydantic import Field, ValidationError
from tenacity import (
    RetryCallState,
    Retrying,
    retry_if_exception,
    stop_after_attempt,
    wait_random_exponential,
)

from ancrage.config import Config, load, secret
from ancrage.domain import Frozen
from ancrage.errors import AncrageError, ExitCode, UsageError
from ancrage.redact import bounded

P = ParamSpec("P")
T = TypeVar("T")
A = TypeVar("A")

SDK = version("langfuse")
CLOUD = "https://cloud.langfuse.com"
LISTED_SCORES = (4, 59)
"""The server version since which scores are posted as a list, the only way of SDK 5."""
LONGEST_WAIT = 120.0
"""Seconds that a ``Retry-After`` may ask for; more than that is a failure to report."""
_BACKOFF = wait_random_exponential(multiplier=0.5, max=20)


class Settings(Frozen):
    """The table ``[langfuse]``."""

    dataset: str | None = None
    """Where ``push`` and ``publish`` send when ``--dataset`` is not given."""
    timeout: float = Field(default=30.0, gt=0)
    """Seconds that one answer may take."""
    attempts: int = Field(default=5, ge=1)
    """How many times a request is sent before it counts as failed."""
    concurrency: int = Field(default=4, ge=1)
    """Requests under way at once."""
    deadline: float = Field(default=120.0, ge=0)
    """Seconds to wait for what was sent to be seen."""
    poll: float = Field(default=2.0, gt=0)
    """Seconds between two looks."""


@dataclass(frozen=True)
class Credentials:
    """Keys and address; the secret never shows in a representation."""

    public_key: str
    secret_key: str = field(repr=False)
    base_url: str = CLOUD


class LangfuseError(AncrageError):
    """Langfuse could not be reached, or refused; ``status`` is None when it did not answer."""

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status
        refused = status in (400, 401, 403, 404, 405, 409)
        self.exit_code = ExitCode.WRONG_USE if refused else ExitCode.INCOMPLETE


class Server(Frozen):
    """What the preflight found."""

    version: str
    project_id: str
    project_name: str
    single_scores: bool
    """Older than SDK 5 supports, so that scores have to be posted one by one."""


def credentials() -> Credentials | None:
    """The keys in the environment or ``.env``; None when one is not set.

    Raises:
        UsageError: the address is none.
    """
    public_key, secret_key = secret("LANGFUSE_PUBLIC_KEY"), secret("LANGFUSE_SECRET_KEY")
    if not public_key or not secret_key:
        return None
    base_url = secret("LANGFUSE_BASE_URL") or secret("LANGFUSE_HOST") or CLOUD
    if not base_url.startswith(("http://", "https://")):
        raise UsageError(f"LANGFUSE_BASE_URL={base_url}: give the scheme too: https://{base_url}")
    return Credentials(public_key, secret_key, base_url.rstrip("/"))


def checked_name(name: str) -> str:
    """The name of a dataset.

    Raises:
        UsageError: the API could not find a dataset of that name again.
    """
    if "%" in name or not name.strip() or len(name) > 200:
        raise UsageError(
            f"{name!r} cannot name a dataset: 1 to 200 characters, no % (the API misreads it)"
        )
    return name


def connect(config: Config | None = None) -> "Connection":
    """A connection with the keys in the environment; nothing is sent yet.

    Raises:
        UsageError: a key is not set.
    """
    found = credentials()
    if found is None:
        raise UsageError(
            "Langfuse is not set up: put LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY and "
            "LANGFUSE_BASE_URL in .env"
        )
    return Connection(found, (config or load()).table("langfuse", Settings))


class Connection:
    """The API of one project, every call retried alike."""

    def __init__(self, credentials: Credentials, settings: Settings | None = None) -> None:
        self.credentials = credentials
        self.settings = settings or Settings()
        # One line a request would drown what the commands say.
        logging.getLogger("httpx").setLevel(logging.WARNING)
        self.http = httpx.Client(
            base_url=credentials.base_url,
            timeout=self.settings.timeout,
            auth=(credentials.public_key, credentials.secret_key),
            verify=_trusted(),
            limits=httpx.Limits(
                max_connections=max(10, self.settings.concurrency * 2),
                max_keepalive_connections=max(10, self.settings.concurrency * 2),
            ),
        )
        self.api = LangfuseAPI(
            base_url=credentials.base_url,
            username=credentials.public_key,
            password=credentials.secret_key,
            x_langfuse_sdk_name="python",
            x_langfuse_public_key=credentials.public_key,
            httpx_client=self.http,
            timeout=self.settings.timeout,
        )

    @cached_property
    def server(self) -> Server:
        """The preflight, made once: version, project, endpoints.

        Raises:
            LangfuseError: no answer, wrong keys, or a server too old to hold experiments.
        """
        return preflight(self)

    def call(self, method: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """One call of the API, sent again while that may help, ``Retry-After`` respected.

        Raises:
            LangfuseError: it failed for good; says in one line what to do.
        """
        # The SDK would retry on its own, 409 included; one policy is enough.
        kwargs.setdefault("request_options", {"max_retries": 0})
        return self.attempt(lambda: method(*args, **kwargs))

    def attempt(self, send: Callable[[], T]) -> T:
        """``send()`` under the retry policy; see ``call``."""
        retrying = Retrying(
            stop=stop_after_attempt(self.settings.attempts),
            wait=_wait,
            retry=retry_if_exception(_transient),
            reraise=True,
        )
        try:
            return retrying(send)
        except (ApiError, httpx.HTTPError, ValidationError, ValueError) as error:
            raise self._failure(error) from None

    def each(self, function: Callable[[A], T], arguments: Iterable[A]) -> Iterator[tuple[A, T]]:
        """``function`` of every argument, ``concurrency`` at once, in order; drawn as needed."""
        width = self.settings.concurrency
        pending: deque[tuple[A, Future[T]]] = deque()
        with ThreadPoolExecutor(width, thread_name_prefix="langfuse") as pool:
            for argument in arguments:
                pending.append((argument, pool.submit(function, argument)))
                if len(pending) > 4 * width:
                    first, future = pending.popleft()
                    yield first, future.result()
            while pending:
                first, future = pending.popleft()
                yield first, future.result()

    def get(self, path: str, query: dict[str, Any]) -> dict[str, Any]:
        """GET a path under ``/api/public``, as it comes.

        Raises:
            LangfuseError: it failed for good.
        """

        def ask() -> dict[str, Any]:
            answer = self._checked(self.http.get(f"/api/public{path}", params=query)).json()
            if not isinstance(answer, dict) or not {"data", "meta"} <= answer.keys():
                raise ValueError("not a listing")
            return answer

        return self.attempt(ask)

    def post(self, path: str, body: bytes) -> Any:
        """POST a JSON document to a path under ``/api/public``; returns the answer's.

        Raises:
            LangfuseError: it failed for good.
        """
        headers = {"Content-Type": "application/json"}
        return self.attempt(lambda: self._posted(path, body, headers).json())

    def post_spans(self, body: bytes) -> None:
        """POST spans, as gzipped OTLP protobuf.

        Raises:
            LangfuseError: it failed for good.
        """
        headers = {
            "Content-Type": "application/x-protobuf",
            "Content-Encoding": "gzip",
            "x-langfuse-sdk-name": "python",
            "x-langfuse-sdk-version": SDK,
            "x-langfuse-public-key": self.credentials.public_key,
            "x-langfuse-ingestion-version": "4",
        }
        self.attempt(lambda: self._posted("/otel/v1/traces", body, headers))

    def _posted(self, path: str, body: bytes, headers: dict[str, str]) -> httpx.Response:
        answer = self.http.post(f"/api/public{path}", content=body, headers=headers)
        return self._checked(answer)

    @staticmethod
    def _checked(answer: httpx.Response) -> httpx.Response:
        if answer.is_success:
            return answer
        raise ApiError(
            status_code=answer.status_code, headers=dict(answer.headers), body=answer.text
        )

    def _failure(self, error: Exception) -> LangfuseError:
        url = self.credentials.base_url
        if isinstance(error, ApiError):
            return _refusal(error, url)
        if isinstance(error, httpx.TimeoutException):
            return LangfuseError(
                f"Langfuse at {url} did not answer within {self.settings.timeout:g} s; try again, "
                "or raise [langfuse] timeout"
            )
        if isinstance(error, httpx.HTTPError):
            return LangfuseError(
                f"Langfuse at {url} cannot be reached ({type(error).__name__}); "
                "check LANGFUSE_BASE_URL and the network, then try again"
            )
        return LangfuseError(
            f"what answers at {url} is not the API of Langfuse ({type(error).__name__}); "
            "check LANGFUSE_BASE_URL"
        )

    def close(self) -> None:
        """Close the connections."""
        self.http.close()


def batches(
    rows: Iterable[A],
    most: int,
    most_bytes: float = math.inf,
    size_of: Callable[[A], int] = lambda _: 0,
) -> Iterator[list[A]]:
    """``rows`` in groups of at most ``most`` rows and, unless one alone is larger, bytes."""
    batch: list[A] = []
    size = 0
    for row in rows:
        length = size_of(row) + 1
        if batch and (len(batch) >= most or size + length > most_bytes):
            yield batch
            batch, size = [], 0
        batch.append(row)
        size += length
    if batch:
        yield batch


@cache
def _trusted() -> SSLContext:
    """The authorities, read once: some 30 ms."""
    return httpx.create_ssl_context()


def preflight(connection: Connection) -> Server:
    """Ask for the health, the project and an experiment; see ``Connection.server``."""
    api = connection.api
    found = connection.call(api.health.health).version
    projects = connection.call(api.projects.get).data
    if not projects:
        raise UsageError("the keys of Langfuse belong to no project; use keys of a project")
    try:
        connection.call(
            api.experiments.list, from_start_time=datetime.now(UTC) - timedelta(minutes=1), limit=1
        )
    except LangfuseError as error:
        if error.status != 404:
            raise
        raise UsageError(
            f"Langfuse {found} at {connection.credentials.base_url} has no experiments API; "
            f"upgrade the server to {'.'.join(map(str, LISTED_SCORES))} or later"
        ) from None
    return Server(
        version=found,
        project_id=projects[0].id,
        project_name=projects[0].name,
        single_scores=_numbers(found) < LISTED_SCORES,
    )


def _numbers(version: str) -> tuple[int, ...]:
    parts = version.lstrip("v").split("-")[0].split(".")[:2]
    return tuple(int(part) if part.isdigit() else 0 for part in parts)


def _transient(error: BaseException) -> bool:
    if isinstance(error, ApiError):
        status = error.status_code
        if status == 429 and (_retry_after(error) or 0.0) > LONGEST_WAIT:
            return False
        return status is None or status in (408, 429) or status >= 500
    return isinstance(error, httpx.TransportError)


def _wait(state: RetryCallState) -> float:
    error = state.outcome.exception() if state.outcome else None
    asked = _retry_after(error) if isinstance(error, ApiError) else None
    return _BACKOFF(state) if asked is None else asked


def _retry_after(error: ApiError) -> float | None:
    """The seconds that the answer asks to wait; None when it says nothing usable."""
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        try:
            moment = parsedate_to_datetime(text)
        except ValueError:
            return None
        seconds = (moment - datetime.now(moment.tzinfo or UTC)).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _refusal(error: ApiError, url: str) -> LangfuseError:
    status = error.status_code
    said = error.body.get("message") if isinstance(error.body, dict) else error.body
    # Redacted before it is cut: half a secret is one that nobody finds again.
    words = bounded(" ".join(str(said or "").split()), 300)
    advice = {
        401: "check LANGFUSE_PUBLIC_KEY, LANGFUSE_SECRET_KEY and that LANGFUSE_BASE_URL is theirs",
        403: "the keys may not do this; use keys of the project with write access",
        404: "the address or the object does not exist there",
        413: "too large for the server",
        429: "rate limit reached; wait and try again, or lower [langfuse] concurrency",
    }.get(status or 0, "try again later" if (status or 500) >= 500 else "")
    parts = [f"Langfuse at {url} answered {status}", words, advice]
    return LangfuseError(": ".join(part for part in parts if part), status)
