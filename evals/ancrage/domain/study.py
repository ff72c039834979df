"""A study: the source that answers must be anchored in."""

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
    respondent_id: str = Field(min_length=1)
    text: str
    question_ref: str | None = None
    language: str | None = None
    """ISO 639-1 code, when the source knows it."""


class Study(Frozen):
    """The questions put to respondents and everything that they wrote back."""

    id: str = Field(min_length=1)
    title: str = ""
    language: str | None = None
    questions: tuple[Question, ...] = ()
    messages: tuple[Message, ...] = ()
