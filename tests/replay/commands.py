"""Run commands in processes of their own, forked from one that has the imports behind it."""

import multiprocessing
import os
import sys
from multiprocessing.context import ForkServerProcess
from pathlib import Path

_context = multiprocessing.get_context("forkserver")
_context.set_forkserver_preload(
    [
        "anyio._backends._asyncio",
        "ancrage.cli.app",
        "ancrage.evaluators",
        "ancrage.claims",
        "ancrage.judges.terminal",
        "ancrage.llm.preflight",
        "ancrage.replay.migration_report",
        "ancrage.replay.session",
        "ancrage.report.html",
        "ancrage.report.terminal",
        "ancrage.runs.progress",
        "httpx2",
        "rich.progress",
    ]
)


def start(out: Path, *arguments: str) -> ForkServerProcess:
    """The command under way in the current folder, its output going to ``out``."""
    process = _context.Process(target=_command, args=(str(out), arguments))
    process.start()
    return process


def run(*arguments: str) -> tuple[int | None, str]:
    """Exit code and output of the command, in the current folder."""
    out = Path("out.txt").resolve()
    process = start(out, *arguments)
    process.join(60)
    process.kill()
    return process.exitcode, out.read_text()


def _command(out: str, arguments: tuple[str, ...]) -> None:
    os.environ["COLUMNS"] = "200"
    file = os.open(out, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = ["ancrage", *arguments]
    from ancrage.cli.app import main

    main()
