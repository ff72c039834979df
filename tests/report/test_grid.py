"""The table of the terminal: nothing in it is broken, however narrow the terminal."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.text import Text

from ancrage.report.grid import Grid
from ancrage.report.terminal import console, show


def printed(grid: Grid, width: int, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.setenv("COLUMNS", str(width))
    out = io.StringIO()
    show(grid, console(out))
    return out.getvalue().splitlines()


def rates() -> Grid:
    grid = Grid("Mode", "Answers", "Rate", "Why", right=(1,), whole=(2,), spare=(1,))
    grid.add("unknown_message_id", "12", "12/63 = 19.0 % [11.2, 30.4]", "a reason of some words")
    grid.add("x", Text("3"), "3/63 = 4.8 % [1.6, 13.1]", "")
    return grid


@pytest.mark.parametrize("width", range(40, 110, 5))
def test_names_and_figures_are_whole_at_any_width(
    width: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(rates(), width, monkeypatch)
    assert all(len(line) <= width for line in lines)
    for whole in ("unknown_message_id", "12/63 = 19.0 % [11.2, 30.4]", "3/63 = 4.8 % [1.6, 13.1]"):
        assert sum(whole in line for line in lines) == 1


def test_columns_that_can_be_spared_go_first_and_then_rows_stand_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert "Answers" in printed(rates(), 100, monkeypatch)[0]
    assert printed(rates(), 62, monkeypatch)[0].split() == ["Mode", "Rate", "Why"]
    assert printed(rates(), 50, monkeypatch)[:3] == [
        "unknown_message_id",
        "  Answers: 12",
        "  Rate: 12/63 = 19.0 % [11.2, 30.4]",
    ]


@given(st.lists(st.lists(st.text(max_size=30), min_size=3, max_size=3), max_size=4))
def test_any_text_can_stand_in_it(rows: list[list[str]]) -> None:
    grid = Grid("a", "b", "c", right=(1,), whole=(2,))
    for row in rows:
        grid.add(*row)
    out = io.StringIO()
    show(grid, console(out))
    assert "\x1b" not in out.getvalue()
