"""Examples for a judge out of its errors: from the training half of the labels, never the other."""

import json
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

from ancrage.calibration.labels import split_of
from ancrage.calibration.pairs import Disagreement
from ancrage.errors import UsageError
from ancrage.files import write_atomic
from ancrage.judges.definition import SHIPPED, Definition, Example, read_definition
from ancrage.quotes.language import detect

LONGEST = 600
"""Characters of the answer around a passage that an example shows."""


def add_examples(
    definition: Definition,
    disagreements: Sequence[Disagreement],
    path: Path,
    *,
    most: int,
    held_out: float,
) -> int:
    """Add up to ``most`` examples a mode to the definition at ``path``, missed defects and false
    alarms in turn; a shipped definition is copied there first. Returns how many were added.

    Raises:
        UsageError: a disagreement is of the held-out half, or ``path`` holds another judge.
    """
    if any(split_of(each.case_id, held_out) != "train" for each in disagreements):
        raise UsageError("examples come from the training half alone: --split train")
    if not path.exists():
        write_atomic(path, (SHIPPED / f"{definition.name}.toml").read_text(encoding="utf-8"))
    if (there := read_definition(path)).name != definition.name:
        raise UsageError(f"{path} defines the judge {there.name!r}, not {definition.name!r}")
    lines = path.read_text(encoding="utf-8-sig").rstrip().split("\n")
    added = 0
    for mode in there.modes:
        known = {example.answer for example in mode.examples}
        fresh = [
            example
            for example in _examples([each for each in disagreements if each.mode == mode.name])
            if example.answer not in known
        ][:most]
        end = _end_of(lines, mode.name)
        lines[end:end] = [line for example in fresh for line in _toml(example)]
        added += len(fresh)
    write_atomic(path, "\n".join(lines) + "\n")
    read_definition(path)
    return added


def _examples(errors: Sequence[Disagreement]) -> Iterator[Example]:
    """Missed defects and false alarms in turn, each once."""
    missed = [made for each in errors if each.truth and (made := _missed(each))]
    alarms = [made for each in errors if not each.truth and (made := _false_alarm(each))]
    for at in range(max(len(missed), len(alarms))):
        yield from (*missed[at : at + 1], *alarms[at : at + 1])


def _missed(each: Disagreement) -> Example | None:
    """A defect that a person marked, with a passage that stands in the answer."""
    passage = next((text for text in each.passages if text in each.answer), None)
    if passage is None:
        return None
    reason = next(iter(each.notes), "People see the defect here.")
    return _example(each, passage, passage, reason)


def _false_alarm(each: Disagreement) -> Example | None:
    """Words that the judge took for a defect and people did not."""
    if not each.alarms:
        return None
    reason = next(iter(each.notes), "People see no defect here.")
    return _example(each, each.alarms[0], None, reason)


def _example(each: Disagreement, around: str, passage: str | None, reason: str) -> Example:
    at = each.answer.find(around)
    start = max(each.answer.rfind("\n", 0, at) + 1, at - LONGEST // 2)
    end = each.answer.find("\n", at + len(around))
    end = min(len(each.answer) if end < 0 else end, max(start + LONGEST, at + len(around)))
    return Example(
        language="fr" if detect(each.answer, ("fr", "en")) == "fr" else "en",
        situation=each.question,
        answer=each.answer[start:end].strip(),
        passage=passage,
        reason=reason,
    )


def _end_of(lines: Sequence[str], mode: str) -> int:
    """Where the block of a mode ends: before the next mode, or at the end of the file."""
    heads = [at for at, line in enumerate(lines) if line.strip() == "[[modes]]"] + [len(lines)]
    for start, end in pairwise(heads):
        names = [
            line.partition("=")[2].strip(" \"'") for line in lines[start:end] if "name" in line
        ]
        if names and names[0] == mode:
            return end
    raise UsageError(f"the definition has no block [[modes]] of its own for {mode!r}")


def _toml(example: Example) -> Iterator[str]:
    yield ""
    yield "[[modes.examples]]"
    for name, value in example.model_dump(exclude_none=True).items():
        if value:
            yield f"{name} = {json.dumps(value, ensure_ascii=False)}"
