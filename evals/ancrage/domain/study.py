"""A study: the source that answers must be anchored in."""

from typing import Literal

from pydantic import Field

from ancrage.domain.base import Frozen


class Question(Frozen):
    """One question of the questionnaire; answers refer to it by ``ref``."""

    ref: str = Field(min_length=1)
    text: str
    options: tuple[str, ...] = ()
    """The answers that respondents could choose from, when the question is closed."""


class Message(Frozen):
    """One respondent's own words, verbatim."""

    id: str = Field(min_length=1)
    respondent_id: str = ""
    """Empty where the source does not name people; the study then lacks ``respondents``."""
    text: str
    question_ref: str | None = None
    language: str | None = None
    """ISO 639-1 code, when the source knows it."""


StudyPart = Literal["messages", "questions", "respondents"]


class Study(Frozen):
    """The questions put to respondents and everything that they wrote back.

    What is not found in a part that is ``missing`` may exist all the same: nothing can be said of
    it. What is found holds.
    """

    id: str = Field(min_length=1)
    title: str = ""
    language: str | None = None
    questions: tuple[Question, ...] = ()
    messages: tuple[Message, ...] = ()
    missing: dict[StudyPart, str] = {}
    """Parts that are absent or incomplete, and why."""
    rejected: int = 0
    """Rows of the study that could not be used."""
    from_tools: bool = False
    """Made of what the assistant's tools returned: all that it could know, not all there is."""
