"""What a judge may reply, and what is made of it: every part is accounted for, none guessed."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, JsonValue, WithJsonSchema, create_model
from pydantic.functional_validators import AfterValidator

from ancrage.domain import Finding, Passage, Score
from ancrage.judges.settle import Settled
from ancrage.quotes import find_passage

CANNOT_TELL = "cannot_tell"
_WORDS = {
    "present": {"present", "présent", "présente", "yes", "oui", "true", "vrai"},
    "absent": {"absent", "absente", "no", "non", "false", "faux", "none", "aucun"},
    CANNOT_TELL: {"cannot_tell", "cannot tell", "unknown", "unsure", "incertain", "inconnu"},
}


class DefectStatus(StrEnum):
    """What became of one reported defect; each has exactly one."""

    FOUND = "found"
    """Its passage stands in the answer, and its mode is scored: a finding."""
    UNVERIFIED = "unverified"
    """Its passage does not stand in the answer."""
    FOREIGN = "foreign"
    """Its mode is not one of this judge's."""
    DUPLICATE = "duplicate"
    """The same mode at the same place was reported already."""
    OVERRULED = "overruled"
    """Code settles the point otherwise."""
    WITHHELD = "withheld"
    """Its passage stands, but the judge's verdict on the mode cannot be used."""


class Defect(BaseModel):
    """One defect as a judge reports it."""

    model_config = ConfigDict(extra="allow")

    mode: str
    passage: str
    reason: str


class Reply(BaseModel):
    """The reply of a judge; ``reply_model`` makes the one for a judge's modes and a seal."""

    model_config = ConfigDict(extra="allow")

    seal: str
    defects: list[Defect]
    verdicts: dict[str, JsonValue]


@dataclass(frozen=True)
class ParsedReply:
    """What a reply comes to: one score a mode, findings, and the fate of every defect."""

    scores: tuple[Score, ...]
    findings: tuple[Finding, ...]
    fates: Counter[DefectStatus]
    """They add up to ``reported``."""
    reported: int
    set_aside: tuple[dict[str, JsonValue], ...]
    """The defects that are no findings, with their fate."""
    odd: tuple[str, ...] = ()
    """Parts of the reply that nothing asked for, by name."""


@dataclass
class _Placed:
    """A reported defect and where it stands."""

    defect: Defect
    fate: DefectStatus
    passage: Passage | None = None
    why: str = ""
    tier: str | None = None


def reply_model(modes: Sequence[str], seal: str) -> type[Reply]:
    """The model of a reply that carries ``seal``; its JSON schema names the modes."""
    names = tuple(modes)

    def sealed(value: str) -> str:
        if value.strip() != seal:
            raise ValueError(f"not the seal of this request, which is {seal}")
        return value

    verdicts, defects = _schemas(names)
    return create_model(
        "Verdict",
        __base__=Reply,
        seal=(Annotated[str, AfterValidator(sealed)], ...),
        defects=(Annotated[list[Defect], WithJsonSchema(defects)], ...),
        verdicts=(Annotated[dict[str, JsonValue], WithJsonSchema(verdicts)], ...),
    )


@cache
def _schemas(names: tuple[str, ...]) -> tuple[dict[str, Any], dict[str, Any]]:
    verdict = {"type": "string", "enum": ["present", "absent", CANNOT_TELL]}
    verdicts = {"type": "object", "properties": dict.fromkeys(names, verdict)}
    text = {"type": "string"}
    item = {
        "type": "object",
        "properties": {
            "mode": {"type": "string", "enum": list(names)},
            "passage": text,
            "reason": text,
        },
    }
    return verdicts, {"type": "array", "items": item}


def read(
    reply: Reply, modes: Sequence[str], text: str, mark: str, settled: Mapping[str, Settled]
) -> ParsedReply:
    """Check a reply against the answer ``text`` and make scores of it.

    A mode is scored with the number of its defects that stand in the answer. It is unscored when
    the reply gives no verdict on it, one that cannot be read, "cannot_tell", "present" without a
    passage that stands, or "absent" beside a defect: none of these is a clean answer.
    """
    placed = _place(reply.defects, modes, text, mark, settled)
    scores, findings = [], []
    for mode in modes:
        score, found = _score(mode, reply.verdicts, placed, settled[mode])
        scores.append(score)
        findings += found
    odd = [*(reply.model_extra or {}), *(f"verdicts.{m}" for m in reply.verdicts if m not in modes)]
    odd += [f"defects.{name}" for each in reply.defects for name in each.model_extra or {}]
    return ParsedReply(
        scores=tuple(scores),
        findings=tuple(findings),
        fates=Counter(each.fate for each in placed),
        reported=len(reply.defects),
        set_aside=tuple(_aside(each) for each in placed if each.fate is not DefectStatus.FOUND),
        odd=tuple(dict.fromkeys(odd)),
    )


def unscored(modes: Sequence[str], reason: str, settled: Mapping[str, Settled]) -> ParsedReply:
    """What there is without a reply: what code settles, and the reason for all the rest."""
    scores, findings = [], []
    for mode in modes:
        known = _settled(mode, settled[mode]) or (Score.unscored(mode, reason), [])
        scores.append(known[0])
        findings += known[1]
    return ParsedReply(tuple(scores), tuple(findings), Counter(), 0, ())


