"""Find the brackets that cite and read the ids in them, in one pass over the text."""

import itertools
import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ancrage.citations.grammar import Grammar
from ancrage.citations.model import Citation, Pair, Token

_FOLD = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_FOLD |= dict.fromkeys(map(ord, "‐‑‒–—―−﹣"), ord("-"))
_FOLD |= dict.fromkeys(map(ord, "\u00a0\u202f\u2007\u2009\u200b\ufeff"), ord(" "))
_FOLD[ord("、")] = ord(",")
"""One character for one, so that offsets stand."""

_ATOM = re.compile(r"[^\s,;/|·•&+:()=\[\]{}<>«»“”\"]+")
_STRIP = "*_~`.'’#@\\"
_NEUTRAL = frozenset(
    {
        "",
        "-",
        "–",
        "—",
        "et",
        "and",
        "y",
        "und",
        "e",
        "cf",
        "source",
        "sources",
        "répondant",
        "répondante",
        "respondent",
        "participant",
        "participante",
        "message",
        "msg",
        "id",
        "n°",
        "no",
        "réf",
        "ref",
    }
)
"""Words in a bracket that say nothing against its being a citation."""
_LONGEST_TOKEN = 64
_LONGEST_UNCLOSED = 200
_OWNER = 80
"""Characters before a bracket in which the respondent of ``R-012 (M-0034)`` is looked for."""
_ROW = re.compile(r"^[ \t]*\|[^\n]*\|[^\n]*$", re.MULTILINE)


def fold(text: str) -> str:
    """``text`` with full-width characters, dashes and spaces made plain, offsets unchanged."""
    return text.translate(_FOLD)


def find(text: str, folded: str, grammar: Grammar) -> list[Citation]:
    """Every bracket of ``text`` that cites or means to, in order; table rows of bare ids too."""
    closers = {pair[0]: pair[1] for pair in grammar.config.brackets}
    if grammar.config.parentheses:
        closers["("] = ")"
    marks = re.compile("|".join(map(re.escape, {*closers, *closers.values()})) + r"|\n\s*\n|\Z")
    found: list[Citation] = []
    opened: int | None = None
    for match in marks.finditer(text):
        mark, at = match.group(), match.start()
        if opened is not None and text[opened] != "(" and mark in ("(", ")"):
            continue
        if opened is not None and mark == closers[text[opened]]:
            found += _closed(text, folded, opened, match.end(), grammar)
            opened = None
            continue
        if opened is not None:
            found += _unclosed(text, folded, opened, at, grammar)
        opened = at if mark in closers else None
    return sorted(found + _bare_rows(text, folded, found, grammar), key=lambda each: each.start)


def rows(text: str) -> list[tuple[int, int]]:
    """The span of each line that is a row of a Markdown table."""
    return [match.span() for match in _ROW.finditer(text)]


def bare(text: str, folded: str, start: int, grammar: Grammar) -> Citation | None:
    """The ids written without brackets right at ``start``, as a citation at fault."""
    end = min(start + 80, len(text))
    newline = text.find("\n", start, end)
    tokens = _leading(folded, start, newline if newline >= 0 else end, grammar)
    if not any(token.kind == "message" for token in tokens):
        return None
    return _citation(
        text, tokens[0].start, tokens[-1].end, tokens, "the ids stand without brackets"
    )


def bare_before(text: str, folded: str, end: int, grammar: Grammar) -> Citation | None:
    """The ids written without brackets that lead to ``end`` on its line: ``R-1, M-1 : « … »``."""
    begin = max(0, end - 80)
    start = text.rfind("\n", begin, end) + 1
    if start < begin:
        return None
    tokens, attempts, words = _read(folded, start, end, grammar)
    if attempts or words or not any(token.kind == "message" for token in tokens):
        return None
    return _citation(
        text, tokens[0].start, tokens[-1].end, tokens, "the ids stand without brackets"
    )


def listed(text: str, folded: str, start: int, end: int, grammar: Grammar) -> Citation | None:
    """The ids between two offsets as one citation, when a message is among them."""
    tokens = [token for token, _ in _tokens(folded, start, end, grammar) if token]
    if not any(token.kind == "message" for token in tokens):
        return None
    return _citation(text, tokens[0].start, tokens[-1].end, tokens, None)


