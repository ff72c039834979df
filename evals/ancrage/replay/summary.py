"""What a replay must say of itself beside its scores: prompts, parameters, the frozen world."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from markupsafe import Markup, escape

from ancrage.domain import (
    MODEL_CALLS,
    Frozen,
    JsonValue,
    ModelCall,
    Output,
    OutputState,
    Run,
)
from ancrage.llm import add_usage
from ancrage.replay.plan import Plan
from ancrage.report.data import Section
from ancrage.runs import RunFolder

if TYPE_CHECKING:
    from ancrage.replay.session import Session


class ReplayTotals(Frozen):
    """How far the outputs of a run stayed within the frozen world, and what they took."""

    outputs: int
    unrecorded_tool_call: int
    near: int
    """Cases of which at least one call was answered by a recorded one that is only close."""
    unseen: int
    """Whole answers behind which no call of a model was seen."""
    coped: int
    """Whole answers of which a call brought none, and another did."""
    misses: tuple[tuple[str, int], ...]
    """Calls that were never recorded, most frequent first."""
    others: tuple[tuple[str, int], ...]
    """Models that say they answered although another was asked, with the cases of each."""
    answered: int
    """Calls of models that brought an answer, which the three below are over."""
    input_tokens: int | None
    output_tokens: int | None
    cost: float | None


def totals(outputs: Iterable[Output]) -> ReplayTotals:
    """Count over the outputs of a run."""
    counts: Counter[str] = Counter()
    misses: Counter[str] = Counter()
    others: Counter[str] = Counter()
    usages = []
    for output in outputs:
        counts["outputs"] += 1
        counts["unrecorded_tool_call"] += output.state is OutputState.UNRECORDED_TOOL_CALL
        counts["near"] += bool(output.details.get("near"))
        ok = output.state is OutputState.OK
        counts["unseen"] += ok and output.details.get("calls") == 0
        counts["coped"] += ok and bool(output.details.get("calls_without_answer"))
        recorded = output.details.get("misses")
        misses.update(str(each) for each in recorded) if isinstance(recorded, list) else None
        others.update(_other_models(output))
        if output.usage:
            usages.append(output.usage)
    usage = add_usage(usages)
    return ReplayTotals(
        outputs=counts["outputs"],
        unrecorded_tool_call=counts["unrecorded_tool_call"],
        near=counts["near"],
        unseen=counts["unseen"],
        coped=counts["coped"],
        misses=tuple(misses.most_common(10)),
        others=tuple(others.most_common()),
        answered=usage.calls,
        input_tokens=usage.input_tokens,
        output_tokens=usage.output_tokens,
        cost=usage.cost,
    )


def _other_models(output: Output) -> set[str]:
    """Models that answered a call of this output and are no dated version of one that was asked."""
    calls, asked = output.details.get(MODEL_CALLS), output.details.get("models")
    names = [str(name).rpartition("/")[2] for name in asked] if isinstance(asked, list) else []
    same = re.compile(rf"(?:{'|'.join(map(re.escape, names))})(?:\W.*)?", re.IGNORECASE)
    told = [ModelCall.model_validate(call) for call in calls] if isinstance(calls, list) else []
    return {call.model for call in told if not same.fullmatch(call.model.rpartition("/")[2])}


def lines(run: Run, seen: ReplayTotals) -> list[tuple[str, str, bool]]:
    """What to say of a replay: subject, words, and whether it must be loud."""
    plan = Plan.model_validate(run.details["replay"])
    settings = run.parameters
    said: list[tuple[str, str, bool]] = []
    mock = settings.get("mock")
    if mock:
        said.append(("Answers", f"MOCK: read from {mock}, no model was called", True))
    else:
        said += _sent(plan, settings)
        words = (
            f"{settings['tools']}; {seen.unrecorded_tool_call} of {seen.outputs} outputs left it"
        )
        if seen.near:
            words += f"; {seen.near} used a recorded call that is only close"
        said.append(("Frozen world", words, bool(seen.unrecorded_tool_call or seen.near)))
        if seen.others:
            of = ", ".join(f"{model} ({n} cases)" for model, n in seen.others)
            said.append(("Model", f"ANOTHER than {settings['model']} says it answered: {of}", True))
        if seen.unseen:
            words = (
                f"behind {seen.unseen} answers no call of a model was seen: limits, budget, cache "
                "and reasons to finish are the assistant's own (ancrage.llm.http_client)"
            )
            said.append(("Calls", words, True))
        if seen.coped:
            words = f"{seen.coped} answers had a call without one, and the assistant went on"
            said.append(("Calls", words, True))
        cached = _calls(run).get("cached", 0)
        said.append(("Spent", _spent(seen, run), bool(cached)))
    return said


def planned(session: "Session", repeats: int) -> list[tuple[str, str, bool]]:
    """What a replay would send and take, as ``lines`` says it; a lower bound of the calls."""
    plan = session.plan
    calls, tokens = plan.calls * repeats, plan.input_tokens * repeats
    words = f"{plan.cases} cases × {repeats}: {calls} calls or more, {tokens} tokens in or more"
    return [*_sent(plan, session.settings.model_dump(mode="json")), ("Would take", words, False)]


def _sent(plan: Plan, settings: Mapping[str, Any]) -> list[tuple[str, str, bool]]:
    said = [
        ("Assistant", plan.assistant, plan.assistant == "demonstration"),
        ("Model", f"{settings['model']} at {settings['endpoint']}", False),
        ("Prompt", *_prompt(plan, str(settings["prompt"]))),
        ("Parameters", *_parameters(plan, str(settings["params"]))),
    ]
    if dropped := settings.get("drop"):
        of = ", ".join(f"{name} ({plan.dropped.get(name, 0)} cases)" for name in dropped)
        said.append(("Dropped", f"NOT SENT to this model, whatever production sent: {of}", True))
    if plan.not_sent:
        names = ", ".join(sorted(plan.not_sent))
        said.append(("Not sent", f"recorded in production but not sent again: {names}", True))
    if plan.echoed:
        names = ", ".join(f"{name} ({n} cases)" for name, n in sorted(plan.echoed.items()))
        words = (
            f"only responses state them, so that they may be defaults, and are not sent: {names}"
        )
        said.append(("Echoed", words, False))
    if plan.history_put_otherwise:
        words = (
            f"in {plan.history_put_otherwise} cases the result of an earlier tool is shown as that "
            "of a call without arguments, since the call was not recorded"
        )
        said.append(("History", words, True))
    return said


def _prompt(plan: Plan, policy: str) -> tuple[str, bool]:
    if policy == "frozen":
        words = "frozen: as recorded in production"
        if plan.prompt_changed:
            words += f"; the code now renders another one for {plan.prompt_changed} cases"
        return words, bool(plan.prompt_changed)
    if plan.prompt_own:
        return (
            "live: the function's own, neither seen here nor compared with production's",
            False,
        )
    words = (
        "live: rendered from code; differs from production's in "
        f"{plan.prompt_changed} of {plan.cases} cases"
    )
    if plan.prompt_unknown:
        words += f" ({plan.prompt_unknown} were not recorded)"
    if plan.prompt_failed:
        words += f"; {plan.prompt_failed} have none and failed ({plan.prompt_failure})"
    return words, bool(plan.prompt_changed or plan.prompt_failed)


def _parameters(plan: Plan, policy: str) -> tuple[str, bool]:
    if policy == "tier":
        cases = f"{plan.overridden} of {plan.cases} cases"
        return f"OVERRIDDEN by the tier's: {cases} were produced with others", True
    words = "production's"
    if plan.without_parameters:
        words += (
            f"; the tier's for {plan.without_parameters} of {plan.cases} cases, "
            "of which none were recorded"
        )
    return words, bool(plan.without_parameters)


def _spent(seen: ReplayTotals, run: Run) -> str:
    calls = _calls(run)
    if not seen.answered:
        words = "nothing that was answered"
    elif seen.input_tokens is None or seen.output_tokens is None:
        words = "tokens and cost unknown"
    else:
        words = f"{seen.input_tokens} tokens in, {seen.output_tokens} out, "
        currency = run.details.get("currency", "")
        words += (
            "cost unknown (no price)" if seen.cost is None else f"cost {seen.cost:.4f} {currency}"
        )
    words += f"; {calls.get('calls', 0)} calls made"
    if calls.get("cached"):
        words += f", {calls['cached']} answers from the cache, which are no new sample"
    if calls.get("rate_limited"):
        words += f", {calls['rate_limited']} refused for their rate"
    if calls.get("lost"):
        words += f", {calls['lost']} without an answer, which may be billed beside this"
    return words


def _calls(run: Run) -> dict[str, JsonValue]:
    """Counts of the command that filled the run last."""
    calls = run.details.get("calls")
    return calls if isinstance(calls, dict) else {}


def replay_sections(folder: RunFolder) -> tuple[Section, ...]:
    """The parts of a replay's HTML report: how it was done, what changed in the prompt, misses."""
    run = folder.run
    seen = totals(folder.outputs())
    plan = Plan.model_validate(run.details["replay"])
    sections = [
        Section(
            "Replay",
            header=("", "How it was done"),
            rows=tuple((subject, words) for subject, words, _ in lines(run, seen)),
        )
    ]
    if plan.prompt_diffs:
        blocks = Markup("").join(
            Markup("<p>{} cases, for instance {}:</p><pre>{}</pre>").format(
                each.cases, each.example, escape(each.diff)
            )
            for each in plan.prompt_diffs
        )
        if plan.other_diffs:
            blocks += Markup("<p>and {} other differences</p>").format(plan.other_diffs)
        sections.append(Section("System prompt: production's against the code's", body=blocks))
    if seen.misses:
        rows = tuple((miss, str(count)) for miss, count in seen.misses)
        sections.append(
            Section("Calls that were never recorded", header=("Call", "Times"), rows=rows)
        )
    if str(run.parameters.get("params")) == "tier" and plan.overridden:
        overridden = tuple(
            (str(each.production), str(each.sent), str(each.cases))
            for each in plan.parameters
            if each.production is not None
        )
        sections.append(
            Section(
                "Parameters overridden", header=("Production", "Sent", "Cases"), rows=overridden
            )
        )
    return tuple(sections)
