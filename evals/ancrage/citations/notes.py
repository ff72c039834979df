"""Footnotes that hold the ids: ``« … »[^1]`` with, further down, ``[^1]: R-012, M-0034``."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from ancrage.citations.model import Citation
from ancrage.citations.reader import IdReader

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LABEL = r"(?:\[\^(?P<label>[\w-]{1,20})\]|\[(?P<number>\d{1,3})\]|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
_DEFINITION = re.compile(
    rf"^[ \t>]{{0,8}}(?:(?:[-*•][ \t]{{1,4}})?{_LABEL}[ \t]{{0,8}}:?"
    r"|(?P<item>\d{1,3})[.)])[ \t]{0,8}(?=\S)",
    re.MULTILINE,
)
_CALL = re.compile(rf"[ \t*_.,;:!?…\u2060»”\"]{{0,16}}{_LABEL}")


def definitions(
    text: str, ids: IdReader, found: Sequence[Citation]
) -> dict[str, tuple[Citation, ...]]:
    """What the footnotes of an answer cite, by label; notes that cite no message are left out.

    ``text`` is its surface, ``found`` its citations.
    """
    starts = [citation.start for citation in found]
    noted: dict[str, tuple[Citation, ...]] = {}
    for match in _DEFINITION.finditer(text):
        start = match.end()
        end = text.find("\n", start)
        end = min(len(text) if end < 0 else end, start + 1_000)
        own = tuple(found[bisect_left(starts, start) : bisect_left(starts, end)])
        if match["item"] and not (own and own[0].start <= start + 2):
            continue
        if not own:
            bare = ids.listed(start, end)
            own = (bare,) if bare else ()
        if any(citation.messages for citation in own):
            noted.setdefault(_label(match), own)
    return noted


def called(text: str, start: int) -> list[str]:
    """The labels of the footnotes that are called right after ``start``."""
    labels: list[str] = []
    while (match := _CALL.match(text, start, start + 60)) and len(labels) < 9:
        labels.append(_label(match))
        start = match.end()
    return labels


def trailing(text: str, start: int, end: int) -> tuple[str, int] | None:
    """The label of the footnote that is called at the end of a passage, and where it begins."""
    for match in re.finditer(_LABEL, text[max(start, end - 30) : end]):
        if match.end() == min(30, end - start):
            return _label(match), max(start, end - 30) + match.start()
    return None


def _label(match: re.Match[str]) -> str:
    written = next(group for group in match.groups() if group)
    return str(written).translate(_RAISED)
