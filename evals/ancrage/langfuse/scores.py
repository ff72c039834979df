"""Scores, built with fixed ids and times so that sending them again changes nothing.

Each failure mode has a score on each item, always: a number, or, where it could not be
established, the category ``unscored``. The server keeps both under one id, so that one replaces
the other and nothing is ever deleted (deletions are queued there, and would take a later score of
the same id with them); its interface averages the numbers alone.

The score ``anchored`` of an item carries the item's whole record, and the run's score ``cases``
that of the run: what ``pull`` rebuilds is what was published.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AwareDatetime, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from ancrage.domain import (
    Anchors,
    Evaluation,
    EvaluatorInfo,
    Finding,
    Frozen,
    Output,
    OutputState,
    Run,
    RunState,
    Score,
    ScoreState,
)
from ancrage.langfuse.reads import ScoreRow
from ancrage.langfuse.shapes import value_of
from ancrage.langfuse.target import ENVIRONMENT, TracePlace, digest
from ancrage.runs import AnchorSummary, ModeSummary

if TYPE_CHECKING:
    from ancrage.judges.account import Account

UNSCORED = "unscored"
ANCHORED = "anchored"
CASES = "cases"
CHECK = "check"
"""The kind of evaluators that are code."""
COMMENT = 3_000
"""Characters of a comment; the whole is in the record."""
SHOWN = 20
"""Findings in a comment."""
RECORD = 600_000
"""Bytes of a record that a score carries; the server drops a score above a megabyte."""


class ItemRecord(Frozen):
    """All that the local record says of one item; rides on its score ``anchored``."""

    output: Output
    evaluations: tuple[Evaluation, ...]
    anchors: Anchors | None = None


class ScoredBy(Frozen):
    """An evaluator, and when the scoring that it took part in was made."""

    info: EvaluatorInfo
    made: datetime
    state: RunState = RunState.COMPLETE


class RunRecord(Frozen):
    """All that the local record says of the run; rides on its score ``cases``."""

    run: Run
    evaluators: tuple[ScoredBy, ...] = ()


class Note(Frozen):
    """Who gave a score, as its metadata say: texts alone, as servers rewrite all else."""

    evaluator: str
    version: str
    made: str
    """When its scoring was made, in ISO 8601."""
    findings: str = "0"

    def poorer_than(self, other: "Note") -> bool:
        """Whether ``other`` knows more: a later scoring, or more findings of the same one."""
        if self.made != other.made:
            return datetime.fromisoformat(self.made) < datetime.fromisoformat(other.made)
        return self.version == other.version and int(self.findings) < int(other.findings)


class ScoreBody(Frozen):
    """A score as it is posted: a finite number or a category, always with id and time."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    id: str
    trace_id: str | None = None
    observation_id: str | None = None
    dataset_run_id: str | None = None
    name: str
    value: float | str
    data_type: Literal["NUMERIC", "CATEGORICAL"] = "NUMERIC"
    environment: str | None = None
    comment: str | None = None
    metadata: dict[str, str] | None = None
    timestamp: AwareDatetime
    config_id: str | None = None

    @cached_property
    def json_bytes(self) -> bytes:
        """The score as JSON."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()

    @property
    def content(self) -> str:
        """What tells whether a stored score is this one: all that was written, as a digest."""
        return _content(self.value, self.data_type, self.comment, self.metadata)


def content_of(row: ScoreRow) -> str:
    """The digest of a stored score; see ``ScoreBody.content``."""
    value = row.value if isinstance(row.value, str) else float(row.value)
    return _content(value, row.data_type, row.comment, row.metadata)


def _content(value: Any, kind: str, comment: str | None, metadata: Mapping[str, Any] | None) -> str:
    # Servers differ in whether they give a text that holds JSON back as such.
    said = {name: _plain(part) for name, part in sorted((metadata or {}).items())}
    written = json.dumps([value, kind, comment or None, said], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(written.encode()).hexdigest()[:24]


def _plain(value: Any) -> Any:
    found = value_of(value)
    return _whole(found) if isinstance(found, dict | list) else str(found)


def _whole(value: Any) -> Any:
    """Where the server has read and written JSON again, 1.0 has become 1."""
    if isinstance(value, dict):
        return {name: _whole(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_whole(part) for part in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


def note_of(row: ScoreRow) -> Note | None:
    """Who gave a stored score; None when it is not one of ours."""
    try:
        return Note.model_validate({k: str(v) for k, v in (row.metadata or {}).items()})
    except ValidationError:
        return None


def record_of(row: ScoreRow) -> Any:
    """The JSON document of the record that a stored score carries; None when it has none."""
    return value_of((row.metadata or {}).get("record"))


class ItemScores:
    """Builds the scores of items: the same ones whenever the same record is read."""

    def __init__(
        self,
        evaluators: Iterable[ScoredBy],
        timestamp: datetime,
        configs: Mapping[str, str] | None = None,
    ) -> None:
        """Take what the items of a run share.

        Args:
            evaluators: those of the run.
            timestamp: the day is part of a score's identity.
            configs: id of the score configuration of each mode.
        """
        by_name = {found.info.name: found for found in evaluators}
        self.made = {name: found.made for name, found in by_name.items()}
        self.checks = {name for name, found in by_name.items() if found.info.kind == CHECK}
        self.timestamp = timestamp
        self.configs = configs or {}

    def of(
        self,
        place: TracePlace,
        record: ItemRecord,
        environment: str | None = ENVIRONMENT,
        *,
        carry: bool = True,
        timestamp: datetime | None = None,
    ) -> Iterator[ScoreBody]:
        """One score a mode, and ``anchored``, which carries the record where ``carry`` says so."""
        shared: dict[str, Any] = {
            "trace_id": place.trace_id,
            "observation_id": place.observation_id,
            "environment": environment,
            "timestamp": timestamp or self.timestamp,
        }
        for evaluation in record.evaluations:
            for score in evaluation.scores:
                findings = [found for found in evaluation.findings if found.mode == score.name]
                yield ScoreBody(
                    id=score_id(place, score.name),
                    name=score.name,
                    metadata=self._note(evaluation, findings).model_dump(),
                    **self._value(score, findings),
                    **shared,
                )
        value, why = anchored(record, self.checks)
        written = record.model_dump_json(exclude_defaults=True) if carry else ""
        if len(written.encode()) > RECORD:
            without = record.model_copy(update={"anchors": None})
            written = without.model_dump_json(exclude_defaults=True)
        if len(written.encode()) > RECORD:
            written = ""  # ``pull`` says that it is missing.
        yield ScoreBody(
            id=score_id(place, ANCHORED),
            name=ANCHORED,
            value=UNSCORED if value is None else value,
            data_type="CATEGORICAL" if value is None else "NUMERIC",
            comment=why,
            metadata={"record": written} if written else None,
            config_id=None if value is None else self.configs.get(ANCHORED),
            **shared,
        )

    def _note(self, evaluation: Evaluation, findings: Sequence[Finding]) -> Note:
        made = self.made.get(evaluation.evaluator, self.timestamp)
        return Note(
            evaluator=evaluation.evaluator,
            version=evaluation.version,
            made=made.isoformat(),
            findings=str(len(findings)),
        )

    def _value(self, score: Score, findings: Sequence[Finding]) -> dict[str, Any]:
        if score.state is ScoreState.UNSCORED or score.value is None:
            return unscored(score.reason or "no reason given")
        return {
            "value": score.value,
            "comment": _comment(findings),
            "config_id": self.configs.get(score.name),
        }


def unscored(reason: str) -> dict[str, Any]:
    """Value, type and comment of a score that could not be established."""
    return {"value": UNSCORED, "data_type": "CATEGORICAL", "comment": _cut(reason, 500)}


def anchored(record: ItemRecord, checks: Iterable[str]) -> tuple[float | None, str | None]:
    """1 where no code check finds anything, 0 where one does, None where it cannot be told; and
    what the checks found, or why it cannot be told."""
    own = [s for found in record.evaluations if found.evaluator in checks for s in found.scores]
    wrong = [score.name for score in own if score.value]
    if wrong:
        return 0.0, ", ".join(wrong)
    absent = [f"{score.name}: {score.reason}" for score in own if score.value is None]
    if absent or not own:
        return None, _cut("\n".join(absent) or "no code check ran", 500)
    read = record.anchors
    if read is not None and not (read.citations or read.quotes):
        return None, "the answer cites and quotes nothing"  # A 1 has to be earned.
    return 1.0, None


def run_scores(
    experiment_id: str,
    record: RunRecord,
    summaries: Sequence[ModeSummary],
    anchors: AnchorSummary,
    counts: Mapping[str, int],
    judges: Iterable["Account"] = (),
) -> Iterator[ScoreBody]:
    """The scores of the run: per mode rate, coverage and number failing; what anchors the answers;
    the coverage of each judge, over usable answers; cases by state. They include every count that
    an earlier publication may have sent, so that none is left as it was."""
    values: dict[str, tuple[float | None, str | None]] = {}
    for summary in summaries:
        name, cases = summary.mode.name, summary.cases
        ordered = sorted(summary.reasons.items(), key=lambda reason: (-reason[1], reason[0]))
        reasons = "; ".join(f"{count} × {reason}" for reason, count in ordered)
        looked = f"{summary.scored} of {cases} cases" + (
            f"; unscored: {reasons}" if reasons else ""
        )
        values[f"{name}.rate"] = (summary.rate, f"{summary.failing} of {summary.scored} scored")
        values[f"{name}.failing"] = (float(summary.failing), f"of {summary.scored} scored")
        values[f"{name}.coverage"] = (summary.scored / cases if cases else None, looked)
    none = {str(state): 0 for state in OutputState}
    for state, count in {**none, **counts}.items():
        values[CASES if state == CASES else f"{CASES}.{state}"] = (float(count), None)
    values |= tallies(anchors)
    for judge in judges:
        given = f"{judge.scored} of {judge.verdicts} verdicts"
        values[f"judge.{judge.judge}.coverage"] = judge.coverage, given
    for name, (value, comment) in values.items():
        said = (
            unscored(comment or "nothing was scored")
            if value is None
            else {
                "value": value,
                "comment": _cut(comment) if comment else None,
            }
        )
        written = record.model_dump_json(exclude_defaults=True) if name == CASES else None
        yield ScoreBody(
            id=run_score_id(experiment_id, name),
            dataset_run_id=experiment_id,
            name=name,
            environment=ENVIRONMENT,
            timestamp=record.run.created,
            metadata={"record": written} if written else None,
            **said,
        )


def tallies(anchors: AnchorSummary) -> dict[str, tuple[float | None, str | None]]:
    """How much was read in the answers of a run, and why quotes fail: counts and a share, each
    with what it is of; nothing where the record does not hold how answers were read."""
    if not anchors.read:
        return {}
    of_read = f"of {anchors.read:,} answers read"
    of_held = f"of {anchors.held:,} quotes held against a message"
    diagnoses = sorted({"translated", "altered", "elsewhere", "absent", *anchors.diagnoses})
    return {
        f"{ANCHORED}.rate": (
            anchors.perfect / anchors.answers,
            f"{anchors.perfect:,} of {anchors.answers:,} answers: cited or quoted, no defect found",
        ),
        "answers.citing_nothing": (float(anchors.silent), of_read),
        "citations": (float(anchors.citations), of_read),
        "quotes": (float(anchors.quotes), of_read),
        "quotes.held": (float(anchors.held), f"of {anchors.quotes:,} quotes"),
        **{
            f"quotes.{name}": (float(anchors.diagnoses.get(name, 0)), of_held) for name in diagnoses
        },
    }


def run_score_id(experiment_id: str, name: str) -> str:
    """The id of the run-level score of that name, always the same."""
    return digest(f"{experiment_id}/{name}", 32)


def score_id(place: TracePlace, name: str) -> str:
    """The id of the score of that name at that place, always the same."""
    return digest(f"{place.trace_id}/{place.observation_id}/{name}", 32)


def _comment(findings: Sequence[Finding]) -> str | None:
    """The evidence of each finding, then why it is one."""
    lines = [
        f"« {_cut(found.evidence.text, 400)} »: {_cut(found.explanation, 400)}"
        + (f" [{found.source_id}]" if found.source_id else "")
        for found in findings[:SHOWN]
    ]
    if len(findings) > SHOWN:
        lines.append(f"and {len(findings) - SHOWN} more")
    return _cut("\n".join(lines)) or None


def _cut(text: str, length: int = COMMENT) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
