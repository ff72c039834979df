"""Support and abstention: does an answer say what its text holds, and nothing when it holds none.

``detect`` reads one answer; ``evaluate`` judges a set of answers by a rule.
"""

from evals.abstention.answers import AnswerSet, QAAnswer, ask, read_answers, read_mock
from evals.abstention.cases import CaseFile, QACase, check_cases, read_cases
from evals.abstention.detect import DETECTOR_VERSION, Abstention, detect
from evals.abstention.evaluation import evaluate, read_evaluation, write_evaluation
from evals.abstention.model import QAEvaluation, Result
from evals.abstention.rules import LexicalRule, MeaningRule, find_rule
from evals.abstention.verdict import Cause, Rule, Verdict

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
