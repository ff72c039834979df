"""Human labels: whether a person sees a failure mode in an answer, from files of any annotator."""

import csv
import hashlib
import io
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, ValidationError

from ancrage.domain import Frozen, Output
from ancrage.errors import UsageError, describe

Split = Literal["train", "held-out"]

_PRESENT = {"1", "1.0", "true", "yes", "y", "oui", "o", "vrai", "present", "présent", "defect"}
_ABSENT = {"0", "0.0", "false", "no", "n", "non", "faux", "absent", "ok", "clean"}
_UNDECIDED = {"?", "cannot_tell", "cannot tell", "unsure", "null", "none"}


def _presence(value: object) -> bool | None:
    """True, False or None for the words people write; anything else is left to fail."""
    word = str(value).strip().rstrip(".").casefold()
    if word in _PRESENT:
        return True
    if word in _ABSENT:
        return False
    if word in _UNDECIDED:
        return None
    raise ValueError(f"{value!r} is not a label: write 1, 0, or ? for undecided")


class Label(Frozen):
    """One person's word on one failure mode of one answer."""

    case_id: str = Field(min_length=1)
    mode: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    label: Annotated[bool | None, BeforeValidator(_presence)]
    """Whether the defect is there; None where the person could not decide."""
    annotator: str = Field(min_length=1)
    passage: str | None = None
    """The words of the answer that show it."""
    note: str | None = None
    answer_hash: str | None = None
    """Which answer was read, as ``hash_of`` gives it; None when the file does not say."""
    time: datetime | None = None
    where: str = Field(default="", exclude=True)
    """File and line that it was read from."""


@dataclass(frozen=True)
class Labels:
    """Labels as read: the last of each person on each mode and answer, and what was refused."""

    labels: tuple[Label, ...]
    refused: tuple[str, ...] = ()
    """One line a fault: file, line, field."""
    replaced: int = 0
    """Labels that the same person gave anew later on."""
    ignored: tuple[str, ...] = ()
    """Columns or fields that are no part of a label."""

    @property
    def hash(self) -> str:
        """12 hexadecimal digits over the content, whatever the order of the files."""
        lines = sorted(each.model_dump_json(exclude={"time", "note"}) for each in self.labels)
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:12]


def hash_of(output: Output) -> str | None:
    """What tells one answer to a case from another: 16 hexadecimal digits; None without a text."""
    if output.answer is None:
        return None
    return hashlib.sha256(output.answer.text.encode("utf-8", "replace")).hexdigest()[:16]


def split_of(case_id: str, held_out: float = 0.5) -> Split:
    """On which side of the split a case falls, always the same one.

    Prompts may be tuned on the ``train`` side alone; figures come from the ``held-out`` side.
    """
    digest = hashlib.sha256(f"ancrage split/{case_id}".encode()).digest()
    return "held-out" if int.from_bytes(digest[:8]) < held_out * 2**64 else "train"


def read_labels(paths: Iterable[Path]) -> Labels:
    """The labels of CSV or JSONL files: ``case_id``, ``mode``, ``label``, and optionally
    ``annotator`` (else the file's name), ``passage``, ``note``, ``answer_hash``, ``time``. A row
    at fault is refused with its line and the others are kept.

    Raises:
        UsageError: a file cannot be read, or holds no label at all.
    """
    found: list[Label] = []
    refused: list[str] = []
    ignored: dict[str, None] = {}
    for path in paths:
        before = len(found)
        for number, row in _rows(path):
            where = f"{path}:{number}"
            if not isinstance(row, dict):
                refused.append(f"{where}: {row if isinstance(row, str) else 'not an object'}")
                continue
            ignored |= dict.fromkeys(str(name) for name in row.keys() - _FIELDS)
            given = {k: v for k, v in row.items() if k in _FIELDS and v not in (None, "")}
            if "label" in row and row["label"] is None:
                given["label"] = None
            try:
                found.append(
                    Label.model_validate({"annotator": path.stem, **given, "where": where})
                )
            except ValidationError as error:
                refused.append(f"{where}: {describe(error)}")
        if len(found) == before:
            first = f"; {refused[-1]}" if refused else ""
            raise UsageError(f"{path}: no label can be read{first}")
    return latest(found, tuple(refused), tuple(ignored))


def latest(
    found: Iterable[Label], refused: tuple[str, ...] = (), ignored: tuple[str, ...] = ()
) -> Labels:
    """Only the last label of each person on each mode and answer."""
    every = list(found)
    kept = {(e.case_id, e.mode, e.annotator, e.answer_hash): e for e in every}
    return Labels(tuple(kept.values()), refused, len(every) - len(kept), ignored)


_FIELDS = set(Label.model_fields) - {"where"}


def _rows(path: Path) -> Iterator[tuple[int, Any]]:
    """Each row with its line; a text in place of a row says what is wrong with the line."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}") from None
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{path}:{number}: not UTF-8; save the file as UTF-8") from None
    if path.suffix.lower() in (".jsonl", ".ndjson"):
        for number, line in enumerate(text.split("\n"), start=1):
            if not line.strip():
                continue
            try:
                row = json.loads(line)
            except ValueError as error:
                row = f"not JSON: {error}"
            yield number, row
        return
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter)
    missing = {"case_id", "mode", "label"} - set(reader.fieldnames or ())
    if missing:
        raise UsageError(f"{path}: no column {', '.join(sorted(missing))} in its first line")
    for cells in reader:
        row = dict(cells)
        yield reader.line_num, "more cells than columns" if None in row else row
