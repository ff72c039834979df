"""Find the brackets that cite and read the ids in them, in one pass over the text."""

import itertools
import re
from collections.abc import Iterator, Sequence

from ancrage.citations.grammar import Grammar, identifier
from ancrage.citations.model import Citation, Pair, Token
from ancrage.quotes.surface import fold

__all__ = ["bare", "bare_before", "citation", "find", "fold", "listed", "read", "tokens_of"]

_ATOM = re.compile(r"[^\s,;/|·•&+:()=\[\]{}<>«»“”\"]+")
_ATOM_CHARACTER = re.compile(r"[\w-]")
_STRIP = "*_~`.'’#@\\"
_SAYS_NOTHING = (
    "- and cf e et id message msg no n° participant participante ref respondent réf répondant "
    "répondante source sources und y – — "
)
_NEUTRAL = frozenset(_SAYS_NOTHING.split()) | {""}
"""Words in a bracket that say nothing against its being a citation."""
_YEAR = re.compile(r"(?:19|20)\d\d|FY\d+|'\d\d", re.IGNORECASE)
_LONGEST_TOKEN = 64
_LONGEST_UNCLOSED = 200
_OWNER = 80
"""Characters before a bracket in which the respondent of ``R-012 (M-0034)`` is looked for."""


def find(text: str, folded: str, grammar: Grammar) -> list[Citation]:
    """Every bracket of ``text`` that cites or means to, in order."""
    closers = grammar.closers
    found: list[Citation] = []
    opened: re.Match[str] | None = None
    for match in grammar.marks.finditer(text):
        mark = match.group()
        if opened is not None and opened[0] != "(" and mark in ("(", ")"):
            continue
        if opened is not None and mark == closers[opened[0]]:
            found += _closed(text, folded, opened, match, grammar)
            opened = None
            continue
        if opened is not None:
            found += _unclosed(text, folded, opened, match.start(), grammar)
        opened = match if mark in closers else None
    return found


def bare(text: str, folded: str, start: int, end: int, grammar: Grammar) -> Citation | None:
    """The ids written without brackets right at ``start``, as a citation at fault."""
    newline = text.find("\n", start, min(end, start + 80))
    stop = newline if newline >= 0 else min(end, start + 80)
    tokens = _leading(folded, start, stop, grammar)
    if not any(token.kind == "message" for token in tokens):
        return None
    fault = "the ids stand without brackets"
    return citation(text, tokens[0].start, tokens[-1].end, tokens, fault)


def bare_before(text: str, folded: str, start: int, end: int, grammar: Grammar) -> Citation | None:
    """The ids written without brackets that lead to ``end`` on its line: ``R-1, M-1 : « … »``."""
    begin = max(start, end - 80)
    line = text.rfind("\n", begin, end) + 1
    if line < begin and begin > start:
        return None
    tokens, attempts, words = read(folded, max(line, begin), end, grammar)
    if attempts or words or not any(token.kind == "message" for token in tokens):
        return None
    fault = "the ids stand without brackets"
    return citation(text, tokens[0].start, tokens[-1].end, tokens, fault)


def listed(text: str, folded: str, start: int, end: int, grammar: Grammar) -> Citation | None:
    """The ids between two offsets as one citation, when a message is among them."""
    held = [token for token, _ in tokens_of(folded, start, end, grammar) if token]
    if not any(token.kind == "message" for token in held):
        return None
    return citation(text, held[0].start, held[-1].end, held, None)


def _closed(
    text: str, folded: str, opened: re.Match[str], closed: re.Match[str], grammar: Grammar
) -> list[Citation]:
    start, end = opened.start(), closed.end()
    if closed.start() - opened.end() > 2_000:
        return _unclosed(text, folded, opened, closed.start(), grammar)
    tokens, attempts, words = read(folded, opened.end(), closed.start(), grammar)
    cites = bool(tokens or attempts)
    kinds = {token.kind for token in tokens}
    if opened[0] == "(":
        # An aside such as (Q3 2024) is none; beside an id, or where () is declared, a token that
        # means to be one is a citation at fault.
        tried = attempts and (kinds - {"question"} or "()" in grammar.config.brackets)
        cites = not words and bool(kinds - {"question"} or tried)
    elif kinds == {"question"} and any(_YEAR.fullmatch(word) for word in words):
        cites = False  # a quarter
    if not cites:
        return []
    fault = f"{attempts[0]!r} cannot be read as an id" if attempts else None
    if not fault and tokens and kinds in ({"message"}, {"respondent"}):
        other = "respondent" if kinds == {"message"} else "message"
        owner = _owner(folded, start, other, grammar)
        if owner:
            return [citation(text, owner.start, end, [owner, *tokens], None)]
    return [citation(text, start, end, tokens, fault)]


def _owner(folded: str, start: int, kind: str, grammar: Grammar) -> Token | None:
    """The id written right before a bracket of the other kind: ``R-012 (M-0034)``."""
    cut = max(0, start - _OWNER)
    begin = max(cut, folded.rfind("\n", cut, start) + 1)
    last = None
    for token, _ in tokens_of(folded, begin, start, grammar):
        last = token
    if last is None or last.kind != kind or (last.start == cut > 0):
        return None
    return last if not folded[last.end : start].strip(" *_~`") else None


def _unclosed(
    text: str, folded: str, opened: re.Match[str], end: int, grammar: Grammar
) -> list[Citation]:
    if opened[0] == "(":
        return []
    stop = min(end, opened.end() + _LONGEST_UNCLOSED)
    newline = text.find("\n", opened.end(), stop)
    tokens = _leading(folded, opened.end(), newline if newline >= 0 else stop, grammar)
    if not tokens:
        return []
    return [citation(text, opened.start(), tokens[-1].end, tokens, "the bracket is not closed")]


