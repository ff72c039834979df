"""How many answers of a file the checks read as its writer meant.

Run ``python -m benchmarks.shapes FILE``. Each line of the file is one answer with its study and
what it should raise: ``{"id", "shape", "study", "answer", "expect": {mode: count}}``. Prints the
answers that differ, and how many agree.
"""

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import Answer, Case, CaseInput, Provenance, Study
from ancrage.evaluator import Evaluator, Subject
from ancrage.ids import IdPolicy
from ancrage.runs import evaluate, recorded
from ancrage.studies import IndexedStudy


async def raised(row: dict[str, Any], checks: list[Evaluator]) -> dict[str, int]:
    """The findings of an answer, by mode."""
    study = Study.model_validate({"id": "s", **row["study"]})
    case = Case(
        id=row["id"],
        study_id=study.id,
        input=CaseInput(question="?"),
        output=Answer(text=row["answer"]),
        provenance=Provenance(source="benchmark"),
    )
    subject = Subject(case, await recorded(case), IndexedStudy(study, IdPolicy()))
    scored = await evaluate(subject, checks)
    scores = (score for evaluation in scored.evaluations for score in evaluation.scores)
    return {score.name: int(score.value) for score in scores if score.value}


async def compare(rows: list[dict[str, Any]]) -> None:
    """Print what differs, and the count."""
    checks: list[Evaluator] = list(load_checks(Config(None, {})))
    agreed = 0
    for row in rows:
        found = await raised(row, checks)
        agreed += found == row["expect"]
        if found != row["expect"]:
            print(row["id"], row["shape"], "should raise", row["expect"], "and raised", found)
    print(f"{agreed} of {len(rows)} agree")


if __name__ == "__main__":
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    asyncio.run(compare([json.loads(line) for line in lines]))
