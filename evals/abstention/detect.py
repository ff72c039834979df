"""Whether an answer abstains: sentence by sentence, by what it says and not by one word.

An answer abstains when it says that it has no answer and gives none. Quotes are left out, then
each sentence is cut into segments, and each segment is read: see ``Reading``. Any content makes it
an answer: a refusal followed by an answer answers, so does an answer followed by a caveat, and so
does a hedge.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum

from evals.abstention import wording as w
from evals.claims.figures import figures
from evals.claims.lexicon import LEXICON
from evals.claims.markup import blocks
from evals.claims.sentences import has_verb, protected, sentences
from evals.domain import Frozen, Passage
from evals.quotes import extract_quotes

DETECTOR_VERSION = "1.0.0"
"""Changes whenever the reading of some answer changes."""


class Reading(StrEnum):
    """What a segment of an answer is."""

    ABSTAINS = "abstains"
    COURTESY = "courtesy"
    """Says nothing: an apology, an offer, a label, a question back."""
    ASIDE = "aside"
    """Says nothing beside a refusal (advice, what the document speaks of instead)."""
    LEAD = "lead"
    """What the document does say, before it is said to say no more; content where nothing is."""
    CONTENT = "content"


class Abstention(Frozen):
    """How an answer was read."""

    abstained: bool | None
    """None when it says nothing either way: empty, or courtesies only."""
    reason: str
    evidence: Passage | None = None
    """The words that decided: those that abstain, or the content that makes it an answer."""
    content: tuple[Passage, ...] = ()
    """The segments that state something, in order."""


_LONG = 25
"""Words of a segment that is no mere refusal."""
_STOP = frozenset(re.findall(r"\w+", LEXICON["stop"]))


def fold(text: str) -> str:
    """``text`` in lower case without accents, character for character, apostrophes straight."""
    return "".join(_fold(character) for character in text)


def _fold(character: str) -> str:
    if character in "’‘ʼ′":
        return "'"
    if character.isspace() and character != "\n":
        return " "
    base = unicodedata.normalize("NFD", character)[0].lower()
    return base if len(base) == 1 else character


def detect(answer: str, question: str = "", expected: str = "") -> Abstention:
    """How ``answer`` is read: it abstains, it answers, or neither.

    ``question`` tells apart « Non, le contrat ne le mentionne pas » as an answer; ``expected``,
    where it says itself that there is nothing, makes the same words an answer.
    """
    if not re.search(r"\w", answer):
        return Abstention(abstained=None, reason="the answer is empty")
    shown = _without_quotes(answer)
    asked = fold(question).strip()
    known = {figure.text for figure in figures(question)}
    speaks_of_document = w.DOCUMENT.search(shown) is not None
    read: dict[Reading, list[Passage]] = {reading: [] for reading in Reading}
    for start, end in _segments(answer, shown):
        passage = Passage.of(answer, start, end)
        reading = _read(shown[start:end], speaks_of_document)
        if _new_figure(passage.text, known) and (
            reading in (Reading.ASIDE, Reading.LEAD) or w.HEDGE.search(shown, start, end)
        ):
            reading = Reading.CONTENT
        read[reading].append(passage)
    abstaining, content = read[Reading.ABSTAINS], read[Reading.CONTENT]
    end = abstaining[-1].start if abstaining else -1
    content += [each for each in read[Reading.LEAD] if each.start > end]
    content += [] if abstaining else read[Reading.ASIDE]
    content.sort(key=lambda passage: passage.start)
    doubtful = content and not abstaining and all(_doubtful(c, shown, known) for c in content)
    if doubtful and not _is_an_answer(shown, asked, expected):
        return Abstention(
            abstained=None,
            reason="it may be a refusal in words that are not known",
            evidence=content[0],
            content=tuple(content),
        )
    if content:
        return Abstention(
            abstained=False,
            reason="it states something beside the refusal"
            if abstaining
            else "it states an answer",
            evidence=content[0],
            content=tuple(content),
        )
    if not abstaining:
        excused = any(w.EXCUSES.search(fold(each.text)) for each in read[Reading.COURTESY])
        return Abstention(
            abstained=True if excused else None,
            reason="it only apologises" if excused else "it says nothing but courtesies",
        )
    if why := _is_an_answer(shown, asked, expected):
        whole = Passage.of(answer, abstaining[0].start, abstaining[-1].end)
        return Abstention(abstained=False, reason=why, evidence=whole, content=(whole,))
    return Abstention(
        abstained=True, reason="it says that it has no answer", evidence=abstaining[0]
    )


def _is_an_answer(shown: str, asked: str, expected: str) -> str | None:
    """Why saying that there is nothing is the answer here, or None."""
    polar = w.POLAR.search(asked) and not w.WH.search(asked) and not w.ASKED_OF_YOU.search(asked)
    if polar and w.YES_NO.match(shown):
        return "it answers the question with yes or no"
    if polar and w.ABOUT_DOCUMENT.search(asked):
        return "the question asks whether the document says so"
    if expected:
        wanted = fold(expected)
        absent = w.ABSENCE.match(wanted) or w.ABSTAINS.search(wanted)
        told = _tokens(wanted) if absent else _tokens(wanted) - _tokens(asked) - _STOP
        if told and len(told & _tokens(shown)) / len(told) > (0.4 if absent else 0.6):
            return "it says what is expected: that there is nothing"
    return None


def _tokens(text: str) -> set[str]:
    return set(re.findall(r"\w{2,}", text))


def _without_quotes(answer: str) -> str:
    """``answer`` folded, its quotes blanked; a quote that is the whole answer is kept."""
    shown = list(fold(answer).replace("*", " ").replace("_", " ").replace("`", " "))
    blanked = shown[:]
    for quote in extract_quotes(answer):
        if quote.family != ">":
            blanked[quote.start : quote.end] = " " * (quote.end - quote.start)
    label = re.compile(r"\W*(?:(?:answer|reponse)\W*)?")
    return "".join(shown if label.fullmatch("".join(blanked)) else blanked)


def _segments(answer: str, shown: str) -> Iterator[tuple[int, int]]:
    """The spans that are read one by one."""
    kept = protected(answer)
    for block in blocks(answer):
        for start, end in sentences(answer, block.start, block.end, kept):
            last = start
            cuts = [m.span() for m in w.BREAK.finditer(shown, start, end)]
            for low, high in [*cuts, (end, end)]:
                yield from _pieces(answer, shown, last, low)
                last = high


def _pieces(answer: str, shown: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A segment cut at the commas after which something stands alone."""
    last = start
    for m in re.finditer(r",\s+", shown[start:end]):
        after = start + m.end()
        following = shown[after:end]
        comma = following.find(", ")
        piece = answer[after : end if comma < 0 else after + comma]
        if w.CONTINUES.match(following) or not has_verb(piece):
            continue
        yield last, start + m.start()
        last = after
    yield last, end


