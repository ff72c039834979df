"""Ask the recorded questions again: ``cases``, ``replay``, ``migrate`` and ``preflight``."""

from typing import TYPE_CHECKING, Any

from ancrage.cli.shell import Amount, Count, Size, command
from ancrage.errors import ExitCode, UsageError
from ancrage.program import called

if TYPE_CHECKING:
    from pathlib import Path

    from ancrage.llm import LLM, Budget
    from ancrage.replay.session import Session
    from ancrage.report.data import Report, Section
    from ancrage.runs import RunFolder


@command(
    help={
        "snapshot": "Folder of the snapshot whose cases to regenerate.",
        "out": "Folder to write (default: the snapshot's name with -cases).",
    }
)
def cases(snapshot: str, out: str = "") -> ExitCode:
    """Render today's system prompt into the cases.

    All the rest stays frozen. Calls no model.

    Exits 3 when the prompt of a case could not be rendered; that case is set aside.
    """
    from pathlib import Path

    from ancrage.config import load
    from ancrage.replay import load_assistant, regenerate
    from ancrage.report.terminal import console
    from ancrage.snapshot import open_snapshot

    data = open_snapshot(snapshot)
    path = Path(out) if out else data.path.with_name(f"{data.path.name}-cases")
    counts = regenerate(data, load_assistant(load()), path).counts
    console().print(
        f"{path}: {counts.kept} cases"
        + (f", {counts.rejected} set aside in {path / 'rejects.jsonl'}" if counts.rejected else "")
    )
    return ExitCode.INCOMPLETE if counts.rejected else ExitCode.OK


_COMMON = {
    "snapshot": "Folder of the snapshot to replay (default: the newest in snapshots/).",
    "endpoint": "Base URL of an OpenAI-compatible server, instead of the tier's.",
    "params": "'production' (default): as recorded with each case; 'tier': the tier's own.",
    "prompt": "'live' (default): rendered from code now; 'frozen': as recorded.",
    "tools": "'strict' (default) or 'lenient' matching of tool calls; see [replay].",
    "judges": "LLM judges to add: none (default), three, one, or names with commas between.",
    "scorers": "Scorers to add, commas between: abstention, hallucination, nli (default: none).",
    "concurrency": "Calls under way at once.",
    "budget-tokens": "Stop before this many tokens are spent (default: no bound).",
    "budget-cost": "Stop before this much money is spent, by [prices] (default: no bound).",
    "no-cache": "Call the model also where an answer to the very same call is on disk.",
    "no-preflight": "Do not ask the endpoint first whether it takes the parameters.",
    "run-name": "Name of the replay (default: time and model).",
}


@command(
    help={
        **_COMMON,
        "model": "A tier of the configuration, or a model (default: the assistant's tier).",
        "repeat": "How many times each case is replayed, each its own run.",
        "mock": "JSON file of known answers to use instead of a model.",
        "resume": "Continue this replay instead of starting one: its name, a run, or 'latest'.",
    }
)
def replay(
    snapshot: str = "",
    model: str = "",
    endpoint: str = "",
    params: str = "production",
    prompt: str = "live",
    tools: str = "",
    repeat: Count = 1,
    judges: str = "none",
    scorers: str = "",
    concurrency: Count = 20,
    budget_tokens: Size | None = None,
    budget_cost: Amount | None = None,
    no_cache: bool = False,
    no_preflight: bool = False,
    mock: str = "",
    run_name: str = "",
    resume: str = "",
) -> ExitCode:
    """Put a snapshot's questions to the assistant again.

    Tools stay frozen; the answers are checked like recorded ones.

    Exits 0 when every case has an output and its scores, 3 when the replay is incomplete or
    calls failed; --resume makes those again.
    """
    from pathlib import Path

    from ancrage.config import load
    from ancrage.replay import load_assistant
    from ancrage.replay.mock import read_mock
    from ancrage.replay.session import find_replays, mock_of, prepare
    from ancrage.replay.session import resume as take_up
    from ancrage.snapshot import open_snapshot

    config = load()
    assistant = load_assistant(config)
    if resume:
        chosen = snapshot or model or endpoint or mock or run_name or tools
        if chosen or (params, prompt, repeat) != ("production", "live", 1):
            raise UsageError("--resume continues a replay as it is; give no other choice with it")
        folders = find_replays(resume)
        session = take_up(config, folders, assistant)
        answers = mock_of(folders)
    else:
        data = open_snapshot(snapshot or _newest())
        answers = Path(mock).resolve() if mock else None
        if answers:
            read_mock(answers, (case.id for case in data.cases()))
        session = prepare(
            config,
            data,
            assistant,
            model=model or ("mock" if answers else ""),
            endpoint=endpoint,
            prompt=prompt,
            params=params,
            tools=tools,
        )
        folders = []
    runs = _run(
        session,
        folders,
        _client(concurrency, _budget(budget_tokens, budget_cost), no_cache),
        name=run_name,
        repeats=repeat,
        judges=judges,
        scorers=scorers,
        concurrency=concurrency,
        mock=answers,
        check=not (no_preflight or answers),
    )
    for folder in runs:
        _show(folder)
    return _conclude(runs, called(f"replay --resume {runs[0].run.group or runs[0].path.name}"))


