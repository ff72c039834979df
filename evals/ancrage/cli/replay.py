"""Ask the recorded questions again: ``replay`` and ``migrate``."""

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, Literal

from ancrage.cli.scoring import Calls, Scoring, print_accounts, require_models
from ancrage.cli.shell import Count, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called, resume_with

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from ancrage.cli.dataset_runs import Publishing
    from ancrage.config import Config
    from ancrage.domain import JsonValue
    from ancrage.llm import Budget
    from ancrage.replay import Assistant
    from ancrage.replay.session import Session
    from ancrage.runs import RunFolder
    from ancrage.snapshot import Snapshot


@dataclass(frozen=True)
class Choices:
    """What ``replay`` and ``migrate`` let one choose."""

    snapshot: Annotated[
        str, "Folder of the snapshot to replay (default: the newest in snapshots/)."
    ] = ""
    endpoint: Annotated[str, "Base URL of an OpenAI-compatible server, instead of the tier's."] = ""
    params: Annotated[
        str, "'production' (default): as recorded with each case; 'tier': the tier's own."
    ] = "production"
    prompt: Annotated[str, "'live' (default): rendered from code now; 'frozen': as recorded."] = (
        "live"
    )
    tools: Annotated[
        str, "'strict' (default) or 'lenient' matching of tool calls; see [replay]."
    ] = ""
    drop: Annotated[
        list[str], "Parameter not to send, whatever production sent; can be repeated."
    ] = field(default_factory=list)
    repeat: Annotated[Count, "How many times each case is replayed, each its own run."] = 1
    concurrency: Annotated[Count, "Calls under way at once."] = 20
    no_preflight: Annotated[
        bool, "Do not ask the endpoint first whether it takes the parameters."
    ] = False
    run_name: Annotated[str, "Name of the replay (default: time and model)."] = ""

    def session(
        self,
        config: "Config",
        data: "Snapshot",
        assistant: "Assistant",
        model: str,
        *,
        params: str = "",
        drop: "Sequence[str]" = (),
    ) -> "Session":
        """The replay that was chosen, with this model."""
        from ancrage.replay.session import prepare

        return prepare(
            config,
            data,
            assistant,
            model=model,
            endpoint=self.endpoint,
            prompt=self.prompt,
            params=params or self.params,
            tools=self.tools,
            drop=drop,
        )


_DRY_RUN = (
    "Say what would be sent and how much it would take, ask the endpoint with a tiny call whether "
    "it takes the parameters (unless --no-preflight), and stop."
)


@command(
    help={
        "dry-run": _DRY_RUN,
        "dataset": "Replay this dataset of Langfuse instead, and publish there as it goes.",
        "version": "With --dataset: as it was at this ISO time (default: as it is now).",
        "publish": "With --dataset: 'failing' sends the answers that fail or are missing alone.",
        "model": "A tier of the configuration, or a model (default: the assistant's tier).",
        "out": "With --dry-run: write the snapshot with today's prompts to this folder.",
        "mock": "JSON file of known answers to use instead of a model.",
        "resume": "Continue this replay instead of starting one: its name, a run, or 'latest'.",
    }
)
def replay(
    chosen: Choices = Choices(),
    model: str = "",
    dataset: str = "",
    version: str = "",
    publish: Literal["all", "failing"] = "all",
    mock: str = "",
    out: str = "",
    resume: str = "",
    scoring: Scoring = Scoring(),
    calls: Calls = Calls(),
) -> ExitCode:
    """Put a snapshot's questions to the assistant again.

    Tools stay frozen; the answers are checked like recorded ones.

    Exits 0 when every case has an output and its scores, 3 when the replay is incomplete, calls
    failed (--resume makes those again), or fewer cases have a whole answer than [replay]
    min_answered asks.
    """
    from pathlib import Path

    from ancrage.cli.dataset_runs import (
        Publishing,
        made_on_dataset,
        open_dataset,
        reopen_dataset,
    )
    from ancrage.config import load
    from ancrage.replay import load_assistant
    from ancrage.replay.mock import read_mock
    from ancrage.replay.session import find_replays, mock_of
    from ancrage.replay.session import resume as taken_up
    from ancrage.snapshot import newest_snapshot, open_snapshot

    if chosen.snapshot and dataset:
        raise UsageError("--snapshot and --dataset both say what to replay: give one")
    if (version or publish != "all") and not (dataset or resume):
        raise UsageError("--version and --publish go with --dataset")
    config = load()
    assistant = load_assistant(config)
    source = open_dataset(dataset, version) if dataset else None
    begun: list[RunFolder] = []
    if resume:
        # click gives a tuple where invoke gives a list.
        free = replace(chosen, concurrency=20, no_preflight=False, drop=list(chosen.drop))
        if free != Choices() or any((model, dataset, mock, calls.dry_run)):
            raise UsageError("--resume continues a replay as it is; give no other choice with it")
        begun = find_replays(resume)
        session = taken_up(config, begun, assistant)
        answers = mock_of(begun)
        source = reopen_dataset(begun[0]) if made_on_dataset(begun[0]) else None
    else:
        data = source.snapshot if source else open_snapshot(chosen.snapshot or newest_snapshot())
        answers = Path(mock).resolve() if mock else None
        if answers:
            read_mock(answers, (case.id for case in data.cases()))
        model = model or ("mock" if answers else "")
        session = chosen.session(config, data, assistant, model, drop=chosen.drop)
    budget = calls.budget()
    check = not (chosen.no_preflight or answers)
    if calls.dry_run:
        return _dry_run([session], budget, chosen.repeat, check, out)
    if check:
        _preflight([session], budget)
    publishing = Publishing(source, publish) if source else None
    runs = _run(
        session,
        begun,
        chosen,
        scoring,
        calls,
        budget,
        name=chosen.run_name,
        mock=answers,
        publishing=publishing,
    )
    for folder in runs:
        _show(folder)
    seen = publishing.finish() if publishing else ExitCode.OK
    ended = _conclude(runs, called(f"replay --resume {runs[0].run.group or runs[0].path.name}"))
    return max(seen, ended)


