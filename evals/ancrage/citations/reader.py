"""Read the ids of a text: tokens, what fails to be one, and who said which message."""

import re
from collections.abc import Sequence
from itertools import takewhile
from typing import NamedTuple

from ancrage.citations.grammar import LONGEST_TOKEN, Grammar, identifier
from ancrage.citations.model import Citation, Pair, Token
from ancrage.quotes.surface import fold

_ATOM = re.compile(r"[^\s,;/|·•&+:()=\[\]{}<>«»“”\"]+")
_ATOM_CHARACTER = re.compile(r"[\w-]")
_STRIP = "*_~`.'’#@\\"
_SAYS_NOTHING = (
    "- and cf e et id message msg no n° participant participante ref respondent réf répondant "
    "répondante source sources und y – —"
)
_NEUTRAL = frozenset(_SAYS_NOTHING.split()) | {""}
"""Words in a bracket that say nothing against its being a citation."""


class Held(NamedTuple):
    """What stands between two offsets."""

    tokens: list[Token]
    attempts: list[str]
    """What means to be an id and is none."""
    words: list[str]

    @property
    def only_ids(self) -> bool:
        """Whether ids stand there, and nothing else."""
        return bool(self.tokens) and not self.attempts and not self.words


class IdReader:
    """The ids of ``text``, read in its ``surface`` with dashes and spaces made plain."""

    __slots__ = ("folded", "grammar", "text")

    def __init__(self, text: str, surface: str, grammar: Grammar) -> None:
        self.text = text
        self.folded = fold(surface)
        self.grammar = grammar

    def held(self, start: int, end: int) -> Held:
        """The ids between two offsets, failed attempts at ids, and other words."""
        found = Held([], [], [])
        for token, atom in self.atoms(start, end):
            if token:
                found.tokens.append(token)
            elif len(atom) <= LONGEST_TOKEN and self.grammar.attempt.fullmatch(atom):
                found.attempts.append(atom)
            elif atom.casefold() not in _NEUTRAL:
                found.words.append(atom)
        return found

    def tokens(self, start: int, end: int) -> list[Token]:
        """The ids between two offsets."""
        return [token for token, _ in self.atoms(start, end) if token]

    def leading(self, start: int, end: int) -> list[Token]:
        """The ids that stand first between two offsets, up to the first word that is none."""
        first = takewhile(lambda atom: atom[0], self.atoms(start, end))
        return [token for token, _ in first if token]

    def listed(self, start: int, end: int) -> Citation | None:
        """The ids between two offsets as one citation, when a message is among them."""
        return self.citing_message(self.tokens(start, end))

    def citing_message(self, tokens: Sequence[Token], fault: str | None = None) -> Citation | None:
        """A citation from the first of ``tokens`` to the last, when a message is among them."""
        if not any(token.kind == "message" for token in tokens):
            return None
        return self.citation(tokens[0].start, tokens[-1].end, tokens, fault)

    def citation(
        self, start: int, end: int, tokens: Sequence[Token], fault: str | None = None
    ) -> Citation:
        """A citation of ``tokens`` that stands at ``text[start:end]``."""
        ids: list[Token] = []
        questions: list[Token] = []
        others: list[Token] = []
        for token in tokens:
            if token.kind in ("message", "respondent"):
                ids.append(token)
            else:
                (questions if token.kind == "question" else others).append(token)
        written = self.text[start:end]
        return Citation(start, end, written, tuple(questions), _pairs(ids), fault, tuple(others))

    def atoms(self, start: int, end: int) -> list[tuple[Token | None, str]]:
        """Each word in turn, with the id that it is, if any; ``R 012`` and ``Q1-Q4`` are read."""
        found: list[tuple[Token | None, str]] = []
        for token in self._spanning(start, end) if self.grammar.spanning else ():
            found += self._by_atom(start, token.start)
            found.append((token, self.folded[token.start : token.end]))
            start = token.end
        return found + self._by_atom(start, end) if found else self._by_atom(start, end)

    def _by_atom(self, start: int, end: int) -> list[tuple[Token | None, str]]:
        read = self.grammar.read
        found: list[tuple[Token | None, str]] = []
        letters, letters_at = "", 0  # the word right before, which a number may complete
        for match in _ATOM.finditer(self.folded, start, end):
            written, at = match.group(), match.start()
            atom = written.strip(_STRIP)
            if len(atom) != len(written):
                at += len(written) - len(written.lstrip(_STRIP))
            stop = at + len(atom)
            if letters and atom[:1].isdigit() and (joined := read(letters + atom)):
                whole = self.folded[letters_at:stop]
                text = whole if joined[1] == letters + atom else joined[1]
                found[-1] = Token(joined[0], text, letters_at, stop), whole
                letters = ""
                continue
            letters = ""
            if len(atom) > LONGEST_TOKEN:
                found.append((None, atom))
            elif known := read(atom):
                found.append((Token(*known, at, stop), atom))
            elif "-" in atom and (parts := self._range(atom)):
                left, right = parts
                found.append((self._token(at, at + len(left)), left))
                found.append((self._token(stop - len(right), stop), right))
            else:
                found.append((None, atom))
                if atom.isalpha():
                    letters, letters_at = atom, at
        return found

    def _range(self, atom: str) -> tuple[str, str] | None:
        """``Q1-Q4``, as its two ends."""
        kind = self.grammar.kind
        for match in re.finditer("-", atom):
            left, right = atom[: match.start()], atom[match.end() :]
            if right[:1].isalpha() and kind(left) and kind(right):
                return left, right
        return None

    def _token(self, start: int, end: int) -> Token:
        written = self.folded[start:end]
        return Token(*(self.grammar.read(written) or ("", written)), start, end)

    def _spanning(self, start: int, end: int) -> list[Token]:
        """The tokens of patterns that hold several atoms, where they end with whole words."""
        inner = self.folded[start:end]
        found: list[Token] = []
        for kind in self.grammar.spanning:
            for match in self.grammar.patterns[kind].finditer(inner):
                left, right = match.span()
                whole = left < right and not (
                    _ATOM_CHARACTER.match(inner[max(0, left - 1) : left])
                    or _ATOM_CHARACTER.match(inner[right : right + 1])
                )
                if whole:
                    found.append(Token(kind, identifier(match), start + left, start + right))
        found.sort(key=lambda token: (token.start, -token.end))
        apart: list[Token] = []
        for token in found:
            if not apart or token.start >= apart[-1].end:
                apart.append(token)
        return apart


