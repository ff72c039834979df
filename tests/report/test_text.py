"""Hostile text, segments, excerpts, differences."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ancrage.report.text import difference, excerpt, line, segments, visible
from tests.report.conftest import HOSTILE

TEXTS = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from(
            "é👩‍👩‍👧‍👦𝔘\u0301\u202e\u2066\u2028\r\n\t\x00\x1b\x9b\x7f<>&«»\u00a0\u202f"
        ),
    ),
    max_size=60,
)
SPANS = st.lists(st.tuples(st.integers(-3, 70), st.integers(-3, 70)), max_size=8)
FORBIDDEN = {*map(chr, (*range(0x202A, 0x202F), *range(0x2066, 0x206A)))}


@given(TEXTS)
def test_visible_keeps_the_length_and_lets_no_control_through(text: str) -> None:
    shown = visible(text)
    assert len(shown) == len(text)
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs"} and c != "\n"]
    assert not FORBIDDEN & set(shown)
    shown.encode()


@given(TEXTS)
def test_line_is_one_line(text: str) -> None:
    assert len(line(text).splitlines()) <= 1


@pytest.mark.parametrize(
    "text",
    ["« déjà » à 50 %, l’œuvre", "👩‍👩‍👧‍👦 👍🏽 🇫🇷", "می‌خواهم", "שלום \u200f!", "a\nb", "日本語"],
)
def test_visible_leaves_honest_text_alone(text: str) -> None:
    assert visible(text) == text


def test_visible_shows_what_would_act() -> None:
    assert visible("\x1b[31m\x07\x00\x7f\x9b\u202e") == "␛[31m␇␀␡��"
    assert visible("a\r\nb\rc\u2028d\te") == "a \nb␍c\nd e"


@given(TEXTS, SPANS)
def test_segments_joined_give_the_text_back(text: str, spans: list[tuple[int, int]]) -> None:
    parts = segments(text, spans)
    assert "".join(part.text for part in parts) == text
    assert all(part.text for part in parts)


@given(TEXTS, SPANS)
def test_each_character_is_covered_by_exactly_its_spans(
    text: str, spans: list[tuple[int, int]]
) -> None:
    at = 0
    for part in segments(text, spans):
        for position in range(at, at + len(part.text)):
            covering = tuple(i for i, (start, end) in enumerate(spans) if start <= position < end)
            assert part.spans == covering
        at += len(part.text)


def test_overlapping_spans_are_cut_where_one_begins_or_ends() -> None:
    parts = segments("abcdefgh", [(1, 5), (3, 7), (3, 3), (6, 99)])
    assert [(part.text, part.spans) for part in parts] == [
        ("a", ()),
        ("bc", (0,)),
        ("de", (0, 1)),
        ("f", (1,)),
        ("g", (1, 3)),
        ("h", (3,)),
    ]


def test_offsets_count_code_points() -> None:
    text = "👍🏽 e\u0301 𝔘 fin"
    start = text.index("fin")
    assert [part.text for part in segments(text, [(start, start + 3)])] == [text[:start], "fin"]
    assert excerpt(text, start, start + 3).passage == "fin"


@given(TEXTS, st.integers(-3, 70), st.integers(-3, 70))
def test_an_excerpt_never_fails_and_is_one_line(text: str, start: int, end: int) -> None:
    found = excerpt(text, start, end, around=10, most=12)
    assert "\n" not in found.before + found.passage + found.after


def test_an_excerpt_is_cut_between_words() -> None:
    text = "un deux trois quatre cinq six sept huit"
    at = text.index("quatre")
    found = excerpt(text, at, at + 6, around=9)
    assert (found.before, found.passage, found.after) == ("… trois ", "quatre", " cinq …")


def test_a_long_passage_is_elided_in_its_middle() -> None:
    found = excerpt("x" * 500 + "y" * 500, 0, 1000, most=20)
    assert found.passage == "x" * 10 + " … " + "y" * 10


@given(TEXTS, TEXTS)
def test_a_difference_gives_the_quote_back(source: str, quoted: str) -> None:
    changes = difference(source, quoted)
    assert "".join(text for kind, text in changes if kind != "removed") == quoted


def test_a_difference_is_by_words() -> None:
    assert difference("Le bus de 7 h 40 est plein", "Le bus de 7 h 45 est plein") == [
        ("same", "Le bus de 7 h "),
        ("removed", "40"),
        ("added", "45"),
        ("same", " est plein"),
    ]


def test_the_hostile_answer_is_all_there() -> None:
    shown = visible(HOSTILE)
    assert "<script>" in shown
    assert "\x1b" not in shown


def test_what_leaves_stands_before_what_comes() -> None:
    assert difference("un deux trois", "un 2 trois quatre") == [
        ("same", "un "),
        ("removed", "deux"),
        ("added", "2"),
        ("same", " trois"),
        ("added", " quatre"),
    ]
