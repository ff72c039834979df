"""Whether an answer abstains, answers, or does both: clause by clause, then by one rule.

What surrounds the answer is taken off (``ancrage.wrapping``), quotes are no words of its own, a
small linear model says what each clause does (``Kind``), and ``_aggregated`` adds up.
"""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple

from ancrage.abstention.clause_model import ClauseModel, Kind, shipped
from ancrage.abstention.clauses import clauses, features, key_words
from ancrage.domain import Frozen, Passage
from ancrage.wrapping import CITATION, unwrap

REFUSALS = (Kind.UNKNOWN, Kind.SILENT, Kind.UNWILLING, Kind.UNABLE)
DEFLECTIONS = (Kind.ASKS, Kind.REDIRECTS)
REFUSES, SURE, REASONS, EMPTY, STATES = 0.5, 0.8, 0.2, 0.5, 0.3
"""Probability of a refusal; of content beside a refusal on principle, and its share of clauses;
of a clause that says nothing; that a reason against answering states something all the same."""
_SAID = {
    Kind.UNKNOWN: "it says that it does not know",
    Kind.SILENT: "it says that the source does not tell",
    Kind.UNWILLING: "it declines",
    Kind.UNABLE: "it says that it cannot",
    Kind.ASKS: "it asks back",
    Kind.REDIRECTS: "it sends elsewhere",
}


class Outcome(StrEnum):
    ABSTAINS = "abstains"
    ANSWERS = "answers"
    PARTLY = "partly"
    """Refuses, and tells something all the same."""


class ReadClause(Frozen):
    """A clause of an answer and what it does."""

    passage: Passage
    kind: Kind
    probability: float


class Abstention(Frozen):
    """How an answer was read."""

    outcome: Outcome | None
    """None when it says nothing either way: empty, or courtesies only."""
    kind: Kind | None = None
    """Of the refusal: why there is no answer, or not the whole of it."""
    reason: str
    evidence: Passage | None = None
    """The words that decided: those that refuse, or else the first that state something."""
    content: tuple[Passage, ...] = ()
    """What it states beside a refusal, or instead of one."""
    clauses: tuple[ReadClause, ...] = ()

    @property
    def abstained(self) -> bool | None:
        """None where nothing was read; an answer that refuses in part does not abstain."""
        return None if self.outcome is None else self.outcome is Outcome.ABSTAINS


class _Seen(NamedTuple):
    passage: Passage
    chances: dict[Kind, float]

    @property
    def refuses(self) -> float:
        return sum(self.chances[kind] for kind in REFUSALS)


def detect(answer: str, question: str = "", model: ClauseModel | None = None) -> Abstention:
    """How ``answer`` is read, with the words that decided. ``question`` tells what is asked."""
    shown = unwrap(answer)
    if not re.search(r"\w", CITATION.sub("", shown.text)):
        return Abstention(outcome=None, reason="the answer is empty")
    model = model or shipped()
    asked = key_words(question)
    spans = list(clauses(shown.text))
    chances = model.probabilities([features(shown.text[a:b], asked) for a, b in spans])
    seen = [
        _Seen(Passage.of(answer, *shown.span(*span)), dict(zip(Kind, map(float, row), strict=True)))
        for span, row in zip(spans, chances, strict=True)
    ]
    return _aggregated(seen)


def _aggregated(seen: Sequence[_Seen]) -> Abstention:
    """The rule. A clause refuses where the kinds of refusal add up to ``REFUSES``, and is content
    where it states something. Refusal without content abstains, content without refusal answers,
    both are an answer in part. A refusal on principle is followed by its reasons: beside one that
    opens the answer, only clauses that surely state something are content, and they must be more
    than one in five. Asking back or sending elsewhere, and nothing more, abstains."""
    read = tuple(_read(c) for c in seen)
    spoken = [c for c in read if c.kind is not Kind.COURTESY]
    refusals = [c for c in spoken if c.kind in REFUSALS]
    content = [c for c in spoken if c.kind is Kind.ANSWER]
    if any(c.kind is Kind.UNWILLING for c in spoken[:2]):
        sure = [c for c in content if c.probability > SURE]
        content = sure if len(sure) > REASONS * len(read) else []
    elif refusals:
        content = [c for c in content if c.probability > 0.5]
    if refusals:
        first = max(refusals, key=lambda c: c.probability)
        partly = bool(content)
        return Abstention(
            outcome=Outcome.PARTLY if partly else Outcome.ABSTAINS,
            kind=first.kind,
            reason=f"{_SAID[first.kind]}, and states something" if partly else _SAID[first.kind],
            evidence=first.passage,
            content=tuple(c.passage for c in content),
            clauses=read,
        )
    deflections = [c for c in spoken if c.kind in DEFLECTIONS]
    if deflections and not content:
        first = deflections[0]
        return Abstention(
            outcome=Outcome.ABSTAINS,
            kind=first.kind,
            reason=_SAID[first.kind],
            evidence=first.passage,
            clauses=read,
        )
    if spoken and not content and all(c.chances[Kind.ANSWER] < STATES for c in seen):
        nearest = max(REFUSALS, key=lambda kind: sum(c.chances[kind] for c in seen))
        return Abstention(
            outcome=Outcome.ABSTAINS,
            kind=nearest,
            reason="it gives reasons not to answer, and nothing else",
            evidence=spoken[0].passage,
            clauses=read,
        )
    if spoken:
        stated = tuple(c.passage for c in spoken if c.kind not in DEFLECTIONS)
        return Abstention(
            outcome=Outcome.ANSWERS,
            reason="it states an answer",
            evidence=(content or spoken)[0].passage,
            content=stated,
            clauses=read,
        )
    return Abstention(outcome=None, reason="it says nothing but courtesies", clauses=read)


def _read(clause: _Seen) -> ReadClause:
    among = REFUSALS if clause.refuses > REFUSES else tuple(k for k in Kind if k not in REFUSALS)
    kind = max(among, key=lambda k: clause.chances[k])
    if kind is Kind.COURTESY and clause.chances[kind] < EMPTY:
        kind = Kind.ANSWER
    chance = clause.refuses if kind in REFUSALS else clause.chances[kind]
    return ReadClause(passage=clause.passage, kind=kind, probability=round(chance, 4))
