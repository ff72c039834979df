"""The cases of the suite: a question, the text to answer from, and what a right answer says."""

import hashlib
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, StrictStr, ValidationError

from ancrage.abstention.rows import Row, read_rows
from ancrage.domain import Frozen, JsonValue
from ancrage.errors import UsageError
from ancrage.program import called

CaseId = StrictInt | StrictStr


def _joined(value: Any) -> Any:
    """Several passages are one support, a blank line between them."""
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "\n\n".join(value)
    return value


def _text(value: Any) -> Any:
    return "" if value is None else value


class QACase(Frozen):
    """One question. ``must_abstain``: the support does not hold the answer."""

    id: CaseId
    question: StrictStr = Field(pattern=r"\S")
    expected: Annotated[StrictStr, BeforeValidator(_text)]
    """What a right answer says; never empty unless the case must abstain."""
    support: Annotated[StrictStr, BeforeValidator(_joined), BeforeValidator(_text)]
    must_abstain: StrictBool
    prompt: StrictStr | None = Field(default=None, pattern=r"\S")
    """Sent as it stands, instead of the rendered template."""
    group: StrictStr | None = Field(default=None, pattern=r"\S")
    metadata: dict[str, JsonValue] = {}

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all that decides whether an answer is right, the id left out."""
        content = [self.question, self.expected, self.support, self.must_abstain]
        return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


@dataclass(frozen=True)
class CaseFile:
    """A file of cases: those that can be used, and all that is wrong with the others."""

    path: Path
    cases: tuple[QACase, ...]
    faults: tuple[str, ...]
    """One line each: file, place, field, what is wrong."""
    warnings: tuple[str, ...]

    @property
    def hash(self) -> str:
        """SHA-256 over ids and content, in order; layout and metadata left out."""
        lines = [f"{case.id!r} {case.fingerprint}" for case in self.cases]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """For each group: ``answerable``, ``must abstain``; one group ``-`` holds the others."""
        counts: dict[str, Counter[str]] = {}
        for case in self.cases:
            kind = "must abstain" if case.must_abstain else "answerable"
            counts.setdefault(case.group or "-", Counter())[kind] += 1
        return counts


def check_cases(path: Path) -> CaseFile:
    """Read a file of cases and find all its faults.

    Raises:
        UsageError: the file as a whole cannot be read.
    """
    rows, faults = read_rows(path, "cases")
    cases: list[QACase] = []
    warnings: list[str] = []
    seen_ids: dict[str, str] = {}
    seen_questions: dict[str, tuple[str, QACase]] = {}
    for row in rows:
        case = _case(row, faults, warnings)
        if case is None:
            continue
        place = f"{row.place}"
        if (first := seen_ids.setdefault(str(case.id), place)) != place:
            faults.append(f"{place}: id: {case.id!r} is also the id of {first}")
            continue
        key = normalised(case.question)
        if key in seen_questions:
            first, other = seen_questions[key]
            same = normalised(case.support) == normalised(other.support)
            (faults if same else warnings).append(
                f"{place}: question: asked already by {first}"
                + (", of the same support" if same else ", of another support")
            )
            if same:
                continue
        else:
            seen_questions[key] = place, case
        if not case.support.strip() and not case.must_abstain:
            warnings.append(f"{place}: support: empty, so what an answer adds cannot be checked")
        cases.append(case)
    if not rows and not faults:
        faults.append(f"{path}: no case")
    return CaseFile(path, tuple(cases), tuple(faults), tuple(warnings))


def read_cases(path: Path) -> CaseFile:
    """Read a file of cases, all of which must be right.

    Raises:
        UsageError: the first fault, and how many others there are.
    """
    file = check_cases(path)
    if file.faults:
        others = len(file.faults) - 1
        more = f" (and {others} more: {called('qa-check')} {path})" if others else ""
        raise UsageError(file.faults[0] + more)
    return file


def normalised(text: str) -> str:
    """``text`` in lower case, its accents kept, runs of anything but letters and digits a space."""
    return re.sub(r"\W+", " ", unicodedata.normalize("NFC", text).casefold()).strip()


def _case(row: Row, faults: list[str], warnings: list[str]) -> QACase | None:
    if not isinstance(row.value, dict):
        faults.append(f"{row.place}: expected an object, not {_kind(row.value)}")
        return None
    fields = {name: value for name, value in row.value.items() if name in QACase.model_fields}
    unknown = {name: value for name, value in row.value.items() if name not in fields}
    if fields.get("id") is None:
        fields["id"] = row.number
    if unknown and isinstance(fields.get("metadata", {}), dict):
        fields["metadata"] = {**unknown, **fields.get("metadata", {})}
    found = _faults(fields)
    faults += [f"{row.place}: {fault}" for fault in found]
    if found:
        if unknown:
            faults[-1] += f" (unknown: {', '.join(unknown)})"
        return None
    if unknown:
        warnings.append(f"{row.place}: {', '.join(unknown)}: not known, kept as metadata")
    return QACase.model_validate(fields)


def _faults(fields: dict[str, Any]) -> Sequence[str]:
    try:
        case = QACase.model_validate(fields)
    except ValidationError as error:
        by_field = {str(e["loc"][0]): e for e in error.errors(include_url=False)}
        return [f"{name}: {_words(e['type'], e['msg'])}" for name, e in by_field.items()]
    if not case.expected.strip() and not case.must_abstain:
        return ["expected: empty; every answer contains it, so the case can never fail"]
    return []


def _words(kind: str, message: str) -> str:
    return {"missing": "missing", "string_pattern_mismatch": "empty"}.get(kind, message)


def _kind(value: Any) -> str:
    return "null" if value is None else type(value).__name__
