"""What a snapshot says of itself: its manifest, its counts and the rows it set aside."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from ancrage.domain import Frozen

FORMAT = 1
"""Raised whenever an older reader would misread a newer folder."""


# What is wrong with a row may be that no encoding holds it: what is said of it must be writable.
Said = Annotated[str, AfterValidator(lambda text: text.encode(errors="replace").decode())]


class Reject(Frozen):
    """A row that could not be used, and why; one line of ``rejects.jsonl``."""

    where: Said
    """The file, table or query that the row comes from."""
    line: int | None = None
    """Line of the file or rank of the row, from 1."""
    id: Said | None = None
    field: Said | None = None
    error: Said
    raw: Said | None = None
    """The row itself, cut; kept only in a snapshot that is not pseudonymised."""
    duplicate: bool = False
    study: bool = False
    """The row belongs to a study, not to the answers."""

    def __str__(self) -> str:
        place = f"{self.where}:{self.line}" if self.line is not None else self.where
        return " ".join(
            part for part in (place, self.field and f"{self.field}:", self.error) if part
        )


class Counts(Frozen):
    """Where every answer that was read went; ``read`` is the sum of the six that follow it."""

    read: int = 0
    kept: int = 0
    rejected: int = 0
    duplicates: int = 0
    """Set aside because an earlier row has the same id."""
    outside_window: int = 0
    undated: int = 0
    """Left out because a time window was asked for and the answer has no time."""
    sampled_out: int = 0

    source_missing: int = 0
    """Of those kept: their study no longer exists or could not be read."""
    without_study: int = 0
    """Of those kept: they name no study."""
    without_answer: int = 0
    """Of those kept: production gave no usable answer."""
    studies: int = 0
    messages: int = 0
    questions: int = 0
    study_rows_rejected: int = 0
    """Rows of studies (messages, questions) set aside; the rest of the study is kept."""
    studies_mostly_rejected: int = 0
    """Studies of which more rows were set aside than kept."""
    without_questions: int = 0
    """Studies that have no list of questions."""
    without_messages: int = 0
    """Studies that have no message."""

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        parts = (
            self.kept
            + self.rejected
            + self.duplicates
            + self.outside_window
            + self.undated
            + self.sampled_out
        )
        if self.read != parts:
            raise ValueError(f"counts do not add up: {self.read} read, {parts} accounted for")
        return self


class Filters(Frozen):
    """What was asked for; all None when everything was taken."""

    limit: int | None = Field(default=None, ge=1)
    seed: int = 0
    days: float | None = Field(default=None, gt=0)
    since: datetime | None = None
    """First moment of the window, inclusive."""
    until: datetime | None = None
    """End of the window, exclusive."""


class PseudonymMode(StrEnum):
    """How far people are hidden."""

    NONE = "none"
    RESPONDENTS = "respondents"
    """Respondent ids, wherever they are written."""
    TEXT = "text"
    """Also e-mail addresses, telephone numbers and the like in every text."""


class Pseudonymisation(Frozen):
    """What was hidden; the key itself is never written."""

    mode: PseudonymMode = PseudonymMode.NONE
    key: str | None = None
    """``random`` (this snapshot alone) or ``environment`` (the same in every snapshot)."""
    replaced: dict[str, int] = {}
    """Occurrences replaced in answers and studies, by kind."""


class Manifest(Frozen):
    """``manifest.json``; printed, it says in one line how much there is."""

    format: int = FORMAT
    created: datetime
    source: str
    """The source's name and kind; never an address with a password."""
    counts: Counts
    notes: tuple[str, ...] = ()
    """How the source was read, where nobody had said how: encodings, tools, columns."""
    filters: Filters = Filters()
    pseudonyms: Pseudonymisation = Pseudonymisation()
    files: dict[str, str]
    """SHA-256 of every other file of the folder, by relative path."""
    hash: str
    """SHA-256 over the answers' and studies' hashes: equal when the content is."""

    def __str__(self) -> str:
        counts = self.counts
        amounts = (
            (counts.kept, "answer"), (counts.studies, "study"), (counts.messages, "message"),
            (counts.questions, "question"),
        )  # fmt: skip
        return ", ".join(_many(count, noun) for count, noun in amounts)

    @property
    def most_rejected(self) -> bool:
        """Whether more was set aside than kept: of the answers, of a study, or of all studies."""
        counts = self.counts
        return (
            counts.rejected > counts.kept
            or counts.study_rows_rejected > counts.messages + counts.questions
            or counts.studies_mostly_rejected > 0
        )

    @property
    def warnings(self) -> tuple[str, ...]:
        """What whoever reads figures made of this snapshot has to know, one sentence each."""
        counts = self.counts
        told = (
            (counts.rejected, "row", "of answers rejected, in no figure"),
            (counts.duplicates, "row", "of answers with an id already met, in no figure"),
            (counts.undated, "answer", "without time, left out of the window"),
            (counts.study_rows_rejected, "row", "of studies rejected: unscored where looked for"),
            (counts.studies_mostly_rejected, "study", "with more rows rejected than kept"),
            (counts.without_questions, "study", "without questions: references are unscored"),
            (counts.without_messages, "study", "without messages: what is cited is unscored"),
            (counts.source_missing, "answer", "whose study could not be read"),
            (counts.without_study, "answer", "naming no study"),
        )
        return tuple(f"{_many(count, noun)} {what}" for count, noun, what in told if count)


def _many(count: int, noun: str) -> str:
    plural = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"