def _run(
    session: "Session",
    begun: "list[RunFolder]",
    chosen: Choices,
    scoring: Scoring,
    calls: Calls,
    budget: "Budget",
    *,
    name: str,
    mock: "Path | None" = None,
    publishing: "Publishing | None" = None,
    again: str = "",
) -> "list[RunFolder]":
    """Start the runs unless they were begun already, and fill them; ``again`` takes them up."""
    import asyncio

    from ancrage.evaluators import select
    from ancrage.llm import CACHE, LLM, Cache, Models
    from ancrage.replay.session import run_session, start
    from ancrage.runs.progress import track

    # Judges and assistant share one budget; their calls are limited apart.
    cache = None if calls.no_cache else Cache(CACHE)
    models = Models(concurrency=chosen.concurrency, budget=budget, cache=CACHE if cache else None)
    evaluators = select(
        scoring.judges, scoring.scorers, models=models, judge_repeat=scoring.judge_repeat
    )

    require_models(evaluators, calls)

    async def work() -> "list[RunFolder]":
        async with LLM.configured(
            concurrency=chosen.concurrency, cache=cache, budget=budget
        ) as llm:
            details = publishing.details if publishing else _no_details
            folders = begun or start(
                session, name=name, repeats=chosen.repeat, mock=mock, details=details
            )
            first = folders[0]
            resume_with(again or f"replay --resume {first.run.group or first.path.name}")
            with track("Replaying", session.plan.cases * len(folders)) as advance:
                await run_session(
                    session,
                    folders,
                    evaluators,
                    llm,
                    concurrency=chosen.concurrency,
                    mock=mock,
                    progress=advance,
                    follow=publishing.follow if publishing else _unfollowed,
                )
            await models.aclose()
            return folders

    return asyncio.run(work())


def _no_details(_: str) -> "dict[str, JsonValue]":
    return {}


@contextmanager
def _unfollowed(_: "RunFolder") -> "Iterator[None]":
    yield


def _preflight(sessions: "Sequence[Session]", budget: "Budget", *, fresh: bool = False) -> None:
    """Ask the endpoints of all sides whether they take what will be sent.

    Raises:
        UsageError: one does not, in its own words; nothing else was sent then.
    """
    import asyncio

    from ancrage.llm import LLM
    from ancrage.llm.preflight import TABLE, preflight, refuse

    async def ask() -> None:
        async with LLM.configured(budget=budget) as llm:
            for session in sessions:
                for tier in session.tiers:
                    llm.ready(tier)
            for session in reversed(sessions):  # the side that is new is likelier to refuse
                table = None if fresh else TABLE
                checks = preflight(llm, session.tiers, tools=session.assistant.tools, table=table)
                refuse(await checks)

    asyncio.run(ask())


def _dry_run(
    sessions: "Sequence[Session]", budget: "Budget", repeats: int, check: bool, out: str = ""
) -> ExitCode:
    """Print what would be sent; INCOMPLETE when a case has no prompt."""
    from pathlib import Path

    from ancrage.replay import regenerate
    from ancrage.replay.summary import planned
    from ancrage.report.terminal import console
    from ancrage.report.text import line

    to = console()
    for session in sessions:
        for subject, words, loud in planned(session, repeats):
            to.print(f"{subject}: {line(words)}", style="bold yellow" if loud else None)
    if out:
        counts = regenerate(sessions[0].snapshot, sessions[0].assistant, Path(out)).counts
        to.print(f"{out}: {counts.kept} cases with today's prompts, {counts.rejected} set aside")
    if check:
        _preflight(sessions, budget, fresh=True)
        to.print("Preflight: accepted")
    missing = any(session.plan.prompt_failed for session in sessions)
    return ExitCode.INCOMPLETE if missing else ExitCode.OK


