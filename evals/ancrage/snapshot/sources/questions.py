"""Files of questions that say whether they can be answered."""

from collections.abc import Iterator
from pathlib import Path

from ancrage.errors import UsageError
from ancrage.snapshot.manifest import Reject
from ancrage.snapshot.sources.records import read_records
from ancrage.snapshot.sources.rows import Record


def holds_questions(path: Path) -> bool:
    """Whether the first record of a file is a question that says whether it can be answered."""
    try:
        first = next(question_records(path), None)
    except UsageError:
        return False
    return isinstance(first, Record) and "must_abstain" in first.row


def question_records(path: Path) -> Iterator[Record | Reject]:
    """The rows of a list of questions, or of the ``cases`` of one JSON document."""
    for record in read_records(path, str(path)):
        rows = record.row.get("cases") if isinstance(record, Record) else None
        if not isinstance(rows, list):
            yield record
            continue
        for rank, row in enumerate(rows, start=1):
            if isinstance(row, dict):
                yield Record(str(path), rank, row)
            else:
                yield Reject(where=str(path), line=rank, error="expected an object with fields")
