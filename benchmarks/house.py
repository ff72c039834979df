"""What the house is made of, and how much of it one case passes.

Run ``python -m benchmarks.house``. One answer with one quote and its study go from files to a
snapshot, an audit by every code check, and scores in Langfuse (the server of the tests, on
loopback); of everything called on the way, and not at import, the files and functions of this
package are counted.
"""

import inspect
import json
import logging
import os
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import ancrage
from ancrage.api import audit, open_snapshot
from ancrage.config import Config
from ancrage.langfuse.connection import Connection, Credentials, Settings
from ancrage.langfuse.publish import publish
from ancrage.langfuse.push import push
from ancrage.snapshot.manifest import Filters, PseudonymMode
from ancrage.snapshot.pseudonyms import Pseudonymiser
from ancrage.snapshot.sources import open_source
from ancrage.snapshot.take import take_snapshot
from tests.servers.langfuse_server import LangfuseServer

ROOT = Path(ancrage.__file__).parent
HOME = ROOT.parents[1]
CO_OPTIMIZED = inspect.CO_OPTIMIZED
"""What functions have, and bodies of classes have not."""


@contextmanager
def passed() -> Iterator[Counter[Path]]:
    """Counts the functions of this package that are called inside, by file."""
    seen: set[CodeType] = set()
    found: Counter[Path] = Counter()

    def note(frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code not in seen:
            seen.add(code)
            path = Path(code.co_filename)
            function = code.co_flags & CO_OPTIMIZED and not code.co_name.startswith("<")
            if ROOT in path.parents and function:
                found[path.relative_to(ROOT)] += 1

    sys.setprofile(note)
    threading.setprofile(note)
    try:
        yield found
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


def whole_way(connection: Connection, name: str) -> None:
    """One case, from files to scores in Langfuse, by what the commands call."""
    answer = {
        "id": "a1",
        "question": "What do they say of prices?",
        "answer": "They went up: « Prices doubled in a year » [R-001, M-0001].",
        "study_id": "s",
    }
    message = {"id": "M-0001", "respondent_id": "R-001", "text": "Prices doubled in a year."}
    Path("answers.jsonl").write_text(json.dumps(answer), encoding="utf-8")
    Path("messages.jsonl").write_text(json.dumps(message | {"study_id": "s"}), encoding="utf-8")
    config = Config(None, {})
    pseudonyms = Pseudonymiser.configured(PseudonymMode.RESPONDENTS, config)
    given: dict[str, Any] = {"studies": ["messages.jsonl"]}
    with closing(open_source("answers.jsonl", config, given)) as source:
        take_snapshot(source, Path(name), Filters(), pseudonyms)
    data = open_snapshot(name)
    view = audit(data, name=name, config=config)
    assert view.summaries()
    push(connection, data, name)
    assert publish(connection, view.folder, name).complete


def lines(folder: Path) -> int:
    """Lines of Python below a folder."""
    return sum(len(path.read_bytes().splitlines()) for path in folder.rglob("*.py"))


def main() -> None:
    """Print the counts."""
    here = Path.cwd()
    logging.disable()
    with tempfile.TemporaryDirectory() as folder, LangfuseServer() as server:
        keys = Credentials(server.public_key, server.secret_key, server.url)
        connection = Connection(keys, Settings(poll=0.1))
        os.chdir(folder)
        try:
            whole_way(connection, "imports")
            with passed() as found:
                whole_way(connection, "counted")
        finally:
            os.chdir(here)
            connection.close()
    print(f"{len(found)} files and {sum(found.values())} functions passed by one case")
    by_folder: Counter[str] = Counter()
    for path, count in found.items():
        by_folder[path.parts[0] if len(path.parts) > 1 else "."] += count
    for name, count in by_folder.most_common():
        files = sum(1 for path in found if (path.parts[0] if len(path.parts) > 1 else ".") == name)
        print(f"  {name:12} {files:3} files {count:4} functions")
    print(f"{lines(ROOT):,} lines in evals/, {lines(HOME / 'tests'):,} in tests/")


if __name__ == "__main__":
    main()
