"""Propose the tables ``[citations]`` and ``[ids]`` from sampled answers and the ids that exist."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ancrage.citations import parse
from ancrage.citations.grammar import CitationsConfig, compile_grammar
from ancrage.citations.model import Citation, Token
from ancrage.citations.unrecognised import unrecognised
from ancrage.errors import UsageError

SHAPES = 3
"""Forms of id that a pattern tells apart; beyond, it takes whatever begins alike."""
_KNOWN_BRACKETS = "[](（）)【】［］〔〕<>"


class Proposal(NamedTuple):
    """Lines of TOML, and how much of the sample they read."""

    lines: str
    read: int
    """Answers in which a citation is read with them."""
    by_default: int
    of: int


def propose(texts: Sequence[str], ids: Mapping[str, Sequence[str]]) -> Proposal:
    """How the answers cite; no lines where the default reads as much as anything else.

    ``ids`` are those that exist, by kind: message, respondent, question.
    """
    patterns = {kind: pattern(values) for kind, values in ids.items() if values}
    fields: list[dict[str, object]] = [{}]
    if patterns:
        fields.append(dict(patterns))
        if brackets := _brackets(texts, ids):
            default = CitationsConfig().brackets
            fields.append(patterns | {"brackets": [*default, *brackets]})
    labels: Counter[str] = Counter()
    for text in texts:
        labels.update(set(unrecognised(text).proposals.values()))
    for label, _ in labels.most_common(3):
        written = tomllib.loads(label)
        fields += [written | patterns, patterns | written]  # the study's ids before a guess
    counts = [_read(texts, config, ids) for config in fields]
    best = max(range(len(fields)), key=lambda rank: (counts[rank], -rank))
    lines = [f"{name} = {_toml(value)}" for name, value in fields[best].items()]
    return Proposal("\n".join(lines), counts[best][1], counts[0][1], len(texts))


def pattern(ids: Iterable[str]) -> str:
    """A regular expression of the form that the ids have: ``verbatim_\\d+``."""
    known = list(ids)
    shapes = Counter(re.sub(r"[0-9]+", r"\\d+", _escaped(value)) for value in known)
    if len(shapes) <= SHAPES:
        return "|".join(shape for shape, _ in shapes.most_common())
    if len({len(value) for value in known}) == 1 and all(
        re.fullmatch(r"[0-9a-fA-F-]+", value) for value in known
    ):
        return f"[0-9a-f-]{{{len(known[0])}}}"
    begins = re.match(r"[^\W\d]*[-_.:#]?", _common(known))
    return _escaped(begins[0] if begins else "") + r"[\w-]+"


def same(ids: Iterable[str]) -> list[str]:
    """Lines of ``[ids]`` for ids that differ only in what is taken for presentation."""
    known = set(ids)
    folded = {value.casefold() for value in known}
    lines = ["ignore_case = false"] if len(folded) < len(known) else []
    unpadded = {re.sub(r"(?<![0-9])0+(?=[0-9])", "", value) for value in known}
    return [*lines, "ignore_padding = false"] if len(unpadded) < len(known) else lines


def _read(
    texts: Sequence[str], fields: Mapping[str, object], ids: Mapping[str, Sequence[str]]
) -> tuple[int, int]:
    """Answers that cite an id that exists, and answers that cite at all."""
    try:
        grammar = compile_grammar(CitationsConfig.model_validate(fields))
    except (UsageError, ValueError):
        return 0, 0
    real = {value.casefold() for values in ids.values() for value in values}
    cited = [
        {
            token.text.casefold()
            for citation in parse(text, grammar).citations
            for token in _tokens(citation)
        }
        for text in texts
    ]
    return sum(bool(found & real) for found in cited), sum(map(bool, cited))


def _tokens(citation: Citation) -> Iterable[Token]:
    pairs = (token for pair in citation.pairs for token in (pair.respondent, pair.message) if token)
    return (*pairs, *citation.questions)


def _brackets(texts: Sequence[str], ids: Mapping[str, Sequence[str]]) -> list[str]:
    """Pairs around ids that exist which are not read by default."""
    real = {value for values in ids.values() for value in values}
    pairs: Counter[str] = Counter()
    for text in texts:
        for opened, inside, closed in re.findall(
            r"([^\w\s]{1,2})([\w][\w.#:/, ;-]{0,80})([^\w\s]{1,2})", text
        ):
            words = set(re.split(r"[\s,;/]+", inside))
            if words & real and opened[0] not in _KNOWN_BRACKETS and _paired(opened, closed):
                pairs[opened + closed[: len(opened)]] += 1
    return [pair for pair, _ in pairs.most_common(2)]


def _paired(opened: str, closed: str) -> bool:
    mirror = {"{": "}", "|": "|", "⟦": "⟧", "‹": "›", "/": "/"}
    return all(mirror.get(left) == right for left, right in zip(opened, closed, strict=False))


def _common(known: Sequence[str]) -> str:
    first, last = min(known), max(known)
    size = next(
        (n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first)
    )
    return first[:size]


def _escaped(text: str) -> str:
    return re.sub(r"([.^$*+?()\[\]{}|\\])", r"\\\1", text)


def _toml(value: object) -> str:
    if isinstance(value, str) and "'" not in value:
        return f"'{value}'"
    return json.dumps(value, ensure_ascii=False)
