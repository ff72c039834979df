"""One answer as the compact JSON value that the HTML report's script draws."""

import json
from collections import Counter
from collections.abc import Mapping

from markupsafe import Markup
from pydantic_core import to_json

from ancrage.domain import Finding, JsonValue, Message, OutputState, Passage, ScoreState
from ancrage.report.sources import PassedQuote, passed_quotes
from ancrage.report.text import TIERS, diagnosis, difference, line, segments, visible
from ancrage.runs import Item
from ancrage.studies import IndexedStudy

LONGEST_TOOL_TEXT = 20_000
"""Characters of a tool's output kept in the file; the rest is said to be left out."""
LONGEST_DIFFERENCE = 2_000
"""Quotes longer than this are shown beside their source, without a word-by-word difference."""

_UNSAFE = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def script_json(value: object) -> Markup:
    """``value`` as JSON that can stand in a ``<script>`` element: it closes no tag."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(text.translate(_UNSAFE))  # noqa: S704  every mark of markup is escaped


def row(item: Item, reasons: Mapping[str, int]) -> dict[str, object]:
    """What the list of answers needs of one answer: for the index, filters and sorting.

    ``reasons`` numbers the reasons for not scoring.
    """
    counts = Counter(f.mode for f in item.findings)
    scores = item.scores
    without = {m for m, s in scores.items() if s.value and m not in counts}
    ok = item.output.state is OutputState.OK
    unscored = [m for m, s in scores.items() if s.state is ScoreState.UNSCORED]
    return {
        "id": visible(item.case.id),
        "question": line(item.case.input.question)[:160],
        "study": line(item.case.study_id or ""),
        "state": item.output.state.value,
        "modes": dict(counts) | dict.fromkeys(sorted(without), 0),
        "unscored": unscored if ok else [],
        "why": sorted({reasons[s.reason or ""] for s in scores.values() if s.reason in reasons}),
        "fails": sorted({word for f in item.findings if f.tier and (word := diagnosis(f))}),
        "anchors": _anchored(item),
    }


def _anchored(item: Item) -> list[int] | None:
    """Citations and quotes read in the answer; None where the record does not say."""
    if item.anchors is None:
        return None
    return [item.anchors.citations, len(item.anchors.quotes)]


def body(item: Item, source: IndexedStudy | None) -> dict[str, object]:
    """All that is shown of one answer.

    ``answer`` is its text as ``[text, findings, passed quotes]`` segments; joined, they give the
    text back.
    """
    case, findings, passed = item.case, item.findings, passed_quotes(item)
    passages = [*(f.evidence for f in findings), *(quote.passage for quote in passed)]
    text, count = answer_text(item), len(findings)
    return {
        "question": visible(case.input.question),
        "reason": line(item.output.reason or ""),
        "missing": line(case.source_missing or ""),
        "answer": [
            [
                visible(segment.text),
                [span for span in segment.spans if span < count],
                [span - count for span in segment.spans if span >= count],
            ]
            for segment in segments(text, [(each.start, each.end) for each in passages])
        ],
        "findings": [_finding(each, source) for each in findings],
        "passed": [_passed(each, source) for each in passed],
        "scores": [
            [mode, score.value, line(score.reason or "")] for mode, score in item.scores.items()
        ],
        "context": _context(item),
    }


def answer_text(item: Item) -> str:
    """The answer's text; empty when there is none."""
    return item.output.answer.text if item.output.answer else ""


def _finding(finding: Finding, source: IndexedStudy | None) -> dict[str, object]:
    cited = finding.details.get("cited")
    others = cited.split(", ") if isinstance(cited, str) else []
    return {
        "mode": finding.mode,
        "passage": visible(finding.evidence.text),
        "explanation": visible(finding.explanation),
        "tier": line(finding.tier or ""),
        "diagnosis": diagnosis(finding),
        "source": source_of(finding.source_id, finding.source_passage, source),
        "cited": [source_of(each, None, source) for each in others if each != finding.source_id],
        "difference": _difference(finding),
        "details": _pairs(
            {k: v for k, v in finding.details.items() if k not in {"diagnosis", "cited"}}
        ),
    }


def _passed(quote: PassedQuote, source: IndexedStudy | None) -> dict[str, object]:
    return {
        "passage": line(quote.passage.text),
        "tier": quote.tier,
        "words": TIERS[quote.tier],
        "warnings": [line(each) for each in quote.warnings],
        "source": source_of(quote.source_id, quote.source_passage, source),
    }


def _difference(finding: Finding) -> list[tuple[str, str]]:
    source, quoted = finding.source_passage, finding.evidence
    if not source or finding.tier != "T4":
        return []
    if max(len(source.text), len(quoted.text)) > LONGEST_DIFFERENCE:
        return []
    return [(kind, visible(text)) for kind, text in difference(source.text, quoted.text)]


def source_of(
    source_id: str | None, passage: Passage | None, source: IndexedStudy | None
) -> dict[str, object] | None:
    """The message or question of an id, with the respondent's neighbouring messages."""
    if source_id is None:
        return None
    if source is None:
        return {"id": line(source_id), "absent": "the study cannot be consulted"}
    message = source.message(source_id)
    if message is None:
        if question := source.question(source_id):
            return {"id": line(question.ref), "text": [[visible(question.text), []]]}
        return {"id": line(source_id), "absent": f"is not in study {line(source.study.id)}"}
    asked = source.question(message.question_ref) if message.question_ref else None
    before, after = source.neighbours(message)
    spans = [(passage.start, passage.end)] if passage else []
    return {
        "id": line(message.id),
        "respondent": line(message.respondent_id),
        "language": line(message.language or ""),
        "asked": line(f"{asked.ref} · {asked.text}" if asked else message.question_ref or ""),
        "text": [[visible(part.text), part.spans] for part in segments(message.text, spans)],
        "before": _brief(before),
        "after": _brief(after),
    }


def _brief(message: Message | None) -> list[str] | None:
    return [line(message.id), visible(message.text)] if message else None


def _context(item: Item) -> dict[str, object]:
    given, provenance = item.case.input, item.case.provenance
    calls = item.output.tool_calls or given.tool_calls
    return {
        "history": [[turn.role, _cut(turn.content)] for turn in given.history],
        "tools": [
            [
                line(call.name),
                _cut(_dump(call.arguments)),
                _cut(call.output if isinstance(call.output, str) else _dump(call.output)),
                _cut(call.error or ""),
            ]
            for call in calls
        ],
        "system": _cut(given.system_prompt or ""),
        "facts": [
            *_pairs(provenance.model_dump(mode="json", exclude_defaults=True)),
            *_pairs({"system prompt SHA-256": given.system_prompt_hash}),
            *_pairs(given.context, "context "),
            *_pairs(item.case.metadata, "metadata "),
            *_pairs(_answered(item)),
        ],
    }


def _answered(item: Item) -> dict[str, JsonValue]:
    answer, usage = item.output.answer, item.output.usage
    return {
        "finish reason": answer.finish_reason if answer else None,
        "usage": usage.model_dump(mode="json", exclude_defaults=True) if usage else None,
    }


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
