"""Faults of what an answer says in its own words, of right answers and abstentions, of its end."""

import json
import random
import re
from collections.abc import Iterator
from dataclasses import replace

from ancrage.prove.model import Draft, Kind, fault
from ancrage.prove.words import LANGUAGES, lexicon

CLAIMS = ("contradicted_claim", "unsupported_claim", "unsupported_figure", "wrong_answer")
_FIGURE = re.compile(r"(?<![\w.,/#−-])\d{1,6}(?:[.,]\d+)?(?![\w/]|[.,]\d)")
_YEAR = re.compile(r"(?<!\d)(?:1[5-9]|20)\d\d(?!\d)")
_NAME = re.compile(
    r"(?<![.!?] )(?<!^)\b[A-ZÀ-Þ][\wÀ-ÿ’'-]+(?: (?:de |of |the )?[A-ZÀ-Þ][\wÀ-ÿ’'-]+)*"
)


def _claims(draft: Draft) -> str:
    """The answer's own words, where its case is none of questions with right answers."""
    return "" if "must_abstain" in draft.case.metadata else draft.own_words()


def _other(figure: str, chance: random.Random, taken: str) -> str | None:
    """A figure of the same form that stands nowhere in ``taken``."""
    for _ in range(20):
        digits = (str(chance.randrange(1, 10)) if c.isdigit() else c for c in figure)
        new = "".join(digits)
        if new != figure and not re.search(rf"(?<!\d){re.escape(new)}(?!\d)", taken):
            return new
    return None


def _context(draft: Draft) -> str:
    """All that the answer could rest on."""
    calls = [call.output for call in draft.case.input.tool_calls]
    held = [unit.words for unit in draft.units]
    return json.dumps([calls, draft.case.metadata], ensure_ascii=False) + " ".join(held)


def _figures(draft: Draft, pattern: re.Pattern[str]) -> Iterator[re.Match[str]]:
    """Figures of the answer's own that what it rests on holds too."""
    context = _context(draft)
    for found in pattern.finditer(_claims(draft)):
        as_share = found[0].replace(",", ".")
        shares = [f"{float(as_share) / 100:.3f}".rstrip("0")] if "." in as_share else []
        for value in (found[0], as_share, *shares):
            if re.search(rf"(?<![\d.,]){re.escape(value)}(?!\d|[.,]\d)", context):
                yield found
                break


def _changed(draft: Draft, chance: random.Random, pattern: re.Pattern[str]) -> Draft | None:
    found = list(_figures(draft, pattern))
    if not found:
        return None
    at = chance.choice(found)
    new = _other(at[0], chance, _context(draft) + draft.text)
    return draft.replaced(at.start(), at.end(), new) if new else None


@fault(*CLAIMS, needs_quotes=False, claimed_by="models")
def figure_changed(draft: Draft, chance: random.Random) -> Draft | None:
    """A figure of the answer's own, which its sources state, is another."""
    return _changed(draft, chance, _FIGURE)


@fault(*CLAIMS, needs_quotes=False, claimed_by="models")
def date_changed(draft: Draft, chance: random.Random) -> Draft | None:
    """A year of the answer's own, which its sources state, is another."""
    found = list(_figures(draft, _YEAR))
    if not found:
        return None
    at = chance.choice(found)
    year = str(int(at[0]) + chance.choice([-1, 1]) * chance.randrange(2, 40))
    return None if year in _context(draft) else draft.replaced(at.start(), at.end(), year)