def _budget(tokens: int | None, cost: float | None) -> "Budget":
    from ancrage.llm import Budget

    return Budget(tokens=tokens, cost=cost)


def _client(concurrency: int, budget: "Budget", no_cache: bool) -> "LLM":
    from ancrage.llm import CACHE, LLM, Cache

    cache = None if no_cache else Cache(CACHE)
    return LLM.configured(concurrency=concurrency, cache=cache, budget=budget)


def _run(
    session: "Session",
    begun: "list[RunFolder]",
    llm: "LLM",
    *,
    name: str,
    repeats: int,
    judges: str,
    scorers: str,
    concurrency: int,
    mock: "Path | None",
    check: bool,
) -> "list[RunFolder]":
    """Ask the endpoint, start the runs unless they were begun already, and fill them."""
    import asyncio

    from ancrage.evaluators import select
    from ancrage.llm import CACHE, Models
    from ancrage.llm.preflight import preflight as ask
    from ancrage.llm.preflight import refuse
    from ancrage.replay.session import carry_out, start
    from ancrage.runs.progress import track

    # Judges and assistant share one budget; their calls are limited apart.
    cache = CACHE if llm.cache else None
    models = Models(concurrency=concurrency, budget=llm.budget, cache=cache)
    evaluators = select(judges, scorers, models=models)

    async def work() -> "list[RunFolder]":
        async with llm:
            if check:
                for tier in session.tiers:
                    llm.ready(tier)
                refuse(await ask(llm, session.tiers, tools=session.assistant.tools))
            folders = begun or start(session, name=name, repeats=repeats, mock=mock)
            with track("Replaying", session.plan.cases * len(folders)) as advance:
                await carry_out(
                    session,
                    folders,
                    evaluators,
                    llm,
                    concurrency=concurrency,
                    mock=mock,
                    on_item=advance,
                )
            await models.aclose()
            return folders

    return asyncio.run(work())


def _write_page(folder: "RunFolder", extra: "tuple[Section, ...]" = ()) -> "Report":
    """Write a replay's page, with further sections, into its folder."""
    from ancrage.report.data import read_report
    from ancrage.report.html import write_html

    report = read_report(folder, sections=extra)
    write_html(report, folder.path / "report.html")
    return report


def _show(folder: "RunFolder") -> None:
    """Write a replay's page and print its report."""
    from ancrage.replay.summary import lines, world
    from ancrage.report.terminal import console, overview
    from ancrage.report.text import line

    out = console()
    out.print(overview(_write_page(folder), folder.path / "report.html"))
    for subject, words, loud in lines(folder.run, world(folder.outputs())):
        if loud:
            out.print(f"{subject}: {line(words)}", style="bold yellow")


def _conclude(folders: "list[RunFolder]", again: str) -> ExitCode:
    """The exit code; says how to go on where something is left to do."""
    from ancrage.cli.judges import print_accounts
    from ancrage.replay.session import failed_calls
    from ancrage.report.terminal import console

    judged = max([print_accounts(folder) for folder in folders])
    failed = sum(failed_calls(folder) for folder in folders)
    if failed == 0 and all(folder.run.state == "complete" for folder in folders):
        return judged
    words = f"Cases that failed: {failed}" if failed else "Incomplete"
    console().print(f"{words}; go on with: {again}", style="bold red", soft_wrap=True)
    return ExitCode.INCOMPLETE


