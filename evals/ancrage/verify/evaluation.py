"""A result in the terms of an experiment: failure modes, scores, findings."""

from ancrage.domain import Evaluation, FailureMode, Finding, JsonValue, Passage, Score
from ancrage.verify.model import ClaimVerdict, State, Verdict
from ancrage.verify.result import Verification

NAME = "verify"
"""The scorer's name, in records and options."""
HALLUCINATED = FailureMode(
    name="hallucinated_claim",
    title="Hallucinated claim",
    definition="A claim that its context contradicts or does not support.",
)
CONTRADICTED = FailureMode(
    name="contradicted_claim",
    title="Contradicted claim",
    definition="A claim that cannot be true together with what its context states.",
)
UNSUPPORTED = FailureMode(
    name="unsupported_claim",
    title="Unsupported claim",
    definition="A claim of which its context states nothing, or only a part.",
)
MODES = (HALLUCINATED, CONTRADICTED, UNSUPPORTED)
_FOUND = {Verdict.CONTRADICTED: CONTRADICTED, Verdict.UNSUPPORTED: UNSUPPORTED}


def evaluation_of(result: Verification, text: str, evaluator: str, version: str) -> Evaluation:
    """``result`` as counts of claims, one finding for each hallucinated claim of ``text``.

    A finding belongs to the mode that says what is wrong; ``hallucinated_claim`` counts them all.
    Every mode is unscored as soon as one claim has no verdict; the findings there are, are kept.
    The context and the prompts, which the run record has already, are left out of the details.
    """
    wrong = [verdict for verdict in result.verdicts if verdict.verdict.hallucinated]
    findings = tuple(
        _finding(Passage.of(text, claim.start, claim.end), verdict, result)
        for claim, verdict in zip(result.claims, result.verdicts, strict=True)
        if verdict.verdict.hallucinated
    )
    counts = {
        mode.name: sum(mode in (HALLUCINATED, _FOUND.get(verdict.verdict)) for verdict in wrong)
        for mode in MODES
    }
    if result.state in (State.PARTIAL, State.UNSCORED):
        scores = tuple(Score.unscored(mode.name, _why(result)) for mode in MODES)
    else:
        scores = tuple(Score(name=name, value=count) for name, count in counts.items())
    details: dict[str, JsonValue] = {
        **result.model_dump(
            mode="json", exclude={"context", "prompts", "usage"}, exclude_defaults=True
        ),
        "counts": dict(result.counts),
        "prompts": [{"step": prompt.step, "version": prompt.version} for prompt in result.prompts],
    }
    return Evaluation(
        evaluator=evaluator,
        version=version,
        scores=scores,
        findings=findings,
        usage=result.usage,
        details=details,
    )


def _why(result: Verification) -> str:
    """In like words for like reasons, which reports count; how many claims is in the details."""
    if result.problem:
        return result.problem
    left = next(verdict for verdict in result.verdicts if verdict.verdict is Verdict.UNSCORED)
    return f"a claim has no verdict: {left.reason}"


def _finding(evidence: Passage, verdict: ClaimVerdict, result: Verification) -> Finding:
    shown = verdict.passage
    details: dict[str, JsonValue] = {
        "statement": verdict.statement,
        "decided_by": verdict.decided_by,
    }
    if shown and result.context[shown.item].about:  # a tool's result is no source of the study
        details |= {"source": shown.source_id, "passage": shown.passage.text}
        shown = None
    return Finding(
        mode=_FOUND[verdict.verdict].name,
        evidence=evidence,
        explanation=verdict.reason,
        source_id=shown.source_id if shown else None,
        source_passage=shown.passage if shown else None,
        details=details,
    )
