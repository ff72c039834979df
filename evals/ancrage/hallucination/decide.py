"""From what verifiers say to the verdict on a claim; where code can tell, code decides.

In this order: figures and dates that contradict the context, or agree with it while the rest of
the claim is there too; a value judgement resting on no judgement in the context; the verifiers;
words that stand in the context.
"""

from collections.abc import Sequence

from ancrage.claims import Agreement, compare_figures
from ancrage.fingerprint import code_version
from ancrage.hallucination.code import Context, Told, by_figures, by_words
from ancrage.hallucination.model import ClaimVerdict, Opinion, Verdict
from ancrage.hallucination.wording import subjective, values


def decision_version() -> str:
    """Changes with all the code that makes a verdict of claim, context and opinions."""
    own = (f"ancrage.hallucination.{name}" for name in ("code", "context", "decide", "reply"))
    return code_version(*own)


def settle(
    statement: str, opinions: Sequence[Opinion], context: Context, problem: str | None = None
) -> ClaimVerdict:
    """The verdict on one claim; ``problem`` says why there can be none.

    With several verifiers the first that has a verdict is followed; a disagreement is stated in
    the reason.
    """
    if problem:
        return ClaimVerdict(statement=statement, verdict=Verdict.UNSCORED, reason=problem)
    followed = next((o for o in opinions if o.verdict is not Verdict.UNSCORED), None)
    figures = by_figures(statement, context)
    elsewhere = figures if figures and _shown_to_agree(statement, figures, followed) else None
    told = figures if figures and figures.verdict and not elsewhere else None
    if told is None and followed is None:
        told = by_words(statement, context)
    if told is None and followed:
        told = _judged_without_grounds(statement, followed, context)
    if told and not (followed and followed.verdict is told.verdict and followed.evidence):
        return _by_code(statement, opinions, followed, told)
    if followed is None:
        reasons = "; ".join(f"{each.verifier}: {each.reason}" for each in opinions)
        return ClaimVerdict(
            statement=statement,
            verdict=Verdict.UNSCORED,
            reason=reasons or "no model was asked, and code alone cannot tell",
            opinions=tuple(opinions),
        )
    others = [o for o in opinions if o is not followed and o.verdict is not followed.verdict]
    remarks = [f"{o.verifier} says {o.verdict}: {o.reason}" for o in others]
    if elsewhere:
        remarks.append(f"another place differs, {elsewhere.reason}")
    if figures and figures.verdict is None and followed.verdict.hallucinated:
        remarks.append(figures.reason)
    return ClaimVerdict(
        statement=statement,
        verdict=followed.verdict,
        reason="; but ".join([followed.reason, *remarks]),
        passage=followed.evidence,
        decided_by=followed.verifier,
        opinions=tuple(opinions),
    )


def _shown_to_agree(statement: str, figures: Told, followed: Opinion | None) -> bool:
    """Whether figures contradict one place of the context and agree with the passage shown."""
    if figures.verdict is not Verdict.CONTRADICTED or not followed or not followed.evidence:
        return False
    if followed.verdict is not Verdict.SUPPORTED:
        return False
    shown = compare_figures(statement, followed.evidence.passage.text)
    return shown.verdict is Agreement.AGREES


def _judged_without_grounds(statement: str, followed: Opinion, context: Context) -> Told | None:
    """A judgement of value that is held to be supported by a passage without any."""
    if followed.verdict is not Verdict.SUPPORTED or not subjective(statement):
        return None
    shown = followed.evidence.passage.text if followed.evidence else context.text
    if values(shown):
        return None
    reason = "a judgement of value that the passage does not state"
    return Told(Verdict.UNSUPPORTED, "wording", reason, followed.evidence)


def _by_code(
    statement: str, opinions: Sequence[Opinion], followed: Opinion | None, told: Told
) -> ClaimVerdict:
    reason = told.reason
    if followed and followed.verdict is not told.verdict:
        reason += f" (overrides {followed.verifier}, which says {followed.verdict})"
    return ClaimVerdict(
        statement=statement,
        verdict=told.verdict or Verdict.UNSCORED,
        reason=reason,
        passage=told.evidence,
        decided_by=told.by,
        opinions=tuple(opinions),
    )