def _closed(text: str, folded: str, start: int, end: int, grammar: Grammar) -> list[Citation]:
    tokens, attempts, words = _read(folded, start + 1, end - 1, grammar)
    cites = bool(tokens or attempts)
    if text[start] == "(":
        kinds = {token.kind for token in tokens}
        cites = not words and bool(kinds & {"message", "respondent"}) and not attempts
    if not cites:
        return []
    fault = f"{attempts[0]!r} cannot be read as an id" if attempts else None
    if not fault and tokens and all(token.kind == "message" for token in tokens):
        owner = _owner(folded, start, grammar)
        if owner:
            return [_citation(text, owner.start, end, [owner, *tokens], None)]
    return [_citation(text, start, end, tokens, fault)]


def _owner(folded: str, start: int, grammar: Grammar) -> Token | None:
    """The respondent written right before a bracket of messages: ``R-012 (M-0034)``."""
    cut = max(0, start - _OWNER)
    begin = max(cut, folded.rfind("\n", cut, start) + 1)
    last = None
    for token, _ in _tokens(folded, begin, start, grammar):
        last = token
    if last is None or last.kind != "respondent" or (last.start == cut > 0):
        return None
    return last if not folded[last.end : start].strip(" *_~`") else None


def _unclosed(text: str, folded: str, start: int, end: int, grammar: Grammar) -> list[Citation]:
    if text[start] == "(":
        return []
    stop = min(end, start + _LONGEST_UNCLOSED)
    newline = text.find("\n", start, stop)
    tokens = _leading(folded, start + 1, newline if newline >= 0 else stop, grammar)
    if not tokens:
        return []
    return [_citation(text, start, tokens[-1].end, tokens, "the bracket is not closed")]


def _bare_rows(
    text: str, folded: str, found: Sequence[Citation], grammar: Grammar
) -> list[Citation]:
    """Rows of Markdown tables whose cells hold bare ids: one citation a row."""
    starts = [each.start for each in found]
    bare = []
    for start, end in rows(text):
        if bisect_left(starts, start) == bisect_left(starts, end):
            row = listed(text, folded, start, end, grammar)
            bare += [row] if row else []
    return bare


def _leading(folded: str, start: int, end: int, grammar: Grammar) -> list[Token]:
    """The ids that stand first between two offsets, up to the first word that is none."""
    return [
        token
        for token, _ in itertools.takewhile(
            lambda read: read[0], _tokens(folded, start, end, grammar)
        )
        if token
    ]


def _citation(
    text: str, start: int, end: int, tokens: Sequence[Token], fault: str | None
) -> Citation:
    return Citation(
        start,
        end,
        text[start:end],
        tuple(token for token in tokens if token.kind == "question"),
        _pairs(tokens),
        fault,
    )


def _read(
    folded: str, start: int, end: int, grammar: Grammar
) -> tuple[list[Token], list[str], list[str]]:
    """Ids, failed attempts at ids, and other words between two offsets."""
    tokens: list[Token] = []
    attempts: list[str] = []
    words: list[str] = []
    for token, atom in _tokens(folded, start, end, grammar):
        if token:
            tokens.append(token)
        elif len(atom) <= _LONGEST_TOKEN and grammar.attempt.fullmatch(atom):
            attempts.append(atom)
        elif atom.casefold() not in _NEUTRAL:
            words.append(atom)
    return tokens, attempts, words


def _tokens(
    folded: str, start: int, end: int, grammar: Grammar
) -> Iterator[tuple[Token | None, str]]:
    """Each atom in turn, with the id that it is, if any; ``R 012`` and ``Q1-Q4`` are read too."""
    atoms = list(_atoms(folded, start, end))
    index = 0
    while index < len(atoms):
        atom, at, stop = atoms[index]
        index += 1
        if len(atom) > _LONGEST_TOKEN:
            yield None, atom
            continue
        parts = _range(atom, grammar)
        if parts:
            left, right = parts
            yield _token(folded, at, at + len(left), grammar), left
            yield _token(folded, stop - len(right), stop, grammar), right
        elif grammar.kind(atom):
            yield _token(folded, at, stop, grammar), atom
        elif index < len(atoms) and atom.isalpha() and grammar.kind(atom + atoms[index][0]):
            kind = grammar.kind(atom + atoms[index][0]) or ""
            stop = atoms[index][2]
            index += 1
            yield Token(kind, folded[at:stop], at, stop), folded[at:stop]
        else:
            yield None, atom


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
    text = folded[start:end]
    return Token(grammar.kind(text) or "", text, start, end)


def _pairs(tokens: Sequence[Token]) -> tuple[Pair, ...]:
    """Who said what: a respondent owns the messages after it, up to the next respondent.

    Where the bracket begins with a message, it is the other way round.
    """
    ids = [token for token in tokens if token.kind != "question"]
    backwards = bool(ids) and ids[0].kind == "message" and ids[-1].kind == "respondent"
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
