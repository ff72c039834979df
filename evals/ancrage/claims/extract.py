"""Claims of an answer: what it asserts, one verifiable statement at a time."""

import re

from ancrage.claims.markup import Block, Kind, blocks, cells, plain
from ancrage.claims.sentences import clauses, has_verb, protected, sentences
from ancrage.domain import Frozen
from ancrage.fingerprint import code_version


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
_WORD = re.compile(r"\w+")


def extract_claims(text: str) -> tuple[Claim, ...]:
    """The claims of ``text`` in order, without overlap; empty when it asserts nothing.

    Sentences are cut into the clauses that stand alone. List items carry their lead-in and parent
    items, table rows their header. Questions, courtesies, admissions of not knowing, headings,
    lead-ins and code assert nothing of their own and give no claim. Deterministic; see
    ``extractor_version``.
    """
    claims: list[Claim] = []
    kept = protected(text)
    heading = lead = ""
    parents: list[tuple[int, str]] = []
    for block in blocks(text):
        if block.kind is Kind.HEADING:
            heading, lead, parents = plain(text[block.start : block.end]), "", []
            continue
        if block.kind is Kind.ROW:
            claims.extend(_row(text, block))
            continue
        last = plain(text[block.start : block.end])
        if block.kind is Kind.ITEM:
            parents = [parent for parent in parents if parent[0] < block.indent]
            context = _joined([lead, *(parent for _, parent in parents)])
            if not context and not has_verb(last):
                context = heading
            parents.append((block.indent, last.rstrip(" :.")))
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
            for (low, high), carried in clauses(text, begin, end, kept):
                claims.append(_claim(text, low, high, _joined([context, carried])))
    return tuple(claims)


def _claim(text: str, start: int, end: int, context: str) -> Claim:
    raw = text[start:end]
    start += len(raw) - len(raw.lstrip(" \t\n,;\u00a0\u202f"))
    end -= len(raw) - len(raw.rstrip(" \t\n,;\u00a0\u202f"))
    words = plain(text[start:end])
    statement = f"{context}: {words}" if context else words
    return Claim(start=start, end=end, text=text[start:end], statement=statement, context=context)


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
    if not words or closed.endswith("?"):
        return False
    if bare and len(words) < 2 and not any(character.isdigit() for character in sentence):
        return False
    return not (_COURTESY.match(sentence) or _ABSTENTION.match(sentence))
