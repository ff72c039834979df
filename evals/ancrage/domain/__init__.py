"""The nouns of the project, as frozen pydantic models."""

from ancrage.domain.anchors import Anchors, QuoteRecord
from ancrage.domain.base import Frozen, JsonValue
from ancrage.domain.case import (
    NO_STUDY,
    Answer,
    Case,
    CaseInput,
    OutputState,
    Provenance,
    ToolCall,
    Usage,
)
from ancrage.domain.finding import Evaluation, FailureMode, Finding, Passage, Score, ScoreState
from ancrage.domain.run import (
    MODEL_CALLS,
    EvaluatorInfo,
    ModelCall,
    Output,
    Run,
    RunState,
    Scored,
    Scoring,
    SnapshotRef,
)
from ancrage.domain.study import Message, Question, Study, StudyPart
from ancrage.domain.turn import Turn

__all__ = [
    "MODEL_CALLS",
    "NO_STUDY",
    "Anchors",
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
    "ModelCall",
    "Output",
    "OutputState",
    "Passage",
    "Provenance",
    "Question",
    "QuoteRecord",
    "Run",
    "RunState",
    "Score",
    "ScoreState",
    "Scored",
    "Scoring",
    "SnapshotRef",
    "Study",
    "StudyPart",
    "ToolCall",
    "Turn",
    "Usage",
]
