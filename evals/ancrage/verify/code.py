"""What code can tell of a claim by itself: figures, dates, and words that stand in the context."""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from ancrage.claims import Agreement, Comparison, compare_figures
from ancrage.claims.figures import figures
from ancrage.claims.markup import blocks, plain
from ancrage.claims.numerals import SPACES
from ancrage.claims.readings import Figure
from ancrage.claims.sentences import protected, sentences
from ancrage.claims.terms import Terms, concept, folded_words, terms
from ancrage.domain import Passage
from ancrage.quotes import extract_quotes
from ancrage.verify.context import locate
from ancrage.verify.model import ContextItem, Evidence, Opinion, Verdict


@dataclass(frozen=True)
class Context:
    """The texts claims are held against, and what of them is computed once."""

    items: tuple[ContextItem, ...]

    @cached_property
    def text(self) -> str:
        """All of it, for the comparison of figures."""
        return "\n\n".join(
            f"{item.about}: {item.text}" if item.about else item.text for item in self.items
        )

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
        return {plain(sentence.passage.text): sentence for sentence in reversed(self.sentences)}

    @cached_property
    def results(self) -> tuple[Figure, ...]:
        """The figures of tool results, whatever they count."""
        return tuple(
            figure
            for item in self.items
            if item.about
            for figure in figures(plain(item.text).translate(SPACES), parts=True)
        )

    @cached_property
    def words(self) -> frozenset[str]:
        """Every word of it, folded, for names that stand nowhere."""
        return folded_words(self.text)

    def unknown_names(self, statement: str, question: str = "") -> tuple[str, ...]:
        """Hints: the proper names of ``statement`` that neither the context nor the question
        has. A weak signal, shown beside a verdict and never counted."""
        names = terms(statement).entities - self.words - folded_words(question)
        return tuple(f"unknown name: {name}" for name in sorted(names) if len(name) > 2)

    def before(self, evidence: Evidence) -> str:
        """The sentence before one of ``sentences``, in the same item; empty at its start."""
        at = self.sentences.index(evidence) if evidence in self.sentences else 0
        same = at and self.sentences[at - 1].item == evidence.item
        return self.sentences[at - 1].passage.text if same else ""


class CodeVerdict(NamedTuple):
    """What code tells of a claim."""

    verdict: Verdict | None
    """None where code cannot tell."""
    by: str
    reason: str
    evidence: Evidence | None

    def opinion(self) -> Opinion:
        """The same as one opinion among others."""
        return Opinion(
            verifier=self.by,
            verdict=self.verdict or Verdict.UNSCORED,
            reason=self.reason,
            evidence=self.evidence,
        )


def by_figures(statement: str, context: Context) -> CodeVerdict | None:
    """What figures and dates tell of ``statement``; None when nothing in the context compares.

    Quotes that stand in the context say what they say: their figures are not compared. A result
    of a tool contradicts a figure only if no result has that figure, for in structured data what
    a number counts is seldom said beside it.
    """
    own = " ".join(_own_words(statement, context)[0].split())
    compared = compare_figures(own, context.text)
    evidence = _stated(compared, context)
    if compared.verdict is Agreement.CONTRADICTS:
        # Without evidence the sentence cannot be told to be prose: it counts as a result.
        result = evidence is None or context.items[evidence.item].about
        if result and _among(own, compared, context):
            return None
        return CodeVerdict(Verdict.CONTRADICTED, "figures", f"figures: {compared.reason}", evidence)
    if compared.verdict is not Agreement.AGREES:
        return None
    if _all_there(own, compared, evidence, context):
        reason = f"figures: {compared.reason}, and the rest of the claim is in the same sentence"
        return CodeVerdict(Verdict.SUPPORTED, "figures", reason, evidence)
    return CodeVerdict(None, "figures", f"the figures agree: {compared.reason}", evidence)


def by_words(statement: str, context: Context) -> CodeVerdict | None:
    """Whether ``statement`` is a sentence of the context, or nothing but quotes of it."""
    if whole := context.plain.get(plain(statement)):
        reason = "the claim is, word for word, a sentence of the context"
        return CodeVerdict(Verdict.SUPPORTED, "verbatim", reason, whole)
    own, found = _own_words(statement, context)
    rest = terms(own)
    if found and not (rest.entities or rest.openers or rest.words or figures(own)):
        reason = "the claim is a quote that stands in the context"
        return CodeVerdict(Verdict.SUPPORTED, "verbatim", reason, found[0])
    return None


def _own_words(statement: str, context: Context) -> tuple[str, list[Evidence]]:
    """``statement`` without its quotes that stand in the context, and where these stand."""
    text, found = list(statement), []
    for quote in extract_quotes(statement):
        evidence = locate(statement[quote.inner_start : quote.inner_end], context.items)
        if evidence:
            found.append(evidence)
            text[quote.start : quote.end] = " " * (quote.end - quote.start)
    return "".join(text), found


def _among(statement: str, compared: Comparison, context: Context) -> bool:
    """Whether a tool's result has the figure that is said to be contradicted."""
    return any(
        mine.low <= its.high and its.low <= mine.high
        for claimed in figures(plain(statement).translate(SPACES))
        if claimed.text == compared.claimed
        for figure in context.results
        for mine in claimed.readings
        for its in figure.readings
    )


def _stated(compared: Comparison, context: Context) -> Evidence | None:
    """Where the sentence that a comparison rests on stands."""
    if compared.passage is None:
        return None
    for words, evidence in context.plain.items():
        if words.translate(SPACES) == compared.passage:
            return evidence
    for item in context.items:  # the sentence may begin with what a result is about
        rest = compared.passage.removeprefix(f"{plain(item.about)}: ".translate(SPACES))
        if item.about and (found := locate(rest, context.items)):
            return found
    return locate(compared.passage, context.items)


def _all_there(
    statement: str, compared: Comparison, evidence: Evidence | None, context: Context
) -> bool:
    """Whether every word of a claim that says something is where its figures agree.

    Names may also stand in the sentence before, which a pronoun can refer to.
    """
    mine, its = _terms(statement), _terms(compared.passage or "")
    before = _terms(context.before(evidence)) if evidence else its
    here = its.words | its.entities | its.openers | {concept(w) for w in its.openers}
    return (
        mine.negated == its.negated
        and mine.words <= here
        and mine.entities | mine.openers <= here | before.entities | before.openers
    )


def _terms(text: str) -> Terms:
    text = plain(text).translate(SPACES)
    return terms(text, tuple((f.start, f.end) for f in figures(text)))
