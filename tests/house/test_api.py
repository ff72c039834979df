"""The names that programs may rely on, and the documented example, as it stands."""

import asyncio
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import ancrage
from ancrage.config import Config
from ancrage.domain import NO_STUDY, Finding
from ancrage.errors import UsageError
from tests.builders import case, snapshot

ROOT = Path(__file__).parents[2]


def test_the_exported_names_are_these() -> None:
    assert sorted(ancrage.__all__) == [
        "Evaluator",
        "RunView",
        "Subject",
        "Unscorable",
        "audit",
        "check",
        "compare_runs",
        "finding",
        "gate",
        "open_run",
        "open_snapshot",
    ]
    for name in ancrage.__all__:
        assert getattr(ancrage, name).__doc__
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = ancrage.nothing


def test_importing_it_loads_nothing_heavy() -> None:
    program = "import sys, ancrage; print(*sorted({name.split('.')[0] for name in sys.modules}))"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert not {"pydantic", "numpy", "rich", "sqlalchemy", "torch", "openai"} & set(loaded)


def test_the_example_of_the_page_runs(tmp_path: Path) -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (tmp_path / "snapshots").symlink_to(ROOT / "snapshots")
    script = tmp_path / "example.py"
    script.write_text(example, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, str(script)], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "non_verbatim_quote 36 of 128" in done.stdout
    assert "More than 60 words." in done.stdout


def loud(subject: ancrage.Subject) -> Iterator[Finding]:
    """A word in capitals."""
    for found in re.finditer(r"[A-Z]{4,}", subject.text):
        yield ancrage.finding("loud", subject, found.start(), found.end(), "Do not shout.")


def test_a_plain_function_is_an_evaluator_with_a_version(tmp_path: Path) -> None:
    data = snapshot(tmp_path / "snap", [case("calm", id="a"), case("VERY LOUD", id="b")])
    run = ancrage.audit(data, [loud], root=tmp_path / "runs", config=Config(None, {}))
    (row,) = run.summaries()
    assert (row.mode.name, row.mode.definition) == ("loud", "A word in capitals.")
    assert (row.failing, row.scored, row.total) == (1, 2, 2)
    assert re.fullmatch(r"[0-9a-f]{12}", row.version)
    assert run.frame()["loud"].to_dict() == {"a": 0.0, "b": 2.0}


def test_an_audit_runs_where_a_loop_runs_already(tmp_path: Path) -> None:
    data = snapshot(tmp_path / "snap", [case("VERY LOUD", id="b")])

    async def notebook() -> ancrage.RunView:
        return ancrage.audit(data, [loud], root=tmp_path / "runs", config=Config(None, {}))

    assert asyncio.run(notebook()).summaries()[0].failing == 1


def test_what_is_no_evaluator_is_refused(tmp_path: Path) -> None:
    data = snapshot(tmp_path / "snap", [case("a")])
    with pytest.raises(UsageError, match="is no evaluator"):
        ancrage.audit(data, [lambda subject: []], root=tmp_path / "runs", config=Config(None, {}))
    with pytest.raises(UsageError, match="both own the mode 'loud'"):
        ancrage.audit(data, [loud, loud], root=tmp_path / "runs", config=Config(None, {}))


def test_a_check_that_fails_is_counted_and_said(tmp_path: Path) -> None:
    def broken(subject: ancrage.Subject) -> Iterator[Finding]:
        if "bad" in subject.text:
            raise ValueError("I cannot read this")
        return iter(())

    data = snapshot(tmp_path / "snap", [case("good", id="a"), case("bad", id="b")])
    run = ancrage.audit(data, [broken], root=tmp_path / "runs", config=Config(None, {}))
    (row,) = run.summaries()
    assert (row.scored, row.unscored, row.faults) == (1, 1, 1)
    assert run.shortfalls(0.5) == ["broken failed on 1 of 2 answers"]


def test_coverage_below_the_minimum_is_said(tmp_path: Path) -> None:
    def timid(subject: ancrage.Subject) -> Iterator[Finding]:
        raise ancrage.Unscorable("no study")

    data = snapshot(tmp_path / "snap", [case("good", id="a"), case("bad", id="b")])
    run = ancrage.audit(data, [timid], root=tmp_path / "runs", config=Config(None, {}))
    assert run.shortfalls(0.9) == ["timid scored 0 of 2 answers; mostly: no study"]


def test_no_exported_name_is_that_of_a_module() -> None:
    """Importing the module would put it in the place of the name."""
    home = Path(ancrage.__file__ or "").parent
    modules = {path.stem for path in home.iterdir()}
    assert not modules & set(ancrage.__all__)


@pytest.mark.parametrize(("questions", "missed"), [(True, False), (False, True)])
def test_only_a_file_of_questions_may_do_without_a_study(
    tmp_path: Path, questions: bool, missed: bool
) -> None:
    def lookup(subject: ancrage.Subject) -> Iterator[Finding]:
        raise ancrage.Unscorable(NO_STUDY)

    known = {"must_abstain": False} if questions else {}
    answered = case("good", study_id=None).model_copy(update={"metadata": known})
    data = snapshot(tmp_path / "snap", [answered], [])
    run = ancrage.audit(data, [lookup], root=tmp_path / "runs", config=Config(None, {}))
    assert run.not_run == ([] if missed else ["lookup"])
    assert run.shortfalls(0.5) == (
        [f"lookup scored 0 of 1 answers; mostly: {NO_STUDY}"] if missed else []
    )
