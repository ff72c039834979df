"""Find the brackets that cite, in one pass over the text."""

import re
from collections.abc import Iterator

from ancrage.citations.model import Citation, Token
from ancrage.citations.reader import IdReader

_YEAR = re.compile(r"(?:19|20)\d\d|FY\d+|'\d\d", re.IGNORECASE)
_LONGEST_CLOSED = 2_000
_LONGEST_UNCLOSED = 200
_OWNER = 80
"""Characters before a bracket in which the respondent of ``R-012 (M-0034)`` is looked for."""
_BARE = 80
_UNBRACKETED = "the ids stand without brackets"
_UNCLOSED = "the bracket is not closed"


def find(ids: IdReader) -> Iterator[Citation]:
    """Every bracket that cites or means to, in order."""
    closers = ids.grammar.closers
    opened: re.Match[str] | None = None
    for match in ids.grammar.marks.finditer(ids.text):
        mark = match.group()
        if mark == "\n" or (opened and opened[0] != "(" and mark in ("(", ")")):
            continue
        if opened and mark == closers[opened[0]]:
            cited = _closed(ids, opened, match)
            opened = None
        else:
            cited = _unclosed(ids, opened, match.start()) if opened else None
            opened = match if mark in closers else None
        if cited:
            yield cited
    if opened and (cited := _unclosed(ids, opened, len(ids.text))):
        yield cited


def bare(ids: IdReader, start: int, end: int) -> Citation | None:
    """The ids written right at ``start`` without brackets, as a citation at fault."""
    stop = _line_end(ids.text, start, min(end, start + _BARE))
    found = ids.citing_message(ids.leading(start, stop), _UNBRACKETED)
    if found and ids.text[found.start - 1] == "(":
        text = ids.text[found.start - 1 : found.end]
        return found._replace(start=found.start - 1, text=text, fault=_UNCLOSED)
    return found


def bare_before(ids: IdReader, start: int, end: int) -> Citation | None:
    """The ids written without brackets that lead to ``end`` on its line: ``R-1, M-1 : « … »``."""
    begin = max(start, end - _BARE)
    line = ids.text.rfind("\n", begin, end) + 1
    if line < begin and begin > start:
        return None
    held = ids.held(max(line, begin), end)
    return ids.citing_message(held.tokens, _UNBRACKETED) if held.only_ids else None


def _line_end(text: str, start: int, end: int) -> int:
    newline = text.find("\n", start, end)
    return newline if newline >= 0 else end


def _closed(ids: IdReader, opened: re.Match[str], closed: re.Match[str]) -> Citation | None:
    start, end = opened.start(), closed.end()
    if closed.start() - opened.end() > _LONGEST_CLOSED:
        return _unclosed(ids, opened, closed.start())
    tokens, attempts, words = ids.held(opened.end(), closed.start())
    if not tokens and not attempts:
        return None
    kinds = {token.kind for token in tokens}
    if opened[0] == "(":
        # An aside such as (Q3 2024) is none; beside an id, or where () is declared, a token that
        # means to be one is a citation at fault.
        tried = attempts and (kinds - {"question"} or "()" in ids.grammar.config.brackets)
        if words or not (kinds - {"question"} or tried):
            return None
    elif kinds == {"question"} and any(_YEAR.fullmatch(word) for word in words):
        return None  # a quarter
    if attempts:
        return ids.citation(start, end, tokens, f"{attempts[0]!r} cannot be read as an id")
    if kinds in ({"message"}, {"respondent"}):
        other = "respondent" if kinds == {"message"} else "message"
        if owner := _owner(ids, start, other):
            return ids.citation(owner.start, end, [owner, *tokens])
    return ids.citation(start, end, tokens)


def _owner(ids: IdReader, start: int, kind: str) -> Token | None:
    """The id written right before a bracket of the other kind: ``R-012 (M-0034)``."""
    cut = max(0, start - _OWNER)
    atoms = ids.atoms(max(cut, ids.folded.rfind("\n", cut, start) + 1), start)
    last = atoms[-1][0] if atoms else None
    if last is None or last.kind != kind or (last.start == cut > 0):
        return None
    return last if not ids.folded[last.end : start].strip(" *_~`") else None


def _unclosed(ids: IdReader, opened: re.Match[str], end: int) -> Citation | None:
    if opened[0] == "(":
        return None
    start = opened.end()
    tokens = ids.leading(start, _line_end(ids.text, start, min(end, start + _LONGEST_UNCLOSED)))
    if not tokens:
        return None
    return ids.citation(opened.start(), tokens[-1].end, tokens, _UNCLOSED)
