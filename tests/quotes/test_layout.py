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
