"""Abstention and right answers: what an answer says, and whether it says nothing when it must."""

from ancrage.abstention.detect import Abstention, Outcome, detect
from ancrage.abstention.support import AnswerVerdict, judge

__all__ = ["Abstention", "AnswerVerdict", "Outcome", "detect", "judge"]
