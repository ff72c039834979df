"""Who gives verdicts beside code: a language model here, an NLI model in ``ancrage.verify.nli``."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ancrage.claims import Claim
from ancrage.domain import Usage
from ancrage.evaluator import Subject
from ancrage.llm import Models, Request, Tier
from ancrage.llm.estimate import tokens_of
from ancrage.verify.model import ContextItem, Opinion, Prompt, Verdict
from ancrage.verify.prompt import VERDICTS, caller_version, verdicts_call, version
from ancrage.verify.reply import read_verdicts, reply_model


@dataclass(frozen=True)
class Opinions:
    """What a verifier says: one opinion a claim, in order."""

    opinions: tuple[Opinion, ...]
    prompts: tuple[Prompt, ...] = ()
    usage: Usage | None = None
    notes: tuple[str, ...] = ()


class ClaimVerifier(Protocol):
    """Holds claims against a context that is not empty; ``verify`` may be async.

    A verdict that cannot be had is an opinion ``unscored`` with the reason.
    """

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    def verify(
        self, run: Subject, claims: Sequence[Claim], context: Sequence[ContextItem]
    ) -> Opinions | Awaitable[Opinions]: ...


@dataclass(frozen=True)
class LLMVerifier:
    """Asks a language model, all claims in one call.

    A verdict other than ``unsupported`` stands only with a passage that is in the context word
    for word (tiers T0 to T3).
    """

    tier: Tier
    models: Models
    name: str = "llm"

    @property
    def version(self) -> str:
        """The model, its parameters and endpoint, and the words of the prompt."""
        return caller_version(VERDICTS, self.tier)

    def tokens(self, run: Subject, claims: Sequence[Claim], context: Sequence[ContextItem]) -> int:
        """About how many tokens the call would take in."""
        call = verdicts_call(run.case.input.question, claims, context)
        return tokens_of(call.messages, reply_model("verdicts", call.seal), "verdicts")

    async def aclose(self) -> None:
        """Close the connections that calls opened."""
        await self.models.aclose()

    async def verify(
        self, run: Subject, claims: Sequence[Claim], context: Sequence[ContextItem]
    ) -> Opinions:
        """One opinion a claim; all ``unscored`` when there is no usable reply."""
        call = verdicts_call(run.case.input.question, claims, context)
        reply = await self.models.client().complete_json(
            Request(tier=self.tier, messages=call.messages),
            reply_model("verdicts", call.seal),
            name="verdicts",
        )
        prompt = Prompt(
            step="verdicts",
            model=self.tier.model,
            version=version(VERDICTS),
            messages=call.messages,
        )
        if reply.value is None:
            reason = f"{reply.problem}: {reply.reason}"
            opinion = Opinion(verifier=self.name, verdict=Verdict.UNSCORED, reason=reason)
            return Opinions((opinion,) * len(claims), (prompt,), reply.usage)
        read = read_verdicts(reply.value.entries, len(claims), context, call.mark, self.name)
        return Opinions(read.opinions, (prompt,), reply.usage, read.notes)
