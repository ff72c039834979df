"""Answers in JSON: quotes and ids in the fields of one object."""

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from ancrage.citations.model import Citation, QuotedPassage, Token
from ancrage.citations.reader import IdReader

_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\],:]|[^\s{}\[\],:"]+')
_QUOTE = re.compile(
    r"quot|citat|verbatim|extra[ic]t|excerpt|passage|evidence|snippet|wording|words|propos|phrase",
    re.IGNORECASE,
)
_FENCE = re.compile(r"^[ \t]{0,8}(?:`{3,9}|~{3,9})[ \t]*(?P<info>\w*)[ \t\r]*$", re.MULTILINE)


class Json(NamedTuple):
    """What the JSON of an answer holds, and where it stands."""

    start: int
    end: int
    quotes: list[QuotedPassage]
    citations: list[Citation]
    ids: list[tuple[int, int]]
    """The strings that hold ids and nothing else: what is in them is cited above."""


class _Scope(NamedTuple):
    """An object or a list while it is read."""

    is_object: bool
    strings: list[tuple[str, int, int]]
    """Of an object, the texts of fields that quote."""
    tokens: list[Token]
    keys: list[str]


def read_json(ids: IdReader) -> Iterator[Json]:
    """Each JSON document of an answer: the whole of it, or its fenced blocks."""
    text = ids.text
    stripped = text.strip()
    if stripped[:1] in "{[" and stripped[-1:] in "}]" and '"' in stripped:
        start = text.index(stripped[0])
        if _valid(stripped):
            yield _document(ids, start, start + len(stripped))
            return
    opened: re.Match[str] | None = None
    if "```" not in text and "~~~" not in text:
        return
    for fence in _FENCE.finditer(text):
        if opened is None:
            opened = fence
            continue
        start, end = opened.end() + 1, fence.start()
        if opened["info"].lower() == "json" and _valid(text[start:end]):
            yield _document(ids, start, end)
        opened = None


def _valid(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _document(ids: IdReader, start: int, end: int) -> Json:
    quotes: list[QuotedPassage] = []
    citations: list[Citation] = []
    spans: list[tuple[int, int]] = []
    scopes: list[_Scope] = []
    key = ""
    expects_key = False
    for piece in _PIECE.finditer(ids.text, start, end):
        sign = piece[0]
        if sign in "{[":
            scopes.append(_Scope(sign == "{", [], [], [key]))
            expects_key = sign == "{"
        elif sign in "}]":
            scope = scopes.pop()
            expects_key = False
            if scope.is_object:
                _close(ids, scope, quotes, citations)
            elif scopes:
                scopes[-1].tokens.extend(scope.tokens)
                scopes[-1].strings.extend(scope.strings)
        elif sign == ",":
            expects_key = bool(scopes) and scopes[-1].is_object
        elif sign == ":":
            expects_key = False
        elif scopes:
            if expects_key:
                key = sign.strip('"')
                continue
            quoted = sign[0] == '"'
            inner = piece.start() + quoted, piece.end() - quoted
            name = key if scopes[-1].is_object else scopes[-1].keys[0]
            held = ids.held(*inner)
            if held.only_ids:
                scopes[-1].tokens.extend(held.tokens)
                spans.append(inner)
            elif quoted and _QUOTE.search(name) and " " in sign.strip():
                scopes[-1].strings.append((json.loads(sign, strict=False), *inner))
    return Json(start, end, quotes, citations, spans)


def _close(
    ids: IdReader, scope: _Scope, quotes: list[QuotedPassage], citations: list[Citation]
) -> None:
    own: tuple[Citation, ...] = ()
    if scope.tokens:
        first, last = scope.tokens[0], scope.tokens[-1]
        own = (ids.citation(first.start, last.end, scope.tokens),)
        citations.extend(own)
    for words, start, end in scope.strings:
        if any(sign in words for sign in "«“[【"):
            continue  # prose with marks of its own, read as prose is
        rule = "fields of one object" if own else None
        quotes.append(QuotedPassage(start, end, start, end, words.strip(), "{", own, rule))
