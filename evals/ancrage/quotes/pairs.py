"""Which quotation marks of a block make pairs: a stack parser, linear in their number.

Marks with two distinct faces (« », “ ”, „ “, ‹ ›, 「 」) are paired first, each family with its own
closer. Marks that can also be an apostrophe or an inch (" ' ‘ ’) are paired next, never across
the others; then curly and straight double marks that are left face to face.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ancrage.quotes.normalise import INVISIBLE


class _Mark(NamedTuple):
    at: int
    character: str
    opens: bool
    closes: bool
    after_digit: bool


@dataclass(slots=True)
class _Level:
    """What is open between one pair of marks: single marks of each kind, innermost last."""

    opener: _Mark | None = None
    straight: list[_Mark] = field(default_factory=list)
    curly: list[_Mark] = field(default_factory=list)
    facing: list[int] = field(default_factory=list)
    """Curly double marks that open and have no curly partner: a straight one can close them."""


_CLOSES = {
    "»": "«",
    "«": "»",
    "”": "“„‟”",
    "“": "„“",
    "›": "‹",
    "‹": "›",
    "」": "「",
    "』": "『",
    "〞": "〝",
}
"""Two-faced closing mark to the opening marks that it can close."""
_OPENERS = frozenset("«“„‟‹「『〝")
_DOUBLE = frozenset('“”„‟"')
_TRANSPARENT = frozenset("*_" + INVISIBLE)
_CLIPPED = re.compile(r"(?:\d0s|n|tis|twas|em|cause|til|bout)\b", re.IGNORECASE)


def pair_marks(text: str, places: Sequence[int]) -> tuple[dict[int, int], list[int]]:
    """Opening offset to closing offset, for the marks of a block, and those that stay alone."""
    marks = [_mark(text, at) for at in places]
    strong, alone = _strong_pairs(marks)
    weak, left = _weak_pairs(text, marks, strong, set(alone))
    pairs = strong | weak
    left = sorted((*(at for at in alone if at not in weak), *left))
    if len(left) > 1:
        faced = _face_to_face(text, left, pairs)
        pairs |= faced
        used = {*faced, *faced.values()}
        left = [at for at in left if at not in used]
    return pairs, left


def _face_to_face(text: str, alone: list[int], pairs: dict[int, int]) -> dict[int, int]:
    """Double marks of two kinds left alone: ``“… "`` and ``„…"``, where they cross no pair."""
    within: list[int] = []
    edges = sorted((*((at, 1) for at in pairs), *((at, -1) for at in pairs.values())))
    stack: list[int] = []
    number = 0
    for at in alone:
        while number < len(edges) and edges[number][0] < at:
            if edges[number][1] == 1:
                stack.append(edges[number][0])
            else:
                stack.pop()
            number += 1
        within.append(stack[-1] if stack else -1)
    found: dict[int, int] = {}
    index = 0
    while index + 1 < len(alone):
        left, right = alone[index], alone[index + 1]
        marks = {text[left], text[right]}
        mixed = len(marks) == 2 and marks <= _DOUBLE and text[left] != "”"
        if mixed and within[index] == within[index + 1] and text[right - 1] != text[left]:
            found[left] = right
            index += 1
        index += 1
    return found


def _mark(text: str, at: int) -> _Mark:
    before, after = _neighbour(text, at, -1), _neighbour(text, at, 1)
    return _Mark(
        at,
        text[at],
        opens=not after.isspace() and not before.isalnum() and before != "=",
        closes=not before.isspace() and not after.isalnum(),
        after_digit=before.isdecimal(),
    )


def _neighbour(text: str, at: int, step: int) -> str:
    """The next character that shows, looking through a little emphasis; a space at the edges."""
    for _ in range(40):
        at += step
        if not 0 <= at < len(text):
            return " "
        if text[at] not in _TRANSPARENT:
            break
    return text[at]


def _strong_pairs(marks: list[_Mark]) -> tuple[dict[int, int], list[int]]:
    """Opening offset to closing offset for the two-faced marks, and those that stay alone."""
    pairs: dict[int, int] = {}
    alone: list[int] = []
    stack: list[_Mark] = []
    waiting = dict.fromkeys("«»“„‟”‹›「」『』〝〞", 0)
    for mark in marks:
        if mark.character not in waiting:
            continue
        closable = _CLOSES.get(mark.character, "")
        two_ways = mark.character in _OPENERS
        if any(waiting[opener] for opener in closable) and (mark.closes or not two_ways):
            while True:
                opened = stack.pop()
                waiting[opened.character] -= 1
                if opened.character in closable:
                    break
                alone.append(opened.at)
            pairs[opened.at] = mark.at
        elif two_ways or (mark.opens and not mark.closes):
            stack.append(mark)
            waiting[mark.character] += 1
        else:
            alone.append(mark.at)
    return pairs, alone + [mark.at for mark in stack]


def _weak_pairs(
    text: str, marks: list[_Mark], strong: dict[int, int], left: set[int]
) -> tuple[dict[int, int], list[int]]:
    """The same for marks with other uses, within the structure of the ``strong`` pairs."""
    pairs: dict[int, int] = {}
    alone: list[int] = []
    closing = set(strong.values())
    levels = [_Level()]
    for mark, following, opening in zip(marks, *_following(marks), strict=True):
        level = levels[-1]
        if mark.at in strong:
            levels.append(_Level(mark))
        elif mark.at in closing:
            while (shut := levels.pop()).opener and shut.opener.at not in strong:
                alone.append(shut.opener.at)
        elif mark.at in left:
            if mark.character in "“„‟":
                level.facing.append(mark.at)
        elif mark.character == '"':
            if level.facing and not mark.opens and not mark.after_digit:
                left_mark = level.facing.pop()
                pairs[left_mark] = mark.at
                for singles in (level.curly, level.straight):
                    while singles and singles[-1].at > left_mark:
                        singles.pop()
                continue
            opened = level.opener if level.opener and level.opener.character == '"' else None
            if opened and _closes_straight(mark, following):
                pairs[opened.at] = mark.at
                levels.pop()
            elif mark.after_digit:
                pass
            elif mark.opens or (not opened and text[mark.at - 1 : mark.at + 2] == ' " '):
                levels.append(_Level(mark))
            else:
                alone.append(mark.at)
        elif mark.character in "'‘’‚":
            reopens = bool(opening and following and opening.at < following.at)
            _pair_single(text, mark, None if reopens else following, level, pairs)
    alone += [level.opener.at for level in levels if level.opener]
    return pairs, alone + [mark.at for level in levels for mark in level.curly]


def _following(marks: list[_Mark]) -> tuple[list[_Mark | None], list[_Mark | None]]:
    """For each mark the next of the same character, and the next single mark that opens."""
    latest: dict[str, _Mark] = {}
    following: list[_Mark | None] = []
    openings: list[_Mark | None] = []
    opening: _Mark | None = None
    for mark in reversed(marks):
        following.append(latest.get(mark.character))
        openings.append(opening)
        latest[mark.character] = mark
        if mark.character in "‘'" and mark.opens and not mark.closes:
            opening = mark
    return following[::-1], openings[::-1]


def _closes_straight(mark: _Mark, following: _Mark | None) -> bool:
    """Whether ``"`` ends the open quote; after a digit it is an inch if another can end it."""
    if mark.after_digit and following and following.closes and not following.opens:
        return False
    return mark.closes or not mark.opens


def _pair_single(
    text: str, mark: _Mark, following: _Mark | None, level: _Level, pairs: dict[int, int]
) -> None:
    straight = mark.character == "'"
    same, other = (level.straight, level.curly) if straight else (level.curly, level.straight)
    closable = {"'": "'", "’": "‘‚", "‘": "‚"}.get(mark.character, "")
    if same and mark.closes and same[-1].character in closable:
        if _plural(text, mark) and following and following.closes and not following.opens:
            return
        start = same.pop().at
        pairs[start] = mark.at
        while other and other[-1].at > start:
            other.pop()
        while level.facing and level.facing[-1] > start:
            level.facing.pop()
    elif mark.opens and mark.character != "’" and not _CLIPPED.match(text, mark.at + 1):
        same.append(mark)


def _plural(text: str, mark: _Mark) -> bool:
    """Whether the mark may be the apostrophe of ``the students' books``."""
    after = text[mark.at + 1 : mark.at + 3]
    return text[mark.at - 1] in "sS" and after[:1] == " " and after[1:].isalnum()
