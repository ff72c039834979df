"""Footnotes that hold the ids: ``« … »[^1]`` with, further down, ``[^1]: R-012, M-0034``."""

import re
from bisect import bisect_left
from collections.abc import Sequence

from ancrage.citations import brackets
from ancrage.citations.grammar import Grammar
from ancrage.citations.model import Citation

_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LABEL = r"(?:\[\^(?P<label>\w{1,20})\]|\[(?P<number>\d{1,3})\]|(?P<raised>[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
_DEFINITION = re.compile(
    rf"^[ \t>]{{0,8}}(?:[-*•][ \t]{{1,4}})?{_LABEL}[ \t]*:?[ \t]*(?P<rest>\S[^\n]*)", re.MULTILINE
)
_CALL = re.compile(rf"[ \t*_.,;:!?…]{{0,6}}(?:<sup>)?{_LABEL}")


def definitions(
    text: str, folded: str, found: Sequence[Citation], grammar: Grammar
) -> dict[str, tuple[Citation, ...]]:
    """What the footnotes of an answer cite, by label; notes that cite no message are left out."""
    starts = [each.start for each in found]
    noted: dict[str, tuple[Citation, ...]] = {}
    for match in _DEFINITION.finditer(text):
        start, end = match.span("rest")
        own = tuple(found[bisect_left(starts, start) : bisect_left(starts, end)])
        if not own:
            bare = brackets.listed(text, folded, start, end, grammar)
            own = (bare,) if bare else ()
        if any(each.messages for each in own):
            noted.setdefault(_label(match), own)
    return noted


def called(text: str, start: int) -> str | None:
    """The label of the footnote that is called right after ``start``."""
    match = _CALL.match(text, start, start + 40)
    return _label(match) if match else None


def _label(match: re.Match[str]) -> str:
    written = match["label"] or match["number"] or match["raised"]
    return str(written).translate(_RAISED)
