"""The labelling page: one answer at a time, on this machine, each label saved as it is given."""

import hashlib
import json
import secrets
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ancrage.calibration.labels import Label, hash_of
from ancrage.calibration.sampling import plan, sample_path
from ancrage.config import load
from ancrage.domain import Output, OutputState
from ancrage.errors import UsageError, describe
from ancrage.judges.context import Block, material
from ancrage.judges.definition import Definition, Mode
from ancrage.judges.select import definitions
from ancrage.report.text import visible
from ancrage.runs import RunFolder
from ancrage.runs.journal import Journal, read
from ancrage.snapshot import Snapshot
from ancrage.studies import Studies

MOST = 1_000_000
"""Bytes of a request; a label is far smaller."""


@dataclass
class LabelQueue:
    """The answers to label, in their order, and the labels given so far."""

    data: Snapshot
    sources: Studies
    outputs: list[Output]
    modes: list[tuple[Mode, Definition]]
    annotator: str
    path: Path
    given: dict[tuple[str, str], Label]
    """This annotator's labels of these very answers, by case and mode."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    @classmethod
    def of(
        cls,
        folder: RunFolder,
        path: Path,
        annotator: str,
        wanted: Sequence[str] = (),
        limit: int | None = None,
        *,
        disagreements: bool = False,
    ) -> "LabelQueue":
        """A queue for a run's usable answers, taking up the labels that ``path`` holds.

        They come in a random order, or with ``disagreements`` those first on which judges differ;
        see ``ancrage.calibration.sampling``.

        Raises:
            UsageError: a mode is not known, no answer can be labelled, or ``path`` holds
                something else than labels.
        """
        data = folder.snapshot()
        owners = definitions(load())
        known = {mode.name: (mode, d) for d in owners.values() for mode in d.modes}
        if unknown := [name for name in wanted if name not in known]:
            raise UsageError(f"--modes: no {unknown[0]!r}; known: {', '.join(known)}")
        ok = [output for output in folder.outputs() if output.state is OutputState.OK]
        if not ok:
            raise UsageError(f"run {folder.path.name} has no answer to label")
        if disagreements:
            sample = plan(folder, [output.case_id for output in ok], wanted or known, path)
            places = {case: at for at, case in enumerate(sample.order())}
            outputs = sorted(ok, key=lambda output: places.get(output.case_id, len(places)))[:limit]
        else:
            if sample_path(path).exists():
                raise UsageError(f"{path} was begun with --disagreements: go on with it")
            outputs = sorted(ok, key=lambda output: _order(output.case_id))[:limit]
        hashes = {output.case_id: hash_of(output) for output in outputs}
        path.parent.mkdir(parents=True, exist_ok=True)
        given = {
            (each.case_id, each.mode): each
            for each in read(path, Label)
            if each.annotator == annotator and each.answer_hash == hashes.get(each.case_id)
        }
        modes = [known[name] for name in wanted or known]
        return cls(data, Studies(data), outputs, modes, annotator, path, given)

    def first(self) -> int:
        """The first answer that lacks a label; the number of answers when none does."""
        for at, output in enumerate(self.outputs):
            if any((output.case_id, mode.name) not in self.given for mode, _ in self.modes):
                return at
        return len(self.outputs)

    def progress(self) -> str:
        """How far the labels go, in words."""
        done = sum(
            all((output.case_id, mode.name) in self.given for mode, _ in self.modes)
            for output in self.outputs
        )
        return f"{done} of {len(self.outputs)} answers labelled by {self.annotator}"

    def show(self, at: int) -> dict[str, Any]:
        """All that the page shows of one answer; nothing of what any judge said."""
        output = self.outputs[at]
        subject = self.sources.subject(self.data.case(output.case_id), output)
        shown: dict[str, Block] = {}
        for definition in dict.fromkeys(definition.name for _, definition in self.modes):
            owner = next(d for _, d in self.modes if d.name == definition)
            shown |= {block.title: block for block in material(owner, subject)[:-1]}
        return {
            "at": at,
            "total": len(self.outputs),
            "progress": self.progress(),
            "case_id": output.case_id,
            "question": visible(subject.case.input.question),
            "answer": subject.text,
            "material": [
                [block.title, visible(block.text)]
                for block in shown.values()
                if block.title != "QUESTION"
            ],
            "modes": [self._mode(mode, output.case_id) for mode, _ in self.modes],
        }

    def _mode(self, mode: Mode, case_id: str) -> dict[str, Any]:
        label = self.given.get((case_id, mode.name))
        return {
            "name": mode.name,
            "title": mode.title,
            "definition": mode.definition,
            "counts": mode.counts,
            "counts_not": mode.counts_not,
            "given": label is not None,
            "label": label.label if label else None,
            "passage": (label.passage if label else None) or "",
            "note": (label.note if label else None) or "",
        }

    def save(self, sent: dict[str, Any]) -> Label:
        """Append one label to the file; it is on disk when this returns.

        Raises:
            ValueError: it is no label, or of an answer or a mode that is not on this queue.
        """
        output = next((o for o in self.outputs if o.case_id == sent.get("case_id")), None)
        if output is None or sent.get("mode") not in {mode.name for mode, _ in self.modes}:
            raise ValueError("not an answer and a mode of this queue")
        label = Label(
            case_id=output.case_id,
            mode=sent["mode"],
            label=sent.get("label"),
            annotator=self.annotator,
            passage=sent.get("passage") or None,
            note=sent.get("note") or None,
            answer_hash=hash_of(output),
            time=datetime.now(UTC),
        )
        with self.lock, Journal[Label](self.path) as journal:
            journal.append(label)
            self.given[label.case_id, label.mode] = label
        return label


def _order(case_id: str) -> bytes:
    """A random order that is the same for everyone: any beginning of it is a random sample."""
    return hashlib.sha256(f"ancrage labels/{case_id}".encode()).digest()


@dataclass(frozen=True)
class Running:
    """A page being served."""

    url: str
    ended: threading.Event

    def wait(self) -> None:
        """Return when the page is closed for good."""
        self.ended.wait()


@contextmanager
def serve(queue: LabelQueue, port: int = 0) -> Iterator[Running]:
    """Serve the page to this machine alone, under an address that only its user is told.

    Raises:
        UsageError: the port cannot be had.
    """
    token = secrets.token_urlsafe(24)
    try:
        http = ThreadingHTTPServer(("127.0.0.1", port), _handler(queue, token))
    except OSError as error:
        raise UsageError(f"--port {port}: {error.strerror}") from None
    http.daemon_threads = True
    thread = threading.Thread(target=http.serve_forever, args=(0.1,), daemon=True)
    thread.start()
    ended = threading.Event()
    try:
        yield Running(f"http://127.0.0.1:{http.server_port}/{token}/", ended)
    finally:
        ended.set()
        http.shutdown()
        http.server_close()
        thread.join()


_STATIC = files("ancrage.calibration") / "static"
_KINDS = {"": ("label.html", "text/html"), "label.js": ("label.js", "text/javascript")}
_KINDS["label.css"] = ("label.css", "text/css")
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


def _handler(queue: LabelQueue, token: str) -> type[BaseHTTPRequestHandler]:
    places = {str(at): at for at in range(len(queue.outputs))}

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            path = self._path()
            if path in _KINDS:
                name, kind = _KINDS[path]
                self._send(200, (_STATIC / name).read_bytes(), f"{kind}; charset=utf-8")
            elif path == "first":
                self._json(200, {"at": queue.first(), "total": len(queue.outputs)})
            elif path in places:
                self._json(200, queue.show(places[path]))
            else:
                self._json(404, {"error": "there is nothing here"})

        def do_POST(self) -> None:
            size = self.headers.get("content-length") or ""
            if not (size.isdecimal() and len(size) <= len(str(MOST)) and int(size) <= MOST):
                self.close_connection = True
                self._json(413, {"error": "too large, or of unknown length"})
                return
            content = self.rfile.read(int(size))
            # A page of another site can send neither JSON nor this origin without being let to.
            kind = (self.headers.get("content-type") or "").split(";")[0].strip()
            if self._path() != "label" or kind != "application/json" or not self._own_origin():
                self._json(403, {"error": "refused"})
                return
            try:
                sent = json.loads(content)
                if not isinstance(sent, dict):
                    raise ValueError("not an object")
                label = queue.save(sent)
            except ValidationError as error:
                self._json(400, {"error": describe(error)})
            except ValueError as error:
                self._json(400, {"error": str(error)})
            except OSError as error:
                self._json(500, {"error": f"{queue.path}: {error.strerror}"})
            else:
                self._json(200, {"saved": label.mode, "progress": queue.progress()})

        def _path(self) -> str | None:
            """What is asked for under the secret address; None for anything else."""
            own = self.headers.get("host") in self._hosts()
            head, _, rest = self.path.lstrip("/").partition("/")
            return rest if own and secrets.compare_digest(head.encode(), token.encode()) else None

        def _hosts(self) -> tuple[str, str]:
            port = self.connection.getsockname()[1]
            return f"127.0.0.1:{port}", f"localhost:{port}"

        def _own_origin(self) -> bool:
            origin = self.headers.get("origin")
            return origin is None or origin in {f"http://{host}" for host in self._hosts()}

        def _json(self, status: int, value: dict[str, Any]) -> None:
            data = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
            self._send(status, data, "application/json")

        def _send(self, status: int, data: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.send_header("content-security-policy", _POLICY)
            self.send_header("x-content-type-options", "nosniff")
            self.send_header("referrer-policy", "no-referrer")
            self.send_header("cache-control", "no-store")
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: Any) -> None:
            """Quiet: the address holds the secret."""

    return Handler
