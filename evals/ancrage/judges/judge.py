"""A judge as an evaluator: it never raises for a bad reply, and never passes one for clean."""

import asyncio
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ancrage.domain import Evaluation, FailureMode, JsonValue, ScoreState, Usage
from ancrage.evaluator import Subject
from ancrage.fingerprint import code_version
from ancrage.judges.context import material
from ancrage.judges.contract import DefectStatus, ParsedReply, read, reply_model, unscored
from ancrage.judges.definition import Definition
from ancrage.judges.prompt import CLOSING, OPENING, Prompt, instructions, prompt
from ancrage.judges.settle import Settled, settle
from ancrage.llm import Models, Request, Structured, Tier, add_usage
from ancrage.llm.estimate import tokens_of
from ancrage.redact import bounded

MAX_MATERIAL = 400_000
"""Characters of material that a judge is shown; more is unscored, never cut."""
_REPLY = 20_000
"""Characters of a reply that the record keeps."""
_REASONS = {"refused": "refusal", "over_budget": "budget"}
_MACHINERY = (
    *(f"ancrage.judges.{name}" for name in ("contract", "prompt")),
    "ancrage.llm.structured",
)


@dataclass(frozen=True)
class Judge:
    """Judges answers by one definition with one model.

    With ``repeats`` above 1 each answer is judged so many times. The first verdict alone is
    scored; all of them are in the details, so that the judge's own noise can be measured.
    """

    definition: Definition
    tier: Tier
    models: Models
    repeats: int = 1
    max_material: int = MAX_MATERIAL
    kind: ClassVar[str] = "judge"

    @property
    def name(self) -> str:
        """The definition's name."""
        return self.definition.name

    @property
    def modes(self) -> tuple[FailureMode, ...]:
        """The modes that the judge owns."""
        return tuple(mode.plain for mode in self.definition.modes)

    @property
    def details(self) -> dict[str, JsonValue]:
        """What the record of a scoring keeps of a judge."""
        return {"judge": self.tier.model, "repeats": self.repeats}

    @cached_property
    def version(self) -> str:
        """A hash of definition, prompt, the code that reads and settles, model and parameters."""
        return judge_version(self.definition, self.tier)

    async def aclose(self) -> None:
        """Close the connections that judging opened."""
        await self.models.aclose()

    async def evaluate(self, subject: Subject) -> Evaluation:
        """One score a mode: the number of defects whose passage stands in the answer."""
        settled = self._settle(subject)
        if _all_settled(settled):
            return self._evaluation(unscored(self._names, "", settled), {"calls": 0}, [Usage()])
        call = self.prompt(subject)
        if self._too_long(call):
            reason = f"the material is longer than {self.max_material} characters"
            return self._evaluation(unscored(self._names, reason, settled), {"calls": 0}, [Usage()])
        results = await asyncio.gather(
            *(self._ask(subject, call, settled, repeat) for repeat in range(self.repeats))
        )
        reading, about, _ = results[0]
        if self.repeats > 1:
            about |= {"repeats": _repeats([each for each, _, _ in results], self._names)}
        return self._evaluation(reading, about, [usage for _, _, usage in results])

    @property
    def tiers(self) -> dict[str, Tier]:
        """What it calls, under its own name."""
        return {self.name: self.tier}

    async def plan(self, subject: Subject) -> dict[str, list[int]]:
        """The input tokens of each call that an answer would take; none is made."""
        if _all_settled(self._settle(subject)) or self._too_long(call := self.prompt(subject)):
            return {}
        tokens = tokens_of(call.messages, reply_model(self._names, call.seal), self.name)
        return {self.name: [tokens] * self.repeats}

    def prompt(self, subject: Subject) -> Prompt:
        """What the judge is sent for an answer."""
        return prompt(self.definition, material(self.definition, subject))

    def _too_long(self, call: Prompt) -> bool:
        return sum(len(message["content"]) for message in call.messages) > self.max_material

    def _settle(self, subject: Subject) -> dict[str, Settled]:
        return {mode.name: settle(mode.settled_by, subject) for mode in self.definition.modes}

    @property
    def _names(self) -> list[str]:
        return [mode.name for mode in self.definition.modes]

    async def _ask(
        self, subject: Subject, call: Prompt, settled: Mapping[str, Settled], repeat: int
    ) -> tuple[ParsedReply, dict[str, JsonValue], Usage]:
        request = Request(tier=self.tier, messages=call.messages, repeat=repeat)
        model = reply_model(self._names, call.seal)
        said = await self.models.client().complete_json(request, model, name=self.name)
        if said.value is None:
            problem = said.problem or "unparsable"
            reason = _REASONS.get(problem, problem)
            reading = unscored(self._names, reason, settled)
        else:
            reading = read(said.value, self._names, subject.text, call.mark, settled)
        return reading, _about(said, reading), said.usage

    def _evaluation(
        self, reading: ParsedReply, about: dict[str, JsonValue], usages: list[Usage]
    ) -> Evaluation:
        return Evaluation(
            evaluator=self.name,
            version=self.version,
            scores=reading.scores,
            findings=reading.findings,
            usage=add_usage(usages),
            details=about,
        )


def judge_version(definition: Definition, tier: Tier) -> str:
    """The version of a judge: 12 hexadecimal digits of a hash over all that decides a verdict."""
    identity = {
        "definition": definition.model_dump(mode="json", exclude={"tier"}),
        "prompt": [instructions(definition), OPENING, CLOSING],
        **tier.identity(),
        "code": code_version(*_code(definition)),
    }
    text = json.dumps(identity, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _code(definition: Definition) -> list[str]:
    """The code that decides the verdicts of a judge beside its model."""
    settlers = {mode.settled_by for mode in definition.modes} - {None}
    shown = [f"ancrage.judges.context:_{name}" for name in definition.context]
    return [*_MACHINERY, *shown, *(["ancrage.judges.settle"] if settlers else [])]


def _all_settled(settled: Mapping[str, Settled]) -> bool:
    return all(each.absent or each.impossible for each in settled.values())


def _about(said: Structured[Any], reading: ParsedReply) -> dict[str, JsonValue]:
    about: dict[str, JsonValue] = {
        "calls": said.usage.calls,
        "turns": said.turns,
        "cached": said.cached,
        "reported": reading.reported,
        "fates": {fate.value: reading.fates[fate] for fate in DefectStatus},
    }
    if said.text:
        about["reply"] = bounded(said.text, _REPLY)
    if said.read:
        about["read"] = said.read
    if said.problem:
        about |= {"problem": said.problem, "words": said.reason}
    if reading.set_aside:
        about["set_aside"] = list(reading.set_aside)
    if reading.odd:
        about["odd"] = list(reading.odd)
    return about


def _repeats(readings: list[ParsedReply], names: list[str]) -> dict[str, JsonValue]:
    """By mode, the score of each verdict, None where there is none."""
    scores = [{score.name: score for score in reading.scores} for reading in readings]
    return {
        name: [
            each[name].value if each[name].state is ScoreState.SCORED else None for each in scores
        ]
        for name in names
    }
