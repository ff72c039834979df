"""Hostile text made safe to show, and passages marked in place. Offsets are code points."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from ancrage.domain import Finding

_KEPT = {"\n", "\u200c", "\u200d", "\u200e", "\u200f"}
"""Line feeds, and the format characters that emoji, Persian, Hebrew and Arabic need."""
_LINE_ENDS = {"\x85": "\n", "\u2028": "\n", "\u2029": "\n", "\t": " "}
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_BIDIRECTIONAL = {*range(0x202A, 0x202F), *range(0x2066, 0x206A)}


def _shown(code: int) -> str:
    if code < 0x20:
        return chr(0x2400 + code)
    return "\N{SYMBOL FOR DELETE}" if code == 0x7F else _REPLACEMENT


_VISIBLE = {
    code: _LINE_ENDS.get(chr(code), _shown(code))
    for code in (*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *_BIDIRECTIONAL)
    if chr(code) not in _KEPT
} | dict.fromkeys(range(0xD800, 0xE000), _REPLACEMENT)

_HIDDEN = re.compile("[" + "".join(rf"\U{code:08x}" for code in sorted(_VISIBLE)) + "]")


def visible(text: str) -> str:
    """``text`` with each control character, bidirectional override and lone surrogate replaced.

    One character stands for one character (``ESC`` becomes ``␛``), so that offsets still hold.
    """
    if not _HIDDEN.search(text):
        return text
    return text.replace("\r\n", " \n").translate(_VISIBLE)


TIERS = {
    "T0": "verbatim",
    "T1": "verbatim but for typography",
    "T2": "verbatim but for its first letter or last mark",
    "T3": "verbatim with marked elisions",
    "T4": "altered",
    "T5": "translated",
    "T6": "elsewhere",
    "T7": "absent",
}
"""What each tier of quote verification means; T0 to T3 pass."""


def diagnosis(finding: "Finding") -> str:
    """Why a quote failed, in a word; empty for other findings."""
    given = finding.details.get("diagnosis")
    return line(given) if isinstance(given, str) else TIERS.get(finding.tier or "", "")


def line(text: str) -> str:
    """``text`` made visible on a single line, runs of white space folded."""
    return " ".join(visible(text).split())


@dataclass(frozen=True)
class Segment:
    """A stretch of text and the indices of all the spans that cover it."""

    text: str
    spans: tuple[int, ...]


def counted(count: int, noun: str) -> str:
    """``1 row``, ``2 rows``, ``1,000 rows``."""
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def segments(text: str, spans: Sequence[tuple[int, int]]) -> list[Segment]:
    """``text`` cut wherever a span begins or ends; the parts joined give ``text`` back.

    Spans may overlap, nest, be empty or overrun the text, which clips them.
    """
    starts: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    for index, (start, end) in enumerate(spans):
        start, end = max(start, 0), min(end, len(text))
        if start < end:
            starts.setdefault(start, []).append(index)
            ends.setdefault(end, []).append(index)
    cuts = sorted({0, len(text), *starts, *ends})
    covering: set[int] = set()
    parts: list[Segment] = []
    for start, end in pairwise(cuts):
        covering.difference_update(ends.get(start, ()))
        covering.update(starts.get(start, ()))
        parts.append(Segment(text[start:end], tuple(sorted(covering))))
    return parts


@dataclass(frozen=True)
class Excerpt:
    """A passage on one line with what stands around it."""

    before: str
    passage: str
    after: str


def excerpt(text: str, start: int, end: int, *, around: int = 60, most: int = 240) -> Excerpt:
    """The passage ``text[start:end]`` within ``around`` characters each side.

    A passage longer than ``most`` characters is elided in its middle. What is cut is cut between
    words, where there is a space to cut at, and shown by an ellipsis.
    """
    start = min(max(start, 0), len(text))
    end = min(max(end, start), len(text))
    before, passage, after = text[max(start - around, 0) : start], text[start:end], text[end:]
    if start > around:
        before = "… " + (before.partition(" ")[2] or before)
    if len(after) > around:
        after = (after[:around].rpartition(" ")[0] or after[:around]) + " …"
    if len(passage) > most:
        passage = passage[: most // 2] + " … " + passage[-(most // 2) :]
    return Excerpt(_edge(before, last=True), line(passage), _edge(after, last=False))


def _edge(text: str, *, last: bool) -> str:
    """``text`` on one line; the space next to the passage is kept."""
    folded = line(text)
    if last:
        return folded + " " * (folded != "" and text[-1:].isspace())
    return " " * (folded != "" and text[:1].isspace()) + folded


Change = Literal["same", "removed", "added"]
_TOKENS = re.compile(r"\s+|\w[\w\u0300-\u036f]*|.[\u0300-\u036f]*", re.DOTALL)


def difference(source: str, quoted: str) -> list[tuple[Change, str]]:
    """Word by word, what of ``source`` the quote left out and what it put in.

    What both have is a longest common subsequence of their words.
    """
    from rapidfuzz.distance import LCSseq

    a, b = _TOKENS.findall(source), _TOKENS.findall(quoted)
    changes: list[tuple[Change, str]] = []
    removed = added = ""
    for step in LCSseq.opcodes(_keys(a), _keys(b)):
        removed += "".join(a[step.src_start : step.src_end]) if step.tag == "delete" else ""
        added += "".join(b[step.dest_start : step.dest_end]) if step.tag == "insert" else ""
        if step.tag == "equal":
            changes += _changed(removed, added)
            changes.append(("same", "".join(b[step.dest_start : step.dest_end])))
            removed = added = ""
    return [*changes, *_changed(removed, added)]


def _changed(removed: str, added: str) -> list[tuple[Change, str]]:
    both: tuple[tuple[Change, str], ...] = (("removed", removed), ("added", added))
    return [(kind, text) for kind, text in both if text]


def _keys(tokens: list[str]) -> list[str]:
    return [unicodedata.normalize("NFC", t) if t.strip() else " " for t in tokens]
