"""What a model may reply to the request for verdicts, and what is made of it.

Every entry of a reply has exactly one fate, and every claim exactly one opinion, whatever came.
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, Field, JsonValue, WithJsonSchema, create_model
from pydantic.functional_validators import AfterValidator

from ancrage.claims.terms import terms
from ancrage.quotes.verify import negation_warnings
from ancrage.verify.context import locate
from ancrage.verify.model import ContextItem, Evidence, Opinion, Verdict

_TEXT = {"type": "string"}
_WORDS = ["supported", "contradicted", "unsupported"]
_VERDICTS: dict[str, Any] = {
    "type": "array",
    "items": {
        "type": "object",
        "properties": {
            "claim": _TEXT,
            "verdict": {"type": "string", "enum": _WORDS},
            "passage": {"type": ["string", "null"]},
            "reason": _TEXT,
        },
    },
}
_CLAIMS: dict[str, Any] = {
    "type": "array",
    "items": {"type": "object", "properties": {"passage": _TEXT, "statement": _TEXT}},
}
_LABEL = re.compile(r"[\s\[(]*(?:c|claim)?\s*(\d{1,6})[\s\]).:]*", re.IGNORECASE)


class Reply(BaseModel):
    """A sealed list of entries; ``reply_model`` makes the one for a seal."""

    seal: str
    entries: list[JsonValue]


class ReplyStatus(StrEnum):
    """What became of one entry of a reply."""

    USED = "used"
    UNREADABLE = "unreadable"
    """No object, or no label of a claim."""
    FOREIGN = "foreign"
    """About a claim that was not asked for."""
    DUPLICATE = "duplicate"
    """The same verdict on the same claim again."""
    CONFLICTING = "conflicting"
    """One of several different verdicts on one claim: none of them counts."""


class ReplyReading(NamedTuple):
    """What a reply comes to."""

    opinions: tuple[Opinion, ...]
    """One a claim."""
    fates: Counter[ReplyStatus]
    """They add up to the entries of the reply."""

    @property
    def notes(self) -> tuple[str, ...]:
        return tuple(
            f"{self.fates[fate]} of {self.fates.total()} entries of the reply {fate}"
            for fate in ReplyStatus
            if fate is not ReplyStatus.USED and self.fates[fate]
        )


def reply_model(field: Literal["verdicts", "claims"], seal: str) -> type[Reply]:
    """The model of a reply with ``verdicts`` or ``claims`` that carries ``seal``."""

    def sealed(value: str) -> str:
        if value.strip() != seal:
            raise ValueError(f"not the seal of this request, which is {seal}")
        return value

    schema = {"verdicts": _VERDICTS, "claims": _CLAIMS}[field]
    return create_model(
        field.capitalize(),
        __base__=Reply,
        seal=(Annotated[str, AfterValidator(sealed)], ...),
        entries=(Annotated[list[JsonValue], WithJsonSchema(schema)], Field(alias=field)),
    )


def read_verdicts(
    entries: Sequence[JsonValue], count: int, context: Sequence[ContextItem], mark: str, name: str
) -> ReplyReading:
    """The opinions of verifier ``name`` on ``count`` claims, from the entries of its reply."""
    fates: Counter[ReplyStatus] = Counter()
    given: dict[int, list[Mapping[str, JsonValue]]] = {}
    labels = [_label(entry) for entry in entries]
    shifted = 0 in labels
    for entry, label in zip(entries, labels, strict=True):
        if label is None or not isinstance(entry, dict):
            fates[ReplyStatus.UNREADABLE] += 1
        elif shifted or label > count:
            fates[ReplyStatus.FOREIGN] += 1
        else:
            given.setdefault(label, []).append(entry)
    opinions = []
    for label in range(1, count + 1):
        mine = given.get(label, [])
        words = {_word(entry.get("verdict")) for entry in mine}
        if len(words) > 1:
            fates[ReplyStatus.CONFLICTING] += len(mine)
            said = ", ".join(sorted(str(word) for word in words))
            opinions.append(_unscored(name, f"{len(mine)} verdicts that differ ({said})"))
            continue
        if not mine:
            why = "counts its claims from 0, so that none can be told" if shifted else "no verdict"
            opinions.append(_unscored(name, why))
            continue
        fates[ReplyStatus.USED] += 1
        fates[ReplyStatus.DUPLICATE] += len(mine) - 1
        opinions.append(_opinion(mine[0], context, mark, name))
    return ReplyReading(tuple(opinions), +fates)


def _label(entry: JsonValue) -> int | None:
    if not isinstance(entry, dict):
        return None
    label = entry.get("claim")
    if isinstance(label, bool) or not isinstance(label, str | int):
        return None
    found = _LABEL.fullmatch(str(label))
    return int(found[1]) if found else None


def _word(value: JsonValue) -> Verdict | str:
    """The verdict that a word means; the word itself, shortened, when it means none."""
    if not isinstance(value, str):
        return "null" if value is None else f"a {type(value).__name__}"
    word = value.strip().strip(".!\"'“”«» ").casefold()
    return Verdict(word) if word in _WORDS else f"“{value[:40]}”"


def _opinion(
    entry: Mapping[str, JsonValue], context: Sequence[ContextItem], mark: str, name: str
) -> Opinion:
    word = _word(entry.get("verdict"))
    if not isinstance(word, Verdict):
        return _unscored(name, f"its verdict is {word}")
    reason = str(entry.get("reason") or "").strip() or "no reason given"
    passage = entry.get("passage")
    if word is Verdict.UNSUPPORTED:
        return Opinion(verifier=name, verdict=word, reason=reason)
    if not isinstance(passage, str) or not passage.strip():
        return _unscored(name, f"says {word} and shows no passage")
    found = locate(re.sub(rf"(?m)^{re.escape(mark)} ?", "", passage), context)
    if found is None:
        return _unscored(name, f"says {word} by a passage that is not in the context")
    if fault := _fault(found, context, word):
        return _unscored(name, f"says {word} by a passage that {fault}")
    return Opinion(verifier=name, verdict=word, reason=reason, evidence=found)


def _fault(found: Evidence, context: Sequence[ContextItem], word: Verdict) -> str | None:
    """Why a passage that stands in the context is no evidence all the same."""
    text = found.passage.text
    about = terms(text)
    if not (about.entities or about.openers or about.words or re.search(r"\d", text)):
        return "says nothing"
    if word is Verdict.SUPPORTED and negation_warnings(
        context[found.item].text, found.passage.start, found.passage.end
    ):
        return "leaves out the negation beside it"
    return None


def _unscored(name: str, reason: str) -> Opinion:
    return Opinion(verifier=name, verdict=Verdict.UNSCORED, reason=reason)
