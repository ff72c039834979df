"""The claims of one output on their way to verdicts: asked once, and again where still open."""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ancrage.claims import Claim
from ancrage.domain import OutputState
from ancrage.errors import AncrageError
from ancrage.evaluator import Subject
from ancrage.verify.code import Context
from ancrage.verify.context import Texts, called, items, make_run
from ancrage.verify.correct import sure
from ancrage.verify.decide import decision_version, settle
from ancrage.verify.extract import claims_of, rules_version
from ancrage.verify.lookup import Retriever
from ancrage.verify.model import (
    ClaimVerdict,
    ClaimVerifier,
    ContextItem,
    Opinion,
    Opinions,
    Verdict,
)
from ancrage.verify.result import Verification

_PASSAGES = 3
"""Passages looked up for one claim."""


def looked_up(retriever: Retriever, claims: Iterable[Claim]) -> tuple[ContextItem, ...]:
    """Passages for ``claims``, each once."""
    passages = dict.fromkeys(
        passage for claim in claims for passage in retriever.search(claim.statement, _PASSAGES)
    )
    return tuple(ContextItem(text=text, id="looked up") for text in passages)


def unscorable(run: Subject, scale: float = 1.0) -> Verification | None:
    """The result of an output that is empty or not there; None for one that can be scored."""
    output = run.output
    blank = output.state is OutputState.OK and not run.text.strip()
    if output.state is OutputState.EMPTY or blank:
        return Verification.of(run_id=run.case.id, scale=scale, empty=True)
    if output.state is not OutputState.OK:
        reason = f"output {output.state}" + (f": {output.reason}" if output.reason else "")
        return Verification.of(run_id=run.case.id, scale=scale, problem=reason)
    return None


def verify_by_code(
    answer: str | None, context: Texts, *, question: str = "", scale: float = 1.0
) -> Verification:
    """What code alone tells of an answer's claims: no model, no configuration, no event loop.

    Raises:
        UsageError: ``context`` is no list of texts.
    """
    run, held = make_run(question, answer, id="answer"), items(context)
    claims = claims_of(run)
    rounds = Rounds(run, claims, held, (), code=True)
    problem = "" if held or not claims else "the context is empty: nothing to hold claims against"
    return unscorable(run, scale) or Verification.of(
        run_id=run.case.id,
        claims=claims,
        verdicts=rounds.verdicts(problem),
        scale=scale,
        problem=problem or None,
        context=held,
        versions={"extractor": f"rules-{rules_version()}", "decision": decision_version()},
    )


@dataclass
class Rounds:
    """The claims of one output, what verifiers said of each, and on what context."""

    run: Subject
    claims: tuple[Claim, ...]
    context: tuple[ContextItem, ...]
    verifiers: tuple[ClaimVerifier, ...]
    code: bool
    said: list[Opinions] = field(default_factory=list)
    opinions: dict[int, list[Opinion]] = field(default_factory=dict)

    def add(self, more: tuple[ContextItem, ...]) -> None:
        """Let the context grow."""
        self.context += more

    async def ask(self, chosen: Sequence[int]) -> None:
        """Have every verifier judge the chosen claims; what it said of them before is forgotten."""
        if not chosen:
            return
        claims = tuple(self.claims[i] for i in chosen)
        said = await asyncio.gather(
            *(_ask(verifier, self.run, claims, self.context) for verifier in self.verifiers)
        )
        self.said += said
        for place, i in enumerate(chosen):
            self.opinions[i] = [opinions.opinions[place] for opinions in said]

    def verdicts(self, problem: str = "") -> list[ClaimVerdict]:
        """One a claim."""
        held, question = Context(self.context), self.run.case.input.question
        return [
            settle(
                claim,
                self.opinions.get(i, ()),
                held,
                problem or None,
                question=question,
                code=self.code,
            )
            for i, claim in enumerate(self.claims)
        ]

    @property
    def open(self) -> tuple[int, ...]:
        """The claims that the context does not settle: without a verdict, unsupported, or
        contradicted by a verifier that is not sure enough to have them rewritten."""
        return tuple(
            i
            for i, verdict in enumerate(self.verdicts())
            if verdict.verdict in (Verdict.UNSCORED, Verdict.UNSUPPORTED)
            or (verdict.verdict is Verdict.CONTRADICTED and not sure(verdict))
        )


async def _ask(
    verifier: ClaimVerifier,
    run: Subject,
    claims: tuple[Claim, ...],
    context: tuple[ContextItem, ...],
) -> Opinions:
    """One opinion a claim, whatever the verifier does."""
    try:
        said = await called(verifier.verify, run, claims, context)
    except (AncrageError, asyncio.CancelledError):
        raise
    except Exception as error:  # noqa: BLE001  a faulty verifier leaves its claims unscored
        reason = f"raised {type(error).__name__}: {error}"
        return _silent(verifier.name, reason, len(claims))
    if len(said.opinions) != len(claims):
        reason = f"gave {len(said.opinions)} opinions on {len(claims)} claims"
        return _silent(verifier.name, reason, len(claims))
    return said


def _silent(name: str, reason: str, count: int) -> Opinions:
    opinion = Opinion(verifier=name, verdict=Verdict.UNSCORED, reason=reason)
    return Opinions((opinion,) * count)
