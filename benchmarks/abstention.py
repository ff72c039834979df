"""Abstention and right answers, beside baselines, on written answers and on those of real models.

``python -m benchmarks.abstention [FILE …]`` prints one line a set and a method. The public sets are
those of ``../shared``, where it is there; a FILE has one JSON object a line, with ``question``,
``answer`` and ``abstains``, or ``outcome``, or ``expected`` and ``right``.
"""

# ruff: noqa: E501 - lists of words

import asyncio
import json
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from ancrage.abstention.detect import detect
from ancrage.abstention.support import judge
from tests.abstention import natural
from tests.abstention.test_wrapping import WRAPPINGS

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NATURAL = Path(natural.__file__).parent / "data" / "natural.jsonl"
Labelled = tuple[str, str, bool]
"""Question, answer, whether it abstains."""
KEYWORDS = re.compile(
    r"(?:don['’]t|do not) (?:know|have)|(?:does|do|is|are|was)(?: not|n['’]t) (?:\w+ )?(?:mention|specif|provide"
    r"|state|contain|include|clear)|no (?:specific )?(?:information|mention|answer)|sorry|apologi[sz]e"
    r"|\bi (?:cannot|can['’]t|will not|won['’]t|am unable|am not able)|unable to|as an ai|cannot be"
    r"|ne sais pas|ne peux pas|(?:mentionn|précis|indiqu)\w* pas|aucune (?:information|mention)|désolé"
    r"|weiß (?:es )?nicht|keine (?:information|angabe)|leider|no (?:lo )?sé|no (?:se )?menciona",
    re.IGNORECASE,
)


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def of_model(question: str, answer: str) -> bool:
    return detect(answer, question).abstained is True


def of_keywords(question: str, answer: str) -> bool:
    return KEYWORDS.search(answer) is not None


def of_length(question: str, answer: str) -> bool:
    return 3 <= len(answer.split()) <= 40


METHODS: dict[str, Callable[[str, str], bool]] = {
    "clause model": of_model,
    "keywords": of_keywords,
    "3 to 40 words": of_length,
}


def report(name: str, answers: list[Labelled]) -> None:
    for method, says in METHODS.items():
        start = time.perf_counter()
        pairs = [(label, says(question, answer)) for question, answer, label in answers]
        spent = 1e3 * (time.perf_counter() - start) / len(pairs)
        right = sum(label and found for label, found in pairs)
        false = sum(not label and found for label, found in pairs)
        missed = sum(label and not found for label, found in pairs)
        f1 = (
            f"F1 {2 * right / (2 * right + false + missed):.3f}" if right + missed else "no refusal"
        )
        print(
            f"{name}, {method}: {f1} (n {len(pairs)}, abstaining {right + missed}, missed {missed}, "
            f"false {false}), {spent:.2f} ms each"
        )


def wrapped(answers: list[Labelled]) -> None:
    """How many verdicts each wrapping changes."""
    changed = total = 0
    for question, answer, _ in answers:
        before = of_model(question, answer)
        for wrapping in WRAPPINGS:
            quoted = json.dumps(answer, ensure_ascii=False)[1:-1]
            said = wrapping.format(quoted if '"{}"' in wrapping else answer)
            changed += of_model(question, said) is not before
            total += 1
    print(f"wrappings: {changed} of {total} verdicts changed ({changed / total:.2%})")


def piaf() -> Iterator[Labelled]:
    for path in sorted((DATA / "piaf-fr").glob("*.json")):
        for document in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in document["paragraphs"]:
                for qa in paragraph["qas"]:
                    for answer in qa["answers"][:1]:
                        yield qa["question"], answer["text"], False


def halueval() -> Iterator[Labelled]:
    for path in sorted((DATA / "halueval-qa").glob("*.json")):
        for row in map(json.loads, path.read_text(encoding="utf-8").splitlines()):
            yield row["question"], row["right_answer"], False


async def right_answers(name: str, rows: list[dict[str, object]]) -> None:
    """Accuracy; an unscored answer counts as not right. Beside it: the words of the expected."""
    hits = unscored = words = 0
    for row in rows:
        answer, expected = str(row["answer"]), str(row["expected"])
        context = str(row.get("context", ""))
        verdict = await judge(answer, str(row["question"]), expected, context)
        hits += (verdict.right is True) == row["right"]
        unscored += verdict.right is None
        words += (expected.casefold() in answer.casefold()) == row["right"]
    print(
        f"{name}, right answers: accuracy {hits / len(rows):.3f} (n {len(rows)}, unscored "
        f"{unscored}); expected answer in it: {words / len(rows):.3f}"
    )


def labelled(rows: list[dict[str, object]]) -> list[Labelled]:
    return [
        (
            str(r["question"]),
            str(r["answer"]),
            bool(r.get("abstains", r.get("outcome") == "abstains")),
        )
        for r in rows
    ]


def main() -> None:
    for path in map(Path, sys.argv[1:]):
        rows = read(path)
        if "right" in rows[0]:
            asyncio.run(right_answers(path.name, rows))
        else:
            report(path.name, labelled(rows))
    ours = labelled(read(NATURAL))
    report("natural answers", ours)
    report(
        "whole answers",
        [
            (question, answer, label)
            for prefix in ("", "LATER_", "UNSEEN_")
            for name, label in (("ABSTAINING", True), ("ANSWERING", False))
            for question, answer in getattr(natural, prefix + name)
        ],
    )
    wrapped(ours)
    if not DATA.is_dir():
        print("public sets: not on this machine")
        return
    for name in ("mtrag", "xstest", "halueval-general"):
        report(name, labelled(read(DATA / "abstention-en" / f"{name}.jsonl")))
    report("PIAF, right answers (French)", list(piaf()))
    report("HaluEval QA, right answers (English)", list(halueval()))


if __name__ == "__main__":
    main()
