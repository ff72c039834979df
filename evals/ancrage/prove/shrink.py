"""Make an input that went wrong as small as it can be while it still goes wrong.

Delta debugging over the units, then over the words of each quote and its message's other words
(Zeller & Hildebrandt, IEEE TSE 28, 2002, in its greedy form).
"""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ancrage.prove.model import Draft, Unit
from ancrage.prove.shapes import write
from ancrage.prove.trial import Look, Wrong, plant

STEPS = 200
"""Tries after which what has been reached is good enough."""


def shrink(wrong: Wrong, look: Look) -> Wrong:
    """The smallest input found that goes wrong in the same way."""
    result = _result(wrong, wrong.host, look)
    current, steps = wrong.host, 0
    moved = True
    while moved and steps < STEPS:
        moved = False
        for smaller in _smaller(current, wrong.shape, wrong.kind.needs_quotes):
            steps += 1
            if _result(wrong, smaller, look) == result:
                current, moved = smaller, True
                break
    return replace(wrong, host=current)


def smallest(wrongs: Sequence[Wrong], look: Look, most: int = 10) -> list[Wrong]:
    """One shrunk input for each kind that went wrong, the smallest first, at most ``most``."""
    by_kind: dict[str, Wrong] = {}
    for wrong in sorted(wrongs, key=_size):
        by_kind.setdefault(wrong.kind.name, wrong)
    shrunk = [shrink(wrong, look) for wrong in list(by_kind.values())[:most]]
    return sorted(shrunk, key=_size)


def _size(wrong: Wrong) -> int:
    return len(write(wrong.draft, wrong.shape))


def _smaller(draft: Draft, shape: str, needs_quotes: bool) -> Iterator[Draft]:
    """Drafts with something left out, the largest parts first."""
    if draft.before or draft.after:
        yield replace(draft, before="", after="")
    if shape != "as_is":
        for at in range(len(draft.units)):
            if len(draft.units) > 1:
                yield replace(
                    draft,
                    units=draft.units[:at] + draft.units[at + 1 :],
                    places=draft.places[:at] + draft.places[at + 1 :],
                )
    if not needs_quotes and shape == "as_is":
        for sentence in re.findall(r"[^.!?\n]+[.!?\n]*\s*", draft.text):
            yield draft.rewritten(draft.text.replace(sentence, "", 1))
        return
    for at, unit in enumerate(draft.units):
        for words in _fewer(unit):
            yield draft.with_unit(at, words=words)


def _fewer(unit: Unit) -> Iterator[str]:
    parts = unit.words.split(" ")
    for size in (len(parts) // 2, len(parts) // 4, 1):
        if 0 < size < len(parts):
            yield " ".join(parts[size:])
            yield " ".join(parts[:-size])


def _result(wrong: Wrong, host: Draft, look: Look) -> tuple[str, frozenset[str]] | None:
    """What comes of the change planted in ``host``; None where it does not apply any more."""
    draft = plant(wrong.kind, host, wrong.seed)
    if draft is None:
        return None
    seen = asyncio.run(look(wrong.kind, host, draft, wrong.shape))
    return seen.result, seen.raised