@command(
    help={
        **_COMMON,
        "models": "The model to leave: a tier of the configuration, or a model.",
        "against": "The model to go to, likewise.",
        "repeat": "How many times each case is replayed with each model.",
    }
)
def migrate(
    models: str,
    against: str,
    snapshot: str = "",
    endpoint: str = "",
    params: str = "production",
    prompt: str = "live",
    tools: str = "",
    repeat: Count = 2,
    judges: str = "none",
    scorers: str = "",
    concurrency: Count = 20,
    budget_tokens: Size | None = None,
    budget_cost: Amount | None = None,
    no_cache: bool = False,
    no_preflight: bool = False,
    run_name: str = "",
) -> ExitCode:
    """Replay with two models and say what would change.

    A migration whose runs exist already under --run-name is taken up where it stopped, with the
    same choices. Exits 0 when every case has its outputs and scores, 3 when not.
    """
    from datetime import UTC, datetime

    from ancrage.compare.results import find_group
    from ancrage.config import load
    from ancrage.replay import load_assistant
    from ancrage.replay.migration import migration
    from ancrage.replay.migration_report import render, tables
    from ancrage.replay.session import find_replays, label, prepare, take_up
    from ancrage.report.terminal import console
    from ancrage.runs import list_runs
    from ancrage.snapshot import open_snapshot

    if label(models) == label(against):
        raise UsageError("migrate takes two different models or tiers")
    config = load()
    assistant = load_assistant(config)
    data = open_snapshot(snapshot or _newest())
    budget = _budget(budget_tokens, budget_cost)
    base = run_name or f"{datetime.now(UTC):%Y%m%d-%H%M%S}-migration"
    known = {folder.run.group for folder in list_runs()}
    everything: list[RunFolder] = []
    groups = [f"{base}-{label(model)}" for model in (models, against)]
    sides: list[tuple[Session, list[RunFolder]]] = []
    for group, model in zip(groups, (models, against), strict=True):
        session = prepare(
            config,
            data,
            assistant,
            model=model,
            endpoint=endpoint,
            prompt=prompt,
            params=params,
            tools=tools,
        )
        begun = find_replays(group) if group in known else []
        if begun:
            take_up(session, begun, repeat)
        sides.append((session, begun))
    for group, (session, begun) in zip(groups, sides, strict=True):
        everything += _run(
            session,
            begun,
            _client(concurrency, budget, no_cache),
            name=group,
            repeats=repeat,
            judges=judges,
            scorers=scorers,
            concurrency=concurrency,
            mock=None,
            check=not no_preflight,
        )
    found = migration(*(find_group(group) for group in groups))
    for folder in everything:
        _write_page(folder, tuple(tables(found)))
    console().print(render(found))
    console().print(f"\nHTML report: {everything[-1].path / 'report.html'}")
    again = called(f"migrate {models} {against} --run-name {base}")
    return _conclude(everything, f"{again} and the same other choices")


@command(help={})
def preflight() -> ExitCode:
    """Check that endpoints take their tier's parameters.

    Makes one tiny call for each tier.

    Exits 2 when one refuses.
    """
    import asyncio

    from rich.table import Table

    from ancrage.config import load
    from ancrage.llm import LLM, read_tiers
    from ancrage.llm.preflight import preflight as ask
    from ancrage.report.terminal import console

    async def check() -> list[Any]:
        async with LLM.configured() as llm:
            if not llm.tiers:
                raise UsageError("no tier in the configuration: add [tiers.NAME] to evals.toml")
            return await ask(llm, llm.tiers.values(), table=None)

    table = Table("Tier", "Model", "Endpoint", "Parameters", "Answer")
    checks = asyncio.run(check())
    for name, each in zip(read_tiers(load()), checks, strict=True):
        parameters = ", ".join(f"{key} {value}" for key, value in each.parameters.items())
        table.add_row(name, each.model, each.endpoint, parameters, each.words or "accepted")
    console().print(table)
    return ExitCode.OK if all(each.accepted for each in checks) else ExitCode.WRONG_USE


def _newest() -> str:
    from pathlib import Path

    found = [path.parent for path in Path("snapshots").glob("*/manifest.json")]
    if not found:
        raise UsageError(f"no snapshot in snapshots/; take one with: {called('snapshot')}")
    return str(max(found, key=lambda path: (path / "manifest.json").stat().st_mtime))


tasks = (cases, replay, migrate, preflight)
