"""What the checks find of faults planted on purpose; writes docs/proof.md.

Run ``python -m benchmarks.prove [FILE]``. Every kind is planted in every shape in answers of the
demonstration snapshot and, where ``../shared`` is at hand, in others that are clean by
construction: answers over the real survey, each of three respondents quoted by whole sentences;
questions with their right answers (PIAF, French; HaluEval, English) and real abstentions (MTRAG);
claims with the evidence that supports them (FEVER Symmetric, English; RTE-3, French).
"""

import csv
import hashlib
import json
import random
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ancrage.checks import load_checks
from ancrage.config import Config
from ancrage.domain import (
    Answer,
    Case,
    CaseInput,
    Message,
    Provenance,
    Question,
    Study,
    ToolCall,
)
from ancrage.evaluators import select
from ancrage.prove import Panel, find_hosts, run_trial
from ancrage.prove.page import markdown, world_markdown
from ancrage.prove.replays import prove_world
from ancrage.prove.settings import ProveSettings, load_kinds
from ancrage.prove.summary import by_kind, by_shape
from ancrage.replay.demo import assistant as demo_assistant
from ancrage.snapshot import open_snapshot, write_snapshot
from ancrage.studies import Studies

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"
SURVEY = DATA / "survey"
ANSWERS = 400
PER_CELL = 25
HEAD = """# The proof

What the checks find of faults planted on purpose, written by `python -m benchmarks.prove`; how it
is done: [prove the checks](prove.md). Intervals are Wilson's, at 95 %. No model looked: what only a
model claims to find counts as *not claimed* where code does not find it.
"""


def main() -> None:
    """Run all trials and write the page, or print it."""
    demo = ROOT / "snapshots" / "demo"
    parts = [HEAD, "## Demonstration snapshot\n", *matrix(demo)]
    with tempfile.TemporaryDirectory() as folder:
        for title, make in SETS.items() if SURVEY.is_dir() else ():
            path = Path(folder) / make.__name__
            study = read_survey()
            write_snapshot(path, make(study), {study.id: study}.get, source="benchmark")
            kinds = "" if make is survey else ",".join(_ON_ANSWERS)
            parts += ["", f"## {title}\n", *matrix(path, kinds)]
    world = prove_world(open_snapshot(demo), demo_assistant, Config(None, {}), (), PER_CELL)
    parts += ["", "## The world of a replay, demonstration snapshot\n", *world_markdown(world)]
    text = "\n".join(parts) + "\n"
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")
    else:
        print(text)


def matrix(path: Path, names: str = "") -> Iterator[str]:
    """The tables of one snapshot."""
    config = Config(None, {})
    studies = Studies(open_snapshot(path), config)
    checks = load_checks(config)
    scorers = select("none", "abstention,support,verify", config)[len(checks) :]
    settings = ProveSettings()
    kinds = load_kinds(settings, names)
    hosts, count = find_hosts(studies.snapshot, studies, [*checks, *scorers])
    panel = Panel(checks, scorers)
    trial = run_trial(hosts, count, studies, panel, kinds, per_cell=PER_CELL)
    return markdown(trial, by_kind(trial, kinds, settings), by_shape(trial, kinds))


def questions(_: Study) -> Iterator[Case]:
    """Right answers, and abstentions where the text holds no answer."""
    for file in sorted((DATA / "piaf-fr").glob("*.json")):
        for page in json.loads(file.read_text(encoding="utf-8"))["data"]:
            for paragraph in page["paragraphs"]:
                for asked in paragraph["qas"]:
                    if asked.get("answers"):
                        expected = asked["answers"][0]["text"]
                        yield _question(asked["question"], expected, expected, paragraph["context"])
    for row in _lines(DATA / "halueval-qa" / "qa_one-turn_data.json"):
        yield _question(row["question"], row["right_answer"], row["right_answer"], row["knowledge"])
    for row in _lines(DATA / "abstention-en" / "mtrag.jsonl"):
        if row["abstains"]:
            yield _question(row["question"], row["answer"], "", "")


def claims(_: Study) -> Iterator[Case]:
    """Claims as answers, their evidence as the result of a tool."""
    for row in _lines(DATA / "fever-symmetric" / "fever_symmetric_test.jsonl"):
        if row["gold_label"] == "SUPPORTS":
            yield _claim(row["claim"], row["evidence"])
    with (DATA / "rte3-fr" / "RTE3-FR-dev-set-3class.tsv").open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            if row["label_text"] == "entailment":
                yield _claim(row["hypothesis"], row["premise"])


def _question(question: str, answer: str, expected: str, support: str) -> Case:
    known = {"must_abstain": not expected, "expected": expected, "support": support}
    return _case(CaseInput(question=question), answer, known)


def _claim(answer: str, evidence: str) -> Case:
    call = ToolCall(name="search", arguments={}, output=evidence)
    return _case(CaseInput(question="?", tool_calls=(call,)), answer, {})


def _case(given: CaseInput, answer: str, metadata: dict[str, Any]) -> Case:
    content = json.dumps([given.model_dump(mode="json"), answer])
    return Case(
        id=hashlib.sha256(content.encode()).hexdigest()[:12],
        input=given,
        output=Answer(text=answer),
        provenance=Provenance(source="benchmark"),
        metadata=metadata,
    )


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


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


def survey(study: Study) -> Iterator[Case]:
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


SETS = {
    "Real survey, 3,598 messages": survey,
    "Questions with right answers, and abstentions": questions,
    "Claims with their evidence": claims,
}
_ON_ANSWERS = [kind.name for kind in load_kinds(ProveSettings()) if not kind.needs_quotes]


if __name__ == "__main__":
    main()
