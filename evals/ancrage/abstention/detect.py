"""Whether an answer abstains: sentence by sentence, by what it says and not by one word.

An answer abstains when it says that it has no answer and gives none. Quotes are left out, then
each sentence is cut into clauses, and each clause is read: see ``Reading``. What a refusal gives as
its ground, and what it says the document speaks of instead, is no content. Any content makes it an
answer: a refusal followed by an answer answers, so do an answer with a caveat and a hedge.
"""

import re
import unicodedata
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple

from ancrage.abstention import wording as w
from ancrage.claims.figures import figures
from ancrage.claims.lexicon import LEXICON
from ancrage.claims.markup import blocks
from ancrage.claims.sentences import has_verb, protected, sentences
from ancrage.domain import Frozen, Passage
from ancrage.quotes import extract_quotes

DETECTOR_VERSION = "2.0.0"
"""Changes whenever the reading of some answer changes."""


class Reading(StrEnum):
    """What a segment of an answer is."""

    ABSTAINS = "abstains"
    COURTESY = "courtesy"
    """Says nothing: an apology, an offer, a label, a question back."""
    ASIDE = "aside"
    """Advice: says nothing beside a refusal."""
    SCOPE = "scope"
    """What the document is limited to."""
    LEAD = "lead"
    """What the document does say; content unless a refusal stands beside it."""
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


_ITEM = re.compile(r"\n\s*(?:[-*•–]|\d+[.)])\s*$")
_READ = 400
"""Code points of a clause within which it shows what it is; bounds the time of a search."""
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


class _Clause(NamedTuple):
    passage: Passage
    said: str
    """Folded, from its connective on."""
    reading: Reading
    listed: bool
    """Whether it is an item of a list, under the clause before."""


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
    clauses = _clauses(answer, shown)
    abstaining = [c.passage for c in clauses if c.reading is Reading.ABSTAINS]
    content = list(_content(clauses, known, w.QUANTITY.search(asked) is not None))
    narrow = [c.passage for c in clauses if c.reading is Reading.SCOPE]
    open_question = not w.ABOUT_DOCUMENT.search(asked) and not w.POLAR.search(asked)
    if not abstaining and narrow and not content and open_question:
        abstaining = narrow
    elif not abstaining:
        content += [c.passage for c in clauses if c.reading in (Reading.ASIDE, Reading.SCOPE)]
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
        courtesies = [c.said for c in clauses if c.reading is Reading.COURTESY]
        excused = any(w.EXCUSES.search(said) for said in courtesies)
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


def _clauses(answer: str, shown: str) -> list[_Clause]:
    speaks_of_document = w.DOCUMENT.search(shown) is not None
    clauses: list[_Clause] = []
    head = Reading.COURTESY
    for start, end in _segments(answer, shown):
        said = shown[start:end]
        reading = _read(said, speaks_of_document)
        listed = False
        if clauses:
            before = clauses[-1]
            between = answer[before.passage.end : start]
            above = ":" in answer[before.passage.end - 1 : before.passage.end + 2]
            listed = "\n" in between and (above or before.listed) and bool(_ITEM.search(between))
        if not listed:
            head = reading
        elif reading is Reading.ABSTAINS and head in (Reading.LEAD, Reading.CONTENT):
            reading = Reading.CONTENT
        clauses.append(_Clause(Passage.of(answer, start, end), said, reading, listed))
    return clauses


def _content(clauses: list[_Clause], known: set[str], quantity: bool) -> Iterator[Passage]:
    """The clauses that state something of what is asked, and not only what is read instead."""
    refusals = [i for i, c in enumerate(clauses) if c.reading is Reading.ABSTAINS]
    under = Reading.CONTENT
    for i, clause in enumerate(clauses):
        reading = clause.reading
        if clause.listed and under is not Reading.CONTENT:
            continue
        under = reading
        if reading is Reading.LEAD:
            told = not refusals or (
                i > refusals[0]
                and not any(i < refusal for refusal in refusals)
                and (
                    w.CONTRAST.search(clause.said)
                    or (quantity and _new_figure(clause.passage.text, known))
                )
            )
        else:
            told = reading is Reading.CONTENT and not _is_ground(clauses, i)
        if told:
            yield clause.passage
            under = Reading.CONTENT


