"""The structure of an answer: its blocks with their place, as a Markdown parser sees them."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from ancrage.quotes.block import Block
from ancrage.quotes.html import with_html

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

MAXIMUM_LINES = 10_000
"""Longer answers are no document: they are read line by line, as paragraphs and items."""
_MARGIN = re.compile(r"(?:[ \t>]|[-*+•‣·▪](?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t]))*")
_ITEM = re.compile(r"[ \t>]*(?:[-*+•‣·▪]|\d{1,9}[.)])[ \t]")
_PIPE = re.compile(r"(?<!\\)\|")
_SIGNS = {"table": "|", "fence": "`~", "blockquote": ">", "heading": "#", "hr": "*-_"}
"""Signs without which a rule of Markdown matches nothing; it is then not tried on each line."""
_CODE_TEXT = (
    "bash c cpp css html java javascript js py python r rust sh sql toml ts typescript xml yaml "
)
_CODE = frozenset(_CODE_TEXT.split())


def blocks(text: str) -> list[Block]:
    """The blocks of an answer in order; empty ones are left out."""
    found = flat(text)
    if found is None:
        found = list(_markdown(text))
    return list(with_html(text, found)) if "<" in text else found


# Most answers are paragraphs, headings and lists of one level: read directly, they cost a tenth of
# what the parser takes. What begins like anything else is the parser's; tests hold both equal.
_TEXT = r"(?!\d{1,9}[.)](?:[ \t]|$))(?:[^\s*+_#>`~-]|\*{1,2}[^\s*])"
_LINE = re.compile(
    rf"(?P<blank>[ \t]*$)|(?P<heading>\#{{1,6}}[ \t].*)"
    rf"|(?:(?P<sign>[-*+]|(?P<number>\d{{1,9}})[.)])[ ])?{_TEXT}.*",
    re.ASCII | re.MULTILINE,
)


def flat(text: str) -> list[Block] | None:
    """The blocks of an answer where none can lie in another; None where one may."""
    if "|" in text or "\r" in text or "\0" in text or text.count("\n") >= MAXIMUM_LINES:
        return None
    found: list[Block] = []
    items: tuple[int, ...] = ()
    lists: tuple[int, ...] = ()
    counter, begin, end, listed = 0, -1, -1, ""
    while end < len(text):
        line = _LINE.match(text, end + 1)
        if line is None:
            return None
        kind, sign = line.lastgroup, line["sign"]
        interrupts = items or begin < 0 or not line["number"] or int(line["number"]) == 1
        if begin >= 0 and (kind in ("blank", "heading") or (sign and interrupts)):
            found += _block(text, begin, end, "paragraph", items, lists)
            begin = -1
        if kind == "heading":
            items, lists, listed = (), (), ""
            found += _block(text, *line.span(), "heading", (), ())
        elif kind != "blank" and begin < 0:
            if sign and sign[-1] != listed:
                counter += 1
                lists, listed = (counter,), sign[-1]
            elif not sign:
                items, lists, listed = (), (), ""
            if sign:
                counter += 1
                items = (counter,)
            begin = line.start()
        end = line.end()
    if begin >= 0:
        found += _block(text, begin, end, "paragraph", items, lists)
    return found


def _block(
    text: str, start: int, end: int, kind: str, items: tuple[int, ...], lists: tuple[int, ...]
) -> Iterator[Block]:
    """A block without its margin, unless it is empty."""
    start = _MARGIN.match(text, start, end).end()  # type: ignore[union-attr]
    end = start + len(text[start:end].rstrip())
    if start < end:
        yield Block(start, end, kind, items, lists)


def _markdown(text: str) -> Iterator[Block]:
    lines = _lines(text)
    if len(lines) > MAXIMUM_LINES:
        return _plain(text, lines)
    tokens: list[Token] = []
    idle = (rule for rule, signs in _SIGNS.items() if not any(sign in text for sign in signs))
    parser = _parser(tuple(idle))
    source = text.replace("\r\n", " \n").replace("\r", "\n").replace("\0", " ")
    parser.block.parse(source, parser, {}, tokens)
    return _walk(text, lines, tokens)


@cache
def _parser(idle: tuple[str, ...]) -> "MarkdownIt":
    from markdown_it import MarkdownIt

    disabled = ["code", "reference", "html_block", "lheading", *idle]
    return MarkdownIt("commonmark").enable("table").disable(disabled)


def _lines(text: str) -> list[int]:
    """The offset of each line."""
    return [0, *(found.end() for found in re.finditer(r"\r\n|\n|\r", text))]


def _walk(text: str, lines: Sequence[int], tokens: "Sequence[Token]") -> Iterator[Block]:
    items: list[int] = []
    lists: list[int] = []
    quotes: list[int] = []
    counter = row = column = 0
    heads: list[str] = []
    kind = "paragraph"
    cells: list[tuple[int, int]] = []
    for token in tokens:
        name = token.type
        if name in ("bullet_list_open", "ordered_list_open"):
            counter += 1
            lists.append(counter)
        elif name in ("bullet_list_close", "ordered_list_close"):
            lists.pop()
        elif name == "list_item_open":
            counter += 1
            items.append(counter)
        elif name == "list_item_close":
            items.pop()
        elif name == "blockquote_open":
            counter += 1
            quotes.append(counter)
        elif name == "blockquote_close":
            quotes.pop()
        elif name == "table_open":
            heads = []
        elif name == "tr_open":
            counter += 1
            row, column = -counter, 0
            cells = _cells(text, lines, token.map[0]) if token.map else []
        elif name in ("th_open", "td_open"):
            kind = "head" if name == "th_open" else "cell"
        elif name in ("th_close", "td_close"):
            column, kind = column + 1, "paragraph"
        elif name == "heading_open":
            kind = "heading"
        elif name in ("heading_close", "paragraph_open"):
            kind = "paragraph"
        elif name in ("inline", "fence") and token.map:
            if kind in ("head", "cell"):
                start, end = cells[column] if column < len(cells) else (0, 0)
                if kind == "head":
                    heads.append(text[start:end])
            else:
                start, end = _span(text, lines, token.map)
            if name == "fence":
                start, end = lines[min(token.map[0] + 1, len(lines) - 1)], end
            if not text[start:end].strip():
                continue
            place = (tuple(items), tuple(lists), quotes[0] if quotes else 0)
            if name == "fence":
                coded = token.info.split(" ")[0].lower() in _CODE
                if coded:
                    yield Block(start, end, "code", *place)
                else:
                    inner = text[start:end]
                    for block in _plain(inner, _lines(inner)):
                        yield Block(start + block.start, start + block.end, block.kind, *place)
            elif kind in ("head", "cell"):
                header = heads[column] if kind == "cell" and column < len(heads) else ""
                yield Block(start, end, "cell", *place, row=row, column=column, header=header)
            else:
                yield from _rows(text, Block(start, end, kind, *place))


def _rows(text: str, block: Block) -> Iterator[Block]:
    """A paragraph; where its lines are rows of a table without a head, their cells."""
    if text[block.start] != "|" or "|" not in text[block.start + 1 : block.end]:
        yield block
        return
    start = block.start
    for line in text[start : block.end].splitlines(keepends=True):
        bounds = [start + found.start() for found in _PIPE.finditer(line)]
        if len(bounds) > 1 and not line[: bounds[0] - start].strip(" \t>"):
            if line.rstrip()[-1:] != "|":
                bounds.append(start + len(line.rstrip()))
            for column, (left, right) in enumerate(pairwise(bounds)):
                if text[left + 1 : right].strip():
                    yield block._replace(
                        start=left + 1, end=right, kind="cell", row=start + 1, column=column
                    )
        elif line.strip():
            yield block._replace(start=start, end=start + len(line.rstrip()))
        start += len(line)


def _span(text: str, lines: Sequence[int], rows: Sequence[int]) -> tuple[int, int]:
    start = lines[rows[0]]
    end = lines[rows[1]] if rows[1] < len(lines) else len(text)
    margin = _MARGIN.match(text, start, end)
    start = margin.end() if margin else start
    return start, start + len(text[start:end].rstrip())


def _cells(text: str, lines: Sequence[int], number: int) -> list[tuple[int, int]]:
    """The span of each cell of a row of a table."""
    start = lines[number]
    end = lines[number + 1] if number + 1 < len(lines) else len(text)
    bounds = [found.start() for found in _PIPE.finditer(text, start, end)]
    margin = _MARGIN.match(text, start, end)
    first = margin.end() if margin else start
    if bounds and not text[first : bounds[0]].strip():
        first, bounds = bounds[0] + 1, bounds[1:]
    cells = []
    for bound in [*bounds, end]:
        cells.append((first, max(first, bound)))
        first = bound + 1
    return cells


def _plain(text: str, lines: Sequence[int]) -> Iterator[Block]:
    """Paragraphs, and items of one level, told by lines alone."""
    counter = 0
    start: int | None = None
    item: tuple[int, ...] = ()
    ends = [*lines[1:], len(text)]
    for begin, end in zip(lines, ends, strict=True):
        blank = not text[begin:end].strip(" \t\r\n>")
        marked = _ITEM.match(text, begin, end) is not None
        if start is not None and (blank or marked):
            yield _paragraph(text, start, begin, item)
            start = None
        if not blank and start is None:
            counter += 1
            start, item = begin, (counter,) if marked else ()
    if start is not None:
        yield _paragraph(text, start, len(text), item)


def _paragraph(text: str, start: int, end: int, item: tuple[int, ...]) -> Block:
    start = _MARGIN.match(text, start, end).end()  # type: ignore[union-attr]
    return Block(start, start + len(text[start:end].rstrip()), "paragraph", item, item and (-1,))
