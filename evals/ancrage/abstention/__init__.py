"""Support and abstention: does an answer say what its text holds, and nothing when it holds none.

``detect`` reads one answer; ``evaluate`` judges a set of answers by a rule.
"""

from ancrage.abstention.answers import AnswerSet, QAAnswer, ask, read_answers, read_mock
from ancrage.abstention.cases import CaseFile, QACase, check_cases, read_cases
from ancrage.abstention.detect import DETECTOR_VERSION, Abstention, detect
from ancrage.abstention.evaluation import evaluate, read_evaluation, write_evaluation
from ancrage.abstention.model import QAEvaluation, Result
from ancrage.abstention.rules import LexicalRule, MeaningRule, find_rule
from ancrage.abstention.verdict import Cause, Rule, Verdict

__all__ = [
    "DETECTOR_VERSION",
    "Abstention",
    "AnswerSet",
    "CaseFile",
    "Cause",
    "LexicalRule",
    "MeaningRule",
    "QAAnswer",
    "QACase",
    "QAEvaluation",
    "Result",
    "Rule",
    "Verdict",
    "ask",
    "check_cases",
    "detect",
    "evaluate",
    "find_rule",
    "read_answers",
    "read_cases",
    "read_evaluation",
    "read_mock",
    "write_evaluation",
]
