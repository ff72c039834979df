"""A verification: a verdict for each claim, and the score and reason that follow from them."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from typing import Any, Self

from pydantic import Field, model_validator

from ancrage.claims import Claim
from ancrage.domain import Frozen, Usage
from ancrage.verify.model import ClaimVerdict, ContextItem, Prompt, State, Verdict

_NAMED = 3
"""Claims of a kind that the reason quotes; the others are counted."""


class Band(StrEnum):
    """How much of an answer is hallucinated, in words."""

    NONE = "none"
    LOW = "low"
    MODERATE = "moderate"
    HIGH = "high"


_BANDS = {Band.NONE: 0.0, Band.LOW: 0.1, Band.MODERATE: 0.3, Band.HIGH: 1.0}
"""The largest share of hallucinated claims in each."""


class Verification(Frozen):
    """The claims of one output held against a context, with all that the verdicts rest on.

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
    digest: str = ""
    """SHA-256 of question, answer and context as given, where they came from a file."""
    corrected: str | None = None
    """The answer with its corrections, everything else byte for byte; None when none was used."""

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
        found = Counter(verdict.verdict for verdict in self.verdicts)
        return {"claims": len(self.claims), **{str(verdict): found[verdict] for verdict in Verdict}}

    @property
    def band(self) -> Band | None:
        """The score in a word; None without one."""
        if self.score is None:
            return None
        share = self.score / self.scale
        return next(band for band, most in _BANDS.items() if share <= most)

    @property
    def relations(self) -> dict[str, dict[Verdict, tuple[str, ...]]]:
        """The other way round: what rests on each passage of the context that decided a claim,
        the claims that it supports and those that it contradicts."""
        found: dict[str, dict[Verdict, tuple[str, ...]]] = {}
        for verdict in self.verdicts:
            if verdict.passage and verdict.verdict is not Verdict.UNSCORED:
                claims = found.setdefault(verdict.passage.passage.text, {})
                known = claims.get(verdict.verdict, ())
                claims[verdict.verdict] = (*known, verdict.statement)
        return found

    @model_validator(mode="after")
    def _follows_from_its_verdicts(self) -> Self:
        if [claim.statement for claim in self.claims] != [
            claim.statement for claim in self.verdicts
        ]:
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
    hallucinated = sum(verdict.verdict.hallucinated for verdict in verdicts)
    unscored = sum(verdict.verdict is Verdict.UNSCORED for verdict in verdicts)
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
    named = [f"“{verdict.statement}” ({verdict.reason})" for verdict in verdicts[:_NAMED]]
    more = len(verdicts) - _NAMED
    return "; ".join([*named, *([f"and {more} more"] if more > 0 else [])])
