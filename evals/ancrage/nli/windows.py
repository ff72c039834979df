"""Long premises read in overlapping windows of sentences; the hypothesis is never cut."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from ancrage.claims.markup import blocks
from ancrage.claims.sentences import protected, sentences

Length = Callable[[list[str]], list[int]]
_OVERLAP = 1
"""Sentences that two windows in a row share."""


def windows(premise: str, length: Length, free: int) -> list[str]:
    """The windows of ``premise`` of at most ``free`` tokens.

    One window, the premise itself, where it fits; none where the hypothesis leaves no room.
    Windows end between sentences; a sentence longer than a window is cut between words.
    """
    if free < 1:
        return []
    if length([premise])[0] <= free:
        return [premise]
    parts = [part for sentence in _sentences(premise) for part in _fit(sentence, length, free)]
    sizes = length(parts)
    result: list[str] = []
    start = 0
    while start < len(parts):
        end, total = start, 0
        while end < len(parts) and (end == start or total + sizes[end] <= free):
            total += sizes[end]
            end += 1
        result.append(" ".join(parts[start:end]))
        if end == len(parts):
            break
        start = max(end - _OVERLAP, start + 1)
    return result


def _sentences(text: str) -> list[str]:
    """The sentences of ``text``, and between them whatever is in none, such as code."""
    kept = protected(text)
    spans = [
        span for block in blocks(text) for span in sentences(text, block.start, block.end, kept)
    ]
    parts: list[str] = []
    position = 0
    for start, end in [*spans, (len(text), len(text))]:
        between = text[position:start].strip()
        if any(character.isalnum() for character in between):
            parts.append(between)
        if start < end:
            parts.append(text[start:end])
        position = end
    return parts or [text]


def _fit(sentence: str, length: Length, free: int) -> list[str]:
    """``sentence``, halved between words until each piece fits."""
    words = sentence.split()
    if length([sentence])[0] <= free:
        return [sentence]
    if len(words) < 2:
        middle = max(1, len(sentence) // 2)
        halves = [sentence[:middle], sentence[middle:]] if len(sentence) > 1 else []
    else:
        middle = len(words) // 2
        halves = [" ".join(words[:middle]), " ".join(words[middle:])]
    return [piece for half in halves for piece in _fit(half, length, free)]


def decide(rows: NDArray[np.float64]) -> int:
    """The window that speaks for all, given their probabilities of shape (windows, 3).

    The most entailing one, unless no window entails (entailment below a half everywhere) and some
    window contradicts: entailment found anywhere prevails, and a contradiction counts only where
    the same window does not entail.
    """
    entailing = int(rows[:, 0].argmax())
    contradicting = int(rows[:, 2].argmax())
    contradicts = rows[contradicting].argmax() == 2 and rows[entailing, 0] < 0.5
    return contradicting if contradicts else entailing
