"""What several checks need."""

from evals.checks.base import Unscorable
from evals.evaluator import Subject
from evals.source import Source


def source_of(subject: Subject) -> Source:
    """The indexed study of ``subject``.

    Raises:
        Unscorable: there is none to look the answer's references up in.
    """
    if subject.source is None:
        raise Unscorable(subject.case.source_missing or "the case names no study")
    return subject.source
