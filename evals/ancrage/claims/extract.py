"""Claims of an answer: what it asserts, one verifiable statement at a time."""

import re
from collections.abc import Iterator

from ancrage.claims.lexicon import LEXICON
from ancrage.claims.markup import Block, Kind, blocks, cells, plain
from ancrage.claims.sentences import (
    Clause,
    clauses,
    has_verb,
    open_pronoun,
    protected,
    sentences,
    topic_of,
)
from ancrage.domain import Frozen
from ancrage.fingerprint import code_version
from ancrage.wrapping import unwrap


def extractor_version() -> str:
    """Changes with the code that cuts claims: they are the denominator of every rate."""
    return code_version("ancrage.claims.extract:extract_claims")


class Claim(Frozen):
    """One statement of an answer: ``text == answer[start:end]``, in code points."""

    start: int
    end: int
    text: str
    statement: str
    """The same in plain words, preceded by what a bullet or a table row leaves unsaid."""
    context: str = ""
    """What was carried over into the statement: lead-in, parent bullet, header or opening."""


_COURTESY = re.compile(
    r"(?:n['’]hésite|je reste à|je suis à|j['’]espère|souhaite[sz]|bonjour|merci|bien sûr"
    r"|d['’]accord|voici|voilà|je (?:peux|vais|vous)\b|si vous (?:le )?(?:souhaitez|voulez)"
    r"|let me know|feel free|i hope|i can (?:also )?(?:help|provide|share|look)|i['’]d be|i['’]ll"
    r"|i will|happy to|hello|hi\b|thank|sure\b|of course|certainly|here (?:is|are)|here['’]s"
    r"|if you(?:['’]d like| want| need)|would you|please\b|as an ai\b"
    r"|en tant qu['’](?:ia|assistant))",
    re.IGNORECASE,
)
_ABSTENTION = re.compile(
    r"(?:désolée?\b|je suis désolée?\b|je ne (?:sais|peux|dispose)|je n['’]ai pas|aucune idée"
    r"|(?:i['’]m |i am )?sorry\b|i (?:do not|don['’]t|cannot|can['’]t) (?:know|answer|tell|say)"
    r"|i have no |i['’]m (?:not sure|unable)|i am (?:not sure|unable))",
    re.IGNORECASE,
)
_INSTRUCTION = re.compile(
    r"(?!assez|chez)\w{2,}ez(?:-\w+)?[ ,.!]"
    rf"|(?:{'|'.join(LEXICON['instructions'].split())}) "
    r"(?:the|an?|your|this|that|these|those|on|to|it|them|us|me|if|whether|sure|in|for|with|up|any|all"
    r"|our|below|above|“|\")",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w+")
_TITLE, _VERSE = 12, 4
"""Words of a title at most; lines of a verse at least."""


def extract_claims(text: str) -> tuple[Claim, ...]:
    """The claims of ``text`` in order, without overlap; empty when it asserts nothing.

    What surrounds an answer is taken off (see ``ancrage.wrapping``). Sentences are cut into clauses
    that say one thing; list items carry their lead-in and parent items, table rows their header, a
    clause the subject that it shares, a sentence that begins with a pronoun the subject before.
    Questions, instructions, courtesies, admissions of not knowing, titles, verse, lead-ins and code
    assert nothing of their own. Deterministic; see ``extractor_version``.
    """
    shown = unwrap(text)
    return tuple(
        claim.model_copy(update={"start": start, "end": end, "text": text[start:end]})
        for claim in _claims(shown.text)
        for start, end in [shown.span(claim.start, claim.end)]
    )


def _claims(text: str) -> Iterator[Claim]:
    kept = protected(text)
    heading = lead = topic = ""
    parents: list[tuple[int, str]] = []
    found = list(blocks(text))
    for number, block in enumerate(found):
        raw = text[block.start : block.end]
        if block.kind is Kind.HEADING or _is_title(raw, block, last=number + 1 == len(found)):
            heading, lead, topic, parents = plain(raw), "", "", []
            continue
        if block.kind is Kind.ROW:
            yield from _row(text, block)
            continue
        if _is_verse(raw):
            continue
        last = plain(raw)
        if block.kind is Kind.ITEM:
            parents = [parent for parent in parents if parent[0] < block.indent]
            context = _joined([lead, *(parent for _, parent in parents)])
            if not context and not has_verb(last):
                context = heading
            parents.append((block.indent, last.rstrip(" :.")))
            topic = ""
        else:
            context, parents = lead, []
            lead = ""
        for begin, end in sentences(text, block.start, block.end, kept):
            sentence = plain(text[begin:end])
            if sentence.endswith(":"):
                if block.kind is Kind.PARAGRAPH:
                    lead = "" if _COURTESY.match(sentence) else sentence.rstrip(" :")
                continue
            if not _asserts(sentence, bare=not context):
                continue
            stands_for = open_pronoun(sentence, topic)
            topic = topic if stands_for else topic_of(sentence)
            carried = context or (topic if stands_for else "")
            for clause in clauses(text, begin, end, kept):
                yield _claim(text, clause, _joined([carried, clause.opening]))


def _claim(text: str, clause: Clause, context: str) -> Claim:
    start, end = clause.start, clause.end
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip(" \t\n,;\u00a0\u202f"))
    end -= len(raw) - len(raw.rstrip(" \t\n,;\u00a0\u202f"))
    words = plain(text[start:end])
    if clause.subject:
        words = f"{plain(clause.subject)} {words}"
    statement = f"{context}: {words}" if context else words
    context = _joined([context, plain(clause.subject)])
    return Claim(start=start, end=end, text=text[start:end], statement=statement, context=context)


