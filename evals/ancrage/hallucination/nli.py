"""Verdicts by natural language inference."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np

from ancrage.claims import Claim
from ancrage.claims.terms import terms
from ancrage.config import Config, load
from ancrage.evaluator import Subject
from ancrage.hallucination.code import Context
from ancrage.hallucination.model import ContextItem, Evidence, Opinion, Verdict
from ancrage.hallucination.verifiers import Verification
from ancrage.nli import NLIModel, NLISettings, rule_of
from ancrage.nli.rules import Rule
from ancrage.nli.verify import ClaimVerdict, Judge, Verifier

_VERDICTS = {
    "accepted": Verdict.SUPPORTED,
    "correct": Verdict.CONTRADICTED,
    "kept": Verdict.UNSUPPORTED,
    "unscored": Verdict.UNSCORED,
}


@dataclass(frozen=True)
class NLIVerifier:
    """Judges each claim against the whole context, read in windows, by a rule of ``ancrage.nli``.

    The passage it shows is the sentence nearest to the claim, in words, of the window that
    decided: an NLI model points at nothing finer.
    """

    judge: Judge
    rule: Rule
    version: str
    name: str = "nli"
    _one_at_a_time: Lock = field(default_factory=Lock, repr=False, compare=False)
    """Tokenizers are not made for several threads."""

    @classmethod
    def load(
        cls, settings: NLISettings | None = None, config: Config | None = None
    ) -> "NLIVerifier":
        """The verifier of ``settings`` (default: the ``[nli]`` table), its model loaded.

        Raises:
            UsageError: the settings cannot be used, or the model cannot be loaded.
        """
        settings = settings or (config or load()).table("nli", NLISettings)
        model = NLIModel.load(settings)
        revision = f"@{model.revision}" if model.revision else ""
        return cls(model.judge, rule_of(settings), f"{settings.model}{revision}:{settings.rule}")

    async def verify(
        self, run: Subject, claims: Sequence[Claim], context: Sequence[ContextItem]
    ) -> Verification:
        """One opinion a claim; ``unscored`` where a claim is longer than the model reads."""
        return await asyncio.to_thread(self._verify, claims, Context(tuple(context)))

    def _verify(self, claims: Sequence[Claim], context: Context) -> Verification:
        verifier = Verifier(judge=self.judge, rule=self.rule, figures=False)
        premises = [context.text] * len(claims)
        with self._one_at_a_time:
            done = asyncio.run(verifier.verify_claims("", claims, premises))
        return Verification(tuple(self._opinion(verdict, context) for verdict in done.verdicts))

    def _opinion(self, verdict: ClaimVerdict, context: Context) -> Opinion:
        word = _VERDICTS[verdict.outcome]
        shown = word in (Verdict.SUPPORTED, Verdict.CONTRADICTED)
        return Opinion(
            verifier=self.name,
            verdict=word,
            reason=verdict.reason,
            evidence=_nearest(verdict, context) if shown else None,
        )


def _nearest(verdict: ClaimVerdict, context: Context) -> Evidence | None:
    window = " ".join((verdict.passage or "").split())
    inside = [
        each for each in context.sentences if " ".join(each.passage.text.split()) in window
    ] or list(context.sentences)
    if not inside:
        return None
    wanted = _words(verdict.claim.statement)
    shared = np.array([len(wanted & _words(each.passage.text)) for each in inside])
    return inside[int(shared.argmax())]


def _words(text: str) -> frozenset[str]:
    found = terms(text)
    return found.words | found.entities | found.openers