def _read(segment: str, speaks_of_document: bool) -> Reading:
    whole = re.sub(r"\s+", " ", segment).strip(" .,!…\"'«»“”-")
    said = w.OPENER.sub("", whole)
    if not re.search(r"\w", said):
        return Reading.COURTESY
    found = w.ABSTAINS.search(said) or (
        w.ABSTAINS_BY_PRONOUN.search(said) if speaks_of_document else None
    )
    if found:
        before, tail = said[: found.end()], said[found.end() :].partition(", ")[2]
        turned = (
            w.UNDENIED.search(before)
            or w.REPORTED.search(said)
            or w.ATTRIBUTED.search(before)
            or w.CLAUSE.match(said)
        )
        if (
            turned
            or w.CONDITION.search(whole[: whole.find(found[0]) + len(found[0])])
            or w.HEDGE.search(tail)
        ):
            return Reading.CONTENT
        return Reading.ABSTAINS
    if w.IS_COURTESY.search(said):
        return Reading.COURTESY
    if segment.rstrip().endswith("?"):
        return Reading.COURTESY
    if w.IS_ADVICE.search(said) or w.IS_SCOPE.search(said):
        return Reading.ASIDE
    return Reading.LEAD if w.IS_LEAD.search(said) else Reading.CONTENT


def _doubtful(passage: Passage, shown: str, known: set[str]) -> bool:
    """Whether a passage denies something of what is read or asked, and tells no figure."""
    said = shown[passage.start : passage.end].strip(" .,!…\"'«»“”-")
    if not (w.DENIAL.search(said) and w.READING.search(said)) or len(said.split()) > _LONG:
        return False
    stated = w.CLAUSE.match(said) or w.CONDITION.search(said) or w.HEDGE.search(said)
    return not stated and not _new_figure(passage.text, known)


def _new_figure(text: str, known: set[str]) -> bool:
    return any(figure.text not in known for figure in figures(text))
