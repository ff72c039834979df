"""From a database of the real survey to the audit's figures, through the command line."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import MetaData, create_engine

from ancrage.runs import RunView, find_run
from tests.snapshot import surveydb

ANCRAGE = Path(sys.executable).parent / "ancrage"


def toml(table: dict[str, Any], name: str) -> str:
    """``table`` as TOML, under the heading ``name``."""
    plain = [f"{key} = {json.dumps(v)}" for key, v in table.items() if not isinstance(v, dict)]
    nested = [
        toml(value, f"{name}.{key}") for key, value in table.items() if isinstance(value, dict)
    ]
    return "\n".join([f"[{name}]", *plain, *nested])


def command(*arguments: str, cwd: Path, address: str, code: int = 0) -> None:
    """Run ``ancrage`` and require that exit status."""
    ended = subprocess.run(
        [ANCRAGE, *arguments],
        cwd=cwd,
        env={**os.environ, "SURVEY_URL": address},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == code, ended.stderr


@pytest.mark.parametrize("pseudonymise", ["respondents", "none", "text"])
@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_the_audit_reports_what_was_planted_and_nothing_else(
    kind: str, pseudonymise: str, shared: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    address = f"sqlite:///{tmp_path}/survey.db"
    if kind == "postgresql":
        address = request.getfixturevalue("postgres")
    engine = create_engine(address.replace("postgresql://", "postgresql+psycopg://"))
    try:
        with engine.begin() as connection:
            existing = MetaData()
            existing.reflect(connection)
            existing.drop_all(connection)
        expected = surveydb.build(engine, shared / "data" / "survey")
    finally:
        engine.dispose()
    (tmp_path / "evals.toml").write_text(toml(surveydb.TABLES, "sources.survey"))
    command(
        "snapshot", "--source", "survey", "--out", "snap", "--pseudonymise", pseudonymise,
        cwd=tmp_path, address=address,
    )  # fmt: skip
    # One study in five is gone, which is more than [checks] min_coverage lets pass.
    command("experiment", "--snapshot", "snap", cwd=tmp_path, address=address, code=3)
    view = RunView(find_run(root=tmp_path / "runs"))
    found: dict[str, set[str]] = {mode.name: set() for mode in view.modes}
    unscored: dict[str, set[str]] = {mode.name: set() for mode in view.modes}
    for item in view.items():
        for each in item.findings:
            found[each.mode].add(item.case.id)
        for name, score in item.scores.items():
            if score.value is None:
                unscored[name].add(item.case.id)
    # Quotes are planted cut anywhere: one of them leaves out an "I wouldn't".
    assert found.pop("distorted_quote") == {"answer-000"}
    for mode, cases in found.items():
        planted = expected.defects(mode) - expected.without_source
        assert cases == planted, mode
        without = expected.without_answer | (
            expected.without_source if mode != "malformed_citation" else set()
        )
        assert unscored[mode] == without, mode
    assert {mode for mode, cases in found.items() if cases} == {
        "non_verbatim_quote",
        "unknown_message_id",
        "wrong_respondent_id",
    }
