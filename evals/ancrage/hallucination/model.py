"""What a scoring says: a verdict for each claim, and the score and reason that follow from them."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, model_validator

from ancrage.claims import Claim
from ancrage.domain import Frozen, JsonValue, Passage, Usage

_NAMED = 3
"""Claims of a kind that the reason quotes; the others are counted."""


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


class ClaimVerdict(Frozen):
    """The verdict on one claim, why, and on whose word."""

    statement: str
    verdict: Verdict
    reason: str
    passage: Evidence | None = None
    """The passage that supports the claim, or contradicts it."""
    decided_by: str | None = None
    """``figures``, ``wording``, ``verbatim``, or a verifier's name; None when unscored."""
    opinions: tuple[Opinion, ...] = ()
    """What each verifier said, whether or not it was followed."""

    @property
    def disagreement(self) -> bool:
        """Whether two verifiers gave different verdicts."""
        said = {each.verdict for each in self.opinions if each.verdict is not Verdict.UNSCORED}
        return len(said) > 1


class Prompt(Frozen):
    """The messages of one call, as sent."""

    step: str
    """``extract`` or ``verdicts``."""
    model: str
    version: str
    messages: tuple[dict[str, JsonValue], ...]


class HallucinationResult(Frozen):
    """The hallucination score of one output, with all that it rests on.

    There is one verdict a claim, in order. ``score``, ``best``, ``worst``, ``state`` and ``reason``
    follow from the verdicts alone; a record in which they do not is refused.
    """

    run_id: str
    claims: tuple[Claim, ...] = ()
    verdicts: tuple[ClaimVerdict, ...] = ()
    scale: float = Field(default=1.0, gt=0)
    empty: bool = False
    problem: str | None = None
    """Why nothing could be scored, when that is so for the output as a whole."""
    state: State
    score: float | None
    """Hallucinated claims / claims × scale; None as soon as one claim has no verdict."""
    best: float
    """The score if every claim without a verdict were supported."""
    worst: float
    """The score if none were."""
    reason: str
    context: tuple[ContextItem, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    versions: dict[str, str] = {}
    """Of the extractor, the comparison of figures and each verifier."""
    notes: tuple[str, ...] = ()
    """What was odd on the way: entries of a reply that fit no claim, a fallback taken."""
    usage: Usage | None = None

    @classmethod
    def of(
        cls,
        *,
        run_id: str,
        verdicts: Sequence[ClaimVerdict] = (),
        scale: float = 1.0,
        empty: bool = False,
        problem: str | None = None,
        **others: Any,
    ) -> Self:
        """The result that follows from ``verdicts``."""
        return cls(
            run_id=run_id,
            verdicts=tuple(verdicts),
            scale=scale,
            empty=empty,
            problem=problem,
            **_conclude(verdicts, scale, empty, problem),
            **others,
        )

    @property
    def counts(self) -> dict[str, int]:
        """``claims`` and one entry a verdict; they add up."""
        found = Counter(each.verdict for each in self.verdicts)
        return {"claims": len(self.claims), **{str(each): found[each] for each in Verdict}}

    @model_validator(mode="after")
    def _follows_from_its_verdicts(self) -> Self:
        if [each.statement for each in self.claims] != [each.statement for each in self.verdicts]:
            raise ValueError("claims and verdicts are not one to one")
        expected = _conclude(self.verdicts, self.scale, self.empty, self.problem)
        for name, value in expected.items():
            if getattr(self, name) != value:
                raise ValueError(f"{name} does not follow from the verdicts")
        return self


def _conclude(
    verdicts: Sequence[ClaimVerdict], scale: float, empty: bool, problem: str | None
) -> dict[str, Any]:
    """State, score, bounds and reason: the one place where they are made."""
    count = len(verdicts)
    hallucinated = sum(each.verdict.hallucinated for each in verdicts)
    unscored = sum(each.verdict is Verdict.UNSCORED for each in verdicts)
    if problem or (count and unscored == count):
        state = State.UNSCORED
    elif empty:
        state = State.EMPTY
    elif not count:
        state = State.NO_CLAIMS
    else:
        state = State.PARTIAL if unscored else State.SCORED
    if count:
        best, worst = hallucinated / count * scale, (hallucinated + unscored) / count * scale
    else:
        best, worst = 0.0, scale if problem else 0.0
    known = state in (State.SCORED, State.EMPTY, State.NO_CLAIMS)
    return {
        "state": state,
        "score": best if known else None,
        "best": best,
        "worst": worst,
        "reason": _explain(verdicts, state, problem, best, worst, scale),
    }


def _explain(
    verdicts: Sequence[ClaimVerdict],
    state: State,
    problem: str | None,
    best: float,
    worst: float,
    scale: float,
) -> str:
    if state is State.EMPTY:
        return "The output is empty: no claim, no hallucination."
    if state is State.NO_CLAIMS:
        return "The output asserts nothing that could be a hallucination."
    if problem and not verdicts:
        return f"Unscored: {problem}."
    count = len(verdicts)
    of_kind = {kind: [v for v in verdicts if v.verdict is kind] for kind in Verdict}
    contradicted, unsupported = of_kind[Verdict.CONTRADICTED], of_kind[Verdict.UNSUPPORTED]
    wrong, unscored = len(contradicted) + len(unsupported), of_kind[Verdict.UNSCORED]
    if problem:
        return f"Unscored, no verdict on {_claims(count)}: {problem}."
    sentences = []
    if state is State.UNSCORED:
        sentences.append(f"Unscored, no verdict on {_claims(count)}.")
    elif wrong:
        kinds = (
            (contradicted, "contradicted by the context"),
            (unsupported, "not supported by it"),
        )
        split = ", ".join(f"{len(kind)} {what}" for kind, what in kinds if kind)
        sentences.append(f"{wrong} of {_claims(count)} hallucinated: {split}.")
    elif unscored:
        sentences.append(f"No hallucination among the {count - len(unscored)} claims judged.")
    else:
        sentences.append(f"{_claims(count).capitalize()}, supported by the context.")
    for title, kind in (
        ("Contradicted", contradicted),
        ("Unsupported", unsupported),
        ("No verdict", unscored),
    ):
        if kind:
            sentences.append(f"{title}: {_listed(kind)}.")
    if state is State.PARTIAL:
        sentences.append(
            f"{_claims(len(unscored)).capitalize()} of {count} without a verdict: the score lies "
            f"between {best:.3g} and {worst:.3g}."
        )
    elif state is State.SCORED:
        sentences.append(f"Score {best:.3g} out of {scale:g}.")
    return " ".join(sentences)


def _claims(count: int) -> str:
    return f"{count} claim{'' if count == 1 else 's'}"


def _listed(verdicts: Sequence[ClaimVerdict]) -> str:
    named = [f"“{each.statement}” ({each.reason})" for each in verdicts[:_NAMED]]
    more = len(verdicts) - _NAMED
    return "; ".join([*named, *([f"and {more} more"] if more > 0 else [])])
