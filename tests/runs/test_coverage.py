"""An evaluator that fails, or scores too few answers, is said and ends with 3."""

import textwrap
from pathlib import Path

from tests.builders import case, snapshot
from tests.cli.test_commands import run


def project(folder: Path, check: str) -> Path:
    (folder / "evals.toml").write_text('[checks]\nmodules = ["mine"]\n')
    (folder / "mine.py").write_text(textwrap.dedent(check))
    snapshot(folder / "snap", [case("good", id="a"), case("bad", id="b")])
    return folder


def test_a_check_that_raises_on_the_bad_answers_is_no_clean_run(tmp_path: Path) -> None:
    project(
        tmp_path,
        """
        from ancrage.checks import check

        @check(title="Bad", definition="Bad.")
        def bad(subject):
            if subject.text == "bad":
                raise KeyError("bad")
            return ()
        """,
    )
    ended = run("experiment", "--snapshot", "snap", cwd=tmp_path)
    assert ended.returncode == 3
    assert "Incomplete: bad failed on 1 of 2 answers." in ended.stdout


def test_a_check_that_misspells_its_mode_is_no_clean_run(tmp_path: Path) -> None:
    project(
        tmp_path,
        """
        from ancrage.checks import check, finding

        @check(title="Bad", definition="Bad.")
        def bad(subject):
            if subject.text == "bad":
                yield finding("badd", subject, 0, 3, "Bad.")
        """,
    )
    ended = run("experiment", "--snapshot", "snap", cwd=tmp_path)
    assert ended.returncode == 3
    assert "Incomplete: bad failed on 1 of 2 answers." in ended.stdout


def test_a_module_without_a_check_is_refused(tmp_path: Path) -> None:
    project(tmp_path, "def bad(subject):\n    return ()\n")
    ended = run("experiment", "--snapshot", "snap", cwd=tmp_path)
    assert ended.returncode == 2
    assert "'mine' has no check" in ended.stderr
