"""The blocks of an answer."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.quotes import layout

LINES = (
    "para «x»", "- item", "* x", "1. one", "2) two", "> quoted", "# H", "| a | b |", "|---|---|",
    "a | b", "--- | ---", "```", "~~~", "***", "---", "___", "  - sub", "    deep", "", "\ttab",
    "- > q", "1. - a",
)  # fmt: skip


@given(st.lists(st.sampled_from(LINES), max_size=9).map("\n".join))
def test_rules_whose_signs_are_absent_would_match_nothing(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "_SIGNS", {})
        every_rule = layout.blocks(text)
    assert layout.blocks(text) == every_rule


FLAT = (
    "para «x»", "- item", "* x", "+ y", "1. one", "2) two", "3. three", "01. x", "# H", "## **H**",
    "", "  ", "**b** x", "*it*", "-x", "- **b**", "- 12 x", "- 1. a", "12 people", "---", "- ",
    "1.",    "[a]: b", "===", "#tag", "<p>", "\\- a", "\u00a0", "\u2028z", "- a  ", " indented",
)  # fmt: skip


@given(st.lists(st.sampled_from(FLAT), max_size=9).map("\n".join))
def test_flat_answers_are_read_as_the_parser_reads_them(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(layout, "flat", lambda text: None)
        parsed = layout.blocks(text)
    assert layout.blocks(text) == parsed


def test_the_parser_is_left_out_of_flat_answers() -> None:
    assert layout.flat("# Title\n\nTwo say:\n- «a» [R-1, M-1]\n- **b**\n\nEnd.") is not None
    assert layout.flat("- a\n  - b") is None
