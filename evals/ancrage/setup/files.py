"""The files of a new project. Nothing that exists is overwritten."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from ancrage.files import write_atomic

CONFIGURATION = """\
#:schema {schema}
# Ancrage: every table and field is in docs/configuration.md; all of them may be left out.

{source}
# How answers cite. Whole tokens inside brackets, as regular expressions (RE2), case ignored.
{citations}
# A model to judge or to replay with: any OpenAI-compatible endpoint.
# [tiers.standard]
# model = "gpt-4.1"
# key = "OPENAI_API_KEY"        # the name of a variable of the environment or of .env

# What a run must keep to, for: ancrage gate latest
# [gate]
# baseline = "main"
"""

ENVIRONMENT = """\
# Secrets of this project; never commit it. Uncomment what you use.

# Keeps pseudonyms of respondents the same from one snapshot to the next.
ANCRAGE_PSEUDONYM_KEY={key}

# Any OpenAI-compatible endpoint, for replay and judges
# OPENAI_API_KEY=
# OPENAI_BASE_URL=

# Langfuse
# LANGFUSE_PUBLIC_KEY=
# LANGFUSE_SECRET_KEY=
# LANGFUSE_BASE_URL=https://cloud.langfuse.com

# The database of a source of type "sql" (url_env names the variable)
# DATABASE_URL=
"""

TASKS = '''\
"""Tasks of this project: ``invoke --list`` shows them."""

from ancrage.cli import namespace

__all__ = ["namespace"]
'''

LINES_TO_ADD = """\
import sys

from ancrage.cli import namespace as _evals
from invoke import Collection

namespace = Collection.from_module(sys.modules[__name__])
namespace.add_collection(_evals, "evals")
"""
"""At the end of a ``tasks.py``: keeps its own tasks and adds ours as ``evals.…``."""

WORKFLOW = """\
name: Evals
on:
  pull_request:
  workflow_dispatch:

jobs:
  evals:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: pip install ancrage
      - run: ancrage snapshot  # what it reads, and ANCRAGE_PSEUDONYM_KEY, must be at hand here
      - run: ancrage experiment --judges none
      - run: ancrage gate latest --markdown "$GITHUB_STEP_SUMMARY" --junit evals.xml
"""

IGNORED = (".env", ".ancrage/", "runs/", "snapshots/")
"""Secrets, and the words of respondents."""


@dataclass(frozen=True)
class Written:
    """What became of one file."""

    path: Path
    what: str


def write_project(folder: Path, configuration: str) -> list[Written]:
    """Write the files that are not there yet.

    Returns:
        Each file, with what was done or why nothing was.
    """
    key = secrets.token_hex(24)
    files = [
        ("evals.toml", configuration, False),
        (".env", ENVIRONMENT.format(key=key), True),
        (".github/workflows/evals.yml", WORKFLOW, False),
    ]
    done = []
    for name, content, private in files:
        path = folder / name
        if path.exists():
            done.append(Written(path, "is there already, left as it is"))
            continue
        write_atomic(path, content, private=private)
        done.append(Written(path, "written"))
    done.append(_tasks(folder / "tasks.py"))
    done.append(_ignored(folder / ".gitignore"))
    return done


def _tasks(path: Path) -> Written:
    if not path.exists():
        write_atomic(path, TASKS)
        return Written(path, "written: invoke has the same commands")
    if "ancrage" in path.read_text(encoding="utf-8", errors="replace"):
        return Written(path, "is there already and names ancrage")
    return Written(path, f"has tasks of its own; to add ours, put at its end:\n\n{LINES_TO_ADD}")


def _ignored(path: Path) -> Written:
    present = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    missing = [name for name in IGNORED if name not in present]
    if not missing:
        return Written(path, "names what is not to be committed")
    write_atomic(path, "\n".join([*present, *missing]) + "\n")
    return Written(path, f"now names {', '.join(missing)}")
