"""Markdown as answers use it: blocks with their offsets, and text without its marks."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from ancrage.wrapping import CITATION


class Kind(Enum):
    PARAGRAPH = auto()
    HEADING = auto()
    ITEM = auto()
    ROW = auto()


@dataclass(frozen=True)
class Block:
    """A run of prose: ``text[start:end]`` without its list, heading or table marks."""

    kind: Kind
    start: int
    end: int
    indent: int = 0
    """Columns before a list item's mark; the level of a heading."""
    header: tuple[str, ...] = ()
    """For a table row: the plain header cells."""


_LINE = re.compile(r"[^\n]*(?:\n|\Z)")
_FENCE = re.compile(r"[ \t]*(```+|~~~+)")
_HEADING = re.compile(r"[ \t]{0,3}(#{1,6})[ \t]+(.*?)[ \t#]*$")
_BOLD_LINE = re.compile(r"[ \t]*(\*\*|__)(?!\s)((?:(?!\1).)+)\1[ \t]*:?[ \t]*$")
_ITEM = re.compile(r"([ \t]*)(?:[-*+•▪‣–—]|\d{1,3}[.)]|[a-zA-Z]\))[ \t]+(?:\[[ xX]\][ \t]+)?(?=\S)")
_RULE = re.compile(r"[ \t]*([-*_=])(?:[ \t]*\1){2,}[ \t]*$")
_ROW = re.compile(r"[ \t]*\|.*\|[ \t]*$")
_DIVIDER = re.compile(r"[ \t]*\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_QUOTE_MARK = re.compile(r"[ \t]*(?:>[ \t]?)+")

# Each stops at the next mark of its kind, or is bounded: hostile text is read in linear time.
_IMAGE = re.compile(r"!\[([^\[\]\n]*)\]\([^)\n]{0,1000}\)")
_LINK = re.compile(r"\[([^\[\]\n]+)\]\([^)\n]{0,1000}\)")
_STRONG = re.compile(r"(\*{1,3})(?=\S)([^*]+)(?<=\S)\1(?!\w)")
_EMPHASIS = re.compile(r"(?<!\w)(_{1,3})(?=\S)(.{1,300}?)(?<=\S)\1(?!\w)", re.DOTALL)
_CODE = re.compile(r"`+([^`\n]+)`+")
_TAG = re.compile(r"</?[a-zA-Z][^<>\n]*>")
_SPACE = re.compile(r"\s+")


def plain(text: str) -> str:
    """``text`` on one line, without Markdown marks, HTML tags or reference brackets."""
    text = re.sub(r"(?m)^[ \t]*>[ \t]?", "", text)
    text = CITATION.sub("", _LINK.sub(r"\1", _IMAGE.sub(r"\1", text)))
    text = _TAG.sub("", _CODE.sub(r"\1", text))
    for _ in range(3):
        text = _EMPHASIS.sub(r"\2", _STRONG.sub(r"\2", text))
    text = text.replace("**", "").replace("__", "")
    text = re.sub(r"\s+([.,;)])", r"\1", text)
    text = re.sub(r"\([,;\s]+", "(", text).replace("()", "")  # references stood there
    return _SPACE.sub(" ", text).strip()


def cells(row: str) -> tuple[str, ...]:
    """The plain cells of one table row."""
    return tuple(plain(cell) for cell in re.split(r"(?<!\\)\|", row.strip().strip("|")))


def blocks(text: str) -> Iterator[Block]:
    """The blocks of ``text`` in order; code blocks and rules are left out."""
    lines = [(m.start(), m.group().rstrip("\r\n")) for m in _LINE.finditer(text) if m.group()]
    fence = ""
    header: tuple[str, ...] = ()
    open_: Block | None = None
    for number, (start, line) in enumerate(lines):
        closing = _FENCE.match(line)
        if fence:
            if closing and closing[1].startswith(fence):
                fence = ""
            continue
        following = lines[number + 1][1] if number + 1 < len(lines) else ""
        block = _open(line, start)
        if closing or _RULE.match(line) or not line.strip():
            fence = closing[1] if closing else ""
            block, ends = None, True
        elif _ROW.match(line) or (header and "|" in line):
            ends = True
            if _DIVIDER.match(line):
                block = None
            elif _DIVIDER.match(following) and "|" in following:
                header, block = cells(line), None
            else:
                left = len(line) - len(line.lstrip("| \t"))
                right = len(line.rstrip("| \t"))
                block = (
                    Block(Kind.ROW, start + left, start + right, header=header)
                    if left < right
                    else None
                )
        else:
            header = ()
            ends = block is not None
            if block is None:
                mark = _QUOTE_MARK.match(line)
                begin = start + (mark.end() if mark else len(line) - len(line.lstrip()))
                block = Block(Kind.PARAGRAPH, begin, start + len(line.rstrip()))
        if open_ and not ends and block and block.kind is Kind.PARAGRAPH:
            open_ = Block(open_.kind, open_.start, block.end, open_.indent)
            continue
        if open_:
            yield open_
            open_ = None
        if block is None or block.start >= block.end:
            header = header if not ends or "|" in line else ()
        elif block.kind in (Kind.ITEM, Kind.PARAGRAPH):
            open_ = block
        else:
            yield block
    if open_:
        yield open_


def _open(line: str, start: int) -> Block | None:
    """The heading or list item that ``line`` begins, if it begins one."""
    end = start + len(line.rstrip())
    if heading := _HEADING.match(line):
        return Block(
            Kind.HEADING, start + heading.start(2), start + heading.end(2), len(heading[1])
        )
    if bold := _BOLD_LINE.match(line):
        return Block(Kind.HEADING, start + bold.start(2), start + bold.end(2), 7)
    if item := _ITEM.match(line):
        indent = len(item[1].expandtabs(4))
        return Block(Kind.ITEM, start + item.end(), end, indent)
    return None
