"""What is read of a case when it is opened, as the page's script reads it.

Each message and each long text stands in a block once, with the first case that needs it: so near
to what is quoted of it, it compresses best.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic_core import to_json

from ancrage.domain import (
    Case,
    Finding,
    JsonValue,
    Message,
    Passage,
    QuoteRecord,
    Usage,
)
from ancrage.report.text import Change, diagnosis, difference, line, segments, visible
from ancrage.runs import Item
from ancrage.studies import IndexedStudy

PASSING = frozenset({"T0", "T1", "T2", "T3"})
"""Tiers of quotes that stand in the message they cite."""
LONGEST_TOOL_TEXT = 20_000
"""Characters of a tool's output kept in the file; the rest is said to be left out."""
LONGEST_DIFFERENCE = 2_000
"""Quotes longer than this are shown beside their source, without a word-by-word difference."""
LONGEST_ANSWER = 20_000
"""Answers longer than this are shown without what differs from the first run's."""

_CHANGES: dict[Change, int] = {"same": 0, "added": 1, "removed": 2}


class Numbers(dict[str, int]):
    """Numbers texts in the order in which they are first met."""

    def __missing__(self, text: str) -> int:
        self[text] = len(self)
        return self[text]


class Block:
    """Cases that are packed together."""

    def __init__(self, *, whole: bool = True) -> None:
        self.cases: list[dict[str, object]] = []
        self._whole = whole
        self._messages: list[dict[str, str]] = []
        """Of the case that is being added."""
        self._places: dict[tuple[str, str], int] = {}
        self._texts = Numbers()

    def add(self, answers: Sequence[tuple[Item, IndexedStudy | None] | None]) -> None:
        """One case more, with the answer of each run; None where a run keeps none."""
        items = [answer and answer[0] for answer in answers]
        first = next((item for item in items if item), None)
        text = answer_text(items[0]) if items[0] else ""
        self._messages, texts = [], len(self._texts)
        case = self._case(first.case) if first else {}
        runs = [
            answer and self._body(*answer, text if run else "")
            for run, answer in enumerate(answers)
        ]
        new = _told(texts=[*self._texts][texts:], messages=self._messages)
        self.cases.append(new | case | {"runs": runs})

    def _case(self, case: Case) -> dict[str, object]:
        given = case.input
        return _told(
            question=visible(given.question),
            missing=line(case.source_missing or ""),
            history=[[turn.role, self._text(turn.content)] for turn in given.history],
            system=self._text(given.system_prompt) if given.system_prompt else None,
            facts=[
                *_pairs(case.provenance.model_dump(mode="json", exclude_defaults=True)),
                *_pairs({"system prompt SHA-256": given.system_prompt_hash}),
                *_pairs(given.context, "context "),
                *_pairs(case.metadata, "metadata "),
            ],
        )

    def _body(self, item: Item, study: IndexedStudy | None, base: str) -> dict[str, object]:
        """All that is shown of one answer; ``base`` is the answer that it is held against.

        ``answer`` is its text as ``[text, findings, passed quotes, change]`` segments; joined, but
        for what is only in ``base``, they give the text back.
        """
        findings, passed, text = item.findings, passed_quotes(item), answer_text(item)
        passages = [*(f.evidence for f in findings), *(quote.evidence for quote in passed)]
        answer, usage = item.output.answer, item.output.usage
        return {
            "answer": pieces(base, text, [(p.start, p.end) for p in passages], len(findings)),
            "findings": [self._finding(finding, study) for finding in findings],
            "passed": [self._passed(quote, study) for quote in passed],
        } | _told(
            same=bool(base) and base == text,
            reason=line(item.output.reason or ""),
            usage=_usage(usage),
            tools=[
                [
                    line(call.name),
                    self._text(_dump(call.arguments)),
                    self._text(call.output if isinstance(call.output, str) else _dump(call.output)),
                    self._text(call.error or ""),
                ]
                for call in item.output.tool_calls or item.case.input.tool_calls
            ],
            facts=_pairs(
                {
                    "finish reason": answer.finish_reason if answer else None,
                    "usage": usage.model_dump(mode="json", exclude_defaults=True)
                    if usage
                    else None,
                }
            ),
        )

    def _finding(self, finding: Finding, study: IndexedStudy | None) -> dict[str, object]:
        cited = finding.details.get("cited")
        others = cited.split(", ") if isinstance(cited, str) else []
        details = {k: v for k, v in finding.details.items() if k not in {"diagnosis", "cited"}}
        source = finding.source_id
        return {"mode": finding.mode, "explanation": visible(finding.explanation)} | _told(
            id=line(source or ""),
            tier=line(finding.tier or ""),
            diagnosis=diagnosis(finding),
            source=self._source(source, finding.source_passage, study),
            near=self._near(source, study),
            cited=[self._source(other, None, study) for other in others if other != source],
            difference=_difference(finding),
            details=_pairs(details),
        )

    def _passed(self, quote: QuoteRecord, study: IndexedStudy | None) -> dict[str, object]:
        if not self._whole:
            return {"tier": quote.tier, "source": {"id": line(quote.source_id or "")}}
        source = self._source(quote.source_id, quote.source_passage, study)
        return {"tier": quote.tier, "source": source}

    def _source(
        self, source_id: str | None, passage: Passage | None, study: IndexedStudy | None
    ) -> object:
        """A message of the block as ``[place, start, end]``; a question, or why there is neither,
        by itself."""
        if source_id is None:
            return None
        if study is None:
            return {"id": line(source_id), "absent": "the study cannot be consulted"}
        if message := study.message(source_id):
            place = self._message(message, study)
            return [place, passage.start, passage.end] if passage else [place]
        if question := study.question(source_id):
            return {"id": line(question.ref), "text": visible(question.text)}
        return {"id": line(source_id), "absent": f"is not in study {line(study.study.id)}"}

    def _near(self, source_id: str | None, study: IndexedStudy | None) -> list[int | None] | None:
        """The places of what the same respondent wrote before and after."""
        message = study.message(source_id) if study and source_id else None
        if message is None or study is None:
            return None
        near = study.neighbours(message)
        if not any(near):
            return None
        return [None if other is None else self._message(other, study) for other in near]

    def _message(self, message: Message, study: IndexedStudy) -> int:
        key = study.study.id, message.id
        if key not in self._places:
            ref = message.question_ref or ""
            asked = study.question(ref) if ref else None
            self._places[key] = len(self._places)
            told = {
                "id": line(message.id),
                "respondent": line(message.respondent_id),
                "language": line(message.language or ""),
                "asked": line(f"{asked.ref} · {asked.text}" if asked else ref),
                "text": visible(message.text),
            }
            self._messages.append({name: value for name, value in told.items() if value})
        return self._places[key]

    def _text(self, text: str) -> int:
        return self._texts[_cut(text)]


