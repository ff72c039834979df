"""What code can settle of a judge's modes, and therefore settles."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ancrage.claims import Agreement, compare_figures, extract_claims
from ancrage.claims.figures import figures
from ancrage.claims.readings import Figure
from ancrage.domain import JsonValue, Passage
from ancrage.evaluator import Subject
from ancrage.judges.context import verbatim
from ancrage.tools import tool_calls

Objection = Callable[[Passage], str | None]


@dataclass(frozen=True)
class CodeDefect:
    """A defect that code established by itself."""

    evidence: Passage
    explanation: str


@dataclass(frozen=True)
class Settled:
    """What code says of one mode of one answer.

    ``absent`` says why the mode cannot occur in this answer, ``impossible`` why nobody can tell,
    ``objection`` why a passage that a judge reports is no defect, and ``defects`` those that need
    no judge.
    """

    absent: str | None = None
    impossible: str | None = None
    objection: Objection = lambda _: None
    defects: tuple[CodeDefect, ...] = ()


def settle(settled_by: str | None, subject: Subject) -> Settled:
    """What the code named by a mode's ``settled_by`` can say of an answer."""
    return _SETTLERS[settled_by](subject) if settled_by else Settled()


def _quotes(subject: Subject) -> Settled:
    """Only a verbatim quote can be turned from its meaning: any other is the code checks'."""
    if not subject.citations.quotes:
        return Settled(absent="the answer quotes nobody")
    if subject.source is None:
        return Settled(impossible="the study cannot be consulted")
    spans = [(quote.start, quote.end) for quote, _ in verbatim(subject)]
    if not spans:
        return Settled(absent="no quote of the answer stands in a message it cites")

    def objection(passage: Passage) -> str | None:
        if any(_meet(span, passage) for span in spans):
            return None
        near = _paragraph(subject.text, passage)
        return None if any(_meet(span, near) for span in spans) else "no verbatim quote is near"

    return Settled(objection=objection)


def _figures(subject: Subject) -> Settled:
    """A figure that a tool gave is supported; one that contradicts a tool's is not."""
    text = _own_words(subject)
    if not figures(text):
        return Settled(absent="the answer states no figure of its own")
    given = list(_given(subject))
    context = "\n".join(_statements(subject))

    def unknown(passage: Passage) -> list[Figure]:
        stated = figures(text[passage.start : passage.end])
        return [each for each in stated if not _among(each, given)]

    def objection(passage: Passage) -> str | None:
        stated = figures(text[passage.start : passage.end])
        if not stated:
            return "the passage states no figure of the answer's own"
        if unknown(passage):
            return None
        return "the tool outputs give " + ", ".join(each.text for each in stated)

    defects = []
    for claim in extract_claims(text) if context else ():
        span = Passage.of(subject.text, claim.start, claim.end)
        if not unknown(span):
            continue
        held = compare_figures(claim.statement, context)
        named = [
            each for each in figures(text[claim.start : claim.end]) if each.text == held.claimed
        ]
        if held.verdict is Agreement.CONTRADICTS and not any(map(_enumerates, named)):
            defects.append(CodeDefect(span, held.reason))
    return Settled(objection=objection, defects=tuple(defects))


def _enumerates(figure: Figure) -> bool:
    """A small bare count, which may be of the findings or quotes that the answer sets out."""
    return figure.unit == "count" and all(reading.high <= 10.5 for reading in figure.readings)


_SETTLERS: dict[str, Callable[[Subject], Settled]] = {"figures": _figures, "quotes": _quotes}


def _own_words(subject: Subject) -> str:
    """The answer with quotes and brackets blanked: offsets stay, their figures are not its own."""
    text = list(subject.text)
    found = subject.citations
    spans = [(q.start, q.end) for q in found.quotes] + [(c.start, c.end) for c in found.citations]
    for start, end in spans:
        text[start:end] = " " * (end - start)
    return "".join(text)


_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)?")


def _given(subject: Subject) -> Iterator[float]:
    """Every number in the tools' outputs and in the question; a share also as a percentage."""
    for call in tool_calls(subject):
        yield from _numbers(call.output)
        yield from _numbers(call.arguments)
    yield from _numbers(subject.case.input.question)


def _numbers(value: JsonValue) -> Iterator[float]:
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield float(value)
        if 0 < abs(value) <= 1:
            yield float(value) * 100
    elif isinstance(value, str):
        for figure in figures(value):
            yield from (r.point for r in figure.readings if r.point is not None)
    elif isinstance(value, dict):
        for each in value.values():
            yield from _numbers(each)
    elif isinstance(value, list):
        for each in value:
            yield from _numbers(each)


def _among(figure: Figure, given: list[float]) -> bool:
    slack = 1e-9
    return any(
        reading.low - slack <= number <= reading.high + slack
        for reading in figure.readings
        for number in given
    )


def _statements(subject: Subject) -> Iterator[str]:
    """The tools' outputs as sentences that figures can be compared with."""
    for call in tool_calls(subject):
        about = _flat(call.arguments)
        yield f"{about}: {_flat(call.output)}."


def _flat(value: JsonValue) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {_flat(each)}" for key, each in value.items())
    if isinstance(value, list):
        return ". ".join(_flat(each) for each in value)
    return "" if value is None else str(value)


def _meet(span: tuple[int, int], passage: Passage) -> bool:
    return span[0] < passage.end and passage.start < span[1]


def _paragraph(text: str, passage: Passage) -> Passage:
    start = text.rfind("\n", 0, passage.start) + 1
    end = text.find("\n", passage.end)
    return Passage.of(text, start, len(text) if end < 0 else end)
