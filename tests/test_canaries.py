"""Secrets planted in all that the product reads come out nowhere, in no encoding.

Every command that reads a secret runs against servers that work and against one that shouts back
whatever it was sent. Then every byte of the terminal, of the files in the project and of Langfuse
is looked through for the core of each secret: as it is, percent-encoded, in hexadecimal, and in
base64 with each of the three shifts that what stands before it can give.
"""

import base64
import json
import secrets
import shutil
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote

import pytest

from ancrage.cli.app import run
from ancrage.config import load
from tests.conftest import ROOT
from tests.judges.scripted import reply, seen
from tests.servers.langfuse_server import LangfuseServer
from tests.servers.openai_server import Call, OpenAIServer, Say

SHAPES = {
    "plain": "sk-{}",
    "blanks": " \tsk-{} \r\n",
    "signs": "sk+/{}='\"<&%20\\",
    "accents": "sk-é{}ç中",
    "lines": "sk-first\n{}\nlast",
}
"""How a key can look where somebody pasted it; a line break within it is refused."""
ADDRESSES = (
    "postgresql://me:{}@127.0.0.1:1/x", "postgresql://me:pw%40{}%2F@127.0.0.1:1/x",
    "postgresql://me:pw@{}@127.0.0.1:1/x", "postgresql://127.0.0.1:1/x?user=me&password={}",
    "mysql://me:{}@127.0.0.1:1/x", "nonsense://me:{}@[bad/x", "postgresql://me:{}é@127.0.0.1:1/x",
    "postgresql+psycopg://me:{}@127.0.0.1:port/x", "sqlite://me:{}@/absent.db",
)  # fmt: skip
"""Addresses of databases that cannot be reached, each with a password."""


class _Echo(BaseHTTPRequestHandler):
    """Refuses everything and repeats the headers it got, in many encodings."""

    def _shout(self) -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        words = " ".join(f"{name}: {value}" for name, value in self.headers.items())
        clear = [words]
        for kind, _, coded in ((self.headers.get("authorization") or "").partition(" "),):
            clear.append(
                base64.b64decode(coded + "==").decode("utf-8", "replace")
                if kind == "Basic"
                else coded
            )
        said = " ".join(clear)
        forms = (said, repr(said), quote(said, safe=""), base64.b64encode(said.encode()).decode())
        body = json.dumps({"message": forms, "error": {"message": "\n".join(forms)}}).encode()
        self.send_response(400)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_CONNECT = _shout  # noqa: N815

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


@pytest.fixture
def echo() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Echo) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


