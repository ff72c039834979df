"""One replay from what was asked for to its runs on disk: new ones, or those to take up again."""

import re
import secrets
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import Field, ValidationError

from ancrage.compare.looks import in_dispatch_order
from ancrage.config import Config, load
from ancrage.domain import Frozen, JsonValue, OutputState, Run, RunState
from ancrage.errors import UsageError, describe
from ancrage.evaluator import Evaluator
from ancrage.llm import LLM, Tier, read_tiers
from ancrage.replay.assistant import Assistant
from ancrage.replay.frozen import Policy
from ancrage.replay.load import AssistantOptions
from ancrage.replay.mock import read_mock
from ancrage.replay.plan import Plan, Settings, make_plan
from ancrage.replay.producer import Replay
from ancrage.replay.scoring_thread import scoring_thread
from ancrage.runs import (
    RUNS,
    OnItem,
    Producer,
    RunFolder,
    create_run,
    find_run,
    list_runs,
    run_experiment,
)
from ancrage.snapshot import Snapshot
from ancrage.studies import Studies

KIND = "replay"


class ReplayOptions(Frozen):
    """The table ``[replay]``."""

    tools: Policy = "strict"
    key_arguments: dict[str, tuple[str, ...]] = {}
    """For ``lenient``: by tool, the arguments that a recorded call must share to answer."""
    min_answered: float = Field(default=0.9, ge=0, le=1)
    """The smallest share of cases that must have a whole answer; below, the command exits 3."""
    hashed_order: bool = False
    """Send out study after study in the order of a hash, so that any beginning of the run holds a
    fair choice of them: for runs that the gate looks at while they grow."""


@dataclass(frozen=True)
class Session:
    """A replay worked out: nothing has been called yet."""

    snapshot: Snapshot
    assistant: Assistant
    settings: Settings
    tier: Tier
    plan: Plan
    tiers: tuple[Tier, ...]
    """Each distinct tier that will be called, for the preflight."""


def choose_tier(
    config: Config, assistant: Assistant, model: str, endpoint: str, drop: Sequence[str] = ()
) -> tuple[str, Tier]:
    """The tier to replay with, and its name for the record.

    ``model`` is the name of a tier, or else of a model, which takes the place of the one in the
    assistant's tier; empty: the assistant's tier. ``endpoint``, if given, replaces the tier's;
    ``drop`` adds to what the tier drops.

    Raises:
        UsageError: no such tier, and no model to make one of.
    """
    tiers = read_tiers(config)
    name = model if model in tiers else assistant.tier
    tier = tiers.get(name)
    if tier is None and not model:
        known = ", ".join(sorted(tiers)) or "none"
        raise UsageError(
            f"assistant {assistant.name!r} needs the tier {name!r}: add [tiers.{name}] to "
            f"evals.toml (known: {known}), or pass --model NAME (and --endpoint URL)"
        )
    fields = tier.model_dump() if tier else {}
    if model and model not in tiers:
        fields["model"] = model
    if endpoint:
        fields["endpoint"] = endpoint
    if drop:
        fields["drop"] = tuple(dict.fromkeys((*fields.get("drop", ()), *drop)))
    try:
        return name, Tier.model_validate(fields)
    except ValidationError as error:
        raise UsageError(f"tier {name!r}: {describe(error)}") from None


def prepare(
    config: Config,
    snapshot: Snapshot,
    assistant: Assistant,
    *,
    model: str = "",
    endpoint: str = "",
    prompt: str = "live",
    params: str = "production",
    tools: str = "",
    drop: Sequence[str] = (),
) -> Session:
    """Work out what a replay will send; calls no model.

    Raises:
        UsageError: an option is not one of those known, or the cases do not allow it.
    """
    options = config.table("replay", ReplayOptions)
    _check_key_arguments(options, assistant)
    _check_demonstration(snapshot, assistant)
    name, tier = choose_tier(config, assistant, model, endpoint, drop)
    try:
        settings = Settings.model_validate(
            {
                "tier": name,
                "model": tier.model,
                "endpoint": tier.endpoint,
                "api": tier.api,
                "prompt": prompt,
                "params": params,
                "tools": tools or options.tools,
                "key_arguments": options.key_arguments,
                "drop": tier.drop,
                "untouched": config.table("assistant", AssistantOptions).untouched,
            }
        )
    except ValidationError as error:
        raise UsageError(f"--{describe(error)}") from None
    plan, tiers = make_plan(snapshot.cases(), assistant, tier, settings)
    return Session(snapshot, assistant, settings, tier, plan, tiers)


