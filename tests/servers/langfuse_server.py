"""A Langfuse server on loopback, as strict as the real one, with switches for its faults.

with LangfuseServer() as server:
    Langfuse(public_key=server.public_key, secret_key=server.secret_key, base_url=server.url)
    server.fail("/scores", 503, times=2)
"""

import base64
import gzip
import json
import secrets
import threading
import time
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, unquote, urlsplit

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from tests.servers import langfuse_queries as queries
from tests.servers.langfuse_store import PROJECT, SCORES_LIMIT, RefusedError, Row, Store

PREFIX = "/api/public"


@dataclass
class Fault:
    """An answer given ``times`` times instead of the real one, after ``after`` real ones."""

    path: str
    status: int
    times: int
    after: int
    headers: dict[str, str]


@dataclass
class Faults:
    """The switches."""

    answers: list[Fault] = field(default_factory=list)
    slow: dict[str, float] = field(default_factory=dict)
    """Seconds before an answer, by the beginning of a path."""
    down: bool = False
    """Every connection is closed without an answer."""
    lose_spans: bool = False
    """Spans are answered 200 and forgotten."""
    repeat_pages: set[str] = field(default_factory=set)
    """Paths of which every page is the first one again, their totals unchanged."""
    stuck_cursors: set[str] = field(default_factory=set)
    """Paths whose every page has the same cursor."""
    totals: dict[str, int] = field(default_factory=dict)
    """What a path says its total is."""
    refuse_configs: bool = False
    """The keys may not make configurations of scores."""
    reject_scores: dict[str, int] = field(default_factory=dict)
    """How many more times a score of that name is rejected inside a 207."""


