"""Make an input that went wrong as small as it can be while it still goes wrong.

Delta debugging over the units, then over the words of each quote and its message's other words
(Zeller & Hildebrandt, IEEE TSE 28, 2002, in its greedy form).
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ancrage.evaluator import Evaluator
from ancrage.prove.model import Draft, Unit
from ancrage.prove.shapes import write
from ancrage.prove.trial import Wrong, judge, plant, planted_case, raised_modes, unscored_modes
from ancrage.runs import evaluate, recorded
from ancrage.studies import Studies

STEPS = 200
"""Tries after which what has been reached is good enough."""


def shrink(wrong: Wrong, studies: Studies, evaluators: Sequence[Evaluator]) -> Wrong:
    """The smallest input found that goes wrong in the same way."""
    result = _result(wrong, wrong.host, studies, evaluators)
    current, steps = wrong.host, 0
    moved = True
    while moved and steps < STEPS:
        moved = False
        for smaller in _smaller(current, wrong.shape):
            steps += 1
            if _result(wrong, smaller, studies, evaluators) == result:
                current, moved = smaller, True
                break
    return replace(wrong, host=current)


def smallest(
    wrongs: Sequence[Wrong], studies: Studies, evaluators: Sequence[Evaluator], most: int = 10
) -> list[Wrong]:
    """One shrunk input for each kind that went wrong, the smallest first, at most ``most``."""
    by_kind: dict[str, Wrong] = {}
    for wrong in sorted(wrongs, key=_size):
        by_kind.setdefault(wrong.kind.name, wrong)
    shrunk = [shrink(wrong, studies, evaluators) for wrong in list(by_kind.values())[:most]]
    return sorted(shrunk, key=_size)


def _size(wrong: Wrong) -> int:
    return len(write(wrong.draft, wrong.shape))


def _smaller(draft: Draft, shape: str) -> Iterator[Draft]:
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
    for at, unit in enumerate(draft.units):
        for words in _fewer(unit):
            yield draft.with_unit(at, words=words)


def _fewer(unit: Unit) -> Iterator[str]:
    parts = unit.words.split(" ")
    for size in (len(parts) // 2, len(parts) // 4, 1):
        if 0 < size < len(parts):
            yield " ".join(parts[size:])
            yield " ".join(parts[:-size])


def _result(
    wrong: Wrong, host: Draft, studies: Studies, evaluators: Sequence[Evaluator]
) -> tuple[str, tuple[str, ...]] | None:
    """What comes of the change planted in ``host``; None where it does not apply any more."""
    draft = plant(wrong.kind, host, wrong.seed)

    async def look(draft: Draft) -> tuple[str, tuple[str, ...]]:
        case = planted_case(draft, wrong.shape)
        scored = await evaluate(studies.subject(case, await recorded(case)), evaluators)
        raised = raised_modes(scored)
        return judge(wrong.kind, raised, unscored_modes(scored)), tuple(sorted(raised))

    return asyncio.run(look(draft)) if draft else None
