"""What speaks for a citation being that of the quote before it, or of the one after it."""

import re
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ancrage.citations.answer import TIGHT
from ancrage.citations.model import Citation
from ancrage.quotes.surface import BLANK, PAD

GLOSS = re.compile(
    r"[\s*_,;]*[(\[—–=-][\s*_]*(?:trad(?:uction|uit)?\b|translat(?:ion|ed)\b|in English\b"
    r"|en français\b|en anglais\b|in French\b|i\.e\.|soit\b|c['’]est-à-dire)[^()\n]{0,30}",
    re.IGNORECASE,
)
"""What announces the translation of the quote before: « … » (traduction : “…”)."""
_LEAD = BLANK + ">*_:\\—–-|()]"
_SENTENCE_END = re.compile(r"[.!?…][\s\u2060]|\n[ \t>]*\n")
_SPEECH = (
    r"(?:di(?:t|sent|sait|saient|ra)|écri(?:t|vent|vait)|expli(?:que|quent|quait)|résum(?:e|ent)"
    r"|raconte(?:nt)?|confie(?:nt)?|témoigne(?:nt)?|affirme(?:nt)?|déclare(?:nt)?|souligne(?:nt)?"
    r"|ajoute(?:nt)?|précise(?:nt)?|regrette(?:nt)?|déplore(?:nt)?|note(?:nt)?|indique(?:nt)?"
    r"|répond(?:ent)?|estime(?:nt)?|évoque(?:nt)?|demande(?:nt)?|lance(?:nt)?|conclu(?:t|ent)"
    r"|reconnaît|insiste|tranche|nuance|rapporte|mentionne(?:nt)?|décri(?:t|vent)|juge(?:nt)?|trouve(?:nt)?"
    r"|parle(?:nt)? de|selon|d['’]après|pour|says?|said|writes?|wrote|explains?|explained|puts?"
    r"|sums?|tells?|told|adds?|added|complains?|complained|notes?|noted|states?|stated|reports?"
    r"|reported|admits?|asks?|asked|comments?|commented|describes?|described|replies|replied"
    r"|answers?|answered|calls?|mentions?|mentioned|according to|as|from|by|finds?|feels?|thinks?)"
)
SPEECH = re.compile(rf"(?<!\w){_SPEECH}(?!\w)", re.IGNORECASE)
_PARAPHRASE = re.compile(
    rf"(?<!\w){_SPEECH}\s+(?:\w+\s+){{0,2}}(?:que|qu['’]\w*|that|how|comment|si|if|whether|why)(?!\w)",
    re.IGNORECASE,
)
_OPENS_ASIDE = re.compile(rf"[\s*_{PAD}]*(?:[,(—–]|-\s|{_SPEECH}(?!\w))", re.IGNORECASE)
_LONG = 4
"""Words from which a quote may take a citation that only its sentence shares with it."""
_ASIDE, _SENTENCE = 140, 90
"""Characters of attribution, or of plain sentence, between a quote and its citation."""


@dataclass(slots=True)
class Candidate:
    """A quote on its way to its citations."""

    start: int
    end: int
    inner_start: int
    inner_end: int
    family: str
    block: int = -1
    citations: tuple[Citation, ...] = ()
    rule: str | None = None
    mention: str | None = None
    words: int = 0


@dataclass(slots=True)
class Group:
    """Quotes that share what is cited for them, or citations of one quote."""

    quotes: list[Candidate]
    citations: list[Citation]

    @property
    def start(self) -> int:
        return (self.quotes or self.citations)[0].start

    @property
    def end(self) -> int:
        return (self.quotes or self.citations)[-1].end


class Choice(NamedTuple):
    """Where a citation may belong, and how well that reads."""

    score: float
    rule: str = ""
    where: Literal["none", "after", "before", "split"] = "none"
    """After the quote that it is of, before it, or the last citation before and the rest after."""


NONE = Choice(0.0)


class Pairing(NamedTuple):
    """Weighs the words between quotes and citations of an answer."""

    text: str
    gaps: str
    """The text with citations that cite no message blanked."""

    def after(self, before: Group | None, group: Group, lean: float) -> Choice | None:
        if before is None:
            return None
        gap = self.gaps[before.end : group.start]
        quote = before.quotes[-1]
        if quote.citations:
            return None
        if not gap.strip(TIGHT):
            score = 4.0 if "\n" in gap else 3.0 if ":" in gap else 6.0
            return Choice(score + lean, "right after", "after")
        if len(gap) > _ASIDE or _SENTENCE_END.search(gap.rstrip()) or _PARAPHRASE.search(gap):
            return None
        if GLOSS.match(gap):
            return Choice(5.0 + lean, "after its translation", "after")
        if _OPENS_ASIDE.match(gap) and (quote.words >= _LONG or SPEECH.search(gap)):
            return Choice(3.5 + lean, "after the attribution", "after")
        if quote.words >= _LONG and len(gap) <= _SENTENCE:
            return Choice(2.0 + lean, "in the sentence", "after")
        return None

    def before(self, group: Group, after: Group | None, lean: float) -> Choice | None:
        if after is None or after.quotes[0].citations:
            return None
        gap = self.gaps[group.end : after.start]
        if not gap.strip(_LEAD):
            score = 5.0 if ":" in gap else 4.5 if gap.strip() and "\n" not in gap else 3.0
            if "\n" in gap and ":" not in gap and not self._begins_line(group.start):
                score = 0.5
            return Choice(score + lean, "leads to it", "before")
        if len(gap) > _ASIDE or _SENTENCE_END.search(gap):
            return None
        ends = gap.rstrip(" \t\r\n>*_([" + PAD)
        if ends.endswith(":") or SPEECH.search(gap):
            paraphrase = _PARAPHRASE.search(gap) and not ends.endswith((":", "que", "that"))
            if not paraphrase or after.quotes[0].words >= _LONG:
                return Choice(4.0 + lean, "introduces it", "before")
        if after.quotes[0].words >= _LONG and len(gap) <= _SENTENCE:
            return Choice(2.0 + lean, "in the sentence", "before")
        return None

    def split(self, before: Group | None, group: Group, after: Group | None) -> Choice | None:
        """Two brackets between two quotes: the first is of the one, the last leads to the other."""
        if before is None or after is None or len(group.citations) < 2:
            return None
        first = self.after(before, Group([], group.citations[:1]), 0.0)
        last = self.before(Group([], group.citations[-1:]), after, 0.0)
        if not first or not last or last.score < 4.0:
            return None
        return Choice(first.score + last.score, last.rule, "split")

    def _begins_line(self, at: int) -> bool:
        begin = max(0, at - 60)
        margin = self.text[self.text.rfind("\n", begin, at) + 1 : at]
        return len(margin) < 60 and not margin.strip(" \t>*_#[\\•—–-+" + PAD)
