"""What a parser of citations gives: ids, brackets, quoted passages. Offsets are code points."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Token:
    """An id as the answer writes it."""

    kind: str
    """``message``, ``respondent`` or ``question``."""
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Pair:
    """A respondent and the message cited as theirs; either can be absent."""

    respondent: Token | None
    message: Token | None


@dataclass(frozen=True, slots=True)
class Citation:
    """One bracket that cites."""

    start: int
    end: int
    text: str
    questions: tuple[Token, ...] = ()
    pairs: tuple[Pair, ...] = ()
    fault: str | None = None
    """Why the bracket cannot be read as it stands, when it cannot."""

    @property
    def messages(self) -> tuple[Token, ...]:
        """The message ids cited, in order."""
        return tuple(pair.message for pair in self.pairs if pair.message)


@dataclass(frozen=True, slots=True)
class QuotedPassage:
    """A passage in quotation marks and the citations attached to it."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    text: str
    """The words between the marks."""
    family: str
    """The pair of marks, such as ``«»``; ``>`` for a Markdown block quote."""
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Citations:
    """All that an answer cites and quotes, in the order of the text."""

    citations: tuple[Citation, ...]
    quotes: tuple[QuotedPassage, ...]