def _show(folder: "RunFolder") -> None:
    """Write a replay's page and print its report."""
    from ancrage.cli.reporting import print_run
    from ancrage.replay.summary import lines, totals
    from ancrage.report.terminal import console
    from ancrage.report.text import line

    out = console()
    print_run(folder)
    for subject, words, loud in lines(folder.run, totals(folder.outputs())):
        if loud:
            out.print(f"{subject}: {line(words)}", style="bold yellow")


def _conclude(folders: "list[RunFolder]", again: str) -> ExitCode:
    """The exit code; says how to go on where something is left to do."""
    from ancrage.config import load
    from ancrage.replay.session import failed_calls, too_few_answers
    from ancrage.report.terminal import console

    judged = max([print_accounts(folder) for folder in folders])
    failed = sum(failed_calls(folder) for folder in folders)
    short = [words for folder in folders if (words := too_few_answers(folder, load()))]
    for words in short:
        console().print(words, style="bold red", soft_wrap=True)
    if failed == 0 and all(folder.run.state == "complete" for folder in folders):
        return ExitCode.INCOMPLETE if short else judged
    words = f"Cases that failed: {failed}" if failed else "Incomplete"
    console().print(f"{words}; go on with: {again}", style="bold red", soft_wrap=True)
    return ExitCode.INCOMPLETE


@command(
    help={
        "dry-run": _DRY_RUN,
        "models": "The model to leave: a tier of the configuration, or a model.",
        "against": "The model to go to, likewise.",
        "params": "As for replay; two with a comma between for the old and the new model, such as "
        "production,tier (default: production).",
        "drop": "Parameter not to send to the new model; can be repeated.",
        "repeat": "How many times each case is replayed with each model.",
    }
)
def migrate(
    models: str,
    against: str,
    chosen: Choices = Choices(repeat=2),
    scoring: Scoring = Scoring(),
    calls: Calls = Calls(),
) -> ExitCode:
    """Replay with two models and say what would change.

    A migration whose runs exist already under --run-name is taken up where it stopped, with the
    same choices. Exits 0 when every case has its outputs and scores, 3 when not.
    """
    from datetime import UTC, datetime

    from ancrage.cli.reporting import write
    from ancrage.compare.results import find_group
    from ancrage.config import load
    from ancrage.replay import load_assistant
    from ancrage.replay.migration import migration
    from ancrage.replay.migration_report import render, tables
    from ancrage.replay.session import check_same, find_replays, label
    from ancrage.report.terminal import console
    from ancrage.runs import list_runs
    from ancrage.snapshot import newest_snapshot, open_snapshot

    if label(models) == label(against):
        raise UsageError("migrate takes two different models or tiers")
    config = load()
    assistant = load_assistant(config)
    data = open_snapshot(chosen.snapshot or newest_snapshot())
    budget = calls.budget()
    base = chosen.run_name or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-migration"
    known = {folder.run.group for folder in list_runs()}
    groups = [f"{base}-{label(model)}" for model in (models, against)]
    policies = chosen.params.split(",")
    if len(policies) > 2:
        raise UsageError(
            f"--params {chosen.params}: give one, or two for the old and the new model"
        )
    sides: list[tuple[Session, list[RunFolder]]] = []
    for group, model, policy, dropped in zip(
        groups, (models, against), (policies[0], policies[-1]), ((), chosen.drop), strict=True
    ):
        session = chosen.session(config, data, assistant, model, params=policy, drop=dropped)
        begun = find_replays(group) if group in known else []
        if begun:
            check_same(session, begun, chosen.repeat)
        sides.append((session, begun))
    sessions = [session for session, _ in sides]
    if calls.dry_run:
        return _dry_run(sessions, budget, chosen.repeat, not chosen.no_preflight)
    if not chosen.no_preflight:
        _preflight(sessions, budget)
    again = f"migrate {models} {against} --run-name {base}"
    everything: list[RunFolder] = []
    for group, (session, begun) in zip(groups, sides, strict=True):
        everything += _run(session, begun, chosen, scoring, calls, budget, name=group, again=again)
    found = migration(*(find_group(group) for group in groups))
    for folder in everything:
        write(folder, sections=tuple(tables(found)))
    console().print(render(found))
    console().print(f"\nHTML report: {everything[-1].path / 'report.html'}")
    return _conclude(everything, f"{called(again)} and the same other choices")


tasks = (replay, migrate)
