"""The quotes and citations of an answer, each quote with the citations that are its own."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence

from ancrage.citations import notes
from ancrage.citations.answer import TIGHT, AnswerText
from ancrage.citations.attribute import attribute
from ancrage.citations.candidates import candidates
from ancrage.citations.faults import cite_faults
from ancrage.citations.grammar import CitationsConfig, Grammar, compile_grammar
from ancrage.citations.mentions import mark_mentions
from ancrage.citations.model import Citation, Citations, QuotedPassage, UnreadableAnswer
from ancrage.citations.owners import with_owner
from ancrage.citations.pairing import GLOSS, Candidate
from ancrage.quotes.surface import PAD

MAXIMUM_LENGTH, MAXIMUM_MARKS = 1_000_000, 10_000
"""Characters of an answer; quotation marks, brackets, bars and points of entry in it."""
_MARKS = "«»“”„‟‘’‹›「」『』\"'[]()【】{}<>&|`\\—"
_DEFAULT = compile_grammar(CitationsConfig())


def parse(text: str, grammar: Grammar | None = None) -> Citations:
    """The quotes and citations of an answer; time is linear in its length.

    A user's own parser, when the grammar names one, is called instead.

    Raises:
        UnreadableAnswer: more marks stand in the text than any answer has.
    """
    grammar = grammar or _DEFAULT
    if grammar.parser:
        return grammar.parser(text)
    if len(text) > MAXIMUM_MARKS:
        count = sum(map(text.count, _MARKS))
        if count > MAXIMUM_MARKS or len(text) > MAXIMUM_LENGTH:
            raise UnreadableAnswer(
                f"the answer has {len(text):,} characters and {count:,} quotation marks, brackets "
                f"and bars; at most {MAXIMUM_LENGTH:,} and {MAXIMUM_MARKS:,} are read"
            )
    answer = AnswerText(text, grammar)
    found, unpaired = candidates(answer)
    mark_mentions(answer, found)
    weak = list(_weak_links(answer, found))
    citations = sorted([*answer.found, *weak]) if weak else answer.found
    attribute(answer.surface, answer.blocks, found, citations)
    if answer.notes:
        _cite_notes(answer, found)
    cite_faults(answer, found)
    passages = [_passage(answer, quote) for quote in _without_glosses(answer, found)]
    if answer.json:
        passages += [quote for document in answer.json for quote in document.quotes]
        passages.sort(key=lambda quote: quote.start)
    everything = {citation.start: citation for citation in answer.found}
    for own in (*answer.notes.values(), *(quote.citations for quote in passages)):
        everything.update((citation.start, citation) for citation in own)
    return Citations(
        tuple(everything[start] for start in sorted(everything)), tuple(passages), tuple(unpaired)
    )


def _weak_links(answer: AnswerText, found: Sequence[Candidate]) -> Iterator[Citation]:
    """Addresses that end in an id, right after a quote or around one."""
    starts = [quote.start for quote in found] if answer.links else []
    ends = sorted(quote.end for quote in found) if answer.links else []
    for link in answer.links:
        if link.near:
            continue
        first = bisect_left(starts, link.label_start)
        last = bisect_right(ends, link.start) - 1
        if first < len(starts) and found[first].end <= link.label_end:
            found[first].citations, found[first].rule = (link.citation,), "link around it"
        elif last >= 0 and not answer.surface[ends[last] : link.start].strip(TIGHT):
            yield link.citation


def _cite_notes(answer: AnswerText, found: Sequence[Candidate]) -> None:
    """Give quotes that are still without the citations of the footnotes that they call."""
    surface = answer.surface
    for quote in found:
        if quote.citations or quote.mention:
            continue
        labels = notes.called(surface, quote.end) or notes.called(surface, quote.inner_end)
        if quote.family in (">", "—", "|"):
            tail = notes.trailing(surface, quote.inner_start, quote.inner_end)
            if tail:
                labels, quote.inner_end = [tail[0]], tail[1]
        own = [citation for label in labels for citation in answer.notes.get(label, ())]
        if own:
            quote.citations, quote.rule = tuple(own), "footnote"


def _without_glosses(answer: AnswerText, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """The quotes but for those announced as the translation of the quote before them."""
    last: Candidate | None = None
    for quote in found:
        if last:
            end = last.end
            for citation in last.citations:
                if end < citation.end <= quote.start:
                    end = citation.end
            near = 0 < quote.start - end <= 60
            if near and GLOSS.fullmatch(answer.surface, end, quote.start):
                continue
        last = quote
        yield quote


def _passage(answer: AnswerText, quote: Candidate) -> QuotedPassage:
    own = with_owner(answer, quote) if quote.citations else ()
    start, end = quote.inner_start, quote.inner_end
    if answer.text[end - 1 : end] == "&" and answer.surface[end : end + 1] == PAD:
        end = answer.text.index(";", end) + 1  # the whole of an entity
    return QuotedPassage(
        quote.start,
        max(quote.end, end),
        start,
        end,
        answer.text[start:end],
        quote.family,
        own,
        quote.rule if own else None,
        quote.mention,
    )
