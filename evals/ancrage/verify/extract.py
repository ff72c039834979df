"""The claims of an output: by rules, or by a language model that the rules keep complete."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from ancrage.abstention.detect import DEFLECTIONS, REFUSALS, detect
from ancrage.claims import Claim, extract_claims
from ancrage.domain import JsonValue, Usage
from ancrage.evaluator import Subject
from ancrage.fingerprint import code_version
from ancrage.llm import Models, Request, Tier
from ancrage.llm.estimate import tokens_of
from ancrage.quotes import find_passage
from ancrage.verify.model import Prompt
from ancrage.verify.prompt import EXTRACT, caller_version, extract_call, version
from ancrage.verify.reply import reply_model

RULES_ALONE = " (rules alone)"
"""Ends the version of an extraction that had to do without its model."""


@dataclass(frozen=True)
class Extraction:
    """The claims of an output, and how they were found."""

    claims: tuple[Claim, ...]
    version: str
    prompts: tuple[Prompt, ...] = ()
    usage: Usage | None = None
    notes: tuple[str, ...] = ()


class Extractor(Protocol):
    """Finds the claims of an output. Its version is recorded: it moves the denominator."""

    @property
    def version(self) -> str: ...

    async def extract(self, run: Subject) -> Extraction: ...


def claims_of(run: Subject) -> tuple[Claim, ...]:
    """The claims of an output by rules; a recognised abstention makes none."""
    read = detect(run.text, run.case.input.question)
    # Grounds alone, such as what a document is about, may abstain and are claims all the same.
    refuses = any(clause.kind in (*REFUSALS, *DEFLECTIONS) for clause in read.clauses)
    return () if read.abstained and refuses else extract_claims(run.text)


def rules_version() -> str:
    """Changes with what cuts claims, and with what is recognised as an abstention."""
    return code_version(extract_claims, detect)


@dataclass(frozen=True)
class RuleExtractor:
    """``claims_of``: deterministic, no model."""

    @property
    def version(self) -> str:
        """Of the rules."""
        return f"rules-{rules_version()}"

    async def extract(self, run: Subject) -> Extraction:
        """The claims of the output's text."""
        return Extraction(claims_of(run), self.version)


@dataclass(frozen=True)
class LLMExtractor:
    """Asks a language model for the claims, each anchored in the output by its passage.

    What the model leaves out stays in the denominator: a claim that the rules find and no claim
    of the model touches is kept. A claim whose passage is not in the output is not the output's;
    it is left out and noted. Without a usable reply the rules' claims are taken, and noted.
    """

    tier: Tier
    models: Models

    @property
    def version(self) -> str:
        """The model, its parameters, the words of the prompt, and the rules beneath."""
        return f"{caller_version(EXTRACT, self.tier)}+rules-{rules_version()}"

    def tokens(self, run: Subject) -> int:
        """About how many tokens the call would take in."""
        call = extract_call(run.case.input.question, run.text)
        return tokens_of(call.messages, reply_model("claims", call.seal), "claims")

    async def aclose(self) -> None:
        """Close the connections that calls opened."""
        await self.models.aclose()

    async def extract(self, run: Subject) -> Extraction:
        """The claims of the output's text, in the order they stand there."""
        known = claims_of(run)
        if not known and (not run.text.strip() or extract_claims(run.text)):
            return Extraction((), self.version)
        call = extract_call(run.case.input.question, run.text)
        reply = await self.models.client().complete_json(
            Request(tier=self.tier, messages=call.messages),
            reply_model("claims", call.seal),
            name="claims",
        )
        prompt = Prompt(
            step="extract",
            model=self.tier.model,
            version=version(EXTRACT),
            messages=call.messages,
        )
        if reply.value is None:
            note = f"claims by rules, since the model gave none: {reply.problem}: {reply.reason}"
            return Extraction(
                known, f"{self.version}{RULES_ALONE}", (prompt,), reply.usage, (note,)
            )
        claims, notes = _anchored(reply.value.entries, run.text, call.mark)
        left_out = [
            claim
            for claim in known
            if not any(claim.start < c.end and c.start < claim.end for c in claims)
        ]
        if left_out:
            notes.append(
                f"{len(left_out)} claims left out by the model, kept as the rules cut them"
            )
        merged = sorted([*claims, *left_out], key=lambda claim: (claim.start, claim.end))
        return Extraction(tuple(merged), self.version, (prompt,), reply.usage, tuple(notes))


def _anchored(entries: Sequence[JsonValue], text: str, mark: str) -> tuple[list[Claim], list[str]]:
    """The model's claims that stand in ``text``, and how many entries do not."""
    claims: dict[tuple[int, int, str], Claim] = {}
    unreadable = absent = repeated = 0
    marks = re.compile(rf"(?m)^{re.escape(mark)} ?")
    for entry in entries:
        passage = entry.get("passage") if isinstance(entry, dict) else None
        statement = entry.get("statement") if isinstance(entry, dict) else None
        if not (isinstance(passage, str) and isinstance(statement, str) and statement.strip()):
            unreadable += 1
        elif (match := find_passage(marks.sub("", passage), text)) is None:
            absent += 1
        elif (key := (match.start, match.end, statement.strip())) in claims:
            repeated += 1
        else:
            claims[key] = Claim(
                start=match.start,
                end=match.end,
                text=text[match.start : match.end],
                statement=statement.strip(),
            )
    notes = [
        f"{count} of {len(entries)} claims of the model {what}"
        for count, what in (
            (unreadable, "unreadable"),
            (absent, "left out: their passage is not in the output"),
            (repeated, "repeated"),
        )
        if count
    ]
    return list(claims.values()), notes
