"""Each extra alone: an environment with what it declares, and nothing else, runs its main path.

Nothing is downloaded: the distributions that the wheel's extra requires, and those that these
require, are linked from the environment that runs the tests. A dependency that is used and not
declared is therefore not there.
"""

import subprocess
from collections.abc import Callable
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tests.install.conftest import pip
from tests.servers.faults import once
from tests.servers.openai_server import Fail, OpenAIServer

Run = Callable[..., subprocess.CompletedProcess[str]]

LLM = """
import asyncio, sys
from pydantic import BaseModel
from ancrage.llm import LLM, Calls, Request, Tier, http_client, recording

class Verdict(BaseModel):
    ok: bool

async def main():
    tier = Tier(model="m", endpoint=sys.argv[1])
    request = Request(tier=tier, messages=({"role": "user", "content": "?"},))
    async with LLM({}) as llm:
        answer = await llm.complete(request)
        assert answer.ok, answer.reason
        assert llm.counts["retries"] == 1, llm.counts
        broken = await llm.complete_json(request, Verdict)
        assert broken.problem == "unparsable"
        with recording(Calls(llm.gateway, tier)) as calls:
            body = {"model": "x", "messages": [{"role": "user", "content": "?"}]}
            reply = await http_client().post(f"{sys.argv[1]}/chat/completions", json=body)
            assert reply.status_code == 200
        assert len(calls.made) == 1
        down = tier.model_copy(update={"endpoint": "http://127.0.0.1:9/v1", "retries": 0})
        failed = await llm.complete(request.model_copy(update={"tier": down}))
        assert failed.error == "connection", failed

asyncio.run(main())
"""
LANGFUSE = """
import os
os.environ |= {"LANGFUSE_PUBLIC_KEY": "pk", "LANGFUSE_SECRET_KEY": "sk-hidden-word",
               "LANGFUSE_BASE_URL": "http://127.0.0.1:9"}
from ancrage.errors import AncrageError
from ancrage.langfuse.connection import connect
try:
    connect().get("/projects", {})
except AncrageError as error:
    assert "hidden-word" not in str(error)
else:
    raise SystemExit("nobody was there to answer")
"""
POSTGRES = """
from sqlalchemy import create_engine
from sqlalchemy.exc import OperationalError
try:
    create_engine("postgresql+psycopg://u:p@127.0.0.1:9/x").connect()
except OperationalError:
    pass
"""
PLOTS = """
import matplotlib
matplotlib.use("agg")
import ancrage.compare.history
from matplotlib import pyplot
pyplot.plot([1, 2])
"""
PATHS = {"llm": LLM, "langfuse": LANGFUSE, "postgres": POSTGRES, "plots": PLOTS}


def required(found: Distribution, extras: set[str], into: dict[str, Distribution]) -> None:
    """Add to ``into`` what a distribution requires, with these extras, and so on."""
    for line in found.requires or ():
        requirement = Requirement(line)
        marker = requirement.marker
        if marker and not any(marker.evaluate({"extra": extra}) for extra in (*extras, "")):
            continue
        try:
            other = distribution(requirement.name)
        except PackageNotFoundError:
            pytest.skip(f"{requirement.name} is not installed here")
        known = requirement.name.lower() in into
        into[requirement.name.lower()] = other
        if not known or requirement.extras:
            required(other, set(requirement.extras), into)


def link(found: Distribution, site: Path) -> None:
    """Link a distribution's files into an environment; of namespaces, what it has of them."""
    root = Path(str(found.locate_file("")))
    for name in {path.parts[0] for path in found.files or () if ".." not in path.parts}:
        _link(root / name, site / name)


def _link(source: Path, target: Path) -> None:
    if target.exists() or source.name == "__pycache__" or not source.exists():
        return
    if source.is_dir() and not (source / "__init__.py").exists() and "." not in source.name:
        target.mkdir(exist_ok=True)
        for inner in source.iterdir():
            _link(inner, target / inner.name)
    else:
        target.symlink_to(source)


@pytest.fixture
def run(request: pytest.FixtureRequest, tmp_path: Path, wheel: Path) -> Run:
    """Runs Python code in an environment with one extra."""
    home = tmp_path / "environment"
    subprocess.run(["python3", "-m", "venv", "--without-pip", home], check=True)
    pip("--python", home / "bin" / "python", "install", "--no-deps", "--no-compile", wheel)
    (site,) = home.glob("lib/python*/site-packages")
    (metadata,) = site.glob("ancrage-*.dist-info")
    needed: dict[str, Distribution] = {}
    required(Distribution.at(metadata), {request.param} if request.param else set(), needed)
    for found in needed.values():
        link(found, site)

    def code(text: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        command = [str(home / "bin" / "python"), "-I", "-c", text, *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path)

    return code


@pytest.mark.parametrize(("run", "extra"), [(extra, extra) for extra in PATHS], indirect=["run"])
def test_an_extra_alone_runs_its_main_path(run: Run, extra: str) -> None:
    with OpenAIServer(once(Fail(500))) as server:
        done = run(PATHS[extra], server.url)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("run", [""], indirect=True)
def test_without_an_extra_what_needs_one_says_so(run: Run) -> None:
    assert run("import ancrage, ancrage.cli, ancrage.checks, ancrage.runs").returncode == 0
    done = run("import httpx2")
    assert "No module named 'httpx2'" in done.stderr
