"""The nouns of verification: what claims are held against, and what is said of each."""

from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from pydantic import Field

from ancrage.claims import Claim
from ancrage.domain import Frozen, JsonValue, Passage, Usage
from ancrage.evaluator import Subject


class Verdict(StrEnum):
    """How a claim stands to the context."""

    SUPPORTED = "supported"
    CONTRADICTED = "contradicted"
    """The context says otherwise."""
    UNSUPPORTED = "unsupported"
    """The context says nothing of it."""
    UNSCORED = "unscored"
    """There is no verdict; never counted as supported, nor as a hallucination."""

    @property
    def hallucinated(self) -> bool:
        return self in (Verdict.CONTRADICTED, Verdict.UNSUPPORTED)


class State(StrEnum):
    """How far an output could be scored."""

    SCORED = "scored"
    PARTIAL = "partial"
    """Some claims have no verdict: there are bounds and no score."""
    UNSCORED = "unscored"
    EMPTY = "empty"
    """The output is empty: no hallucination, and nothing said either."""
    NO_CLAIMS = "no_claims"
    """The output asserts nothing: a question, a courtesy, an admission of not knowing."""


class ContextItem(Frozen):
    """One text that claims are held against."""

    text: str
    id: str | None = None
    """Such as a message's id, or the tool and number of a result."""
    about: str = ""
    """What the text is about, such as what a tool was asked; no evidence by itself."""


class Evidence(Frozen):
    """Where a passage stands in the context: ``passage`` is one of ``context[item].text``."""

    item: int = Field(ge=0)
    source_id: str | None
    passage: Passage
    tier: str
    """How verbatim the passage was given, ``T0`` to ``T3``."""


class Opinion(Frozen):
    """What one verifier says of one claim."""

    verifier: str
    verdict: Verdict
    reason: str
    evidence: Evidence | None = None
    probabilities: tuple[float, float, float] | None = None
    """Of entailment, neutral and contradiction, where the verifier has them."""
    correctable: bool = True
    """False where a contradiction is not sure enough to rewrite the claim."""


class Correction(Frozen):
    """A rewritten claim, and whether it passed its own verification and was used."""

    text: str | None
    used: bool
    reason: str


class ClaimVerdict(Frozen):
    """The verdict on one claim, why, and on whose word."""

    statement: str
    verdict: Verdict
    reason: str
    passage: Evidence | None = None
    """The passage that supports the claim, or contradicts it."""
    decided_by: str | None = None
    """``figures``, ``verbatim``, or a verifier's name; None when unscored."""
    opinions: tuple[Opinion, ...] = ()
    """What each verifier said, whether or not it was followed."""
    hints: tuple[str, ...] = ()
    """Weak signals, such as a name that the context does not have; they count for nothing."""
    correction: Correction | None = None

    @property
    def disagreement(self) -> bool:
        """Whether two verifiers gave different verdicts."""
        said = {
            opinion.verdict for opinion in self.opinions if opinion.verdict is not Verdict.UNSCORED
        }
        return len(said) > 1


class Prompt(Frozen):
    """The messages of one call, as sent."""

    step: str
    """``extract`` or ``verdicts``."""
    model: str
    version: str
    messages: tuple[dict[str, JsonValue], ...]


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
