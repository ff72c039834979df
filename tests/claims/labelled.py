"""Reads the labelled answers and measures an extractor on them."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ancrage.claims import Claim

DATA = Path(__file__).parent / "data" / "answers.txt"
_PART = re.compile(r"⟦(?:([^⟦⟧¦]*)¦)?([^⟦⟧]*)⟧")
_WORD = re.compile(r"\w+")


@dataclass(frozen=True)
class Labelled:
    id: str
    text: str
    spans: tuple[tuple[int, int], ...]
    contexts: tuple[str, ...]


@dataclass(frozen=True)
class Measure:
    precision: float
    """Share of extracted claims whose two boundaries are those of a labelled claim."""
    recall: float
    """Share of labelled claims found with both boundaries."""
    coverage: float
    """Share of the words of labelled claims that lie in some extracted claim."""
    entailment: float
    """Share of extracted claims that say nothing beyond, and leave out nothing of, one labelled
    claim with its carried words."""
    labelled: int
    extracted: int


def answers() -> list[Labelled]:
    result = []
    for part in re.split(r"(?m)^### ", DATA.read_text(encoding="utf-8"))[1:]:
        name, _, marked = part.partition("\n")
        text, spans, contexts, position = "", [], [], 0
        marked = marked.rstrip("\n")
        for m in _PART.finditer(marked):
            text += marked[position : m.start()]
            claim = m[2]
            spans.append((len(text), len(text) + len(claim.rstrip())))
            contexts.append(m[1] or "")
            text += claim
            position = m.end()
        text += marked[position:]
        result.append(Labelled(name.strip(), text, tuple(spans), tuple(contexts)))
    return result


def measure(labelled: Sequence[Labelled], extracted: Sequence[Sequence[Claim]]) -> Measure:
    hits = gold = found = words = covered = entailed = 0
    for answer, claims in zip(labelled, extracted, strict=True):
        spans = {(c.start, c.end) for c in claims}
        hits += len(spans & set(answer.spans))
        gold += len(answer.spans)
        found += len(claims)
        for start, end in answer.spans:
            for m in _WORD.finditer(answer.text, start, end):
                words += 1
                covered += any(s <= m.start() and m.end() <= e for s, e in spans)
        for claim in claims:
            entailed += any(
                _bag(claim.statement) == _bag(f"{context} {_unmarked(answer.text[start:end])}")
                for (start, end), context in zip(answer.spans, answer.contexts, strict=True)
            ) or (claim.text.count("|") > 0 and (claim.start, claim.end) in answer.spans)
    return Measure(hits / found, hits / gold, covered / words, entailed / found, gold, found)


def _unmarked(text: str) -> str:
    text = re.sub(r"\]\(https?://[^)]*\)", "]", text)
    return re.sub(r"\[[RQM\d][^\]]*\]", "", text)


def _bag(text: str) -> Counter[str]:
    return Counter(_WORD.findall(text.lower()))