@fault(*CLAIMS, needs_quotes=False, claimed_by="models")
def bound_changed(draft: Draft, chance: random.Random) -> Draft | None:
    """A count that its sources state becomes a lower bound above it."""
    found = [
        at for at in _figures(draft, _FIGURE) if at[0].isdigit() and not _YEAR.fullmatch(at[0])
    ]
    if not found:
        return None
    at = chance.choice(found)
    more = str(int(at[0]) + max(2, int(at[0]) // 3))
    if re.search(rf"(?<!\d){more}(?!\d)", _context(draft)):
        return None
    return draft.replaced(at.start(), at.end(), f"{lexicon(draft.language)['at_least']} {more}")


def _reworded(draft: Draft, table: str, chance: random.Random) -> Draft | None:
    """One turn of phrase of the answer's own replaced by its pair in a table of the lexicon."""
    text = _claims(draft)
    pairs = dict(lexicon(draft.language)[table])
    found = list(re.finditer(rf"(?<!\w)(?:{'|'.join(map(re.escape, pairs))})(?!\w)", text))
    if not found:
        return None
    at = chance.choice(found)
    return draft.replaced(at.start(), at.end(), pairs[at[0]])


@fault(*CLAIMS, needs_quotes=False, claimed_by="models")
def claim_denied(draft: Draft, chance: random.Random) -> Draft | None:
    """A statement of the answer's own with its negation added or taken away."""
    return _reworded(draft, "denied", chance)


@fault("overgeneralisation", *CLAIMS[:2], needs_quotes=False, claimed_by="models")
def overgeneralised(draft: Draft, chance: random.Random) -> Draft | None:
    """What some said, said of all."""
    return _reworded(draft, "general_claim", chance)


def _asked(draft: Draft, question: str) -> Draft:
    """The draft as an answer to another question."""
    given = draft.case.input.model_copy(update={"question": question})
    return replace(draft, case=draft.case.model_copy(update={"input": given}))


@fault("off_question", needs_quotes=False, claimed_by="models")
def answer_to_another_question(draft: Draft, chance: random.Random) -> Draft | None:
    """The whole answer, to a question about something else."""
    return _asked(draft, chance.choice(lexicon(draft.language)["other_questions"]))


@fault("language_mismatch", needs_quotes=False, claimed_by="models")
def question_in_another_language(draft: Draft, chance: random.Random) -> Draft | None:
    """The whole answer, to a question in another language than its own."""
    other = next(name for name in LANGUAGES if name != draft.language)
    return _asked(draft, lexicon(other)["question"])


@fault("boilerplate_answer", needs_quotes=False, claimed_by="models")
def made_boilerplate(draft: Draft, chance: random.Random) -> Draft | None:
    """Words that would do for any study, in the place of the answer."""
    if "must_abstain" in draft.case.metadata:
        return None
    return draft.rewritten(lexicon(draft.language)["boilerplate"])


# Right answers and abstentions


def _question(draft: Draft, *, must_abstain: bool) -> tuple[str, str] | None:
    """What is expected and the text that holds it, where the case must abstain or must not."""
    given = draft.case.metadata
    if given.get("must_abstain") is not must_abstain:
        return None
    return str(given.get("expected") or ""), str(given.get("support") or "")


@fault("false_answer", needs_quotes=False)
def abstention_made_guess(draft: Draft, chance: random.Random) -> Draft | None:
    """An answer where the sources hold none and the assistant had said so."""
    if not _question(draft, must_abstain=True):
        return None
    return draft.rewritten(chance.choice(lexicon(draft.language)["guesses"]))


@fault("false_refusal", needs_quotes=False)
def answer_made_abstention(draft: Draft, chance: random.Random) -> Draft | None:
    """An abstention where the sources hold the answer and the assistant had given it."""
    if not _question(draft, must_abstain=False):
        return None
    return draft.rewritten(chance.choice(lexicon(draft.language)["abstentions"]))


def _expected(draft: Draft, old: str, new: str) -> Draft | None:
    return draft.rewritten(draft.text.replace(old, new, 1)) if old in draft.text else None


@fault("wrong_answer", "unsupported_addition", needs_quotes=False)
def right_figure_changed(draft: Draft, chance: random.Random) -> Draft | None:
    """A figure of the right answer is another."""
    known = _question(draft, must_abstain=False)
    found = list(_FIGURE.finditer(known[0])) if known else []
    if not known or not found:
        return None
    old = chance.choice(found)[0]
    new = _other(old, chance, known[0] + known[1])
    return _expected(draft, old, new) if new else None


@fault("wrong_answer", "unsupported_addition", needs_quotes=False)
def right_name_changed(draft: Draft, chance: random.Random) -> Draft | None:
    """The name that is the right answer, replaced by another of the same text."""
    known = _question(draft, must_abstain=False)
    if not known or not known[0] or not _NAME.fullmatch(" " + known[0].rstrip("."), 1):
        return None
    right = set(known[0].casefold().split())
    asked = draft.case.input.question.casefold()
    others = [
        name
        for name in _NAME.findall(known[1])
        if not set(name.casefold().split()) & right and name.casefold() not in asked
    ]
    return _expected(draft, known[0], chance.choice(others)) if others else None


@fault("unsupported_addition", "wrong_answer", needs_quotes=False)
def addition(draft: Draft, chance: random.Random) -> Draft | None:
    """A statement beside the right answer that its text does not hold."""
    if not _question(draft, must_abstain=False):
        return None
    stop = "" if draft.text.rstrip()[-1:] in ".!?" else "."
    added = chance.choice(lexicon(draft.language)["guesses"])
    return draft.rewritten(f"{draft.text.rstrip()}{stop} {added}")


# How an answer ends


@fault("empty", needs_quotes=False)
def emptied(draft: Draft, chance: random.Random) -> Draft | None:
    """Nothing, or nothing but blanks."""
    return draft.rewritten(chance.choice(["", " ", "\n\n", "\u00a0"]))


@fault("truncated", needs_quotes=False, claimed_by="nobody")
def cut_short(draft: Draft, chance: random.Random) -> Draft | None:
    """Cut within a word, and the endpoint does not say so."""
    found = [at.start() for at in re.finditer(r"(?<=\w\w)\w", draft.own_words())]
    late = [at for at in found if at > len(draft.text) // 2]
    return draft.rewritten(draft.text[: chance.choice(late)]) if late else None


@fault("repeated", needs_quotes=False, claimed_by="nobody")
def repeated(draft: Draft, chance: random.Random) -> Draft | None:
    """The whole answer twice over."""
    return draft.rewritten(f"{draft.text}\n\n{draft.text}")


FAULTS: tuple[Kind, ...] = (
    figure_changed,
    date_changed,
    bound_changed,
    claim_denied,
    overgeneralised,
    answer_to_another_question,
    question_in_another_language,
    made_boilerplate,
    abstention_made_guess,
    answer_made_abstention,
    right_figure_changed,
    right_name_changed,
    addition,
    emptied,
    cut_short,
    repeated,
)
