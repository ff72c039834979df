"""The claims of a scoring on the terminal: how many have no verdict, and what that leaves open."""

from collections import Counter
from typing import Any

from rich.text import Text

from ancrage.runs.record import ScoringFolder
from ancrage.verify.evaluation import NAME
from ancrage.verify.model import State, Verdict


def account_of_claims(scoring: ScoringFolder) -> Text | None:
    """Claims by verdict and the bounds of the mean score; None where no answer was scored."""
    claims: Counter[str] = Counter()
    states: Counter[str] = Counter()
    best = worst = 0.0
    for entry in scoring.scored():
        for evaluation in entry.evaluations:
            details: dict[str, Any] = evaluation.details
            if evaluation.evaluator != NAME or "counts" not in details:
                continue
            claims.update(details["counts"])
            states[details["state"]] += 1
            best, worst = best + details["best"], worst + details["worst"]
    answers = states.total()
    if not answers:
        return None
    sums = " + ".join(f"{claims[verdict]} {verdict}" for verdict in Verdict)
    words = f"\nClaims: {claims['claims']} in {answers} answers = {sums}."
    if left := states[State.PARTIAL] + states[State.UNSCORED]:
        words += (
            f" Answers without a score, for want of a context or a verdict: {left}. The mean score "
            f"of all {answers} lies between {best / answers:.3f} and {worst / answers:.3f}."
        )
    else:
        words += f" Mean score {best / answers:.3f}."
    return Text(words)
