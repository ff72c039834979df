"""Scores, built with fixed ids and times so that sending them again changes nothing.

An unscored mode has no score of its name. What each item lacks is counted by its score
``unscored``, with the reasons as comment, and run-level ``MODE.coverage`` says how much was scored.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AwareDatetime, ConfigDict, Field
from pydantic.alias_generators import to_camel

from ancrage.domain import Evaluation, Finding, Frozen, Score, ScoreState
from ancrage.langfuse.reads import ScoreRow
from ancrage.langfuse.target import ENVIRONMENT, Place, digest
from ancrage.runs import ModeSummary

if TYPE_CHECKING:
    from ancrage.judges.account import Account

UNSCORED = "unscored"
COMMENT = 3_000
"""Characters of a comment; the whole is in the local record."""
SHOWN = 20
"""Findings in a comment."""


class Shown(Frozen):
    """A finding, its evidence by its place in the answer."""

    start: int = Field(ge=0)
    end: int
    explanation: str
    source_id: str | None = None
    tier: str | None = None


class ScoreNote(Frozen):
    """The metadata of the score of a mode."""

    evaluator: str
    version: str
    findings: int = 0
    """How many there are; ``shown`` has the first of them."""
    shown: tuple[Shown, ...] = ()
    reason: str | None = None


class Unscored(Frozen):
    """Why a mode has no score, and who says so."""

    evaluator: str
    version: str
    reason: str = Field(min_length=1)


class UnscoredNote(Frozen):
    """The metadata of the score ``unscored``."""

    modes: dict[str, Unscored]


class ScoreBody(Frozen):
    """A score as it is posted; always numeric, always with id and time."""

    model_config = ConfigDict(alias_generator=to_camel, populate_by_name=True)

    id: str
    trace_id: str | None = None
    observation_id: str | None = None
    dataset_run_id: str | None = None
    name: str
    value: float
    data_type: Literal["NUMERIC"] = "NUMERIC"
    environment: str | None = None
    comment: str | None = None
    metadata: dict[str, Any] | None = None
    timestamp: AwareDatetime

    @cached_property
    def json_bytes(self) -> bytes:
        """The score as JSON."""
        return self.model_dump_json(by_alias=True, exclude_none=True).encode()

    def is_stored(self, row: ScoreRow | None) -> bool:
        """Whether ``row`` is this very score: its value, its evidence, its evaluator's version."""
        if row is None:
            return False
        ours, theirs = self.metadata or {}, row.metadata or {}
        return (row.number, row.comment, theirs.get("version")) == (
            self.value,
            self.comment,
            ours.get("version"),
        )


def item_scores(
    place: Place, evaluations: Iterable[Evaluation], timestamp: datetime, environment: str | None
) -> Iterator[ScoreBody]:
    """The scores of one output: one a scored mode, and how many modes are unscored."""
    unscored: dict[str, Unscored] = {}
    for evaluation in evaluations:
        for score in evaluation.scores:
            if score.state is ScoreState.UNSCORED or score.value is None:
                unscored[score.name] = Unscored(
                    evaluator=evaluation.evaluator,
                    version=evaluation.version,
                    reason=_cut(score.reason or "no reason given", 500),
                )
                continue
            findings = [each for each in evaluation.findings if each.mode == score.name]
            yield _request(
                place,
                score.name,
                score.value,
                timestamp,
                environment,
                comment=_comment(findings),
                note=_note(evaluation, score, findings),
            )
    yield _request(
        place,
        UNSCORED,
        float(len(unscored)),
        timestamp,
        environment,
        comment=_cut("\n".join(f"{name}: {why.reason}" for name, why in sorted(unscored.items())))
        or None,
        note=UnscoredNote(modes=unscored) if unscored else None,
    )


def run_scores(
    experiment_id: str,
    summaries: Sequence[ModeSummary],
    counts: dict[str, int],
    timestamp: datetime,
    judges: Iterable["Account"] = (),
) -> Iterator[ScoreBody]:
    """The scores of the run: per mode rate, coverage and number failing; the coverage of each
    judge, over usable answers; cases by state."""
    values: dict[str, tuple[float | None, str | None]] = {}
    for summary in summaries:
        name, cases = summary.mode.name, summary.cases
        ordered = sorted(summary.reasons.items(), key=lambda each: (-each[1], each[0]))
        reasons = "; ".join(f"{count} × {reason}" for reason, count in ordered)
        values[f"{name}.rate"] = (summary.rate, f"{summary.failing} of {summary.scored} scored")
        values[f"{name}.failing"] = (float(summary.failing), None)
        values[f"{name}.coverage"] = (
            summary.scored / cases if cases else None,
            f"{summary.scored} of {cases} cases" + (f"; unscored: {reasons}" if reasons else ""),
        )
    for judge in judges:
        given = f"{judge.scored} of {judge.verdicts} verdicts"
        values[f"judge.{judge.judge}.coverage"] = judge.coverage, given
    for state, count in counts.items():
        values["cases" if state == "cases" else f"cases.{state}"] = (float(count), None)
    for name, (value, comment) in values.items():
        if value is not None:
            yield ScoreBody(
                id=run_score_id(experiment_id, name),
                dataset_run_id=experiment_id,
                name=name,
                value=value,
                environment=ENVIRONMENT,
                comment=_cut(comment) if comment else None,
                timestamp=timestamp,
            )


def run_score_id(experiment_id: str, name: str) -> str:
    """The id of the run-level score of that name, always the same."""
    return digest(f"{experiment_id}/{name}", 32)


def score_id(place: Place, name: str) -> str:
    """The id of the score of that name at that place, always the same."""
    return digest(f"{place.trace_id}/{place.observation_id}/{name}", 32)


def _request(
    place: Place,
    name: str,
    value: float,
    timestamp: datetime,
    environment: str | None,
    *,
    comment: str | None = None,
    note: ScoreNote | UnscoredNote | None = None,
) -> ScoreBody:
    return ScoreBody(
        id=score_id(place, name),
        trace_id=place.trace_id,
        observation_id=place.observation_id,
        name=name,
        value=value,
        environment=environment,
        comment=comment,
        metadata=note.model_dump(exclude_none=True) if note else None,
        timestamp=timestamp,
    )


def _comment(findings: Sequence[Finding]) -> str | None:
    """The evidence of each finding, then why it is one."""
    lines = [
        f"« {_cut(each.evidence.text, 400)} »: {_cut(each.explanation, 400)}"
        + (f" [{each.source_id}]" if each.source_id else "")
        for each in findings[:SHOWN]
    ]
    if len(findings) > SHOWN:
        lines.append(f"and {len(findings) - SHOWN} more")
    return _cut("\n".join(lines)) or None


def _note(evaluation: Evaluation, score: Score, findings: Sequence[Finding]) -> ScoreNote:
    return ScoreNote(
        evaluator=evaluation.evaluator,
        version=evaluation.version,
        findings=len(findings),
        shown=tuple(
            Shown(
                start=each.evidence.start,
                end=each.evidence.end,
                explanation=_cut(each.explanation, 400),
                source_id=each.source_id,
                tier=each.tier,
            )
            for each in findings[:SHOWN]
        ),
        reason=score.reason,
    )


def _cut(text: str, length: int = COMMENT) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
