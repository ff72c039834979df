"""A run as a flat table: a row an answer, a score, a finding or a quote."""

import csv
import io
import json
import tempfile
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from ancrage.errors import UsageError
from ancrage.files import write_atomic
from ancrage.runs import Item, RunView

Rows = Literal["answers", "scores", "findings", "quotes"]
Row = dict[str, Any]
FORMATS = {".csv": "csv", ".jsonl": "jsonl", ".ndjson": "jsonl", ".parquet": "parquet"}
_WHOLE = {"start", "end", "findings", "citations", "quotes", "quotes_held"} | {
    "input_tokens",
    "output_tokens",
}
_GROUP = 10_000
"""Rows of Parquet in memory at once."""
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n")


def rows_of(view: RunView, what: Rows) -> Iterator[Row]:
    """The rows of a run, in the order of its cases; every row has the same columns."""
    return (row for item in view.items() for row in _ROWS[what](view, item))


def _common(view: RunView, item: Item) -> Row:
    return {"run": view.run.id, "case_id": item.case.id, "study_id": item.case.study_id}


def _answers(view: RunView, item: Item) -> Iterable[Row]:
    case, output, anchors = item.case, item.output, item.anchors
    usage = output.usage
    scores = item.scores
    yield _common(view, item) | {
        "state": output.state.value,
        "reason": output.reason,
        "question": case.input.question,
        "answer": output.answer.text if output.answer else None,
        "model": case.provenance.model,
        "time": case.provenance.time.isoformat() if case.provenance.time else None,
        "findings": len(item.findings),
        "citations": anchors.citations if anchors else None,
        "quotes": len(anchors.quotes) if anchors else None,
        "quotes_held": anchors.held if anchors else None,
        "input_tokens": usage.input_tokens if usage else None,
        "output_tokens": usage.output_tokens if usage else None,
        **{
            mode.name: scores[mode.name].value if mode.name in scores else None
            for mode in view.modes
        },
    }


def _scores(view: RunView, item: Item) -> Iterable[Row]:
    for evaluation in item.evaluations:
        for score in evaluation.scores:
            yield _common(view, item) | {
                "mode": score.name,
                "state": score.state.value,
                "value": score.value,
                "reason": score.reason,
                "evaluator": evaluation.evaluator,
                "version": evaluation.version,
            }


def _findings(view: RunView, item: Item) -> Iterable[Row]:
    for finding in item.findings:
        source = finding.source_passage
        yield _common(view, item) | {
            "mode": finding.mode,
            "passage": finding.evidence.text,
            "start": finding.evidence.start,
            "end": finding.evidence.end,
            "tier": finding.tier,
            "diagnosis": finding.details.get("diagnosis"),
            "explanation": finding.explanation,
            "source_id": finding.source_id,
            "source_passage": source.text if source else None,
        }


def _quotes(view: RunView, item: Item) -> Iterable[Row]:
    for quote in item.anchors.quotes if item.anchors else ():
        source = quote.source_passage
        yield _common(view, item) | {
            "quote": quote.evidence.text,
            "start": quote.evidence.start,
            "end": quote.evidence.end,
            "cited": ", ".join(quote.cited),
            "rule": quote.rule,
            "tier": quote.tier,
            "diagnosis": quote.diagnosis,
            "language": quote.language,
            "source_id": quote.source_id,
            "source_language": quote.source_language,
            "source_passage": source.text if source else None,
        }


_ROWS: dict[str, Callable[[RunView, Item], Iterable[Row]]] = {
    "answers": _answers,
    "scores": _scores,
    "findings": _findings,
    "quotes": _quotes,
}


def write(view: RunView, what: Rows, path: Path) -> int:
    """Write the rows of a run in the format that the name of ``path`` ends with.

    Returns:
        How many rows were written.

    Raises:
        UsageError: the ending is none of ``FORMATS``, or Parquet is asked for without pyarrow.
    """
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise UsageError(f"{path}: name a file that ends in {', '.join(FORMATS)}")
    counted = _Counted(rows_of(view, what))
    if kind == "parquet":
        _parquet(counted, path, ["value", *(mode.name for mode in view.modes)])
    else:
        write_atomic(path, lines(counted, kind), private=True)
    return counted.count


class _Counted:
    def __init__(self, rows: Iterable[Row]) -> None:
        self._rows, self.count = rows, 0

    def __iter__(self) -> Iterator[Row]:
        for row in self._rows:
            self.count += 1
            yield row


def lines(rows: Iterable[Row], kind: str) -> Iterator[str]:
    """The rows as CSV (with a byte order mark, so that Excel reads UTF-8) or JSON Lines."""
    if kind == "jsonl":
        for row in rows:
            yield json.dumps(row, ensure_ascii=False, default=str) + "\n"
        return
    buffer = io.StringIO()
    writer = csv.writer(buffer)
    for number, row in enumerate(rows):
        if number == 0:
            buffer.write("\ufeff")
            writer.writerow(row)
        writer.writerow([_cell(value) for value in row.values()])
        yield buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()


def _cell(value: object) -> object:
    """A text that a spreadsheet would take for a formula begins with an apostrophe instead.

    As OWASP advises against CSV injection.
    """
    if isinstance(value, str) and value.startswith(_FORMULA):
        return "'" + value
    return value


def _parquet(rows: Iterable[Row], path: Path, numbers: Iterable[str]) -> None:
    """Row groups of ``_GROUP`` rows, so that memory does not grow with the run."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError:
        raise UsageError("Parquet needs pyarrow: pip install 'ancrage[tables]'") from None
    left = iter(rows)
    with tempfile.TemporaryFile() as draft:
        writer = None
        while group := list(islice(left, _GROUP)):
            if writer is None:
                kinds = dict.fromkeys(_WHOLE, pa.int64()) | dict.fromkeys(numbers, pa.float64())
                schema = pa.schema([(name, kinds.get(name, pa.string())) for name in group[0]])
                writer = pq.ParquetWriter(draft, schema, compression="zstd")
            writer.write_table(pa.Table.from_pylist(group, schema))
        if writer is None:
            pq.write_table(pa.table({}), draft)
        else:
            writer.close()
        draft.seek(0)
        write_atomic(path, iter(lambda: draft.read(1 << 20), b""), private=True)
