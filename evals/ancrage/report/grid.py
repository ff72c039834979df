"""The one table of the terminal: names and figures are never broken, however narrow it is."""

from collections.abc import Collection, Mapping, Sequence

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderResult
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ancrage.report.text import line

_BETWEEN = 3
"""Characters between two columns."""


class Grid:
    """A table where its words fit, else its rows one below the other, headed by their first cell.

    Texts are shown on one line each, whatever they hold; a ``Text`` is taken as it is.
    """

    def __init__(
        self,
        *headings: str,
        right: Collection[int] = (),
        whole: Collection[int] = (),
        spare: Collection[int] = (),
    ) -> None:
        """Columns in ``right`` are figures, those in ``whole`` are never wrapped, and those in
        ``spare`` are left out where that makes the others fit."""
        self._headings = [line(heading) for heading in headings]
        self._right, self._whole, self._spare = right, whole, spare
        self._rows: list[list[Text]] = []

    def add(self, *cells: str | Text) -> None:
        """One row more."""
        self._rows.append([cell if isinstance(cell, Text) else Text(line(cell)) for cell in cells])

    def __rich_console__(self, out: Console, options: ConsoleOptions) -> RenderResult:
        every = range(len(self._headings))
        for columns in (list(every), [at for at in every if at not in self._spare]):
            if widths := self._widths(columns, options.max_width):
                yield self._table(widths)
                return
        for first, *cells in self._rows:
            yield first
            for heading, cell in zip(self._headings[1:], cells, strict=True):
                if cell.plain:
                    label = f"{heading}: " if heading else ""
                    text = Text.assemble((label, "dim"), cell, overflow="fold")
                    yield Padding(text, (0, 0, 0, 2))

    def _widths(self, columns: Sequence[int], room: int) -> dict[int, int]:
        """How wide each column is, none of its words broken; nothing when there is no room."""
        least, most = {}, {}
        for at in columns:
            texts = [self._headings[at], *(row[at].plain for row in self._rows)]
            most[at] = max(cell_len(part) for text in texts for part in text.split("\n"))
            words = (cell_len(word) for text in texts for word in text.split())
            least[at] = most[at] if at in self._whole else max(words, default=0)
        left = room - _BETWEEN * (len(columns) - 1) - sum(least.values())
        if left < 0:
            return {}
        widths = dict(least)
        # Whoever needs least is served first, so that what is left over goes to the others.
        for rank, at in enumerate(sorted(columns, key=lambda at: most[at] - least[at])):
            more = min(most[at] - least[at], left // (len(columns) - rank))
            widths[at] += more
            left -= more
        return widths

    def _table(self, widths: Mapping[int, int]) -> Table:
        table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
        for at, width in widths.items():
            justify: JustifyMethod = "right" if at in self._right else "left"
            table.add_column(self._headings[at], overflow="fold", justify=justify, width=width)
        for row in self._rows:
            table.add_row(*(row[at] for at in widths))
        return table
