"""Figures where they stand: each with its sentence, its clause, its names and its dates."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

from ancrage.claims.figures import figures
from ancrage.claims.markup import blocks, plain
from ancrage.claims.numerals import SPACES
from ancrage.claims.readings import Figure
from ancrage.claims.sentences import protected, sentences
from ancrage.claims.terms import Terms, concept, terms


@dataclass(frozen=True)
class FigureInContext:
    """A figure where it stands: its sentence, its clause, and what each is about."""

    figure: Figure
    sentence: str
    about: Terms
    nearby: Terms
    names: frozenset[str]
    """Entities of the sentence, of its heading and of what its pronoun stands for."""
    dates: tuple[Figure, ...]
    """Dates that qualify the figure: of its clause, or of its sentence."""


_BREAK = re.compile(
    r";|,(?!\d)|\b(?:and|but|while|whereas|et|mais|tandis que|alors que|contre|against|versus"
    r"|vs)\b",
    re.IGNORECASE,
)
_PRONOUN = re.compile(
    r"\W*(?:il|elle|ils|elles|it|he|she|they|ce dernier|cette dernière|celui-ci|celle-ci|this|its"
    r"|his|their|son|sa|ses|leur|leurs|le groupe|l['’]entreprise|la société|the company"
    r"|the group)\b",
    re.IGNORECASE,
)
_LONG = 1_000
DATES = ("date", "clock", "weekday")


@dataclass(frozen=True)
class Known:
    """The figures of a context, found by unit and by sentence."""

    places: tuple[FigureInContext, ...]

    def of(self, unit: str) -> Sequence[FigureInContext]:
        """Those of one unit."""
        return self._by_unit.get(unit, ())

    def beside(self, place: FigureInContext) -> Sequence[FigureInContext]:
        """Those of the sentence of one of them."""
        return self._by_sentence[place.sentence]

    @cached_property
    def _by_unit(self) -> dict[str, list[FigureInContext]]:
        found: dict[str, list[FigureInContext]] = {}
        for place in self.places:
            found.setdefault(place.figure.unit, []).append(place)
        return found

    @cached_property
    def _by_sentence(self) -> dict[str, list[FigureInContext]]:
        found: dict[str, list[FigureInContext]] = {}
        for place in self.places:
            found.setdefault(place.sentence, []).append(place)
        return found


@lru_cache(maxsize=8)
def known(context: str) -> Known:
    """The figures of a context, kept for a while: many claims are held against the same one."""
    return Known(tuple(places(_sentences(context), parts=True)))


def _sentences(text: str) -> list[str]:
    kept = protected(text)
    return [
        piece
        for block in blocks(text)
        for start, end in sentences(text, block.start, block.end, kept)
        for piece in pieces(plain(text[start:end]))
    ]


def pieces(sentence: str) -> Iterator[str]:
    """A sentence; what goes on for ``_LONG`` characters is no prose, and is cut between words, so
    that any text is read in linear time."""
    while len(sentence) > _LONG:
        cut = max(sentence.rfind(mark, 0, _LONG) for mark in (", ", "; "))
        cut = cut if cut > 0 else max(sentence.rfind(" ", 0, _LONG), 1)
        yield sentence[:cut]
        sentence = sentence[cut:].lstrip(",; ")
    yield sentence


def places(texts: Iterable[str], *, parts: bool = False) -> list[FigureInContext]:
    """The figures of ``texts``, sentences in a row; ``parts`` as for ``figures``."""
    places: list[FigureInContext] = []
    names: frozenset[str] = frozenset()
    for text in texts:
        text = text.translate(SPACES)
        found = figures(text, parts=parts)
        spans = tuple((f.start, f.end) for f in found)
        about = terms(text, spans)
        own = about.entities | {w for w in about.openers if not concept(w).startswith("#")}
        names = names | own if _PRONOUN.match(text) or not own else own
        cuts = _cuts(text, found)
        for figure in found:
            low, high = _clause(cuts, figure, len(text))
            inside = tuple((s - low, e - low) for s, e in spans if low <= s and e <= high)
            dates = [f for f in found if f.unit in DATES and f is not figure]
            near = tuple(f for f in dates if low <= f.start < high) or tuple(
                f for f in dates if f.start < low and not _figures_between(f, figure, found)
            )
            places.append(
                FigureInContext(figure, text, about, terms(text[low:high], inside), names, near)
            )
    return places


def _figures_between(first: Figure, second: Figure, found: Sequence[Figure]) -> bool:
    return any(f.unit in DATES and first.end <= f.start and f.end <= second.start for f in found)


def _cuts(text: str, found: Sequence[Figure]) -> list[int]:
    """Where clauses part: between two figures, at the first break after the earlier one."""
    breaks = [m.start() for m in _BREAK.finditer(text)]
    breaks = [b for b in breaks if not any(f.start <= b < f.end for f in found)]
    parted = [f for f in found if f.unit not in DATES] or list(found)
    firsts = (
        next((b for b in breaks if first.end <= b <= second.start), None)
        for first, second in pairwise(parted)
    )
    return [cut for cut in firsts if cut is not None]


def _clause(cuts: Sequence[int], figure: Figure, end: int) -> tuple[int, int]:
    low = max((c for c in cuts if c <= figure.start), default=0)
    high = min((c for c in cuts if c >= figure.end), default=end)
    return low, high