def answer_text(item: Item) -> str:
    """The answer's text; empty when there is none."""
    return item.output.answer.text if item.output.answer else ""


def passed_quotes(item: Item) -> list[QuoteRecord]:
    """The quotes of an answer that stand in a message they cite, as the record holds them."""
    return [
        quote
        for quote in (item.anchors.quotes if item.anchors else ())
        if quote.tier in PASSING and quote.source_id is not None and quote.diagnosis is None
    ]


def pieces(
    base: str, text: str, spans: Sequence[tuple[int, int]], findings: int
) -> list[list[Any]]:
    """``text`` cut where it differs from ``base``, and where spans begin and end.

    Each piece is ``[text, findings, passed quotes, change]``, with what is empty left off its end;
    the first ``findings`` of the spans are findings, the others quotes that passed. Change is 1
    for what ``base`` lacks and 2 for what only ``base`` has; the pieces without the latter make up
    ``text``.
    """
    changes: Sequence[tuple[Change, str]] = [("same", text)] if text else []
    if base and base != text and max(len(base), len(text)) <= LONGEST_ANSWER:
        changes = difference(base, text)
    if "".join(words for kind, words in changes if kind != "removed") != text:
        changes = [("same", text)]
    cut: list[list[Any]] = []
    at = 0
    for kind, words in changes:
        if kind == "removed":
            cut.append([visible(words), [], [], _CHANGES[kind]])
            continue
        inside = [(max(0, start - at), min(len(words), end - at)) for start, end in spans]
        kept = [number for number, (start, end) in enumerate(inside) if start < end]
        for segment in segments(words, [inside[number] for number in kept]):
            numbers = [kept[number] for number in segment.spans]
            piece: list[Any] = [
                visible(segment.text),
                [number for number in numbers if number < findings],
                [number - findings for number in numbers if number >= findings],
                _CHANGES[kind],
            ]
            while not piece[-1] and len(piece) > 1:
                piece.pop()
            cut.append(piece)
        at += len(words)
    return cut


def _difference(finding: Finding) -> list[tuple[str, str]]:
    source, quoted = finding.source_passage, finding.evidence
    if not source or finding.tier != "T4":
        return []
    if max(len(source.text), len(quoted.text)) > LONGEST_DIFFERENCE:
        return []
    return [(kind, visible(text)) for kind, text in difference(source.text, quoted.text)]


def _usage(usage: Usage | None) -> str:
    if usage is None:
        return ""
    parts = []
    if usage.latency is not None:
        parts.append(f"{usage.latency:.1f} s")
    if usage.input_tokens is not None or usage.output_tokens is not None:
        parts.append(f"{usage.input_tokens or 0:,} + {usage.output_tokens or 0:,} tokens")
    if usage.cost is not None:
        parts.append(f"cost {usage.cost:.4g}")
    return " · ".join(parts)


def _told(**values: object) -> dict[str, object]:
    """Those of ``values`` that say something; 0 is a place, and does."""
    return {n: v for n, v in values.items() if v is not False and v not in (None, "", [], {})}


def _pairs(values: Mapping[str, JsonValue], prefix: str = "") -> list[list[str]]:
    return [
        [line(prefix + key), _cut(value if isinstance(value, str) else _dump(value))]
        for key, value in values.items()
        if value not in (None, "", {}, [])
    ]


def _dump(value: JsonValue) -> str:
    return to_json(value, indent=1).decode()


def _cut(text: str) -> str:
    if len(text) <= LONGEST_TOOL_TEXT:
        return visible(text)
    left_out = len(text) - LONGEST_TOOL_TEXT
    return visible(text[:LONGEST_TOOL_TEXT]) + f"\n[… {left_out} more characters in the snapshot]"
