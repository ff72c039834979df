"""Every quotable text of a study, indexed once, and the verdict on a quote."""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Literal, NamedTuple

from evals.quotes import language
from evals.quotes.boundary import find_whole, speaks
from evals.quotes.diagnose import (
    Closest,
    Edit,
    closest,
    describe,
    joined_parts,
    lookup_in,
    tokenise,
)
from evals.quotes.verify import Match, Needle, Source, Tier, exact, find

Diagnosis = Literal["translated", "altered", "elsewhere", "absent"]

HOLDERS = 20
"""Messages named, at most, for a quote that stands elsewhere."""
_ALTERED = 0.5
_ALTERED_FOREIGN = 0.75
"""From this similarity on a quote in another language is an edit, not a translation."""
_ALTERED_ELSEWHERE = 0.75
_ENOUGH_WORDS = 3
_CANDIDATES = 5

_WORD = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
    r"|[^\W_\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+"
)


class Verdict(NamedTuple):
    """How a quote stands to the messages cited for it."""

    tier: Tier
    passed: bool
    source_id: str | None
    """The message that the verdict is about: the one that has the words, or is closest."""
    source_start: int | None
    source_end: int | None
    """The passage of that message, in code points of its original text."""
    explanation: str
    """One sentence for an analyst."""
    diagnosis: Diagnosis | None = None
    difference: tuple[Edit, ...] = ()
    """For an altered quote: (operation, the quote's words, the message's words)."""
    warnings: tuple[str, ...] = ()
    holders: tuple[str, ...] = ()
    """For a quote found elsewhere: the messages that have it, at most ``HOLDERS``."""


_PASSED = {
    Tier.EXACT: "The quote is verbatim.",
    Tier.TYPOGRAPHIC: "The quote is verbatim up to typography (spaces, quotation marks, dashes).",
    Tier.EDGES: "The quote is verbatim up to its first capital or its final punctuation.",
    Tier.ELIDED: "The quote is verbatim, with its cuts marked.",
}


