"""A PostgreSQL server of the tests' own: temporary, on a Unix socket, gone afterwards."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

PROGRAMS = Path("/usr/lib/postgresql")


def programs() -> Path:
    """The newest server's programs; skips where there is none, fails on CI."""
    found = sorted(PROGRAMS.glob("*/bin/initdb"))
    if found:
        return found[-1].parent
    message = f"no PostgreSQL server under {PROGRAMS} (apt-get install postgresql)"
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


@contextmanager
def server() -> Iterator[str]:
    """Run a server; gives the address of its empty database ``survey``."""
    binaries = programs()
    root = os.geteuid() == 0
    prefix = ["runuser", "-u", "postgres", "--"] if root else []
    folder = Path(tempfile.mkdtemp(prefix="ancrage-pg-", dir="/tmp"))
    try:
        if root:
            shutil.chown(folder, "postgres")

        def run(*command: str | Path) -> None:
            done = subprocess.run(
                [*prefix, *map(str, command)], capture_output=True, text=True, cwd="/", check=False
            )
            assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"

        data = folder / "data"
        initdb = ("initdb", "--no-sync", "-A", "trust", "-U", "survey", "-E", "UTF8", "-D")
        run(binaries / initdb[0], *initdb[1:], data, "--locale=C.UTF-8")
        options = f"-c listen_addresses= -c unix_socket_directories={folder} -c fsync=off"
        control = binaries / "pg_ctl"
        log = folder / "log"
        run(control, "start", "-w", "-t", "60", "-D", data, "-l", log, "-o", options)
        try:
            run(binaries / "createdb", "-h", folder, "-U", "survey", "survey")
            yield f"postgresql://survey:not-a-secret@/survey?host={folder}"
        finally:
            run(control, "stop", "-w", "-m", "immediate", "-D", data)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
