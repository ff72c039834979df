"""What a parser of citations gives: ids, brackets, quoted passages. Offsets are code points."""

from typing import NamedTuple


class UnreadableAnswer(Exception):  # noqa: N818  a state, not a fault
    """The text is no answer that can be read in bounded time; its words say why."""


class Token(NamedTuple):
    """An id as the answer writes it."""

    kind: str
    """``message``, ``respondent``, ``question`` or a kind of the configuration."""
    text: str
    start: int
    end: int


class Pair(NamedTuple):
    """A respondent and the message cited as theirs; either can be absent."""

    respondent: Token | None
    message: Token | None


class Citation(NamedTuple):
    """One bracket, tag or link that cites."""

    start: int
    end: int
    text: str
    questions: tuple[Token, ...] = ()
    pairs: tuple[Pair, ...] = ()
    fault: str | None = None
    """Why the bracket cannot be read as it stands, when it cannot."""
    others: tuple[Token, ...] = ()
    """Ids of the kinds that the configuration adds."""

    @property
    def messages(self) -> tuple[Token, ...]:
        """The message ids cited, in order."""
        return tuple([pair.message for pair in self.pairs if pair.message])


class QuotedPassage(NamedTuple):
    """A passage in quotation marks and the citations attached to it."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    text: str
    """The words between the marks."""
    family: str
    """The pair of marks, such as ``«»``; ``>`` a Markdown block quote, ``—`` a line of dialogue,
    ``|`` a cell, ``{`` a field of JSON, ``<`` an element, one mark alone where it is not closed."""
    citations: tuple[Citation, ...] = ()
    rule: str | None = None
    """By which rule the citations are this quote's; None where it has none."""
    mention: str | None = None
    """Why the marks hold nobody's words, such as ``title``; None where they quote."""


class Citations(NamedTuple):
    """All that an answer cites and quotes, in the order of the text."""

    citations: tuple[Citation, ...]
    quotes: tuple[QuotedPassage, ...]
    unpaired: tuple[int, ...] = ()
    """Offsets of quotation marks without a partner, none of whose words were read."""
