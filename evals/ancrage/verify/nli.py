"""Verdicts by natural language inference."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np

from ancrage.claims import Claim
from ancrage.claims.terms import terms
from ancrage.config import Config, load
from ancrage.evaluator import Subject
from ancrage.fingerprint import code_version
from ancrage.nli import Judged, NLIModel, NLISettings, rule_of
from ancrage.nli.calibrate import refuse_foreign
from ancrage.nli.model import Pair
from ancrage.nli.rules import Rule, calibration_of, rule_name
from ancrage.nli.thresholds import Decision, classes
from ancrage.verify.code import Context
from ancrage.verify.model import ContextItem, Evidence, Opinion, Opinions, Verdict

_VERDICTS = {
    Decision.SUPPORTED: Verdict.SUPPORTED,
    Decision.UNSUPPORTED: Verdict.UNSUPPORTED,
    Decision.CONTRADICTED: Verdict.CONTRADICTED,
}
_CLASSES = ("supported by", "not settled by", "contradicted by")


class Judge(Protocol):
    """Gives the probabilities of pairs; ``NLIModel.judge`` is one."""

    def __call__(self, pairs: Sequence[Pair]) -> Judged: ...


class _Job(NamedTuple):
    """The pairs of one answer, and where what is said of them goes."""

    pairs: list[Pair]
    said: list[Judged]


@dataclass(frozen=True)
class NLIVerifier:
    """Judges each claim against the whole context, read in windows, by a rule of ``ancrage.nli``.

    Answers verified at once are judged together, so that batches are full. The passage shown is
    the sentence nearest to the claim, in words, of the window that decided: an NLI model points at
    nothing finer.
    """

    judge: Judge
    rule: Rule
    version: str
    name: str = "nli"
    correct_from: float = 0.0
    """The probability of being wrong from which a contradicted claim may be corrected."""
    _one_at_a_time: Lock = field(default_factory=Lock, repr=False, compare=False)
    """Tokenizers are not made for several threads."""
    _waiting: list[_Job] = field(default_factory=list, repr=False, compare=False)

    @classmethod
    def load(
        cls, settings: NLISettings | None = None, config: Config | None = None
    ) -> "NLIVerifier":
        """The verifier of ``settings`` (default: the ``[nli]`` table), its model loaded.

        Raises:
            UsageError: the settings cannot be used, the model cannot be loaded, or its calibration
                was fitted with another one.
        """
        settings = settings or (config or load()).table("nli", NLISettings)
        fitted = calibration_of(settings)
        if fitted and settings.dtype == "auto" and fitted.model.get("dtype"):
            settings = settings.model_copy(update={"dtype": fitted.model["dtype"]})
        model = NLIModel.load(settings)
        if fitted:
            refuse_foreign(fitted, model.facts)
        facts = ",".join(f"{value}" for name, value in model.facts.items() if name != "device")
        return cls(
            model.judge,
            rule_of(settings),
            f"{facts}:{rule_name(settings)}:{code_version(NLIVerifier, NLIModel)}",
            correct_from=fitted.correction if fitted else 0.0,
        )

    async def verify(
        self, run: Subject, claims: Sequence[Claim], context: Sequence[ContextItem]
    ) -> Opinions:
        """One opinion a claim; ``unscored`` where a claim is longer than the model reads, or the
        rule does not decide."""
        held = Context(tuple(context))
        job = _Job([(held.text, claim.statement) for claim in claims], [])
        self._waiting.append(job)
        await asyncio.to_thread(self._judge_waiting)
        (judged,) = job.said
        decided = self.rule(
            judged.probabilities, np.array([len(claims)], dtype=np.int64), judged.windows
        )
        flags = decided.flagged(0)
        opinions = [
            self._opinion(
                claim,
                judged.probabilities[i],
                int(decided.decisions[i]),
                float(decided.scores[i]),
                judged.passages[i],
                held,
            )
            for i, claim in enumerate(claims)
        ]
        notes = (f"{self.name}: {', '.join(flags)}",) if flags else ()
        return Opinions(tuple(opinions), notes=notes)

    def _judge_waiting(self) -> None:
        """Judge what all answers wait for; whoever comes second finds its own done already."""
        with self._one_at_a_time:
            jobs = self._waiting[:]
            del self._waiting[: len(jobs)]
            if not jobs:
                return
            judged = self.judge([pair for job in jobs for pair in job.pairs])
            start = 0
            for job in jobs:
                end = start + len(job.pairs)
                job.said.append(
                    Judged(
                        judged.probabilities[start:end],
                        judged.windows[start:end],
                        judged.passages[start:end],
                    )
                )
                start = end

    def _opinion(
        self,
        claim: Claim,
        row: np.ndarray,
        decision: int,
        score: float,
        window: str,
        context: Context,
    ) -> Opinion:
        verdict = _VERDICTS.get(Decision(decision), Verdict.UNSCORED)
        if decision == Decision.UNSCORED:
            reason = "the claim is longer than the model reads"
        else:
            likeliest = int(classes(row[None])[0])
            reason = f"{_CLASSES[likeliest]} the context (p = {row[likeliest]:.2f})"
            if decision == Decision.UNDECIDED:
                reason += ", below the threshold"
        shown = verdict in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
        return Opinion(
            verifier=self.name,
            verdict=verdict,
            reason=reason,
            evidence=_nearest(claim, window, context) if shown else None,
            probabilities=None
            if decision == Decision.UNSCORED
            else (round(float(row[0]), 4), round(float(row[1]), 4), round(float(row[2]), 4)),
            correctable=verdict is Verdict.CONTRADICTED and (1 - score) / 2 >= self.correct_from,
        )


def _nearest(claim: Claim, window: str, context: Context) -> Evidence | None:
    window = " ".join(window.split())
    inside = [
        sentence
        for sentence in context.sentences
        if " ".join(sentence.passage.text.split()) in window
    ] or list(context.sentences)
    if not inside:
        return None
    wanted = _words(claim.statement)
    return max(inside, key=lambda sentence: len(wanted & _words(sentence.passage.text)))


def _words(text: str) -> frozenset[str]:
    found = terms(text)
    return found.words | found.entities | found.openers
