"""From what verifiers say to the verdict on a claim; where code can tell, code decides.

In this order: figures and dates that contradict the context, or agree with it while the rest of
the claim is there too; a value judgement resting on no judgement in the context; the verifiers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from evals.claims import Agreement, Comparison, compare_figures
from evals.claims.figures import figures
from evals.claims.markup import blocks, plain
from evals.claims.numerals import SPACES
from evals.claims.sentences import protected, sentences
from evals.claims.terms import Terms, concept, terms
from evals.domain import Passage
from evals.hallucination.context import locate
from evals.hallucination.model import ClaimVerdict, ContextItem, Evidence, Opinion, Verdict
from evals.hallucination.wording import subjective, values

DECISION_VERSION = "1.0.0"
"""Changes whenever the same opinions come to another verdict."""


@dataclass(frozen=True)
class Context:
    """The texts claims are held against, and what of them is computed once."""

    items: tuple[ContextItem, ...]

    @cached_property
    def text(self) -> str:
        """All of it, for the comparison of figures."""
        return "\n\n".join(item.text for item in self.items)

    @cached_property
    def sentences(self) -> tuple[Evidence, ...]:
        """Every sentence, where it stands."""
        return tuple(
            Evidence(
                item=number,
                source_id=item.id,
                passage=Passage.of(item.text, start, end),
                tier="T0",
            )
            for number, item in enumerate(self.items)
            for kept in [protected(item.text)]
            for block in blocks(item.text)
            for start, end in sentences(item.text, block.start, block.end, kept)
        )

    @cached_property
    def plain(self) -> dict[str, Evidence]:
        """Sentences by their plain words, for figures and verbatim claims."""
        return {plain(each.passage.text): each for each in reversed(self.sentences)}

    @cached_property
    def names(self) -> frozenset[str]:
        """Every word of the context that can name something, folded."""
        found = _terms(self.text)
        return found.entities | found.openers | found.words


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
    compared = compare_figures(statement, context.text)
    if compared.verdict is Agreement.CONTRADICTS:
        return _by_code(
            statement, opinions, followed, Verdict.CONTRADICTED, "figures",
            f"figures: {compared.reason}", _stated(compared, context),
        )  # fmt: skip
    agrees = compared.verdict is Agreement.AGREES
    supported = followed is not None and followed.verdict is Verdict.SUPPORTED
    if agrees and not supported and _all_there(statement, compared, context):
        return _by_code(
            statement, opinions, followed, Verdict.SUPPORTED, "figures",
            f"figures: {compared.reason}, and the rest of the claim is in the same sentence",
            _stated(compared, context),
        )  # fmt: skip
    if followed is None:
        whole = context.plain.get(plain(statement))
        if whole:
            return _by_code(
                statement, opinions, None, Verdict.SUPPORTED, "verbatim",
                "the claim is, word for word, a sentence of the context", whole,
            )  # fmt: skip
        reasons = "; ".join(f"{each.verifier}: {each.reason}" for each in opinions)
        return ClaimVerdict(
            statement=statement,
            verdict=Verdict.UNSCORED,
            reason=reasons or "no model was asked, and code alone cannot tell",
            opinions=tuple(opinions),
        )
    if followed.verdict is Verdict.SUPPORTED and subjective(statement):
        shown = followed.evidence.passage.text if followed.evidence else context.text
        if not values(shown):
            return _by_code(
                statement, opinions, followed, Verdict.UNSUPPORTED, "wording",
                "a judgement of value that the passage does not state", followed.evidence,
            )  # fmt: skip
    others = [o for o in opinions if o is not followed and o.verdict is not followed.verdict]
    remarks = [f"{o.verifier} says {o.verdict}: {o.reason}" for o in others]
    if agrees and followed.verdict.hallucinated:
        remarks.append(f"the figures agree: {compared.reason}")
    return ClaimVerdict(
        statement=statement,
        verdict=followed.verdict,
        reason="; but ".join([followed.reason, *remarks]),
        passage=followed.evidence,
        decided_by=followed.verifier,
        opinions=tuple(opinions),
    )


def _by_code(
    statement: str,
    opinions: Sequence[Opinion],
    followed: Opinion | None,
    verdict: Verdict,
    by: str,
    reason: str,
    evidence: Evidence | None,
) -> ClaimVerdict:
    if followed and followed.verdict is not verdict:
        reason += f" (overrides {followed.verifier}, which says {followed.verdict})"
    return ClaimVerdict(
        statement=statement,
        verdict=verdict,
        reason=reason,
        passage=evidence,
        decided_by=by,
        opinions=tuple(opinions),
    )


def _stated(compared: Comparison, context: Context) -> Evidence | None:
    """Where the sentence that a comparison rests on stands."""
    if compared.passage is None:
        return None
    for words, evidence in context.plain.items():
        if words.translate(SPACES) == compared.passage:
            return evidence
    return locate(compared.passage, context.items)


def _all_there(statement: str, compared: Comparison, context: Context) -> bool:
    """Whether every word of a claim that says something is where its figures agree."""
    mine, its = _terms(statement), _terms(compared.passage or "")
    here = its.words | its.entities | its.openers | {concept(w) for w in its.openers}
    named = mine.entities | mine.openers
    return mine.negated == its.negated and mine.words <= here and named <= here | context.names


def _terms(text: str) -> Terms:
    text = plain(text).translate(SPACES)
    return terms(text, tuple((f.start, f.end) for f in figures(text)))