def _is_ground(clauses: list[_Clause], i: int) -> bool:
    """Whether a clause only says why there is no answer: "..., so I cannot say"."""
    after = clauses[i + 1] if i + 1 < len(clauses) else None
    if after and after.reading is Reading.ABSTAINS and w.RESULT.search(after.said):
        return True
    before = clauses[i - 1] if i else None
    return bool(before and before.reading is Reading.ABSTAINS and w.CAUSE.search(clauses[i].said))


def _is_an_answer(shown: str, asked: str, expected: str) -> str | None:
    """Why saying that there is nothing is the answer here, or None."""
    polar = w.POLAR.search(asked) and not w.WH.search(asked) and not w.ASKED_OF_YOU.search(asked)
    if polar and w.YES_NO.match(shown):
        return "it answers the question with yes or no"
    fault = w.ASKS_FAULT.search(asked)
    lacking = w.ASKS_LACK.search(asked) or (fault and fault[0] not in shown)
    if not polar and lacking and _tokens(w.NEUTRAL.sub(" ", shown)) - _tokens(asked) - _STOP:
        return "the question asks for what is lacking"
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
                if low > last:
                    yield from _pieces(answer, shown, last, low)
                last = high


def _pieces(answer: str, shown: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """A segment cut at the commas after which something stands alone."""
    last = start
    for m in re.finditer(r",\s+", shown[start:end]):
        after = start + m.end()
        comma = shown.find(", ", after, end)
        piece = answer[after : end if comma < 0 else comma]
        if w.CONTINUES.match(shown, after, end) or not has_verb(piece):
            continue
        yield last, start + m.start()
        last = after
    yield last, end


def _read(segment: str, speaks_of_document: bool) -> Reading:
    whole = re.sub(r"\s+", " ", segment[:_READ]).strip(" .,:!…\"'«»“”-")
    if w.IS_COURTESY.search(whole):
        return Reading.COURTESY
    said = whole
    while (shorter := w.OPENER.sub("", said, count=1)) != said:
        if _abstains(said, speaks_of_document):
            break
        said = shorter
    if not re.search(r"\w", said):
        return Reading.COURTESY
    found = _abstains(said, speaks_of_document)
    if found:
        tail = said[found.end() :].partition(", ")[2]
        turned = (
            w.UNDENIED.search(said[: found.end()])
            or w.CLAUSE.search(whole)
            or w.CONDITION.search(whole)
            or w.HEDGE.search(tail)
        )
        return Reading.CONTENT if turned else Reading.ABSTAINS
    if w.IS_COURTESY.search(said) or segment.rstrip().endswith("?"):
        return Reading.COURTESY
    if w.IS_ADVICE.search(whole) or w.IS_ADVICE.search(said):
        return Reading.ASIDE
    if w.IS_SCOPE.search(said):
        return Reading.SCOPE
    if w.IS_LEAD.search(said) or (speaks_of_document and w.IS_LEAD_BY_PRONOUN.search(said)):
        return Reading.LEAD
    return Reading.CONTENT


def _abstains(said: str, speaks_of_document: bool) -> re.Match[str] | None:
    return w.ABSTAINS.search(said) or (
        w.ABSTAINS_BY_PRONOUN.search(said) if speaks_of_document else None
    )


def _doubtful(passage: Passage, shown: str, known: set[str]) -> bool:
    """Whether a passage denies something of what is read or asked, and tells no figure."""
    said = shown[passage.start : passage.end].strip(" .,!…\"'«»“”-")
    if not (w.DENIAL.search(said) and w.READING.search(said)) or len(said.split()) > _LONG:
        return False
    stated = w.CLAUSE.search(said) or w.CONDITION.search(said) or w.HEDGE.search(said)
    return not stated and not _new_figure(passage.text, known)


def _new_figure(text: str, known: set[str]) -> bool:
    return any(figure.text not in known for figure in figures(text))