class Canaries:
    """The secrets of one test, and the search for them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self._set, self._folder = monkeypatch.setenv, folder
        self.cores: dict[str, str] = {}

    def plant(self, variable: str, shape: str) -> str:
        """Set ``variable`` to ``shape`` with a core of its own; the core."""
        core = self.cores[variable] = f"kanari{secrets.token_hex(8)}"
        self._set(variable, shape.format(core))
        return core

    def leaks(self, *said: str) -> list[str]:
        """Where a core stands in what was said or written."""
        files = [path for path in self._folder.rglob("*") if path.is_file()]
        places = {str(path.relative_to(self._folder)): path.read_bytes() for path in files}
        places |= {f"said {number}": text.encode() for number, text in enumerate(said)}
        return [
            f"{variable} in {place}: …{_around(data, core)!r}…"
            for place, data in places.items()
            if not place.endswith("/.env")
            for variable, core in self.cores.items()
            if any(form in data for form in _forms(core))
        ]


def _around(data: bytes, core: str) -> bytes:
    at = next(found for form in _forms(core) if (found := data.find(form)) >= 0)
    return data[max(0, at - 80) : at + 60]


def _forms(core: str) -> Iterator[bytes]:
    yield core.encode()
    yield core.encode().hex().encode()
    yield "".join(f"%{byte:02X}" for byte in core.encode()).encode()
    for shift, lead in ((0, 0), (1, 2), (2, 3)):
        coded = base64.b64encode(b"\0" * shift + core.encode())
        yield coded[lead : len(coded) // 4 * 4 - 4]


@pytest.fixture
def canaries(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Canaries]:
    """A project in an empty folder whose environment is full of secrets."""
    project = tmp_path / "project"
    shutil.copytree(ROOT / "snapshots" / "demo", project / "snap")
    monkeypatch.chdir(project)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.setenv(name, "127.0.0.1")
    load.cache_clear()
    (project / "mine.py").write_text(
        "from ancrage.replay import ToolCallingAgent\n\n"
        "agent = ToolCallingAgent('standard', prompt=lambda context: 'Réponds.')\n"
    )
    yield Canaries(monkeypatch, tmp_path)
    load.cache_clear()


def configure(endpoint: str) -> None:
    """The configuration of a project whose model is at that address."""
    tiers = "".join(
        f'[tiers.{tier}]\nmodel = "m"\nendpoint = "{endpoint}"\nkey = "MODEL_KEY"\nretries = 0\n'
        for tier in ("standard", "judge")
    )
    Path("evals.toml").write_text(
        f'[assistant]\nuse = "mine:agent"\n{tiers}\n'
        "[langfuse]\npoll = 0.05\nattempts = 1\ndeadline = 0.2\ntimeout = 2\n"
        '[sources.base]\ntype = "sql"\nurl_env = "SURVEY_URL"\nanswers = {table = "t"}\n',
        encoding="utf-8",
    )
    load.cache_clear()


def judge(call: Call) -> Say:
    try:
        return Say(reply(seen(call), ()))
    except (AssertionError, StopIteration, ValueError):
        return Say("« rien »")


COMMANDS = (
    ("doctor",),
    ("snapshot", "--source", "langfuse", "--out", "from-langfuse"),
    ("experiment", "--snapshot", "snap", "--judges", "relevance", "--run-name", "r"),
    ("replay", "--snapshot", "snap", "--run-name", "p", "--no-preflight"),
    ("replay", "--snapshot", "snap", "--run-name", "q", "--dry-run"),
    ("push", "snap", "--dataset", "d"),
    ("publish", "r", "--dataset", "d"),
    ("publish", "r", "--traces"),
    ("pull", "r"),
    ("experiment", "--dataset", "d", "--run-name", "e"),
    ("report", "r"),
    ("show", "r"),
)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    "where", ["servers that work", "a server that shouts", "a proxy that shouts"]
)
def test_keys_come_out_nowhere(
    canaries: Canaries,
    echo: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    shape: str,
    where: str,
) -> None:
    works = where == "servers that work"
    secret_key = SHAPES[shape]
    with OpenAIServer(judge) as models, LangfuseServer() as langfuse:
        canaries.plant("MODEL_KEY", SHAPES[shape])
        core = canaries.plant("LANGFUSE_SECRET_KEY", secret_key)
        langfuse.secret_key = secret_key.format(core).strip()
        monkeypatch.setenv("LANGFUSE_PUBLIC_KEY", langfuse.public_key)
        configure(models.url if works else f"http://{echo}/v1")
        monkeypatch.setenv("LANGFUSE_BASE_URL", langfuse.url if works else f"http://{echo}")
        if where == "a proxy that shouts":
            configure("http://models.invalid/v1")
            monkeypatch.setenv("LANGFUSE_BASE_URL", "http://langfuse.invalid")
            for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
                canaries.plant(name, f"http://me:{{}}@{echo}")
        else:
            canaries.plant("LANGFUSE_HOST", "http://me:{}@127.0.0.1:1")
        codes = [run(list(words)) for words in COMMANDS]
        told = capfd.readouterr()
        held = repr([vars(langfuse.store), [call.body for call in models.calls]])
    assert canaries.leaks(told.out, told.err, held) == []
    assert "Traceback" not in told.err
    assert not (works and shape in ("plain", "blanks")) or codes.count(0) > len(codes) // 2, codes
    assert not list(Path().glob(".ancrage/errors/*")), [
        p.read_text() for p in Path().glob(".ancrage/errors/*")
    ]


@pytest.mark.parametrize("address", ADDRESSES)
def test_passwords_of_databases_come_out_nowhere(
    canaries: Canaries, capfd: pytest.CaptureFixture[str], address: str
) -> None:
    configure("http://127.0.0.1:1/v1")
    canaries.plant("SURVEY_URL", address)
    for words in (("snapshot", "--source", "base", "--out", "s"), ("doctor",)):
        assert run(list(words)) in (1, 2, 3)
    told = capfd.readouterr()
    assert "SURVEY_URL" in told.out + told.err
    assert canaries.leaks(told.out, told.err) == []
    assert "Traceback" not in told.err


def test_the_key_of_pseudonyms_comes_out_nowhere(
    canaries: Canaries, capfd: pytest.CaptureFixture[str]
) -> None:
    Path("answers.jsonl").write_text('{"id": "1", "question": "q", "answer": "R-1"}\n')
    canaries.plant("ANCRAGE_PSEUDONYM_KEY", SHAPES["signs"])
    for mode in ("respondents", "text"):
        words = ["snapshot", "--source", "answers.jsonl", "--pseudonymise", mode, "--out", mode]
        assert run(words) == 0
    told = capfd.readouterr()
    assert canaries.leaks(told.out, told.err) == []


def test_a_line_of_dotenv_is_as_secret(
    canaries: Canaries,
    echo: str,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    core = canaries.cores["MODEL_KEY"] = f"kanari{secrets.token_hex(8)}"
    monkeypatch.delenv("MODEL_KEY", raising=False)
    Path(".env").write_text(f"MODEL_KEY='sk-{core}'\n")
    configure(f"http://{echo}/v1")
    run(["replay", "--snapshot", "snap", "--run-name", "p", "--no-preflight"])
    told = capfd.readouterr()
    assert canaries.leaks(told.out, told.err) == []