def _pairs(ids: list[Token]) -> tuple[Pair, ...]:
    """Who said what: a respondent owns the messages after it, up to the next respondent.

    Where the bracket begins with a message, it is the other way round; as many respondents as
    messages, all of one kind first, go in order.
    """
    kinds = [token.kind for token in ids]
    if kinds == ["respondent", "message"]:
        return (Pair(*ids),)
    half = len(ids) // 2
    if half > 1 and len(ids) == 2 * half and len({*kinds[:half]}) == len({*kinds[half:]}) == 1:
        if kinds[0] == "respondent" != kinds[-1]:
            return tuple(map(Pair, ids[:half], ids[half:]))
        if kinds[0] == "message" != kinds[-1]:
            return tuple(map(Pair, ids[half:], ids[:half]))
    backwards = bool(ids) and kinds[0] == "message" and kinds[-1] == "respondent"
    pairs: list[Pair] = []
    alone: Token | None = None  # a respondent without a message so far
    owner: Token | None = None
    for token in reversed(ids) if backwards else ids:
        if token.kind == "message":
            pairs.append(Pair(owner, token))
        else:
            if alone:
                pairs.append(Pair(alone, None))
            owner = token
        alone = None if token.kind == "message" else token
    if alone:
        pairs.append(Pair(alone, None))
    return tuple(reversed(pairs)) if backwards else tuple(pairs)
