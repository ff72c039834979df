"""What several checks need."""

from ancrage.checks.base import Unscorable
from ancrage.evaluator import Subject
from ancrage.studies import IndexedStudy


def source_of(subject: Subject) -> IndexedStudy:
    """The indexed study of ``subject``.

    Raises:
        Unscorable: there is none to look the answer's references up in.
    """
    if subject.source is None:
        raise Unscorable(subject.case.source_missing or "the case names no study")
    return subject.source
