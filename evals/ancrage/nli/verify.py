"""Verification of one answer: claims, references, inference, decision, correction, rebuilding."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from ancrage.claims import Agreement, Claim, Comparison, compare_figures, extract_claims
from ancrage.domain import Frozen
from ancrage.nli.generation import Correct, Recall
from ancrage.nli.model import Judged, Pair
from ancrage.nli.retrieval import Retriever
from ancrage.nli.rules import Rule
from ancrage.nli.thresholds import classes

Outcome = Literal["accepted", "kept", "correct", "unscored"]
_CLASSES = ("supported by", "not settled by", "contradicted by")
_PASSAGES = 3
"""Passages looked up for one claim."""


class Judge(Protocol):
    """Gives the probabilities of pairs; ``NLIModel.judge`` is one."""

    def __call__(self, pairs: Sequence[Pair]) -> Judged: ...


class Correction(Frozen):
    """A rewritten claim, and whether it passed its own verification and was used."""

    text: str | None
    used: bool
    reason: str


class ClaimVerdict(Frozen):
    """What became of one claim."""

    claim: Claim
    outcome: Outcome
    reason: str
    probabilities: tuple[float, float, float] | None = None
    """Entailment, neutral, contradiction."""
    score: float | None = None
    passage: str | None = None
    """The part of the reference that decided."""
    retrieved: bool = False
    """Whether that part was looked up because the reference did not settle the claim."""
    figures: Comparison | None = None
    """Set when the figures of the claim and of its reference could be compared."""
    correction: Correction | None = None


class Verification(Frozen):
    """An answer verified: a verdict a claim, in order, and the answer rebuilt."""

    id: str
    question: str
    answer: str
    corrected: str
    """The answer with its corrections; everything else byte for byte."""
    reference: str | None
    verdicts: tuple[ClaimVerdict, ...]
    threshold: float | None = None
    flags: tuple[str, ...] = ()
    """Degenerate cases of the rule in this answer; see ``thresholds.paper``."""
    counts: dict[str, int] = {}
    """``claims`` and one entry an outcome; they add up."""
    seconds: dict[str, float] = {}
    """Time spent, by stage."""


@dataclass(frozen=True)
class Verifier:
    """What verification needs; ``recall``, ``correct`` and ``retriever`` may be left out."""

    judge: Judge
    rule: Rule
    recall: Recall | None = None
    correct: Correct | None = None
    retriever: Retriever | None = None
    figures: bool = True
    """Whether contradicting figures prevail over the model."""

    async def verify(
        self,
        answer: str,
        question: str = "",
        reference: str | None = None,
        *,
        id: str = "",
        domain: str = "",
    ) -> Verification:
        """Verify ``answer`` against ``reference``, or against one recalled for ``question``."""
        clock = _Clock()
        claims = extract_claims(answer)
        clock.mark("claims")
        if reference is None and self.recall and question and claims:
            reference = await self.recall(question)
            clock.mark("recall")
        premises = [reference or ""] * len(claims)
        return await self.verify_claims(
            answer, claims, premises, question, id=id, domain=domain, clock=clock
        )

    async def verify_claims(
        self,
        answer: str,
        claims: Sequence[Claim],
        premises: Sequence[str],
        question: str = "",
        *,
        id: str = "",
        domain: str = "",
        clock: "_Clock | None" = None,
    ) -> Verification:
        """Verify ``claims``, each against its own premise; an empty premise settles nothing."""
        clock = clock or _Clock()
        held = list(premises)
        judged = self._judge(claims, held)
        clock.mark("nli")
        rows, passages = judged.probabilities, list(judged.passages)
        windows = judged.windows
        retrieved = [False] * len(claims)
        if self.retriever:
            for i, claim in enumerate(claims):
                found = self._look_up(claim, rows[i])
                if found is not None:
                    rows[i], passages[i], held[i], windows[i] = found
                    retrieved[i] = True
            clock.mark("retrieval")
        sizes = np.array([len(claims)], dtype=np.int64)
        decided = self.rule(rows, sizes, [domain], windows)
        verdicts = [
            self._verdict(
                claim, rows[i], float(decided.scores[i]), int(decided.decisions[i]), held[i],
                passages[i], retrieved[i],
            )
            for i, claim in enumerate(claims)
        ]  # fmt: skip
        clock.mark("decision")
        if self.correct:
            verdicts = [
                await self._corrected(verdict, held[i], question)
                for i, verdict in enumerate(verdicts)
            ]
            clock.mark("correction")
        threshold = float(decided.thresholds[0])
        return Verification(
            id=id,
            question=question,
            answer=answer,
            corrected=rebuild(answer, verdicts),
            reference=next((premise for premise in premises if premise), None),
            verdicts=tuple(verdicts),
            threshold=threshold if np.isfinite(threshold) else None,
            flags=decided.flagged(0) if claims else (),
            counts={"claims": len(verdicts), **Counter(v.outcome for v in verdicts)},
            seconds=clock.seconds,
        )

    def _judge(self, claims: Sequence[Claim], premises: Sequence[str]) -> Judged:
        rows = np.full((len(claims), 3), np.nan)
        windows = np.zeros(len(claims), dtype=np.int64)
        passages = [""] * len(claims)
        asked = [i for i, premise in enumerate(premises) if premise.strip()]
        if asked:
            judged = self.judge([(premises[i], claims[i].statement) for i in asked])
            rows[asked], windows[asked] = judged.probabilities, judged.windows
            for i, passage in zip(asked, judged.passages, strict=True):
                passages[i] = passage
        return Judged(rows, windows, tuple(passages))

    def _look_up(self, claim: Claim, row: np.ndarray) -> tuple[np.ndarray, str, str, int] | None:
        """Probabilities, passage, premise and windows of looked-up passages, if they settle it."""
        settled = not np.isnan(row).any() and classes(row[None])[0] != 1
        if settled or self.retriever is None:
            return None
        found = self.retriever.search(claim.statement, _PASSAGES)
        if not found:
            return None
        premise = "\n\n".join(found)
        judged = self.judge([(premise, claim.statement)])
        new = judged.probabilities[0]
        if np.isnan(new).any() or (not np.isnan(row).any() and classes(new[None])[0] == 1):
            return None
        return new, judged.passages[0], premise, int(judged.windows[0])

    def _verdict(
        self,
        claim: Claim,
        row: np.ndarray,
        score: float,
        decision: int,
        premise: str,
        passage: str,
        retrieved: bool,
    ) -> ClaimVerdict:
        compared = compare_figures(claim.statement, premise) if premise else None
        if compared and compared.verdict is Agreement.NOT_COMPARABLE:
            compared = None
        unknown = bool(np.isnan(row).any())
        outcome: Outcome = ("kept", "accepted", "correct", "unscored")[decision]
        if unknown:
            reason = (
                "the claim is longer than the model reads"
                if premise.strip()
                else "there is no reference to hold it against"
            )
        else:
            likeliest = int(classes(row[None])[0])
            reason = f"{_CLASSES[likeliest]} the reference (p = {row[likeliest]:.2f})"
        if self.figures and compared and compared.verdict is Agreement.CONTRADICTS:
            outcome, reason = "correct", compared.reason
        return ClaimVerdict(
            claim=claim,
            outcome=outcome,
            reason=reason,
            probabilities=None if unknown else (float(row[0]), float(row[1]), float(row[2])),
            score=None if unknown or np.isnan(score) else score,
            passage=passage or None,
            retrieved=retrieved,
            figures=compared,
        )

    async def _corrected(self, verdict: ClaimVerdict, premise: str, question: str) -> ClaimVerdict:
        """The verdict with a correction, itself verified, when the claim is to be corrected."""
        if verdict.outcome != "correct" or self.correct is None:
            return verdict
        text = await self.correct(verdict.claim.statement, question, premise)
        return verdict.model_copy(update={"correction": self._checked(text, premise)})

    def _checked(self, text: str | None, premise: str) -> Correction:
        if not text or not text.strip():
            return Correction(text=None, used=False, reason="no correction was written")
        row = self.judge([(premise, text)]).probabilities[0]
        if np.isnan(row).any() or classes(row[None])[0] != 0:
            return Correction(text=text, used=False, reason="the reference does not support it")
        compared = compare_figures(text, premise)
        if compared.verdict is Agreement.CONTRADICTS:
            return Correction(text=text, used=False, reason=compared.reason)
        return Correction(text=text, used=True, reason=f"supported (p = {row[0]:.2f})")


@dataclass
class _Clock:
    seconds: dict[str, float] = field(default_factory=dict)
    last: float = field(default_factory=time.perf_counter)

    def mark(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self.last
        self.last = now


def rebuild(answer: str, verdicts: Sequence[ClaimVerdict]) -> str:
    """``answer`` with its used corrections in place; all the rest untouched."""
    parts, position = [], 0
    for verdict in verdicts:
        if verdict.correction and verdict.correction.used and verdict.correction.text:
            parts += [answer[position : verdict.claim.start], verdict.correction.text]
            position = verdict.claim.end
    return "".join([*parts, answer[position:]])