@dataclass
class LangfuseServer:
    """See the module. ``store`` is what it holds, ``requests`` what it was asked."""

    version: str = "4.59.0"
    """Below 4.59 a list of scores is a 400 and metadata of experiments comes back flattened; below
    4 there are no experiments."""
    store: Store = field(default_factory=Store)
    faults: Faults = field(default_factory=Faults)
    public_key: str = field(default_factory=lambda: f"pk-lf-{secrets.token_hex(8)}")
    secret_key: str = field(default_factory=lambda: f"sk-lf-{secrets.token_hex(8)}")
    requests: list[tuple[str, str, int]] = field(default_factory=list)
    """Method, path after the prefix, status."""
    crashes: list[Exception] = field(default_factory=list)
    """Faults of this server itself; closing it raises the first."""

    def __enter__(self) -> Self:
        handler = type("Handler", (_Handler,), {"app": self})
        self._http = _Http(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()
        if self.crashes and error is None:
            raise self.crashes[0]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def fail(
        self,
        path: str,
        status: int,
        *,
        times: int = 1_000_000,
        after: int = 0,
        headers: dict[str, str] | None = None,
    ) -> None:
        """Answer ``status`` to what is asked of ``path``."""
        self.faults.answers.append(Fault(path, status, times, after, headers or {}))

    def count(self, method: str, path: str) -> int:
        """How many requests of ``method`` on paths that begin with ``path`` were answered 2xx."""
        return sum(
            1
            for verb, where, status in self.requests
            if verb == method and where.startswith(path) and 200 <= status < 300
        )

    def add_trace(self, exported: Row) -> None:
        """Hold a trace as the interface exports it: ``{"trace": …, "observations": […]}``."""
        trace = exported["trace"]
        for observation in exported["observations"]:
            row = {
                **observation,
                **{name: _as_text(observation.get(name)) for name in ("input", "output")},
                "projectId": PROJECT["id"],
                "isRootObservation": observation.get("parentObservationId") is None,
                "metadata": _unquoted(observation.get("metadata")) or {},
                "traceName": trace.get("name"),
                "tags": trace.get("tags") or [],
            }
            self.store.observations[row["traceId"], row["id"]] = row

    # Routing

    def answer(self, method: str, target: str, body: bytes, headers: Any) -> tuple[int, Row]:
        """The status and the body of an answer."""
        parts = urlsplit(target)
        path = parts.path.removeprefix(PREFIX)
        query = parse_qs(parts.query, keep_blank_values=True)
        if path == "/health":
            return 200, {"version": self.version, "status": "OK"}
        self._authenticate(headers)
        with self.store.lock:
            if method == "GET":
                return 200, self._listed(path, query)
            if method == "POST":
                return self._write(path, body, headers)
            if method == "DELETE" and path.startswith("/scores/"):
                self.store.deletions.append(unquote(path.removeprefix("/scores/")))
                return 202, {"message": "Score deletion queued"}
        raise RefusedError(405, "Method not allowed")

    def _authenticate(self, headers: Any) -> None:
        pair = f"{self.public_key}:{self.secret_key}".encode()
        if headers.get("Authorization") != f"Basic {base64.b64encode(pair).decode()}":
            raise RefusedError(
                401, "Invalid credentials. Confirm that you've configured the correct host."
            )

    def _listed(self, path: str, query: queries.Query) -> Row:
        if path in self.faults.repeat_pages | self.faults.stuck_cursors:
            for name in ("page", "cursor"):
                query.pop(name, None)
        answer = self._read(path, query)
        if path in self.faults.stuck_cursors:
            answer["meta"]["cursor"] = "c3R1Y2s="
        if path in self.faults.totals:
            answer["meta"]["totalItems"] = self.faults.totals[path]
        return answer

    @property
    def older(self) -> bool:
        """Whether it behaves as 4.16."""
        return tuple(int(part) for part in self.version.split(".")[:2]) < (4, 59)

    def _read(self, path: str, query: queries.Query) -> Row:
        major = int(self.version.split(".")[0])
        if path == "/projects":
            return {"data": [PROJECT]}
        if path.startswith("/v2/datasets/"):
            return self.store.dataset(unquote(path.removeprefix("/v2/datasets/")))
        if path == "/v2/datasets":
            return self.store.list_datasets(queries.page(query), queries.limit(query, 100))
        if path == "/dataset-items":
            name = queries.one(query, "datasetName")
            if not name:
                raise RefusedError(400, "datasetName: required")
            return self.store.list_items(
                name,
                queries.page(query),
                queries.limit(query, 100),
                queries.one(query, "version"),
            )
        if path == "/experiments" and major >= 4:
            return queries.experiments(self.store, query, flat=self.older)
        if path == "/experiment-items" and major >= 4:
            return queries.experiment_items(self.store, query, flat=self.older)
        if path == "/v3/scores" and major >= 4:
            return queries.scores(self.store, query)
        if path == "/v2/observations":
            return queries.observations(self.store, query)
        if path in ("/score-configs", "/annotation-queues"):
            page, size = queries.page(query), queries.limit(query, 100)
            if path == "/score-configs":
                return self.store.list_configs(page, size)
            return self.store.list_queues(page, size)
        if path.startswith("/annotation-queues/") and path.endswith("/items"):
            queue = path.split("/")[2]
            return self.store.list_queue_items(
                queue, queries.page(query), queries.limit(query, 100)
            )
        raise RefusedError(404, f"Not found: {path}")

    def _write(self, path: str, body: bytes, headers: Any) -> tuple[int, Row]:
        if path == "/otel/v1/traces":
            return self._spans(body, headers)
        content = _json(body)
        if path == "/v2/datasets":
            return 200, self.store.put_dataset(content)
        if path == "/dataset-items":
            return 200, self.store.put_item(content, len(body))
        if path == "/dataset-run-items":
            # The trap of current servers: accepted, and visible nowhere.
            return 200, {"id": "run-item", **content}
        if path == "/scores":
            return self._scores(content, len(body))
        if path == "/score-configs":
            if self.faults.refuse_configs:
                raise RefusedError(403, "Forbidden")
            return 200, self.store.put_config(content)
        if path == "/annotation-queues":
            return 200, self.store.put_queue(content)
        if path.startswith("/annotation-queues/") and path.endswith("/items"):
            return 200, self.store.put_queue_item(path.split("/")[2], content)
        raise RefusedError(404, f"Not found: {path}")

    def _spans(self, body: bytes, headers: Any) -> tuple[int, Row]:
        if headers.get("Content-Type") != "application/x-protobuf":
            raise RefusedError(400, "Unsupported content type")
        encoding = headers.get("Content-Encoding")
        if encoding not in (None, "gzip"):
            raise RefusedError(400, f"Unsupported content encoding {encoding}")
        request = ExportTraceServiceRequest()
        try:
            request.ParseFromString(gzip.decompress(body) if encoding else body)
        except Exception:  # noqa: BLE001  protobuf has no stubs to name its errors by
            raise RefusedError(400, "Failed to parse OTLP trace data") from None
        # Without this header spans are taken and no experiment comes of them.
        if not self.faults.lose_spans and headers.get("x-langfuse-ingestion-version") == "4":
            self.store.ingest(request)
        return 200, {}

    def _scores(self, content: Any, size: int) -> tuple[int, Row]:
        if size > SCORES_LIMIT:
            raise RefusedError(413, "Body exceeded 1mb limit")
        if self.older:
            if not isinstance(content, dict):
                raise RefusedError(400, "Invalid input: expected object, received array")
            self._reject(content)
            return 200, {"id": self.store.put_score(content)["id"]}
        if not isinstance(content, list):
            raise RefusedError(400, "Invalid input: expected array, received object")
        errors = []
        for score in content:
            try:
                self._reject(score)
                self.store.put_score(score)
            except RefusedError as refused:
                errors.append({"message": refused.message})
        if not errors:
            return 202, {"message": "Accepted"}
        accepted = len(content) - len(errors)
        return 207, {"accepted": accepted, "rejected": len(errors), "errors": errors}

    def _reject(self, score: Any) -> None:
        name = score.get("name") if isinstance(score, dict) else None
        if name and self.faults.reject_scores.get(name, 0) > 0:
            self.faults.reject_scores[name] -= 1
            raise RefusedError(400, f"{name}: rejected")


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away in the middle of an answer is not a fault of the server."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    app: LangfuseServer

    def _handle(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        faults, path = self.app.faults, urlsplit(self.path).path.removeprefix(PREFIX)
        if faults.down:
            self.close_connection = True
            return
        for beginning, seconds in faults.slow.items():
            if path.startswith(beginning):
                time.sleep(seconds)
        headers: dict[str, str] = {}
        try:
            if fault := self._fault(path):
                headers = fault.headers
                raise RefusedError(fault.status, f"fault {fault.status}")
            status, content = self.app.answer(self.command, self.path, body, self.headers)
        except RefusedError as refused:
            status, content = refused.status, {"message": refused.message, "error": "Refused"}
        except Exception as error:  # noqa: BLE001
            self.app.crashes.append(error)
            status, content = 500, {"message": "Internal error", "error": type(error).__name__}
        self.app.requests.append((self.command, path, status))
        payload = json.dumps(content, ensure_ascii=False).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(payload)))
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(payload)

    do_GET = do_POST = do_DELETE = do_PATCH = _handle  # noqa: N815

    def _fault(self, path: str) -> Fault | None:
        with self.app.store.lock:
            for fault in self.app.faults.answers:
                if not path.startswith(fault.path) or fault.times <= 0:
                    continue
                if fault.after > 0:
                    fault.after -= 1
                    continue
                fault.times -= 1
                return fault
        return None

    def log_message(self, format: str, *args: Any) -> None:
        """Quiet."""


def _json(body: bytes) -> Any:
    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return json.loads(body, parse_constant=refuse)
    except ValueError:
        raise RefusedError(400, "Invalid JSON in the body") from None


def _as_text(value: Any) -> str | None:
    """Inputs and outputs are kept as text."""
    if value is None or isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False)


def _unquoted(value: Any) -> Any:
    """Exports hold some objects as JSON text."""
    while isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            break
    return value
