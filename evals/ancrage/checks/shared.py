"""What several checks need."""

from ancrage.checks.base import Unscorable
from ancrage.domain import NO_STUDY, StudyPart
from ancrage.evaluator import Subject
from ancrage.studies import IndexedStudy


def source_of(subject: Subject) -> IndexedStudy:
    """The indexed study of ``subject``.

    Raises:
        Unscorable: there is none to look the answer's references up in.
    """
    if subject.source is None:
        raise Unscorable(subject.case.source_missing or NO_STUDY)
    return subject.source


def absent(source: IndexedStudy, part: StudyPart, what: str) -> str:
    """In words, that ``what`` (``message M-0034``) is not in the study.

    Raises:
        Unscorable: it may be, in a part of the study that nobody has.
    """
    if reason := source.study.missing.get(part):
        # One reason for all answers, so that a report can count it.
        raise Unscorable(f"one of the {part} was not found, and {reason}")
    if source.study.from_tools:
        return f"No tool returned {what}."
    return f"The study has no {what}."
