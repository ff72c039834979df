"""Every quotable text of a study, indexed once, and the verdict on a quote."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from ancrage.quotes import language
from ancrage.quotes.boundary import find_whole, has_content
from ancrage.quotes.diagnose import (
    Closest,
    closest,
    describe,
    tokenise,
)
from ancrage.quotes.distortion import Distortion, distortion, marked_distortion
from ancrage.quotes.elision import (
    MAXIMUM_ELISION,
    Elided,
    locate,
    read_elisions,
)
from ancrage.quotes.normalise import canonical
from ancrage.quotes.seams import joined_parts, lookup_in, shares_a_run
from ancrage.quotes.verdict import HOLDERS, PASSED, QuoteVerdict, absent, found_elsewhere
from ancrage.quotes.verify import (
    Match,
    Needle,
    QuoteTier,
    SourceText,
    exact,
    find,
    needle_of,
    without_markup,
)
from ancrage.quotes.words import WordIndex, words

_ALTERED = 0.5
_ALTERED_FOREIGN = 0.75
"""From this similarity on a quote in another language is an edit, not a translation."""
_ALTERED_ELSEWHERE = 0.75
_PLAIN_EDIT = 0.85
"""From this similarity on the differences are edits of one passage, not a seam."""
_LONG_RUN = 14
"""Characters from which words of a message that is not cited count as taken from it."""
_ENOUGH_WORDS = 3
"""Fewer words stand in many messages by chance: a near match in the cited one counts first."""
_CANDIDATES = 5
_TOLD = 20_000
"""Characters that tell whether a message is long enough to be what was translated."""
_LOOSEST = 10
"""Characters, in all, of the fragments of a quote whose only fault may be its cuts."""
_BEFORE = 40
"""Characters before a passage that tell whether it begins a sentence."""
_READY = 4096
"""Texts held in canonical form; the others are made ready again when they are looked at."""
_PLACES = 8
"""Places of a message where the same words are looked at."""


class Nearest(NamedTuple):
    source_id: str
    passage: Closest


class QuoteIndex:
    """Texts by id, ready to tell whether quotes are verbatim.

    ``sources`` are (id, text); the first text of an id is kept, and ``duplicates`` names ids
    that came again with another text. ``languages`` gives the ISO 639-1 code of a text where
    it is known. Where a quote fails, all texts are looked through by way of an index of their
    words: the file ``index_path`` that processes share, or a temporary one.
    """

    def __init__(
        self,
        sources: Iterable[tuple[str, str]],
        languages: Mapping[str, str | None] | None = None,
        index_path: Path | None = None,
    ) -> None:
        self._texts: dict[str, str] = {}
        self.duplicates: list[str] = []
        for source_id, text in sources:
            if self._texts.setdefault(source_id, text) != text:
                self.duplicates.append(source_id)
        self._languages = languages or {}
        self._index_path = index_path
        self._source = lru_cache(maxsize=_READY)(self._made_ready)

    def _made_ready(self, source_id: str) -> SourceText:
        return SourceText(self._texts[source_id])

    def verify(self, quote: str, source_ids: Sequence[str] = ()) -> QuoteVerdict:
        """The verdict on ``quote`` against the texts cited; the best of them counts.

        With no id, or none that is known, every text is searched and nothing passes: words found
        are "elsewhere". An empty quote, or one without a word, is "absent".
        """
        return self.verbatim(quote, source_ids) or self._diagnose(quote, source_ids)

    def verbatim(self, quote: str, source_ids: Sequence[str]) -> QuoteVerdict | None:
        """The verdict where ``quote`` stands in one of the texts cited; None where it fails."""
        found: Match | None = None
        holder = ""
        needle: Needle | None = None
        for source_id in source_ids if has_content(quote) else ():
            if source_id not in self._texts:
                continue
            source = self._source(source_id)
            match = exact(quote, source.text)
            if match is None:
                needle = needle or needle_of(quote)
                match = find(needle, source)
            if match and (found is None or match.tier < found.tier):
                found, holder = match, source_id
                if match.tier is QuoteTier.EXACT:
                    break
        if found is None:
            return None
        start, end, tier, warnings = found
        return QuoteVerdict(tier, True, holder, start, end, PASSED[tier], None, (), warnings)

    def distorted(self, quote: str, verdict: QuoteVerdict, around: str = "") -> Distortion | None:
        """What the cut of a verbatim quote left out or changed; None where it holds.

        ``around`` is the rest of the quote's sentence, which can give back what was left out.
        """
        source = self._source(verdict.source_id or "")
        text = source.canonical
        needle = needle_of(quote)
        if verdict.tier is QuoteTier.ELIDED:
            found = None
            for elided in needle.elided:
                if match := locate(elided, text):
                    found = marked_distortion(elided, match.spans, text, needle.canonical, around)
                    return found and self._placed(found, source)
        found = None
        for reading in needle.readings():
            at, count = find_whole(reading, text), 0
            while at >= 0 and count < _PLACES:
                found = distortion(text, at, at + len(reading), needle.canonical, around)
                if found is None:
                    return None
                at, count = find_whole(reading, text, at + 1), count + 1
            if found:
                break
        return found and self._placed(found, source)

    def loosely(
        self, quote: str, source_ids: Sequence[str], around: str = ""
    ) -> tuple[QuoteVerdict, Distortion | None] | None:
        """A quote whose words stand, in order and nearly together, but for its cuts and brackets.

        The tier is that of a marked cut. None where words differ, or where nothing but the
        length of the fragments speaks against the cut.
        """
        elided = read_elisions(without_markup(quote), loose=True)
        if elided is None or sum(map(len, elided.fragments)) < _LOOSEST:
            return None
        for source_id in source_ids:
            if source_id not in self._texts:
                continue
            source = self._source(source_id)
            match = locate(elided, source.canonical, loose=True)
            if not match:
                continue
            found = marked_distortion(
                elided, match.spans, source.canonical, canonical(quote), around
            )
            glossed = not any(gap.strip() for gap in match.gaps)
            if found is None and not glossed:
                continue
            start, end = source.span(match.start, match.end)
            verdict = QuoteVerdict(
                QuoteTier.ELIDED, True, source_id, start, end, PASSED[QuoteTier.ELIDED]
            )
            return verdict, found and self._placed(found, source)
        return None

    def holder(self, quote: str) -> str | None:
        """The first text that has ``quote`` verbatim, or None."""
        holders = self._holders(needle_of(quote), exclude={}) if has_content(quote) else ()
        return holders[0][0] if holders else None

    def _placed(self, found: Distortion, source: SourceText) -> Distortion:
        start, end = source.span(found.start, max(found.start + 1, found.end))
        return found._replace(start=start, end=end)

    def _diagnose(self, quote: str, source_ids: Sequence[str]) -> QuoteVerdict:
        if not has_content(quote):
            return absent("The quote is empty.")
        needle = needle_of(quote)
        cited = {i: self._source(i) for i in source_ids if i in self._texts}
        texts = {i: source.canonical for i, source in cited.items() if has_content(source.text)}
        holders = self._holders(needle, exclude=cited)
        elsewhere = found_elsewhere(holders, bool(cited))
        if elsewhere and len(words(needle.canonical)) >= _ENOUGH_WORDS:
            return elsewhere
        reading = _reading_at_fault(needle, texts)
        nearest = _nearest(reading, texts)
        verdict = (
            self._joined(needle, texts, nearest)
            or self._translated(needle, texts, nearest)
            or self._altered(reading, nearest, _ALTERED)
            or elsewhere
            or self._altered_elsewhere(needle, cited)
        )
        if verdict:
            return verdict
        if cited and not texts:
            return absent(f"The message cited, {next(iter(cited))}, is empty.")
        where = "the messages cited" if len(cited) > 1 else next(iter(cited), "any message")
        return absent(f"Nothing like the quote is in {where}.")

    def _joined(
        self, needle: Needle, texts: dict[str, str], nearest: Nearest | None
    ) -> QuoteVerdict | None:
        if nearest and nearest.passage.similarity >= _PLAIN_EDIT:
            return None
        near = lookup_in(texts)

        def lookup(run: str) -> tuple[str, int] | None:
            if found := near(run):
                return found
            if len(run) < _LONG_RUN:
                return None
            for number in self._words.having(words(run)):
                at = find_whole(run, self._source(self._ids[number]).canonical)
                if at >= 0:
                    return self._ids[number], at
            return None

        parts = joined_parts(needle.canonical, lookup)
        if not parts:
            return None
        ids = tuple(dict.fromkeys(part.source_id for part in parts))
        first = parts[0]
        start, end = self._source(first.source_id).span(first.at, first.at + len(first.text))
        seams = " | ".join(f"“{part.text}”" for part in parts)
        what = (
            f"joins words of {' and '.join(ids)}"
            if len(ids) > 1
            else f"joins distant parts of {ids[0]}"
        )
        how = (
            f"by a cut that must stay in order, within one message and {MAXIMUM_ELISION} characters"
            if needle.elided
            else "without marking the cut"
        )
        return QuoteVerdict(
            QuoteTier.ALTERED,
            False,
            first.source_id,
            start,
            end,
            f"The quote {what} {how}: {seams}.",
            "altered",
            holders=ids,
        )

    def _altered(
        self, quote: str, nearest: Nearest | None, minimum: float, note: str = ""
    ) -> QuoteVerdict | None:
        if nearest is None or nearest.passage.similarity < minimum:
            return None
        source_id, passage = nearest
        source = self._source(source_id)
        start, end = source.span(passage.start, passage.end)
        before = max(0, passage.start - _BEFORE)
        detail = (
            describe(passage.edits, quote, source.canonical[before : passage.end])
            or "its words are cut or spaced differently"
        )
        return QuoteVerdict(
            QuoteTier.ALTERED,
            False,
            source_id,
            start,
            end,
            f"The quote differs from {source_id}{note}: {detail}.",
            "altered",
            passage.edits,
        )

    def _altered_elsewhere(
        self, needle: Needle, cited: Mapping[str, SourceText]
    ) -> QuoteVerdict | None:
        numbers = self._words.sharing(words(needle.canonical), _CANDIDATES)
        ids = [self._ids[number] for number in numbers]
        texts = {i: self._source(i).canonical for i in ids if i not in cited}
        note = ", which is not cited" if cited else ""
        quote = needle.canonical
        return self._altered(quote, _nearest(quote, texts), _ALTERED_ELSEWHERE, note)

    def _translated(
        self, needle: Needle, texts: dict[str, str], nearest: Nearest | None
    ) -> QuoteVerdict | None:
        """Where the quote's language is not among the message's, and few words are the same.

        Whether the words say the same thing is not established: a quote made up in another
        language than the message is told apart only by its length.
        """
        if nearest and nearest.passage.similarity >= _ALTERED_FOREIGN:
            return None
        written = language.detect(needle.canonical)
        if written is None or shares_a_run(needle.canonical, texts):
            return None
        for source_id, text in texts.items():
            held = self._source(source_id)
            source = held.text
            known = (self._languages.get(source_id) or "")[:2].lower()
            original = held.language or known
            foreign = original and written not in (original, *held.languages)
            if foreign and len(tokenise(needle.canonical)) <= 2.5 * len(tokenise(text[:_TOLD])) + 3:
                return QuoteVerdict(
                    QuoteTier.TRANSLATED,
                    False,
                    source_id,
                    0,
                    len(source),
                    f"The quote is in {language.NAMES[written]} and {source_id} in "
                    f"{language.NAMES.get(original, original)}: a translation, not the "
                    "respondent's words.",
                    "translated",
                )
        return None

    @cached_property
    def _ids(self) -> list[str]:
        return list(self._texts)

    @cached_property
    def _words(self) -> WordIndex:
        return WordIndex(self._texts.values(), self._index_path)

    def _holders(
        self, needle: Needle, exclude: Mapping[str, SourceText]
    ) -> list[tuple[str, Match]]:
        """The texts, the excluded apart, where the quote is verbatim: at most ``HOLDERS``."""
        readings = [needle.canonical, *(" ".join(read.fragments) for read in needle.elided)]
        for wanted in dict.fromkeys(tuple(words(reading)) for reading in readings):
            ids = (self._ids[number] for number in self._words.having(wanted))
            found = (
                (source_id, match)
                for source_id in ids
                if source_id not in exclude and (match := find(needle, self._source(source_id)))
            )
            if holders := list(islice(found, HOLDERS)):
                return holders
        return []


def _reading_at_fault(needle: Needle, texts: Mapping[str, str]) -> str:
    """The quote in canonical form; of a quote with marked cuts the first part that fails alone."""
    for elided in needle.elided:
        for fragment in elided.fragments:
            alone = Elided((fragment,), ())
            if not any(locate(alone, text) for text in texts.values()):
                return fragment
    return needle.canonical


def _nearest(quote: str, texts: Mapping[str, str]) -> Nearest | None:
    """The passage closest to the quote among canonical texts, or None without any word alike."""
    found = (
        Nearest(source_id, passage)
        for source_id, text in texts.items()
        if (passage := closest(quote, text))
    )
    return max(found, key=lambda near: near.passage.similarity, default=None)
