"""Blocks that HTML tags make inside those of Markdown: items, rows, cells, paragraphs."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ancrage.quotes.block import Block

_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>li|ul|ol|p|div|tr|td|th|table|h[1-6]|blockquote|section|article|dd|dt)"
    r"(?:\s[^<>]{0,300})?>",
    re.IGNORECASE,
)


def with_html(text: str, blocks: Iterable[Block]) -> Iterator[Block]:
    """``blocks`` with those that hold block-level tags cut where the tags cut them."""
    place = _Place()
    for block in blocks:
        if block.kind == "code" or not text.count("<", block.start, block.end):
            yield block if place.at_rest else place.block(block, block.start, block.end)
            continue
        start = block.start
        for tag in _TAG.finditer(text, block.start, block.end):
            if text[start : tag.start()].strip():
                yield place.read(text, block, start, tag.start())
            place.meet(tag["name"].lower(), closes=bool(tag["close"]), at=tag.start())
            start = tag.end()
        if text[start : block.end].strip():
            yield place.read(text, block, start, block.end)


@dataclass(slots=True)
class _Place:
    """Where in the elements of an answer a text stands; numbers are offsets of tags, below 0."""

    lists: list[int] = field(default_factory=list)
    items: list[int] = field(default_factory=list)
    quotes: list[int] = field(default_factory=list)
    row: int = 0
    column: int = 0
    cell: str = ""
    heading: bool = False
    heads: list[str] = field(default_factory=list)

    @property
    def at_rest(self) -> bool:
        return not (self.lists or self.quotes or self.row)

    def meet(self, name: str, *, closes: bool, at: int) -> None:
        number = -2 - at
        if name in ("ul", "ol", "blockquote"):
            stack = self.quotes if name == "blockquote" else self.lists
            if not closes:
                stack.append(number)
            elif stack:
                stack.pop()
            if name != "blockquote":
                del self.items[len(self.lists) :]
        elif name == "li":
            del self.items[max(0, len(self.lists) - 1) :]
            if not closes:
                self.items.append(number)
        elif name == "table":
            self.heads, self.row = [], 0
        elif name == "tr":
            self.row, self.column = 0 if closes else number, -1
        elif name in ("td", "th"):
            self.cell = "" if closes else name
            self.column += not closes
        elif name[0] == "h":
            self.heading = not closes

    def read(self, text: str, block: Block, start: int, end: int) -> Block:
        while start < end and text[start].isspace():
            start += 1
        end = start + len(text[start:end].rstrip())
        if self.cell == "th":
            self.heads.append(text[start:end])
        return self.block(block, start, end)

    def block(self, block: Block, start: int, end: int) -> Block:
        kind = "cell" if self.row and self.cell else "heading" if self.heading else block.kind
        known = 0 <= self.column < len(self.heads)
        return block._replace(
            start=start,
            end=end,
            kind=kind,
            items=(*block.items, *self.items),
            lists=(*block.lists, *(self.lists[: len(self.items)] if self.items else ())),
            quote=block.quote or (self.quotes[0] if self.quotes else 0),
            row=self.row or block.row,
            column=max(self.column, 0) if self.row else block.column,
            header=self.heads[self.column] if self.cell == "td" and known else block.header,
        )
