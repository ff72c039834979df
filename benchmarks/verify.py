"""Right and hallucinated answers of HaluEval QA told apart, beside two baselines that read nothing.

Run ``python -m benchmarks.verify HALUEVAL_FOLDER [--model NLI_FOLDER] [--limit N]``. The
folder holds ``*.json`` files of JSON lines with knowledge, question, right_answer and
hallucinated_answer. Each answer is scored against the knowledge, by code alone and, with
``--model``, by NLI without and with code. An answer is flagged when it has a hallucinated claim.
Answers are fragments ("Delhi"), so that each is scored as it stands and with its question before
it. An answer without a verdict counts as wrong, whichever side it is on.
"""

import argparse
import asyncio
import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ancrage.claims import Claim, extract_claims
from ancrage.config import Config
from ancrage.evaluator import Subject
from ancrage.llm import Models
from ancrage.verify import State, Verification, claim_scorer, make_run
from ancrage.verify.extract import Extraction
from ancrage.verify.scorer import ClaimScorer

Row = dict[str, str]
_JOINED = re.compile(r"(?<=[\w)])\.(?=[A-Z])")
"""Where HaluEval put paragraphs together without a space."""


@dataclass(frozen=True)
class WithQuestion:
    """One claim an answer: the question, then all of the answer."""

    version: str = "question and answer"

    async def extract(self, run: Subject) -> Extraction:
        """The answer as the one claim that it makes in answer to its question."""
        text, question = run.text, run.case.input.question
        claim = Claim(start=0, end=len(text), text=text, statement=f"{question} {text}")
        return Extraction((claim,), self.version)


def rows(folder: Path, limit: int) -> list[Row]:
    """The rows of every file, each question once."""
    lines = [line for path in sorted(folder.glob("*.json")) for line in path.open(encoding="utf-8")]
    found: dict[str, Row] = {}
    for line in lines:
        row: Row = json.loads(line)
        row["knowledge"] = _JOINED.sub(". ", row["knowledge"])
        found.setdefault(row["question"], row)
    return list(found.values())[: limit or None]


def scorers(model: str) -> Iterator[tuple[str, ClaimScorer]]:
    """Each method by name, with and without the question."""
    models = Models(Config(None, {}), cache=None)

    def context(run: Subject) -> list[str]:
        return [str(run.case.metadata["knowledge"])]

    def make(verifier: Any) -> ClaimScorer:
        return claim_scorer(verifier, get_context=context, models=models)

    chosen = {"code alone": make(None)}
    if model:
        from ancrage.nli import NLISettings
        from ancrage.verify.nli import NLIVerifier

        settings = NLISettings(model=model, offline=True, rule="argmax")
        chosen["NLI and code"] = make(NLIVerifier.load(settings))
    for name, scorer in chosen.items():
        yield name, scorer
        yield f"{name}, with question", replace(scorer, extractor=WithQuestion())


async def score(scorer: ClaimScorer, row: Row, answer: str) -> Verification:
    """The result of one answer."""
    run = make_run(row["question"], answer, metadata={"knowledge": row["knowledge"]})
    return await scorer.score(run)


def flagged(result: Verification) -> bool | None:
    """Whether an answer has a hallucinated claim; None where that cannot be told."""
    if result.best > 0:
        return True
    return False if result.state is State.SCORED else None


def nli_only(result: Verification) -> bool | None:
    """The same by the NLI model's own opinions, code left aside."""
    said = [verdict.opinions[0].verdict for verdict in result.verdicts]
    if any(verdict.hallucinated for verdict in said):
        return True
    return False if said and "unscored" not in said else None


def table(name: str, right: Sequence[bool | None], wrong: Sequence[bool | None]) -> None:
    """One line: flagged and untold on both sides, and balanced accuracy over all answers."""
    n = len(right)
    told = Counter(right), Counter(wrong)
    balanced = (told[0][False] / n + told[1][True] / n) / 2
    print(
        f"{name:34} right: flagged {told[0][True]:4} untold {told[0][None]:4}   "
        f"hallucinated: flagged {told[1][True]:4} untold {told[1][None]:4}   "
        f"balanced accuracy {balanced:.3f}"
    )


def by_code(name: str, right: list[Verification], wrong: list[Verification]) -> None:
    """How often code decided, and how often it was right to."""
    for side, results in (("right", right), ("hallucinated", wrong)):
        told: Counter[str] = Counter()
        for result in results:
            told.update(
                f"{verdict.verdict} by {verdict.decided_by}"
                for verdict in result.verdicts
                if verdict.decided_by in ("figures", "verbatim", "wording")
            )
        claims = sum(len(result.claims) for result in results)
        print(f"  {name}, {side}: {claims} claims; {dict(sorted(told.items()))}")


def baseline(rows: list[Row], measure: Callable[[Row, str], float]) -> float:
    """Balanced accuracy of the best cut on ``measure``, chosen on the very answers it is for."""
    right = np.array([measure(row, row["right_answer"]) for row in rows])
    wrong = np.array([measure(row, row["hallucinated_answer"]) for row in rows])
    cuts = np.unique(np.concatenate([right, wrong]))
    return max(float(((right < cut).mean() + (wrong >= cut).mean()) / 2) for cut in cuts)


def absent_words(row: Row, answer: str) -> float:
    """The share of an answer's words that are not in the knowledge."""
    known = set(row["knowledge"].lower().replace(".", " ").replace(",", " ").split())
    words = answer.lower().replace(".", " ").replace(",", " ").split()
    return sum(word not in known for word in words) / max(1, len(words))


async def main() -> None:
    """Print one line a method."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--model", default="")
    parser.add_argument("--limit", type=int, default=0)
    options = parser.parse_args()
    data = rows(options.folder, options.limit)
    measure: Callable[[Row, str], float]
    claimless = [
        sum(not extract_claims(row[side]) for row in data)
        for side in ("right_answer", "hallucinated_answer")
    ]
    print(f"{len(data)} questions; without a claim of their own: {claimless[0]} right answers, "
          f"{claimless[1]} hallucinated")  # fmt: skip
    for name, measure in (
        ("length of the answer", lambda _, answer: len(answer)),
        ("words not in the knowledge", absent_words),
    ):
        print(f"baseline, {name}: balanced accuracy {baseline(data, measure):.3f}")
    for name, scorer in scorers(options.model):
        right = [await score(scorer, row, row["right_answer"]) for row in data]
        wrong = [await score(scorer, row, row["hallucinated_answer"]) for row in data]
        table(name, *([flagged(result) for result in side] for side in (right, wrong)))
        if scorer.verifiers:
            title = name.replace("NLI and code", "NLI alone")
            table(title, *([nli_only(result) for result in side] for side in (right, wrong)))
        by_code(name, right, wrong)


if __name__ == "__main__":
    asyncio.run(main())
