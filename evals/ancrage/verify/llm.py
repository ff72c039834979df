"""What language models are asked: verdicts, the claims of an answer, references and corrections."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

from ancrage.claims import Claim, extract_claims
from ancrage.domain import JsonValue, Usage
from ancrage.evaluator import Subject
from ancrage.llm import Models, Request, Tier
from ancrage.llm.estimate import tokens_of
from ancrage.quotes import find_passage
from ancrage.verify.correct import Correct, Recall
from ancrage.verify.extract import Extraction, claims_of, rules_version
from ancrage.verify.model import ContextItem, Opinion, Opinions, Prompt, Verdict
from ancrage.verify.prompt import (
    EXTRACT,
    VERDICTS,
    Call,
    caller_version,
    extract_call,
    verdicts_call,
    version,
)
from ancrage.verify.reply import read_verdicts, reply_model

RULES_ALONE = " (rules alone)"
"""Ends the version of an extraction that had to do without its model."""
_RECALL = (
    "State what you know that bears on the question, as short factual sentences in the question's "
    "language. State only facts that you are sure of; write NOTHING if there are none.\n\n"
    "Question: {question}"
)
_CORRECT = (
    "A statement is contradicted by a reference. Rewrite the statement so that it agrees with the "
    "reference; change only what is wrong, keep its language, tone and length. Reply with the "
    "rewritten statement alone.\n\nQuestion: {question}\nReference: {reference}\n"
    "Statement: {claim}"
)


class _Replied(NamedTuple):
    entries: list[JsonValue] | None
    """None without a usable reply."""
    problem: str
    prompts: tuple[Prompt, ...]
    usage: Usage | None


@dataclass(frozen=True)
class _Asker:
    """Sends a sealed prompt to one tier and reads the entries of the reply."""

    tier: Tier
    models: Models
    _field: ClassVar[Literal["verdicts", "claims"]]
    _instructions: ClassVar[str]

    async def aclose(self) -> None:
        """Close the connections that calls opened."""
        await self.models.aclose()

    def _tokens(self, call: Call) -> int:
        return tokens_of(call.messages, reply_model(self._field, call.seal), self._field)

    async def _ask(self, call: Call) -> _Replied:
        reply = await self.models.client().complete_json(
            Request(tier=self.tier, messages=call.messages),
            reply_model(self._field, call.seal),
            name=self._field,
        )
        prompt = Prompt(
            step="extract" if self._field == "claims" else self._field,
            model=self.tier.model,
            version=version(self._instructions),
            messages=call.messages,
        )
        entries = reply.value.entries if reply.value else None
        return _Replied(entries, f"{reply.problem}: {reply.reason}", (prompt,), reply.usage)


@dataclass(frozen=True)
class LLMVerifier(_Asker):
    """Asks a language model, all claims in one call.

    A verdict other than ``unsupported`` stands only with a passage that is in the context word
    for word (tiers T0 to T3).
    """

    name: str = "llm"
    _field = "verdicts"
    _instructions = VERDICTS

    @property
    def version(self) -> str:
        """The model, its parameters and endpoint, and the words of the prompt."""
        return caller_version(VERDICTS, self.tier)

    def tokens(self, run: Subject, claims: Sequence[Claim], context: Sequence[ContextItem]) -> int:
        """About how many tokens the call would take in."""
        return self._tokens(verdicts_call(run.case.input.question, claims, context))

    async def verify(
        self, run: Subject, claims: Sequence[Claim], context: Sequence[ContextItem]
    ) -> Opinions:
        """One opinion a claim; all ``unscored`` when there is no usable reply."""
        call = verdicts_call(run.case.input.question, claims, context)
        replied = await self._ask(call)
        if replied.entries is None:
            opinion = Opinion(verifier=self.name, verdict=Verdict.UNSCORED, reason=replied.problem)
            return Opinions((opinion,) * len(claims), replied.prompts, replied.usage)
        read = read_verdicts(replied.entries, len(claims), context, call.mark, self.name)
        return Opinions(read.opinions, replied.prompts, replied.usage, read.notes)


@dataclass(frozen=True)
class LLMExtractor(_Asker):
    """Asks a language model for the claims, each anchored in the output by its passage.

    What the model leaves out stays in the denominator: a claim that the rules find and no claim
    of the model touches is kept. A claim whose passage is not in the output is not the output's;
    it is left out and noted. Without a usable reply the rules' claims are taken, and noted.
    """

    name: str = "claims"
    _field = "claims"
    _instructions = EXTRACT

    @property
    def version(self) -> str:
        """The model, its parameters, the words of the prompt, and the rules beneath."""
        return f"{caller_version(EXTRACT, self.tier)}+rules-{rules_version()}"

    def tokens(self, run: Subject) -> int:
        """About how many tokens the call would take in."""
        return self._tokens(extract_call(run.case.input.question, run.text))

    async def extract(self, run: Subject) -> Extraction:
        """The claims of the output's text, in the order they stand there."""
        known = claims_of(run)
        if not known and (not run.text.strip() or extract_claims(run.text)):
            return Extraction((), self.version)
        call = extract_call(run.case.input.question, run.text)
        replied = await self._ask(call)
        if replied.entries is None:
            note = f"claims by rules, since the model gave none: {replied.problem}"
            return Extraction(
                known, f"{self.version}{RULES_ALONE}", replied.prompts, replied.usage, (note,)
            )
        claims, notes = _anchored(replied.entries, run.text, call.mark)
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
        return Extraction(tuple(merged), self.version, replied.prompts, replied.usage, tuple(notes))


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


def llm_recall(models: Models, tier: str) -> Recall:
    """A recall through the tier of that name."""

    async def recall(question: str) -> str | None:
        text = await _ask(models, tier, _RECALL.format(question=question))
        return None if text is None or text.strip(" .").upper() == "NOTHING" else text

    return recall


def llm_correct(models: Models, tier: str) -> Correct:
    """A corrector through the tier of that name."""

    async def correct(claim: str, question: str, reference: str) -> str | None:
        prompt = _CORRECT.format(claim=claim, question=question, reference=reference)
        return await _ask(models, tier, prompt)

    return correct


async def _ask(models: Models, tier: str, prompt: str) -> str | None:
    request = Request(tier=models.tier(tier), messages=({"role": "user", "content": prompt},))
    completion = await models.client().complete(request)
    return completion.text.strip() or None if completion.ok else None