def _is_title(raw: str, block: Block, *, last: bool) -> bool:
    """Whether a paragraph is a title: a few words without a verb, above something else."""
    return (
        block.kind is Kind.PARAGRAPH
        and not last
        and "\n" not in raw
        and len(_WORD.findall(raw)) <= _TITLE
        and raw.rstrip()[-1:] not in '.!?…:;,»”")'
        and not any(character.isdigit() for character in raw)
        and not has_verb(raw)
    )


def _is_verse(raw: str) -> bool:
    """Whether a paragraph is written in verse: short lines that begin high, and rhyme."""
    lines = [line.strip() for line in raw.splitlines() if line.strip()]
    if len(lines) < _VERSE or any(len(line) > 65 or ":" in line for line in lines):
        return False
    begun = sum(line.lstrip("«“\"'—– ")[:1].isupper() for line in lines)
    ends = [re.sub(r"\W+", "", line)[-2:].lower() for line in lines]
    rhymes = sum(end in ends[max(0, i - 2) : i] + ends[i + 1 : i + 3] for i, end in enumerate(ends))
    return min(begun / 0.8, rhymes / 0.6) >= len(lines)


def _row(text: str, block: Block) -> list[Claim]:
    values = cells(text[block.start : block.end])
    if sum(bool(value) for value in values) < min(2, len(values)) or not any(values):
        return []
    named = [
        f"{name}: {value}" if name else value
        for name, value in zip(block.header + ("",) * len(values), values, strict=False)
        if value
    ]
    raw = text[block.start : block.end]
    return [
        Claim(
            start=block.start,
            end=block.end,
            text=raw,
            statement="; ".join(named),
            context="; ".join(block.header),
        )
    ]


def _joined(parts: list[str]) -> str:
    return ": ".join(part for part in parts if part)


def _asserts(sentence: str, *, bare: bool) -> bool:
    """Whether a sentence states something; ``bare`` ones need more than a single word."""
    closed = sentence.rstrip("»”\"') \u00a0\u202f")
    words = _WORD.findall(sentence)
    if not words or closed.endswith("?") or _INSTRUCTION.match(sentence):
        return False
    if bare and len(words) < 2 and not any(character.isdigit() for character in sentence):
        return False
    return not (_COURTESY.match(sentence) or _ABSTENTION.match(sentence))