def _settled(mode: str, code: Settled) -> tuple[Score, list[Finding]] | None:
    """The score of a mode that needs no judge."""
    if code.impossible:
        return Score.unscored(mode, code.impossible), []
    if code.absent:
        return Score(name=mode, value=0), []
    if code.defects:
        return Score(name=mode, value=len(code.defects)), _by_code(mode, code)
    return None


def _score(
    mode: str, verdicts: Mapping[str, JsonValue], placed: Sequence[_Placed], code: Settled
) -> tuple[Score, list[Finding]]:
    mine = [each for each in placed if each.defect.mode == mode]
    standing = [each for each in mine if each.fate is DefectStatus.FOUND]
    unverified = any(each.fate is DefectStatus.UNVERIFIED for each in mine)
    verdict, problem = _verdict(mode, verdicts)
    if verdict == "present" and not standing:
        if unverified:
            problem = "its evidence does not stand in the answer"
        elif not mine:
            problem = "said to be present without any passage"
    if verdict == "absent" and (standing or unverified):
        problem = "said to be absent beside a defect of that mode"
    if code.impossible:
        problem = code.impossible
    known = _settled(mode, code)
    if problem or code.absent:
        for each in standing:
            each.fate, each.why = DefectStatus.WITHHELD, problem or code.absent or ""
        return known or (Score.unscored(mode, problem or ""), [])
    found = [
        Finding(
            mode=mode,
            evidence=each.passage,
            explanation=each.defect.reason.strip() or "(no reason given)",
            details={"evidence_tier": each.tier},
        )
        for each in standing
        if each.passage
    ]
    spans = [each.evidence for each in found]
    found += [
        each
        for each in _by_code(mode, code)
        if not any(s.start < each.evidence.end and each.evidence.start < s.end for s in spans)
    ]
    return Score(name=mode, value=len(found)), found


def _verdict(mode: str, verdicts: Mapping[str, JsonValue]) -> tuple[str | None, str | None]:
    """The verdict on a mode, or why there is none."""
    if mode not in verdicts:
        return None, "the judge gave no verdict on it"
    value = verdicts[mode]
    if value is None:
        return None, "the judge's verdict on it is null"
    word = str(value).strip().strip(".!\"'").strip().casefold()
    for verdict, words in _WORDS.items():
        if word in words:
            tells = verdict != CANNOT_TELL
            return (verdict, None) if tells else (None, "the judge cannot tell")
    return None, "the judge's verdict on it cannot be read"


def _by_code(mode: str, code: Settled) -> list[Finding]:
    return [
        Finding(
            mode=mode,
            evidence=each.evidence,
            explanation=each.explanation,
            details={"settled_by": "code"},
        )
        for each in code.defects
    ]


def _place(
    defects: Sequence[Defect],
    modes: Sequence[str],
    text: str,
    mark: str,
    settled: Mapping[str, Settled],
) -> list[_Placed]:
    taken: dict[tuple[str, str], int] = {}
    spans: set[tuple[str, int, int]] = set()
    placed = []
    marks = re.compile(rf"(?m)^{re.escape(mark)} ?")
    for defect in defects:
        if defect.mode not in modes:
            placed.append(_Placed(defect, DefectStatus.FOREIGN, why="not a mode of this judge"))
            continue
        passage = marks.sub("", defect.passage)
        # The same words reported again mean their next occurrence.
        after = taken.get((defect.mode, passage), 0)
        match = _find(passage, text[after:])
        if match is None:
            again = after > 0
            fate = DefectStatus.DUPLICATE if again else DefectStatus.UNVERIFIED
            why = "reported twice" if again else "its passage is not in the answer"
            placed.append(_Placed(defect, fate, why=why))
            continue
        start, end = after + match[0], after + match[1]
        taken[defect.mode, passage] = end
        if (defect.mode, start, end) in spans:
            placed.append(_Placed(defect, DefectStatus.DUPLICATE, why="reported twice"))
            continue
        spans.add((defect.mode, start, end))
        where = Passage.of(text, start, end)
        objection = settled[defect.mode].objection(where)
        fate = DefectStatus.OVERRULED if objection else DefectStatus.FOUND
        placed.append(_Placed(defect, fate, where, objection or "", match[2]))
    return placed


def _find(passage: str, text: str) -> tuple[int, int, str] | None:
    """Where a passage stands, and by which tier; judges often leave out marks of emphasis."""
    if match := find_passage(passage, text):
        return match.start, match.end, str(match.tier)
    kept = [at for at, character in enumerate(text) if character not in "*`"]
    if len(kept) == len(text):
        return None
    plain = "".join(text[at] for at in kept)
    match = find_passage(re.sub(r"[*`]", "", passage), plain)
    return match and (kept[match.start], kept[match.end - 1] + 1, str(match.tier))


def _aside(placed: _Placed) -> dict[str, JsonValue]:
    defect = placed.defect
    return {
        "fate": str(placed.fate),
        "mode": defect.mode,
        "passage": defect.passage,
        "reason": defect.reason,
        "why": placed.why,
    }