class QuoteIndex:
    """Texts by id, ready to tell whether quotes are verbatim.

    ``sources`` are (id, text); the first text of an id is kept, and ``duplicates`` names ids
    that came again with another text. ``languages`` gives the ISO 639-1 code of a text where
    it is known.
    """

    def __init__(
        self,
        sources: Iterable[tuple[str, str]],
        languages: Mapping[str, str | None] | None = None,
    ) -> None:
        self._sources: dict[str, Source] = {}
        self.duplicates: list[str] = []
        for source_id, text in sources:
            known = self._sources.setdefault(source_id, Source(text))
            if known.text != text:
                self.duplicates.append(source_id)
        self._languages = languages or {}

    def verify(self, quote: str, source_ids: Sequence[str] = ()) -> Verdict:
        """The verdict on ``quote`` against the texts cited; the best of them counts.

        With no id, or none that is known, every text is searched and nothing passes: words found
        are "elsewhere". An empty quote, or one without a word, is "absent".
        """
        found: Match | None = None
        holder = ""
        needle: Needle | None = None
        for source_id in source_ids if speaks(quote) else ():
            source = self._sources.get(source_id)
            if source is None:
                continue
            match = exact(quote, source.text)
            if match is None:
                needle = needle or Needle(quote)
                match = find(needle, source)
            if match and (found is None or match.tier < found.tier):
                found, holder = match, source_id
                if match.tier is Tier.EXACT:
                    break
        if found is None:
            return self._diagnose(quote, source_ids)
        start, end, tier, warnings = found
        return Verdict(tier, True, holder, start, end, _PASSED[tier], None, (), warnings)

    def _diagnose(self, quote: str, source_ids: Sequence[str]) -> Verdict:
        if not speaks(quote):
            return _absent("The quote is empty.")
        needle = Needle(quote)
        cited = {i: self._sources[i] for i in source_ids if i in self._sources}
        texts = {i: source.canonical for i, source in cited.items() if speaks(source.text)}
        holders = self._holders(needle, exclude=cited)
        enough = len(_WORD.findall(needle.canonical)) >= _ENOUGH_WORDS
        verdict = (
            (_elsewhere(holders, bool(cited)) if enough else None)
            or self._joined(needle, texts)
            or self._altered_or_translated(needle, texts)
            or _elsewhere(holders, bool(cited))
            or self._altered_elsewhere(needle, cited)
        )
        if verdict:
            return verdict
        if cited and not texts:
            return _absent(f"The message cited, {next(iter(cited))}, is empty.")
        where = "the messages cited" if len(cited) > 1 else f"{next(iter(cited), 'any message')}"
        return _absent(f"Nothing like the quote is in {where}.")

    def _joined(self, needle: Needle, texts: dict[str, str]) -> Verdict | None:
        near = lookup_in(texts)

        def lookup(run: str) -> tuple[str, int] | None:
            if found := near(run):
                return found
            for source_id in self._candidates(_WORD.findall(run)):
                at = find_whole(run, self._sources[source_id].canonical)
                if at >= 0:
                    return source_id, at
            return None

        parts = joined_parts(needle.canonical, lookup)
        if not parts:
            return None
        ids = tuple(dict.fromkeys(part.source_id for part in parts))
        first = parts[0]
        start, end = self._sources[first.source_id].span(first.at, first.at + len(first.text))
        seams = " | ".join(f"“{part.text}”" for part in parts)
        what = (
            f"joins words of {', '.join(ids)}"
            if len(ids) > 1
            else f"joins distant parts of {ids[0]}"
        )
        return Verdict(
            Tier.ALTERED,
            False,
            first.source_id,
            start,
            end,
            f"The quote {what} without marking the cut: {seams}.",
            "altered",
            holders=ids,
        )

    def _altered_or_translated(self, needle: Needle, texts: dict[str, str]) -> Verdict | None:
        """Translated where the languages differ and few words are the same, else altered."""
        source_id, near = self._closest(needle, texts) or ("", None)
        written = language.detect(needle.canonical)
        if written and (near is None or near.similarity < _ALTERED_FOREIGN):
            passage = near and language.detect(texts[source_id][near.start : near.end])
            if passage != written and (translated := self._translated(needle, written, texts)):
                return translated
        if near is None or near.similarity < _ALTERED:
            return None
        return self._alteration(needle, source_id, near, f"The quote differs from {source_id}")

    def _altered_elsewhere(self, needle: Needle, cited: Mapping[str, Source]) -> Verdict | None:
        votes: dict[str, float] = defaultdict(float)
        words = sorted(
            set(_words(needle.canonical)), key=lambda word: len(self._postings.get(word, ()))
        )
        for word in words[:8]:
            numbers = self._postings.get(word, array("I"))
            if len(numbers) <= 1000:
                for number in numbers:
                    votes[self._ids[number]] += 1 / (1 + len(numbers))
        texts = {
            i: self._sources[i].canonical
            for i, _ in sorted(votes.items(), key=lambda vote: -vote[1])[:_CANDIDATES]
            if i not in cited
        }
        best = self._closest(needle, texts)
        if best is None or best[1].similarity < _ALTERED_ELSEWHERE:
            return None
        which = ", which is not cited" if cited else ""
        return self._alteration(needle, *best, f"The quote differs from {best[0]}{which}")

    def _closest(self, needle: Needle, texts: dict[str, str]) -> tuple[str, Closest] | None:
        found = [
            (source_id, near)
            for source_id, text in texts.items()
            if (near := closest(needle.canonical, text))
        ]
        return max(found, key=lambda pair: pair[1].similarity, default=None)

    def _alteration(self, needle: Needle, source_id: str, near: Closest, opening: str) -> Verdict:
        start, end = self._sources[source_id].span(near.start, near.end)
        detail = (
            describe(near.edits, needle.canonical, self._sources[source_id].canonical)
            or "its words are cut or spaced differently"
        )
        return Verdict(
            Tier.ALTERED,
            False,
            source_id,
            start,
            end,
            f"{opening}: {detail}.",
            "altered",
            near.edits,
        )

    def _translated(self, needle: Needle, written: str, texts: dict[str, str]) -> Verdict | None:
        for source_id, text in texts.items():
            spoken = language.languages_in(self._sources[source_id].text)
            original = language.detect(text) or (self._languages.get(source_id) or "")[:2].lower()
            if (
                original
                and written not in (original, *spoken)
                and _may_render(needle.canonical, text)
            ):
                return Verdict(
                    Tier.TRANSLATED,
                    False,
                    source_id,
                    0,
                    len(self._sources[source_id].text),
                    f"The quote is in {language.NAMES[written]} and {source_id} in "
                    f"{language.NAMES.get(original, original)}: a translation, not the "
                    "respondent's words.",
                    "translated",
                )
        return None

    @cached_property
    def _ids(self) -> list[str]:
        return list(self._sources)

    @cached_property
    def _postings(self) -> dict[str, "array[int]"]:
        """For each word, in lower case, the numbers of the texts that have it, ascending."""
        postings: dict[str, array[int]] = {}
        for number, source in enumerate(self._sources.values()):
            for word in set(_words(source.canonical)):
                numbers = postings.get(word)
                if numbers is None:
                    postings[word] = array("I", (number,))
                else:
                    numbers.append(number)
        return postings

    def _candidates(self, words: Iterable[str]) -> Iterator[str]:
        """The ids of the texts that have all these words, in the order given."""
        lists = sorted(
            (self._postings.get(word.lower(), array("I")) for word in set(words)), key=len
        )
        if not lists:
            yield from self._sources
            return
        common: set[int] | None = None
        for numbers in lists:
            if common is not None and len(common) <= 8:
                break
            common = set(numbers) if common is None else common.intersection(numbers)
        for number in sorted(common or ()):
            yield self._ids[number]

    def _holders(self, needle: Needle, exclude: Mapping[str, Source]) -> list[tuple[str, Match]]:
        """The texts, the excluded apart, where the quote is verbatim: at most ``HOLDERS``."""
        readings = [needle.canonical, *(" ".join(read.fragments) for read in needle.elided)]
        for words in dict.fromkeys(tuple(_words(reading)) for reading in readings):
            found = (
                (source_id, match)
                for source_id in self._candidates(words)
                if source_id not in exclude and (match := find(needle, self._sources[source_id]))
            )
            if holders := list(islice(found, HOLDERS)):
                return holders
        return []


def _words(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


def _may_render(quote: str, source: str) -> bool:
    """Whether the quote has a length that a translation of the source, or of a part, can have."""
    mine, theirs = len(tokenise(quote)), len(tokenise(source))
    return mine <= 2.5 * theirs + 3


def _absent(explanation: str) -> Verdict:
    return Verdict(Tier.ABSENT, False, None, None, None, explanation, "absent")


def _elsewhere(holders: list[tuple[str, Match]], cited: bool) -> Verdict | None:
    if not holders:
        return None
    source_id, match = holders[0]
    others = len(holders) - 1
    more = f" and {others}{'+' if len(holders) == HOLDERS else ''} more" if others else ""
    explanation = (
        f"The words are verbatim in {source_id}{more}, not in what is cited."
        if cited
        else f"The words are verbatim in {source_id}{more}; no such message is cited."
    )
    return Verdict(
        Tier.ELSEWHERE,
        False,
        source_id,
        match.start,
        match.end,
        explanation,
        "elsewhere",
        warnings=match.warnings,
        holders=tuple(i for i, _ in holders),
    )
