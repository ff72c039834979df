"""The nouns of the project, as frozen pydantic models."""

from evals.domain.base import Frozen, JsonValue
from evals.domain.case import (
    Answer,
    Case,
    CaseInput,
    OutputState,
    Provenance,
    ToolCall,
    Turn,
    Usage,
)
from evals.domain.finding import Evaluation, FailureMode, Finding, Passage, Score, ScoreState
from evals.domain.run import EvaluatorInfo, Output, Run, RunState, Scored, Scoring, SnapshotRef
from evals.domain.study import Message, Question, Study

__all__ = [
    "Answer",
    "Case",
    "CaseInput",
    "Evaluation",
    "EvaluatorInfo",
    "FailureMode",
    "Finding",
    "Frozen",
    "JsonValue",
    "Message",
    "Output",
    "OutputState",
    "Passage",
    "Provenance",
    "Question",
    "Run",
    "RunState",
    "Score",
    "ScoreState",
    "Scored",
    "Scoring",
    "SnapshotRef",
    "Study",
    "ToolCall",
    "Turn",
    "Usage",
]
