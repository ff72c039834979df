"""Abstention and support: the default rule and the lexical one, on made and on real answers.

``python -m benchmarks.abstention`` prints one figure a line. The real data are those of
``../shared``, where it is there.
"""

import asyncio
import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from ancrage.abstention import MeaningRule, QACase, detect
from tests.abstention import natural
from tests.abstention.adversarial import items

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
NATURAL = Path(natural.__file__).parent / "data" / "natural.jsonl"
Labelled = tuple[str, str, str, bool]
"""Question, expected answer, answer, whether it abstains."""


def by_meaning(question: str, expected: str, answer: str) -> bool | None:
    return detect(answer, question, expected).abstained


def by_word(question: str, expected: str, answer: str) -> bool | None:
    return "abstention" in answer.casefold()


def report(name: str, answers: Iterable[Labelled]) -> None:
    answers = list(answers)
    rules: dict[str, Callable[[str, str, str], bool | None]] = {
        "meaning": by_meaning,
        "lexical": by_word,
    }
    for rule, read in rules.items():
        start = time.perf_counter()
        pairs = [(label, read(*answer)) for *answer, label in answers]
        spent = time.perf_counter() - start
        right = sum(label and found is True for label, found in pairs)
        false = sum(not label and found is True for label, found in pairs)
        missed = sum(label and found is not True for label, found in pairs)
        unread = sum(found is None for _, found in pairs)
        total = 2 * right + false + missed
        f1 = f"F1 {2 * right / total:.3f}" if right + missed else "none abstains"
        print(
            f"{name}, {rule}: {f1} (n {len(pairs)}, abstaining {right + missed}, missed "
            f"{missed}, false {false}, unscored {unread}), {1e3 * spent / len(pairs):.2f} ms each"
        )


def adversarial(held_out: bool) -> Iterator[Labelled]:
    for item in items():
        if item.held_out is held_out:
            yield item.question, item.expected, item.answer, item.abstains


def whole(prefix: str) -> Iterator[Labelled]:
    for name, label in (("ABSTAINING", True), ("ANSWERING", False)):
        for question, answer in getattr(natural, prefix + name):
            yield question, "", answer, label


def labelled(half: str) -> Iterator[Labelled]:
    for line in NATURAL.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        if row["half"] == half:
            yield row["question"], "", row["answer"], row["abstains"]


def piaf() -> Iterator[tuple[str, str, str]]:
    for path in sorted((DATA / "piaf-fr").glob("*.json")):
        for document in json.loads(path.read_text(encoding="utf-8"))["data"]:
            for paragraph in document["paragraphs"]:
                for qa in paragraph["qas"]:
                    for answer in qa["answers"][:1]:
                        yield qa["question"], answer["text"], paragraph["context"]


def halueval() -> Iterator[dict[str, str]]:
    for path in sorted((DATA / "halueval-qa").glob("*.json")):
        yield from map(json.loads, path.read_text(encoding="utf-8").splitlines())


async def verdicts(rows: Iterable[tuple[str, str, str, str]]) -> Counter[str]:
    """Verdicts on (question, expected, support, answer), counted."""
    counts: Counter[str] = Counter()
    for number, (question, expected, support, answer) in enumerate(rows):
        case = QACase(
            id=number, question=question, expected=expected, support=support, must_abstain=False
        )
        verdict = await MeaningRule().judge(case, answer)
        counts[str(verdict.cause or "faithful")] += 1
    return counts


def main() -> None:
    report("adversarial, tuned half", adversarial(held_out=False))
    report("adversarial, held-out half", adversarial(held_out=True))
    for prefix, name in (("", "first"), ("LATER_", "second"), ("UNSEEN_", "third, never tuned on")):
        report(f"whole answers, {name} set", whole(prefix))
    report("natural answers, tuned half", labelled("tune"))
    report("natural answers, held-out half", labelled("held"))
    if not DATA.is_dir():
        print("real data: not on this machine")
        return
    right = [(q, "", a, False) for q, a, _ in piaf()]
    report("PIAF, right answers (French)", right)
    report(
        "HaluEval QA, right answers (English)",
        [(row["question"], "", row["right_answer"], False) for row in halueval()],
    )
    print("PIAF, support:", dict(asyncio.run(verdicts((q, a, c, a) for q, a, c in piaf()))))
    for field in ("right_answer", "hallucinated_answer"):
        rows = {
            (row["question"], row["right_answer"], row["knowledge"], row[field])
            for row in halueval()
        }
        counts = asyncio.run(verdicts(sorted(rows)))
        print(f"HaluEval QA, support, {field} ({len(rows)} distinct): {dict(counts)}")


if __name__ == "__main__":
    main()
