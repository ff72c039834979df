"""What the answering model itself says: sampled answers and checks of its own claims.

Read from a JSONL file; a line is ``{"response", "samples": [text, …]}`` or
``{"response", "claim", "wrong": true | false}``. The benchmark writes one when given a model tier.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import numpy as np

from ancrage.errors import IncompleteError, UsageError
from ancrage.nli.labelled import Dataset
from ancrage.nli.thresholds import Bools

if TYPE_CHECKING:
    from ancrage.llm import LLM

SAMPLES = 3
_ANSWER = "Answer in one or two short sentences.\n\n{question}"
_CHECK = (
    "Question: {question}\nStatement: {claim}\nIs the statement true? Reply with yes or no alone."
)


@dataclass
class Generations:
    """Samples by response, and by (response, claim) whether the model calls the claim wrong."""

    samples: dict[str, tuple[str, ...]] = field(default_factory=dict)
    checks: dict[tuple[str, str], bool] = field(default_factory=dict)

    def self_check(self, data: Dataset) -> Bools | None:
        """One boolean a claim of ``data``; None unless every claim was checked."""
        keys = [(item.response, item.claim) for item in data.items]
        if not keys or any(key not in self.checks for key in keys):
            return None
        return np.array([self.checks[key] for key in keys], dtype=bool)


def read_generations(path: Path) -> Generations:
    """What ``path`` holds; a torn last line is left out.

    Raises:
        UsageError: a line is of neither form.
    """
    found = Generations()
    lines = path.read_text(encoding="utf-8").splitlines() if path.is_file() else []
    for number, line in enumerate(lines, 1):
        try:
            record = json.loads(line)
            if "samples" in record:
                found.samples[record["response"]] = tuple(map(str, record["samples"]))
            else:
                found.checks[record["response"], record["claim"]] = bool(record["wrong"])
        except (ValueError, KeyError, TypeError):
            if number == len(lines):
                break
            raise UsageError(f"{path}:{number}: neither samples nor a check") from None
    return found


def samples_against(samples: Sequence[str], claim: str) -> list[str]:
    """The samples a claim is held against: never itself."""
    return [sample for sample in samples if sample != claim][:SAMPLES]


async def generate(path: Path, data: Dataset, llm: "LLM", tier: str) -> Generations:
    """Ask the model what ``path`` does not hold yet, writing each reply as it comes.

    Raises:
        IncompleteError: a call failed; what was answered is kept.
    """
    known = read_generations(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as out:
        for item in data.items:
            if item.response not in known.samples:
                texts = [
                    await _ask(llm, tier, _ANSWER.format(question=item.question), repeat, path)
                    for repeat in range(SAMPLES)
                ]
                known.samples[item.response] = tuple(texts)
                _write(out, {"response": item.response, "samples": texts})
            if (item.response, item.claim) not in known.checks:
                prompt = _CHECK.format(question=item.question, claim=item.claim)
                reply = await _ask(llm, tier, prompt, 0, path)
                wrong = reply.strip().lower().startswith("no")
                known.checks[item.response, item.claim] = wrong
                _write(out, {"response": item.response, "claim": item.claim, "wrong": wrong})
    return known


def _write(out: TextIO, record: dict[str, object]) -> None:
    out.write(json.dumps(record, ensure_ascii=False) + "\n")
    out.flush()


async def _ask(llm: "LLM", tier: str, prompt: str, repeat: int, path: Path) -> str:
    from ancrage.llm import Request

    request = Request(
        tier=llm.tier(tier), messages=({"role": "user", "content": prompt},), repeat=repeat
    )
    completion = await llm.complete(request)
    if not (completion.ok or completion.text.strip()):  # an answer cut short is what it says
        raise IncompleteError(f"{completion.reason}; what was answered is kept in {path}")
    return completion.text
