"""What a replay will send, worked out before anything is spent and kept in the run."""

import difflib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable
from contextlib import suppress
from typing import Literal

from pydantic import ValidationError

from ancrage.domain import Case, Frozen, JsonValue
from ancrage.errors import AncrageError, UsageError, describe
from ancrage.llm import Tier, recorded_parameters
from ancrage.llm.estimate import BYTES_A_TOKEN
from ancrage.replay.assistant import Assistant
from ancrage.replay.frozen import Policy
from ancrage.replay.history import messages_of

PromptPolicy = Literal["live", "frozen"]
ParametersPolicy = Literal["production", "tier"]

_DIFFS_KEPT = 10


class Settings(Frozen):
    """What was asked for; the run's parameters."""

    tier: str
    """The tier's name, or the model's where it was given directly."""
    model: str
    endpoint: str
    api: str
    prompt: PromptPolicy = "live"
    params: ParametersPolicy = "production"
    tools: Policy = "strict"
    key_arguments: dict[str, tuple[str, ...]] = {}
    drop: tuple[str, ...] = ()
    """Parameters that are not sent, whatever production sent."""
    untouched: tuple[str, ...] = ()
    """Models whose calls the assistant's own client makes as it would in production."""


class PromptDiff(Frozen):
    """One way in which the prompt has changed since the cases were taken."""

    cases: int
    example: str
    """The id of the first case that shows it."""
    diff: str
    """Unified, from production's prompt to the one that the code gives now."""


class ParameterSet(Frozen):
    """One set of parameters that will be sent."""

    sent: dict[str, JsonValue]
    production: dict[str, JsonValue] | None
    """What production sent, where that is something else."""
    cases: int


class Plan(Frozen):
    """A replay's inputs as they stand, over all the cases."""

    assistant: str
    cases: int
    prompts_hash: str
    """Over every system prompt sent: the same when the prompts are."""
    tools_hash: str
    prompt_changed: int
    """Cases whose prompt the code now renders differently."""
    prompt_failed: int
    """Cases for which there is no prompt to send; they fail."""
    prompt_failure: str | None = None
    """The first such case and what is wrong."""
    prompt_own: bool = False
    """Whether the assistant puts its prompt together itself: none is sent, none compared."""
    prompt_unknown: int
    """Cases of which neither the prompt nor its hash was kept."""
    prompt_diffs: tuple[PromptDiff, ...] = ()
    other_diffs: int = 0
    """Further distinct differences, not kept."""
    parameters: tuple[ParameterSet, ...]
    without_parameters: int
    """Cases of which no parameters were recorded: the tier's are sent."""
    fixed: dict[str, JsonValue] = {}
    """What the tier adds to every call whatever the case: ``extra``, ``store``."""
    not_sent: dict[str, str] = {}
    """Recorded parameters that cannot be sent again, and why."""
    dropped: dict[str, int] = {}
    """Cases that production sent with a parameter that the tier drops, by parameter."""
    echoed: dict[str, int] = {}
    """Cases of which only a response states a parameter, which may be the server's default."""
    history_put_otherwise: int = 0
    """Cases whose history holds the result of a tool whose call was not recorded."""
    production_models: dict[str, int] = {}
    calls: int = 0
    """The fewest calls that one repeat takes: a second one where tools were called."""
    input_tokens: int = 0
    """What these take in, at three bytes a token."""

    @property
    def overridden(self) -> int:
        """Cases sent with other parameters than production's."""
        return sum(entry.cases for entry in self.parameters if entry.production is not None)

    def same_as(self, other: "Plan") -> str | None:
        """None when both send the same; else what differs."""
        if self.prompts_hash != other.prompts_hash:
            return "the system prompts"
        if self.tools_hash != other.tools_hash:
            return "the tools' schemas"
        if self.parameters != other.parameters or self.fixed != other.fixed:
            return "the parameters"
        return None


def prompt_hash(prompt: str) -> str:
    """SHA-256 in hexadecimal, as in ``CaseInput.system_prompt_hash``."""
    return hashlib.sha256(prompt.encode()).hexdigest()


def prompt_for(case: Case, assistant: Assistant, policy: PromptPolicy) -> str:
    """The system prompt to send.

    Raises:
        UsageError: it cannot be rendered, or is to be the recorded one and that was not kept.
    """
    if policy == "live":
        return render(case, assistant)
    if case.input.system_prompt is None:
        raise UsageError(f"case {case.id}: no system prompt was recorded; use --prompt live")
    return case.input.system_prompt


def render(case: Case, assistant: Assistant) -> str:
    """The system prompt that the code gives now.

    Raises:
        UsageError: the assistant's code raised.
    """
    try:
        return assistant.system_prompt(case.input.context)
    except Exception as error:  # noqa: BLE001 - the assistant is the user's own code
        words = (
            str(error) if isinstance(error, AncrageError) else f"{type(error).__name__}: {error}"
        )
        raise UsageError(f"case {case.id}: the system prompt cannot be rendered: {words}") from None


def tier_for(case: Case, tier: Tier, policy: ParametersPolicy) -> Tier:
    """The tier with the parameters to send for this case.

    Raises:
        UsageError: production sent a parameter that the tier's API does not have.
    """
    if policy == "tier":
        return tier
    parameters, _ = recorded_parameters(case.provenance.parameters)
    if not parameters.stated():
        return tier
    try:
        return tier.with_parameters(parameters)
    except ValidationError as error:
        raise UsageError(
            f"case {case.id}: production's parameters do not fit: {describe(error)}"
        ) from None