def _check_key_arguments(options: ReplayOptions, assistant: Assistant) -> None:
    """A name that no tool has would agree with every call, which is no agreement."""
    for tool in assistant.tools:
        properties = tool.parameters.get("properties")
        known = properties if isinstance(properties, dict) else {}
        for name in options.key_arguments.get(tool.name, ()):
            if name not in known:
                raise UsageError(
                    f"[replay.key_arguments] {tool.name}: the tool has no argument {name!r} "
                    f"(it has {', '.join(known) or 'none'})"
                )
    names = {tool.name for tool in assistant.tools}
    if names and (unknown := sorted(set(options.key_arguments) - names)):
        raise UsageError(
            f"[replay.key_arguments] {unknown[0]}: assistant {assistant.name!r} has no such tool "
            f"(it has {', '.join(sorted(names))})"
        )


def _check_demonstration(snapshot: Snapshot, assistant: Assistant) -> None:
    """Whoever names no assistant gets the demonstration's, whose tools know its studies alone."""
    from ancrage.replay.demo import assistant as demonstration
    from ancrage.replay.demo import titles

    if assistant.name == demonstration.name and not any(
        case.study_id in titles() for case in snapshot.cases()
    ):
        raise UsageError(
            "no assistant is named, and the demonstration's knows none of the snapshot's studies: "
            "name yours in [assistant] use"
        )


def start(
    session: Session,
    *,
    name: str = "",
    repeats: int = 1,
    mock: Path | None = None,
    details: Callable[[str], dict[str, JsonValue]] = lambda _: {},
) -> list[RunFolder]:
    """Create the run of each repeat, all at once, so that a killed replay is taken up whole.

    ``details`` are what a run of a name is to be created with besides its plan.

    Raises:
        UsageError: a run of that name exists.
    """
    if repeats < 1:
        raise UsageError("--repeat: at least 1")
    stamp = f"{datetime.now(UTC):%Y%m%d-%H%M%S}-{secrets.token_hex(2)}"
    group = name or f"{stamp}-{label(session.settings.model)}"
    parameters: dict[str, JsonValue] = session.settings.model_dump(mode="json")
    if mock:
        parameters["mock"] = str(mock)
    names = [group] if repeats == 1 else [f"{group}-{number}" for number in range(1, repeats + 1)]
    taken = {folder.path.name for folder in list_runs()}
    if clash := [each for each in names if label(each) in taken]:
        raise UsageError(f"run {clash[0]!r} exists already: --resume {clash[0]}, or another name")
    return [
        create_run(
            session.snapshot,
            kind=KIND,
            name=each,
            group=group,
            repeat=number,
            parameters=parameters,
            details={
                "replay": session.plan.model_dump(mode="json"),
                "hashed_order": load().table("replay", ReplayOptions).hashed_order,
                **details(each),
            },
        )
        for number, each in enumerate(names)
    ]


def label(text: str) -> str:
    """``text`` as part of a run's id."""
    return re.sub(r"[^\w.-]+", "-", text).strip("-.")


def find_replays(reference: str, root: Path = RUNS) -> list[RunFolder]:
    """The runs of a replay, by its name or by any one of its repeats.

    Raises:
        UsageError: there is none, or it is no replay.
    """
    folders = [f for f in list_runs(root) if reference and f.run.group == reference]
    if not folders:
        found = find_run(reference, root)
        group = found.run.group
        folders = [f for f in list_runs(root) if group and f.run.group == group] or [found]
    if folders[0].run.kind != KIND:
        raise UsageError(
            f"run {folders[0].path.name} is no replay but a run of {folders[0].run.kind}"
        )
    return sorted(folders, key=lambda folder: folder.run.repeat)


def resume(config: Config, folders: Sequence[RunFolder], assistant: Assistant) -> Session:
    """The session that these runs began.

    Raises:
        UsageError: what would be sent is no longer what was sent then.
    """
    run = folders[0].run
    fields = {key: value for key, value in run.parameters.items() if key != "mock"}
    settings = Settings.model_validate(fields)
    base = read_tiers(config).get(settings.tier)
    replaced = settings.model_dump(include={"model", "endpoint", "api", "drop"})
    tier = Tier.model_validate({**(base.model_dump() if base else {}), **replaced})
    snapshot = folders[0].snapshot()
    plan, sent = make_plan(snapshot.cases(), assistant, tier, settings)
    before = Plan.model_validate(run.details["replay"])
    if changed := plan.same_as(before):
        raise UsageError(
            f"{changed} changed since run {folders[0].path.name} began; "
            "start a new replay, or restore them"
        )
    return Session(snapshot, assistant, settings, tier, plan, sent)


