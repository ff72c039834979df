"""What the checks find of faults planted on purpose; writes docs/proof.md.

Run ``python -m benchmarks.prove [FILE]``. Every kind is planted in every shape in answers of the
demonstration snapshot, and in answers made of the real survey where ``../shared`` is at hand: each
quotes three respondents by whole sentences, so that it is clean by construction.
"""

import csv
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import Answer, Case, CaseInput, Message, Provenance, Question, Study
from ancrage.prove import find_hosts, run_trial
from ancrage.prove.page import markdown
from ancrage.prove.settings import ProveSettings, load_kinds
from ancrage.prove.summary import by_kind, by_shape
from ancrage.snapshot import open_snapshot, write_snapshot
from ancrage.studies import Studies

ROOT = Path(__file__).parents[1]
SURVEY = ROOT.parent / "shared" / "data" / "survey"
ANSWERS = 400
PER_CELL = 25
HEAD = """# The proof

What the checks find of faults planted on purpose, written by `python -m benchmarks.prove`; how it
is done: [prove the checks](prove.md). Intervals are Wilson's, at 95 %.
"""


def main() -> None:
    """Run both trials and write the page, or print it."""
    parts = [HEAD, "## Demonstration snapshot\n", *matrix(ROOT / "snapshots" / "demo")]
    if SURVEY.is_dir():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "survey"
            study = read_survey()
            write_snapshot(path, answers(study), {study.id: study}.get, source="survey")
            parts += ["", "## Real survey, 3,598 messages\n", *matrix(path)]
    text = "\n".join(parts) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        print(text)


def matrix(path: Path) -> Iterator[str]:
    """The tables of one snapshot."""
    config = Config(None, {})
    studies = Studies(open_snapshot(path), config)
    checks = load_checks(config)
    settings = ProveSettings()
    kinds = load_kinds(settings)
    hosts, count = find_hosts(studies.snapshot, studies, checks)
    trial = run_trial(hosts, count, studies, checks, kinds, per_cell=PER_CELL)
    return markdown(trial, by_kind(trial, kinds, settings), by_shape(trial, kinds))


def read_survey() -> Study:
    """The survey as one study, under ids of the default form."""
    questions = json.loads((SURVEY / "questions.json").read_text(encoding="utf-8"))
    with (SURVEY / "messages.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    people = {name: f"R-{at:04d}" for at, name in enumerate({r["respondent_id"]: 0 for r in rows})}
    return Study(
        id="survey",
        language="en",
        questions=tuple(Question(ref=one["question_id"], text=one["text"]) for one in questions),
        messages=tuple(
            Message(
                id=f"M-{number:05d}",
                respondent_id=people[row["respondent_id"]],
                text=row["text"],
                question_ref=row["question_id"],
                language="en",
            )
            for number, row in enumerate(rows)
        ),
    )


def answers(study: Study) -> Iterator[Case]:
    """Answers that each quote three respondents."""
    chance = random.Random(11)
    quotable = [(message, quote) for message in study.messages if (quote := sentence(message.text))]
    for number in range(ANSWERS):
        chosen = chance.sample(quotable, 3)
        lines = [f"- “{quote}” [{m.respondent_id}, {m.id}]" for m, quote in chosen]
        yield Case(
            id=f"s{number:04d}",
            study_id=study.id,
            input=CaseInput(question="What do people say?"),
            output=Answer(text="Here is what people say:\n\n" + "\n".join(lines)),
            provenance=Provenance(source="benchmark"),
        )


def sentence(text: str) -> str | None:
    """The first whole sentence of 6 to 40 words in which no mark of quotation stands."""
    for found in re.finditer(r"[^.!?\n]+[.!?]", text):
        words = found.group().strip()
        if 6 <= len(words.split()) <= 40 and not set(words) & set('"“”«»[]()*_`<>|'):
            return words
    return None


if __name__ == "__main__":
    main()
