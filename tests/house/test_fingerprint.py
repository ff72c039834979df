"""Versions follow behaviour: what a verdict depends on, and nothing else."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ancrage

PROGRAM = """
import json, sys
sys.path.insert(0, ".")
from ancrage.checks import load_checks
print(json.dumps({check.name: check.version for check in load_checks()}))
"""


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may change."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(ancrage.__file__).parent, tmp_path / "ancrage", ignore=ignored)
    return tmp_path


def versions(package: Path, program: str = PROGRAM) -> dict[str, str]:
    said = subprocess.run(
        [sys.executable, "-c", program], cwd=package, capture_output=True, text=True, check=True
    )
    found: dict[str, str] = json.loads(said.stdout)
    return found


def moved(package: Path, name: str, old: str, new: str) -> set[str]:
    """The checks whose version changes when ``old`` becomes ``new`` in a file of the package."""
    before = versions(package)
    file = package / "ancrage" / name
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))
    after = versions(package)
    return {check for check in before if before[check] != after[check]}


def test_comments_docstrings_and_layout_change_no_version(package: Path) -> None:
    file = package / "ancrage" / "checks" / "shared.py"
    before = versions(package)
    file.write_text("# a comment\n" + file.read_text().replace('"""The indexed', '\n\n    """The'))
    assert versions(package) == before


def test_a_check_depends_on_what_it_reaches_alone(package: Path) -> None:
    assert moved(package, "checks/unknown_ref.py", "is None", "is not None") == {"unknown_ref"}


def test_a_change_of_the_deciding_code_changes_the_version(package: Path) -> None:
    changed = moved(package, "ids.py", "casefold", "lower")
    assert {"unknown_ref", "unknown_message_id", "wrong_respondent_id"} <= changed


def test_code_that_decides_nothing_changes_no_version(package: Path) -> None:
    assert moved(package, "report/html.py", "import", "import  ") == set()


NOTEBOOK = """
import json, sys
sys.path.insert(0, ".")
import ancrage.checks as checks
from ancrage.fingerprint import code_version
source = 'def loud(subject):\\n    return [word for word in subject.text.split() if word.isupper()]'
exec(source)
first = code_version(loud)
exec(source.replace("isupper", "islower"))
print(json.dumps({"first": first, "second": code_version(loud)}))
"""


def test_a_function_typed_at_a_prompt_has_a_version(package: Path) -> None:
    found = versions(package, NOTEBOOK)
    assert len(found["first"]) == 12
    assert found["first"] != found["second"]
