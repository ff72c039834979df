"""Recalled references and corrected claims; ``ancrage.verify.llm`` has a model write them.

A recall takes the question and nothing else, so that the answer under test cannot leak into the
reference that it is checked against. A correction is verified itself before it is used.
"""

from collections.abc import Awaitable, Callable, Sequence

from ancrage.claims import Claim
from ancrage.verify.model import ClaimVerdict, Correction, Verdict
from ancrage.verify.result import Verification

Recall = Callable[[str], Awaitable[str | None]]
"""Recalls a reference for a question; None when there is none."""
Correct = Callable[[str, str, str], Awaitable[str | None]]
"""Rewrites a contradicted claim, given it, the question and the reference; None if it cannot."""
Check = Callable[[Claim], Awaitable[ClaimVerdict]]
"""Verifies one claim by itself."""


async def corrected(
    found: Verification, answer: str, question: str, correct: Correct, check: Check
) -> Verification:
    """``found`` with a correction for each contradicted claim that is sure enough, and the answer
    rebuilt: used corrections in place, everything else byte for byte."""
    reference = "\n\n".join(item.text for item in found.context)
    verdicts = [
        verdict.model_copy(
            update={"correction": await _correction(claim, question, reference, correct, check)}
        )
        if verdict.verdict is Verdict.CONTRADICTED and sure(verdict)
        else verdict
        for claim, verdict in zip(found.claims, found.verdicts, strict=True)
    ]
    rebuilt = rebuild(answer, found.claims, verdicts)
    return found.model_copy(
        update={
            "verdicts": tuple(verdicts),
            "corrected": rebuilt if rebuilt != answer else None,
        }
    )


def sure(verdict: ClaimVerdict) -> bool:
    """Whether whoever decided a contradiction is sure enough to have the claim rewritten."""
    by = [opinion for opinion in verdict.opinions if opinion.verifier == verdict.decided_by]
    return all(opinion.correctable for opinion in by)


async def _correction(
    claim: Claim, question: str, reference: str, correct: Correct, check: Check
) -> Correction:
    text = await correct(claim.statement, question, reference)
    if not text or not text.strip():
        return Correction(text=None, used=False, reason="no correction was written")
    verdict = await check(Claim(start=0, end=len(text), text=text, statement=text))
    used = verdict.verdict is Verdict.SUPPORTED
    return Correction(text=text, used=used, reason=f"{verdict.verdict}: {verdict.reason}")


def rebuild(answer: str, claims: Sequence[Claim], verdicts: Sequence[ClaimVerdict]) -> str:
    """``answer`` with its used corrections in place; all the rest untouched."""
    parts, position = [], 0
    for claim, verdict in zip(claims, verdicts, strict=True):
        if verdict.correction and verdict.correction.used and verdict.correction.text:
            parts += [answer[position : claim.start], verdict.correction.text]
            position = claim.end
    return "".join([*parts, answer[position:]])