def check_same(session: Session, folders: Sequence[RunFolder], repeats: int) -> None:
    """Make sure that these runs are those of ``session``.

    Raises:
        UsageError: they were begun otherwise.
    """
    run, name = folders[0].run, folders[0].run.group or folders[0].path.name
    asked = session.settings.model_dump(mode="json")
    differs = [key for key, value in asked.items() if run.parameters.get(key) != value]
    if run.snapshot.hash != session.snapshot.hash:
        differs.insert(0, "snapshot")
    if len(folders) != repeats:
        differs.append("repeat")
    if not differs:
        changed = session.plan.same_as(Plan.model_validate(run.details["replay"]))
        differs = [changed] if changed else []
    if differs:
        raise UsageError(
            f"{name!r} was begun with other choices ({', '.join(differs)}); "
            "give the same ones, or another name"
        )


def mock_of(folders: Sequence[RunFolder]) -> Path | None:
    """The file of known answers that these runs were started with."""
    path = folders[0].run.parameters.get("mock")
    return Path(str(path)) if path else None


def failed_calls(folder: RunFolder) -> int:
    """Cases that failed although they had a prompt: another try may do better.

    None of known answers: they stay what they are.
    """
    if mock_of([folder]):
        return 0
    without_prompt = Plan.model_validate(folder.run.details["replay"]).prompt_failed
    return max(0, folder.run.counts.get(OutputState.FAILED, 0) - without_prompt)


def too_few_answers(folder: RunFolder, config: Config) -> str | None:
    """What to say when fewer cases have a whole answer than ``min_answered`` asks, else None."""
    minimum = config.table("replay", ReplayOptions).min_answered
    counts = folder.run.counts
    cases, ok = counts.get("cases", 0), counts.get(OutputState.OK, 0)
    if ok >= minimum * cases or mock_of([folder]):
        return None
    others = {state: n for state, n in counts.items() if n and state not in ("cases", "ok")}
    which = ", ".join(f"{n} {state}" for state, n in others.items())
    return (
        f"{folder.path.name}: {ok} of {cases} cases have a whole answer ({which}); "
        f"[replay] min_answered asks for {minimum:.0%}"
    )


async def run_session(
    session: Session,
    folders: Sequence[RunFolder],
    evaluators: Sequence[Evaluator],
    llm: LLM,
    *,
    concurrency: int = 20,
    mock: Path | None = None,
    progress: Callable[[], None] = lambda: None,
    follow: Callable[[RunFolder], AbstractContextManager[OnItem | None]] = lambda _: nullcontext(),
) -> list[Run]:
    """Fill the runs of a session, one repeat after the other.

    Complete ones are left alone, unless calls failed in them: those are made again. ``follow``
    gives what is called for each item of a run.
    """
    studies = Studies(session.snapshot)
    runs: list[Run] = []
    with scoring_thread() as scoring_loop:
        for folder in folders:
            if folder.run.state is RunState.COMPLETE and not failed_calls(folder):
                runs.append(folder.run)
                continue
            produce: Producer
            if mock:
                produce = read_mock(mock, (case.id for case in session.snapshot.cases()))
            else:
                produce = Replay(
                    session.assistant, llm, session.tier, session.settings, folder.run.repeat
                )
            before = dict(llm.counts)
            hashed = bool(folder.run.details.get("hashed_order"))
            data = session.snapshot
            with follow(folder) as on_item:
                run = await run_experiment(
                    folder,
                    in_dispatch_order(data) if hashed else data.cases(),
                    produce,
                    evaluators,
                    studies,
                    concurrency=concurrency,
                    progress=progress,
                    on_item=on_item,
                    scoring_loop=scoring_loop,
                )
            calls: dict[str, JsonValue] = {
                name: count - before.get(name, 0) for name, count in llm.counts.items()
            }
            spent: dict[str, JsonValue] = {"calls": calls, "currency": llm.prices.currency}
            run = run.model_copy(update={"details": {**run.details, **spent}})
            folder.save(run)
            runs.append(run)
    return runs
