"""Faults of citations: ids that lead nowhere or elsewhere, brackets out of form, moved or gone."""

import random
import re
from dataclasses import replace

from ancrage.prove.model import Draft, Kind, fault

SENTENCE = 5
"""Words from which a passage in marks can only be somebody's words."""


def _changed_digits(text: str, chance: random.Random) -> str | None:
    """``text`` with its last run of digits replaced by another of the same length."""
    runs = list(re.finditer(r"\d+", text))
    if not runs:
        return None
    run = runs[-1]
    other = str(chance.randrange(10 ** len(run.group()))).zfill(len(run.group()))
    return text[: run.start()] + other + text[run.end() :]


def _with_message(draft: Draft, at: int, message: str) -> Draft | None:
    """The unit at ``at`` citing ``message`` in place of its own, in the bracket's own writing."""
    unit = draft.units[at]
    if unit.cite is None or unit.message not in unit.cite:
        return None
    return draft.with_unit(at, cite=unit.cite.replace(unit.message, message))


def _any_unit(draft: Draft, chance: random.Random) -> int:
    return chance.randrange(len(draft.units))


@fault("unknown_ref")
def unknown_ref(draft: Draft, chance: random.Random) -> Draft | None:
    """A question that the study does not have."""
    refs = [question.ref for question in draft.source.study.questions]
    for _ in range(20):
        written = _changed_digits(chance.choice(refs), chance) if refs else None
        if written and draft.source.question(written) is None:
            return replace(draft, after=f"{draft.after}\n\n[{written}]")
    return None


@fault("unknown_message_id")
def unknown_message(draft: Draft, chance: random.Random) -> Draft | None:
    """A message that the study does not have."""
    at = _any_unit(draft, chance)
    for _ in range(20):
        written = _changed_digits(draft.units[at].message, chance)
        if written and draft.source.message(written) is None:
            return _with_message(draft, at, written)
    return None


@fault("wrong_respondent_id")
def respondent_swapped(draft: Draft, chance: random.Random) -> Draft | None:
    """A respondent of the study who did not write the message."""
    at = _any_unit(draft, chance)
    unit = draft.units[at]
    others = {message.respondent_id for message in draft.source.study.messages}
    others.discard(unit.respondent)
    if unit.cite is None or unit.respondent not in unit.cite or not others:
        return None
    other = chance.choice(sorted(others))
    return draft.with_unit(at, cite=unit.cite.replace(unit.respondent, other))


@fault("non_verbatim_quote")
def moved_to_another_message(draft: Draft, chance: random.Random) -> Draft | None:
    """The quote of one message cited as another's, with its respondent."""
    at = _any_unit(draft, chance)
    unit = draft.units[at]
    others = [
        message
        for message in draft.source.study.messages
        if message.id != unit.message and unit.words[:20].casefold() not in message.text.casefold()
    ]
    if unit.cite is None or not others:
        return None
    other = chance.choice(others)
    if unit.message not in unit.cite or unit.respondent not in unit.cite:
        return None
    cite = unit.cite.replace(unit.message, other.id).replace(unit.respondent, other.respondent_id)
    return draft.with_unit(at, cite=cite)


@fault("non_verbatim_quote")
def citations_moved_by_one(draft: Draft, chance: random.Random) -> Draft | None:
    """Each quote with the citation of the next, as when a list slips."""
    messages = {unit.message for unit in draft.units}
    if len(draft.units) < 2 or len(messages) < len(draft.units):
        return None
    cites = [unit.cite for unit in draft.units]
    moved = [*cites[1:], cites[0]]
    units = (replace(unit, cite=cite) for unit, cite in zip(draft.units, moved, strict=True))
    return replace(draft, units=tuple(units))


@fault("uncited_quote")
def citation_removed(draft: Draft, chance: random.Random) -> Draft | None:
    """A quote of a sentence, the only one of its message, whose citation is gone."""
    messages = [unit.message for unit in draft.units]
    long = [
        at
        for at, unit in enumerate(draft.units)
        if len(unit.words.split()) >= SENTENCE and messages.count(unit.message) == 1
    ]
    return draft.with_unit(chance.choice(long), cite=None) if long else None


def _line_of(draft: Draft, at: int) -> str:
    """The line that the bracket of a unit stands in, in the answer as it was."""
    start = draft.places[at].cite[0]
    return draft.text[draft.text.rfind("\n", 0, start) + 1 :].lstrip()


def _malformed(
    name: str, words: str, pattern: str, becomes: str, not_in: tuple[str, ...] = ()
) -> Kind:
    def plant(draft: Draft, chance: random.Random) -> Draft | None:
        at = _any_unit(draft, chance)
        cite = draft.units[at].cite
        if cite is None or len(draft.units[at].words.split()) < SENTENCE:
            return None
        if not_in and _line_of(draft, at).startswith(("|", ">", "[^")):
            return None
        broken, count = re.subn(pattern, becomes, cite, count=1)
        return draft.with_unit(at, cite=broken) if count and broken != cite else None

    modes = ("malformed_citation", "unknown_message_id", "uncited_quote")
    return Kind(f"malformed_{name}", plant, modes, words, not_in)


MALFORMED = (
    _malformed("letter_for_digit", "A letter O in an id.", r"0(?=\d*\])", "O"),
    _malformed("unclosed", "A bracket that is not closed.", r"\]$", ""),
    _malformed("missing_digits", "An id without its digits.", r"(?<=[A-Z]-)\d+(?=\])", ""),
    _malformed("letters_for_digits", "Letters where digits belong.", r"(?<=[A-Z]-)\d+(?=\])", "xx"),
    _malformed("empty", "A bracket with nothing in it.", r"(?s)^\[.+\]$", "[]"),
    _malformed(
        "no_brackets",
        "Ids without their bracket, where no cell or note holds them.",
        r"(?s)^\[(.+)\]$",
        r"\1",
        not_in=("table", "footnotes", "block_quotes"),
    ),
)
"""Brackets out of form, six ways."""

FAULTS: tuple[Kind, ...] = (
    unknown_ref,
    unknown_message,
    respondent_swapped,
    moved_to_another_message,
    citations_moved_by_one,
    citation_removed,
    *MALFORMED,
)
