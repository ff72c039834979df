"""From what code and verifiers say to the verdict on a claim.

Code speaks first of words that stand in the context, then of figures and dates that agree with it
or contradict it, then of a value judgement resting on no judgement in the context. Verifiers are
followed in their order. Where code and the verifier followed are of opposite minds, one calling
the claim hallucinated and the other supported, nobody is overridden: the claim is unscored, and
both are shown.
"""

from collections.abc import Sequence

from ancrage.claims import Claim
from ancrage.fingerprint import code_version
from ancrage.verify.code import CodeVerdict, Context, by_figures, by_words
from ancrage.verify.model import ClaimVerdict, Opinion, Verdict
from ancrage.verify.wording import subjective, values


def decision_version() -> str:
    """Changes with all the code that makes a verdict of claim, context and opinions."""
    return code_version("ancrage.verify.decide:settle", "ancrage.verify.reply:read_verdicts")


def settle(
    claim: Claim,
    opinions: Sequence[Opinion],
    context: Context,
    problem: str | None = None,
    *,
    question: str = "",
    code: bool = True,
) -> ClaimVerdict:
    """The verdict on one claim; ``problem`` says why there can be none.

    With several verifiers the first that has a verdict is followed; a disagreement is stated in
    the reason. ``code`` False leaves verdicts to the verifiers alone.
    """
    statement = claim.statement
    if problem:
        return ClaimVerdict(statement=statement, verdict=Verdict.UNSCORED, reason=problem)
    followed = next((o for o in opinions if o.verdict is not Verdict.UNSCORED), None)
    said = _code_says(claim, followed, context) if code else None
    by_code = said.opinion() if said and said.verdict else None

    def verdict(value: Verdict, reason: str, by: Opinion | None, *more: Opinion) -> ClaimVerdict:
        return ClaimVerdict(
            statement=statement,
            verdict=value,
            reason=reason,
            passage=by.evidence if by else None,
            decided_by=by.verifier if by and value is not Verdict.UNSCORED else None,
            opinions=(*opinions, *more),
            hints=context.unknown_names(statement, question),
        )

    chosen = followed or by_code
    if chosen is None:
        reasons = "; ".join(f"{opinion.verifier}: {opinion.reason}" for opinion in opinions)
        return verdict(
            Verdict.UNSCORED, reasons or "no model was asked, and code alone cannot tell", None
        )
    if followed and by_code:
        if by_code.verdict.hallucinated is not followed.verdict.hallucinated:
            reason = (
                f"{followed.verifier} says {followed.verdict} ({followed.reason}), "
                f"{by_code.verifier} says {by_code.verdict} ({by_code.reason})"
            )
            return verdict(Verdict.UNSCORED, reason, by_code, by_code)
        if by_code.verdict is Verdict.CONTRADICTED or not followed.evidence:
            chosen = by_code
    others = [o for o in opinions if o.verdict is not chosen.verdict]
    remarks = [f"{other.verifier} says {other.verdict}: {other.reason}" for other in others]
    if said and said.verdict is None:
        remarks.append(said.reason)
    return verdict(chosen.verdict, "; but ".join([chosen.reason, *remarks]), chosen)


def _code_says(claim: Claim, followed: Opinion | None, context: Context) -> CodeVerdict | None:
    """What code tells of a claim; without a verdict where it only has a remark to make."""
    statement = claim.statement
    if verbatim := by_words(claim.text, context) or by_words(statement, context):
        return verbatim
    figures = by_figures(statement, context)
    if figures and figures.verdict:
        return figures
    if judged := _judged_without_grounds(statement, followed, context):
        return judged
    if figures and followed and followed.verdict.hallucinated:
        return figures
    return None


def _judged_without_grounds(
    statement: str, followed: Opinion | None, context: Context
) -> CodeVerdict | None:
    """A judgement of value that is held to be supported by a passage without any."""
    if not followed or followed.verdict is not Verdict.SUPPORTED or not subjective(statement):
        return None
    shown = followed.evidence.passage.text if followed.evidence else context.text
    if values(shown):
        return None
    reason = "a judgement of value that the passage does not state"
    return CodeVerdict(Verdict.UNSUPPORTED, "wording", reason, followed.evidence)
