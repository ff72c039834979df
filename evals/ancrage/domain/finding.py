"""What evaluators say of an answer: findings with their passage, scores with their state."""

import math
from enum import StrEnum
from typing import Self

from pydantic import Field, model_validator

from ancrage.domain.base import Frozen, JsonValue
from ancrage.domain.case import Usage


class FailureMode(Frozen):
    """One way an answer can be wrong; owned by exactly one evaluator."""

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    title: str
    definition: str


class Passage(Frozen):
    """An exact passage: ``text == whole[start:end]``, in code points."""

    start: int = Field(ge=0)
    end: int = Field(ge=0)
    text: str

    @classmethod
    def of(cls, whole: str, start: int, end: int) -> Self:
        """The passage of ``whole`` from ``start`` up to, not including, ``end``."""
        return cls(start=start, end=end, text=whole[start:end])

    @model_validator(mode="after")
    def _spans_its_text(self) -> Self:
        if self.end - self.start != len(self.text):
            raise ValueError(
                f"[{self.start}, {self.end}) does not span {len(self.text)} characters"
            )
        return self


class Finding(Frozen):
    """One defect, shown by the passage of the answer that carries it."""

    mode: str
    evidence: Passage
    explanation: str
    source_id: str | None = None
    """The message (or other source) that the defect is about, when there is one."""
    source_passage: Passage | None = None
    """The part of that source that explains the defect."""
    tier: str | None = None
    """For quotes: the verification tier reached, such as ``T5``."""
    details: dict[str, JsonValue] = {}


class ScoreState(StrEnum):
    SCORED = "scored"
    UNSCORED = "unscored"


class Score(Frozen):
    """A number named for its failure mode, or the reason why there is none."""

    name: str
    value: float | None = None
    state: ScoreState = ScoreState.SCORED
    reason: str | None = None

    @classmethod
    def unscored(cls, name: str, reason: str) -> Self:
        """A score that could not be established, with the reason why."""
        return cls(name=name, state=ScoreState.UNSCORED, reason=reason)

    @model_validator(mode="after")
    def _agrees_with_its_state(self) -> Self:
        if self.state is ScoreState.SCORED and (
            self.value is None or not math.isfinite(self.value)
        ):
            raise ValueError(f"score {self.name!r} is scored but has no finite value")
        if self.state is ScoreState.UNSCORED and (self.value is not None or not self.reason):
            raise ValueError(f"score {self.name!r} is unscored: it takes a reason and no value")
        return self


class Evaluation(Frozen):
    """What one evaluator, in one version, says of one answer."""

    evaluator: str
    version: str
    scores: tuple[Score, ...]
    """One a failure mode that the evaluator owns, always, scored or not."""
    findings: tuple[Finding, ...] = ()
    usage: Usage | None = None
    faulty: bool = False
    """Whether the evaluator itself failed: it raised, or gave what it may not."""
    details: dict[str, JsonValue] = {}