def make_plan(
    cases: Iterable[Case], assistant: Assistant, tier: Tier, settings: Settings
) -> tuple[Plan, tuple[Tier, ...]]:
    """Go through all cases without calling a model: the plan, and each tier that will be called.

    Raises:
        UsageError: no case has a prompt to send, or a parameter does not fit.
    """
    digest = hashlib.sha256()
    counts: Counter[str] = Counter()
    diffs: dict[str, PromptDiff] = {}
    sets: dict[tuple[str, str | None], int] = {}
    tiers: dict[str, Tier] = {}
    not_sent: dict[str, str] = {}
    models: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    echoed: Counter[str] = Counter()
    failure: str | None = None
    own = getattr(assistant, "puts_its_own_prompt", False) and settings.prompt == "live"
    for case in cases:
        counts["cases"] += 1
        try:
            prompt = prompt_for(case, assistant, settings.prompt)
        except UsageError as error:
            counts["failed"] += 1
            failure = failure or str(error)
            digest.update(b"none")
        else:
            digest.update(prompt_hash(prompt).encode())
        if not own:
            with suppress(UsageError):
                _compare(case, render(case, assistant), counts, diffs)

        sent = tier_for(case, tier, settings.params)
        recorded, ignored = recorded_parameters(case.provenance.parameters)
        not_sent |= ignored
        dropped.update(name for name in recorded.stated() if name in tier.drop)
        echoed.update(recorded_parameters(case.provenance.echoed)[0].stated().keys())
        counts["history"] += bool(messages_of(case.input.history, tier.api)[1])
        known = bool(recorded.stated())
        counts["without_parameters"] += not known
        differs = known and recorded.stated() != sent.stated()
        identity = (_json(sent.stated()), _json(recorded.stated()) if differs else None)
        sets[identity] = sets.get(identity, 0) + 1
        tiers[identity[0]] = sent
        models[case.provenance.model or "unknown"] += 1
        rounds = 2 if case.input.tool_calls else 1
        counts["calls"] += rounds
        text = case.input.question + "".join(turn.shown for turn in case.input.history)
        given = _json([call.model_dump(mode="json") for call in case.input.tool_calls])
        size = rounds * (len(text.encode()) + len((case.input.system_prompt or "").encode()))
        counts["bytes"] += size + (len(given.encode()) if rounds > 1 else 0)
    if not counts["cases"]:
        raise UsageError("the snapshot has no case to replay")
    if failure and counts["failed"] == counts["cases"]:
        raise UsageError(f"{failure} (nor any other case's)")
    tools = _json([tool.model_dump(mode="json") for tool in assistant.tools])
    kept = sorted(diffs.values(), key=lambda entry: -entry.cases)
    return Plan(
        assistant=assistant.name,
        cases=counts["cases"],
        prompts_hash=digest.hexdigest(),
        tools_hash=hashlib.sha256(tools.encode()).hexdigest(),
        prompt_changed=counts["changed"],
        prompt_failed=counts["failed"],
        prompt_failure=failure,
        prompt_own=own,
        prompt_unknown=counts["unknown"],
        prompt_diffs=tuple(kept[:_DIFFS_KEPT]),
        other_diffs=max(0, len(kept) - _DIFFS_KEPT),
        parameters=tuple(
            ParameterSet(
                sent=json.loads(sent_json),
                production=json.loads(production) if production else None,
                cases=number,
            )
            for (sent_json, production), number in sets.items()
        ),
        without_parameters=counts["without_parameters"],
        fixed=tier.model_dump(mode="json", include={"extra", "store"}),
        not_sent=not_sent,
        dropped=dict(dropped),
        echoed=dict(echoed),
        history_put_otherwise=counts["history"],
        production_models=dict(models.most_common()),
        calls=counts["calls"],
        input_tokens=counts["bytes"] // BYTES_A_TOKEN,
    ), tuple(tiers.values())


def _compare(case: Case, live: str, counts: "Counter[str]", diffs: dict[str, PromptDiff]) -> None:
    """Count whether the prompt has changed, and keep how, once for each way."""
    recorded = case.input.system_prompt
    known = case.input.system_prompt_hash or (recorded is not None and prompt_hash(recorded))
    if not known:
        counts["unknown"] += 1
        return
    if recorded == live or (recorded is None and known == prompt_hash(live)):
        return
    counts["changed"] += 1
    if recorded is None:
        lines = ["production's prompt was not kept, only its hash"]
    else:
        lines = _diff(recorded, live)
    # The way is told by what was removed and added, not by the place or the context.
    way = "\n".join(line for line in lines[2:] if line[:1] in "+-") or lines[0]
    seen = diffs.get(way)
    diffs[way] = (
        seen.model_copy(update={"cases": seen.cases + 1})
        if seen
        else PromptDiff(cases=1, example=case.id, diff="\n".join(lines))
    )


def _diff(recorded: str, live: str) -> list[str]:
    """A unified diff; where only line ends differ, they are written out."""
    before, after = recorded.splitlines(), live.splitlines()
    if before == after:
        before, after = (
            [repr(line) for line in text.splitlines(keepends=True)] for text in (recorded, live)
        )
    return list(difflib.unified_diff(before, after, "production", "code", lineterm="", n=1))


def _json(value: object) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False)
