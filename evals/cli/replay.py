"""Ask the recorded questions again: ``cases``, ``replay``, ``migrate`` and ``preflight``."""

from typing import TYPE_CHECKING, Any

from invoke.context import Context

from evals.cli.shell import Number, Whole, command
from evals.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from evals.llm import LLM
    from evals.replay.session import Session
    from evals.runs import RunFolder

_CACHE = ".ancrage/answers.sqlite"


@command(
    help={
        "snapshot": "Folder of the snapshot whose cases to regenerate.",
        "out": "Folder to write (default: the snapshot's name with -cases).",
    }
)
def cases(context: Context, snapshot: str, out: str = "") -> ExitCode:
    """Render each case's system prompt from today's code; the rest stays frozen. Calls no model.

    Exits 3 when the prompt of a case could not be rendered; that case is set aside.
    """
    from pathlib import Path

    from evals.config import load
    from evals.replay import load_assistant, regenerate
    from evals.report.terminal import console
    from evals.snapshot import open_snapshot

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
    "judges": "LLM judges to add to the code checks (default: none).",
    "concurrency": "Calls under way at once (default: 20).",
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
        "repeat": "How many times each case is replayed, each its own run (default: 1).",
        "mock": "JSON file of known answers to use instead of a model.",
        "resume": "Continue this replay instead of starting one: its name, a run, or 'latest'.",
    }
)
def replay(
    context: Context,
    snapshot: str = "",
    model: str = "",
    endpoint: str = "",
    params: str = "production",
    prompt: str = "live",
    tools: str = "",
    repeat: int = Whole(1),
    judges: str = "none",
    concurrency: int = Whole(20),
    budget_tokens: int = Whole(0),
    budget_cost: float = Number(0),
    no_cache: bool = False,
    no_preflight: bool = False,
    mock: str = "",
    run_name: str = "",
    resume: str = "",
) -> ExitCode:
    """Put a snapshot's questions to the assistant again, tools frozen, and check its answers.

    Exits 0 when every case has an output and its scores, 3 when the replay is incomplete.
    """
    from pathlib import Path

    from evals.config import load
    from evals.replay import load_assistant
    from evals.replay.mock import read_mock
    from evals.replay.session import find_replays, mock_of, prepare, start
    from evals.replay.session import resume as take_up
    from evals.snapshot import open_snapshot

    config = load()
    assistant = load_assistant(config)
    if resume:
        if snapshot or model or endpoint or mock or run_name or tools:
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
    return _run(
        session,
        lambda: folders or start(session, name=run_name, repeats=repeat, mock=answers),
        _client(concurrency, budget_tokens, budget_cost, no_cache),
        judges=judges,
        concurrency=concurrency,
        mock=answers,
        check=not (no_preflight or answers),
    )


def _client(concurrency: int, budget_tokens: int, budget_cost: float, no_cache: bool) -> "LLM":
    from pathlib import Path

    from evals.llm import LLM, Budget, Cache

    return LLM.configured(
        concurrency=concurrency,
        cache=None if no_cache else Cache(Path(_CACHE)),
        budget=Budget(tokens=budget_tokens or None, cost=budget_cost or None),
    )


def _run(
    session: "Session",
    begin: "Callable[[], list[RunFolder]]",
    llm: "LLM",
    *,
    judges: str,
    concurrency: int,
    mock: "Path | None",
    check: bool,
) -> ExitCode:
    import asyncio

    from evals.evaluators import select
    from evals.llm.preflight import preflight as ask
    from evals.llm.preflight import refuse
    from evals.replay.session import carry_out
    from evals.replay.summary import lines, world
    from evals.report.terminal import console, print_run
    from evals.runs.progress import track

    evaluators = select(judges)

    async def work() -> "list[RunFolder]":
        async with llm:
            if check:
                refuse(await ask(llm, session.tiers, tools=session.assistant.tools))
            folders = begin()
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
            return folders

    folders = asyncio.run(work())
    out = console()
    for folder in folders:
        print_run(folder)
        run = folder.run
        for subject, words, loud in lines(run, world(folder.outputs())):
            out.print(f"{subject}: {words}", style="bold yellow" if loud else None)
    complete = all(folder.run.state == "complete" for folder in folders)
    if not complete:
        name = folders[0].run.group or folders[0].path.name
        out.print(f"Incomplete; go on with: invoke replay --resume {name}", style="bold red")
    return ExitCode.OK if complete else ExitCode.INCOMPLETE


@command(help={})
def preflight(context: Context) -> ExitCode:
    """Ask each tier's endpoint, with one tiny call, whether it takes the tier's parameters.

    Exits 2 when one refuses.
    """
    import asyncio

    from rich.table import Table

    from evals.config import load
    from evals.llm import LLM, read_tiers
    from evals.llm.preflight import preflight as ask
    from evals.report.terminal import console

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
        raise UsageError("no snapshot in snapshots/; take one with: invoke snapshot")
    return str(max(found, key=lambda path: (path / "manifest.json").stat().st_mtime))


tasks = (cases, replay, preflight)
