"""What several checks need."""

from ancrage.checks.base import Unscorable
from ancrage.evaluator import Subject
from ancrage.quotes import canonical, find_passage
from ancrage.studies import IndexedStudy


def source_of(subject: Subject) -> IndexedStudy:
    """The indexed study of ``subject``.

    Raises:
        Unscorable: there is none to look the answer's references up in.
    """
    if subject.source is None:
        raise Unscorable(subject.case.source_missing or "the case names no study")
    return subject.source


def stands_in_questionnaire(subject: Subject, words: str) -> bool:
    """Whether ``words`` repeat a question, an answer option, the study's title or the conversation."""
    given = subject.case.input
    study = subject.source.study if subject.source else None
    texts = [given.question, *(turn.content for turn in given.history if turn.role != "tool")]
    if study:
        texts += [study.title, *(question.text for question in study.questions)]
        options = {
            canonical(option).casefold().rstrip(" .!?…")
            for question in study.questions
            for option in question.options
        }
        if canonical(words).casefold().rstrip(" .!?…") in options:
            return True
    return any(find_passage(words, text) for text in texts if text)