def _leading(folded: str, start: int, end: int, grammar: Grammar) -> list[Token]:
    """The ids that stand first between two offsets, up to the first word that is none."""
    found = tokens_of(folded, start, end, grammar)
    return [token for token, _ in itertools.takewhile(lambda read: read[0], found) if token]


def citation(
    text: str, start: int, end: int, tokens: Sequence[Token], fault: str | None = None
) -> Citation:
    """A citation of ``tokens`` that stands at ``text[start:end]``."""
    return Citation(
        start,
        end,
        text[start:end],
        tuple(token for token in tokens if token.kind == "question"),
        _pairs([token for token in tokens if token.kind in ("respondent", "message")]),
        fault,
        tuple(token for token in tokens if token.kind not in ("respondent", "message", "question")),
    )


def read(
    folded: str, start: int, end: int, grammar: Grammar
) -> tuple[list[Token], list[str], list[str]]:
    """Ids, failed attempts at ids, and other words between two offsets."""
    tokens: list[Token] = []
    attempts: list[str] = []
    words: list[str] = []
    for token, atom in tokens_of(folded, start, end, grammar):
        if token:
            tokens.append(token)
        elif len(atom) <= _LONGEST_TOKEN and grammar.attempt.fullmatch(atom):
            attempts.append(atom)
        elif atom.casefold() not in _NEUTRAL:
            words.append(atom)
    return tokens, attempts, words


def tokens_of(
    folded: str, start: int, end: int, grammar: Grammar
) -> Iterator[tuple[Token | None, str]]:
    """Each atom in turn, with the id that it is, if any; ``R 012`` and ``Q1-Q4`` are read too."""
    for token in _spanning(folded, start, end, grammar) if grammar.spanning else ():
        yield from _by_atom(folded, start, token.start, grammar)
        yield token, folded[token.start : token.end]
        start = token.end
    yield from _by_atom(folded, start, end, grammar)


def _spanning(folded: str, start: int, end: int, grammar: Grammar) -> list[Token]:
    """The tokens of patterns that hold several atoms, where they end with whole words."""
    inner = folded[start:end]
    found: list[Token] = []
    for kind in grammar.spanning:
        for match in grammar.patterns[kind].finditer(inner):
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


def _by_atom(
    folded: str, start: int, end: int, grammar: Grammar
) -> Iterator[tuple[Token | None, str]]:
    atoms = list(_atoms(folded, start, end))
    index = 0
    while index < len(atoms):
        atom, at, stop = atoms[index]
        index += 1
        if len(atom) > _LONGEST_TOKEN:
            yield None, atom
        elif found := grammar.read(atom):
            yield Token(*found, at, stop), atom
        elif parts := _range(atom, grammar):
            left, right = parts
            yield _token(folded, at, at + len(left), grammar), left
            yield _token(folded, stop - len(right), stop, grammar), right
        elif index < len(atoms) and atom.isalpha() and (joined := _next(atom, atoms[index])):
            if found := grammar.read(joined):
                stop = atoms[index][2]
                index += 1
                text = folded[at:stop] if found[1] == joined else found[1]
                yield Token(found[0], text, at, stop), folded[at:stop]
            else:
                yield None, atom
        else:
            yield None, atom


def _next(atom: str, following: tuple[str, int, int]) -> str:
    """``R 012`` written in two: both as one."""
    return atom + following[0] if following[0][:1].isdigit() else ""


def _atoms(folded: str, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    for match in _ATOM.finditer(folded, start, end):
        atom = match.group()
        left = len(atom) - len(atom.lstrip(_STRIP))
        atom = atom.strip(_STRIP)
        yield atom, match.start() + left, match.start() + left + len(atom)


def _range(atom: str, grammar: Grammar) -> tuple[str, str] | None:
    for match in re.finditer("-", atom):
        left, right = atom[: match.start()], atom[match.end() :]
        if right[:1].isalpha() and grammar.kind(left) and grammar.kind(right):
            return left, right
    return None


def _token(folded: str, start: int, end: int, grammar: Grammar) -> Token:
    found = grammar.read(folded[start:end])
    return Token(*(found or ("", folded[start:end])), start, end)


def _pairs(ids: list[Token]) -> tuple[Pair, ...]:
    """Who said what: a respondent owns the messages after it, up to the next respondent.

    Where the bracket begins with a message, it is the other way round; as many respondents as
    messages, all of one kind first, go in order.
    """
    kinds = [token.kind for token in ids]
    half = len(ids) // 2
    if half > 1 and len(ids) == 2 * half and len({*kinds[:half]}) == len({*kinds[half:]}) == 1:
        if kinds[0] == "respondent" != kinds[-1]:
            return tuple(map(Pair, ids[:half], ids[half:]))
        if kinds[0] == "message" != kinds[-1]:
            return tuple(map(Pair, ids[half:], ids[:half]))
    ids = list(ids)
    backwards = bool(ids) and kinds[0] == "message" and kinds[-1] == "respondent"
    if backwards:
        ids.reverse()
    pairs: list[Pair] = []
    owner: Token | None = None
    used = True
    for token in ids:
        if token.kind == "respondent":
            if not used:
                pairs.append(Pair(owner, None))
            owner, used = token, False
        else:
            pairs.append(Pair(owner, token))
            used = True
    if not used:
        pairs.append(Pair(owner, None))
    return tuple(reversed(pairs)) if backwards else tuple(pairs)
