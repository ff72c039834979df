"""How an answer was read: its brackets, its quotes, which bracket went to which by which rule."""

from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from ancrage.anchors import QuoteReading
from ancrage.citations import Citation, QuotedPassage
from ancrage.citations.unrecognised import unrecognised
from ancrage.domain import Finding
from ancrage.evaluator import Subject
from ancrage.report.grid import Grid
from ancrage.report.text import TIERS, line

_WIDEST = 60
_OF_IDS = ("wrong_respondent_id", "unknown_message_id", "unknown_ref")


def why(subject: Subject, findings: Sequence[Finding] = ()) -> RenderableType:
    """The reading of an answer, for somebody whom a figure surprises, and what ``findings`` say
    of its citations."""
    return Group(*_parts(subject, findings))


def _parts(subject: Subject, findings: Sequence[Finding]) -> Iterator[RenderableType]:
    found = subject.citations
    yield Text(f"Citations read: {len(found.citations)}", "bold")
    if found.citations:
        table = Grid("at", "as written", "read as", right=(0,))
        for citation in found.citations:
            said = [
                finding.explanation
                for finding in findings
                if finding.mode in _OF_IDS
                and citation.start <= finding.evidence.start < citation.end
            ]
            read = ". ".join([_ids(citation), *map(line, said)])
            table.add(str(citation.start), _short(citation.text), read)
        yield table
    yield Text(f"\nQuotes read: {len(subject.readings)}", "bold")
    if subject.readings:
        table = Grid(
            "at", "words", "citation", "given by the rule", "compared, and what came of it",
            right=(0,),
        )  # fmt: skip
        for reading in subject.readings:
            quote = reading.quote
            cited = ", ".join(line(citation.text) for citation in quote.citations)
            row = (_short(quote.text), _short(cited) or "none", quote.rule or "", _outcome(reading))
            table.add(str(quote.inner_start), *row)
        yield table
    held = {reading.quote.start for reading in subject.readings}
    others = [quote for quote in found.quotes if quote.start not in held]
    if others:
        yield Text(f"\nMarks that quote nobody: {len(others)}", "bold")
        table = Grid("at", "words", "taken for", right=(0,))
        for quote in others:
            table.add(str(quote.inner_start), _short(quote.text), _taken_for(quote))
        yield table
    left = unrecognised(subject.text, subject.grammar, found)
    if left.shapes:
        yield Text("\nNot read", "bold")
        table = Grid("shape", "count", "for example", "[citations] that would read it", right=(1,))
        for shape, count in left.shapes.items():
            proposal = left.proposals.get(shape, "")
            table.add(line(shape), str(count), _short(left.examples[shape]), Text(proposal))
        yield table


def _ids(citation: Citation) -> str:
    if citation.fault:
        return line(f"at fault: {citation.fault}")
    pairs = [
        " wrote ".join(token.text for token in (pair.respondent, pair.message) if token)
        for pair in citation.pairs
    ]
    questions = [f"question {token.text}" for token in citation.questions]
    others = [f"{token.kind} {token.text}" for token in citation.others]
    return line("; ".join([*pairs, *questions, *others]))


def _outcome(reading: QuoteReading) -> str:
    verdict = reading.verdict
    if verdict is None:
        return "held against nothing" if reading.quote.citations else "cites nothing"
    text = f"{', '.join(reading.cited)}: {verdict.tier} {TIERS[str(verdict.tier)]}"
    told = reading.distortion.explanation if reading.distortion else ""
    return line(f"{text}. {told or ('' if verdict.passed else verdict.explanation)}".strip())


def _taken_for(quote: QuotedPassage) -> str:
    return quote.mention or "the questionnaire's words, or a paraphrase"


def _short(text: str) -> str:
    shown = line(text)
    return shown if len(shown) <= _WIDEST else shown[: _WIDEST - 1] + "…"
