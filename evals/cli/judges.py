"""LLM judges: ``judge``, and what ``experiment`` shares with it."""

from typing import TYPE_CHECKING

from invoke.context import Context

from evals.cli.shell import Number, Whole, command
from evals.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from evals.evaluator import Evaluator
    from evals.judges import Models
    from evals.runs import RunFolder
    from evals.snapshot import Snapshot

OPTIONS = {
    "judges": "LLM judges to add to the code checks: none, three (each focused), one (a single "
    "judge with the modes of all), or names with commas between (default: none, which is free "
    "and needs no network).",
    "judge-repeat": "How many times each answer is judged, to measure the judges' own noise "
    "(default: 1).",
    "dry-run": "Say how many calls the judges would make, with an estimate of tokens and cost, "
    "and stop (default: no).",
    "budget-tokens": "Stop judging before this many tokens are spent (default: no bound).",
    "budget-cost": "Stop judging before this much money is spent, by [prices] (default: no bound).",
    "no-cache": "Call the model also where an answer to the very same call is on disk "
    "(default: no).",
}
"""Help of the options that every command with judges takes."""


@command(
    help={
        **OPTIONS,
        "run": "Run whose outputs to judge: its id, its beginning, its folder, or 'latest'.",
        "judges": "Judges to run: three, one, or names with commas between (default: three).",
        "concurrency": "Answers judged at once (default: 8).",
    }
)
def judge(
    context: Context,
    run: str,
    judges: str = "three",
    judge_repeat: int = Whole(1),
    dry_run: bool = False,
    concurrency: int = Whole(8),
    budget_tokens: int = Whole(0),
    budget_cost: float = Number(0),
    no_cache: bool = False,
) -> ExitCode:
    """Judge a run's stored outputs, beside its older scorings; nothing is generated anew.

    Exits 3 when a judge gave fewer of its verdicts than [judges] min_coverage asks.
    """
    import asyncio

    from evals.judges import load_judges
    from evals.report.terminal import print_run
    from evals.runs import find_run, score_run
    from evals.runs.progress import track
    from evals.source import Sources

    if judges == "none":
        raise UsageError("--judges none judges nothing: give three, one, or names")
    folder = find_run(run)
    data = folder.snapshot()
    models = models_for(concurrency, budget_tokens, budget_cost, no_cache)
    chosen = load_judges(judges, models, repeats=judge_repeat)
    if dry_run:
        return print_estimate(data, chosen, folder)
    with track("Judging", data.manifest.counts.kept) as advance:
        asyncio.run(
            score_run(
                folder,
                chosen,
                Sources(data),
                concurrency=concurrency,
                on_item=lambda *_: advance(),
            )
        )
    print_run(folder, html=folder.path / "report.html")
    return print_accounts(folder)


def models_for(
    concurrency: int, budget_tokens: int, budget_cost: float, no_cache: bool
) -> "Models":
    """The door to language models that the options ask for."""
    from evals.judges import Models
    from evals.judges.models import CACHE
    from evals.llm import Budget

    return Models(
        concurrency=concurrency,
        budget=Budget(tokens=budget_tokens or None, cost=budget_cost or None),
        cache=None if no_cache else CACHE,
    )


def print_estimate(
    data: "Snapshot", evaluators: "Sequence[Evaluator]", folder: "RunFolder | None" = None
) -> ExitCode:
    """Print what judging a run's outputs (or a snapshot's answers) would take."""
    import asyncio

    from evals.evaluator import Subject
    from evals.judges import Judge
    from evals.judges.estimate import estimate
    from evals.judges.terminal import estimates
    from evals.report.terminal import console, show
    from evals.runs import recorded
    from evals.source import Sources

    judges = [each for each in evaluators if isinstance(each, Judge)]
    sources = Sources(data)

    async def subjects() -> list[Subject]:
        if folder:
            return [sources.subject(data.case(o.case_id), o) for o in folder.outputs()]
        return [sources.subject(case, await recorded(case)) for case in data.cases()]

    out = console()
    prices = judges[0].models.prices if judges else None
    found = estimate(judges, asyncio.run(subjects()))
    show(estimates(found, prices.currency if prices else ""), out)
    return ExitCode.OK


def print_accounts(folder: "RunFolder") -> ExitCode:
    """Print what the judges of a run's newest scoring did; INCOMPLETE when one fell short."""
    from evals.config import load
    from evals.judges.account import accounts
    from evals.judges.select import Settings
    from evals.judges.terminal import accounted
    from evals.llm import read_prices
    from evals.report.terminal import console, show

    scorings = folder.scorings()
    found = accounts(folder, scorings[-1]) if scorings else []
    if not found:
        return ExitCode.OK
    config = load()
    minimum = config.table("judges", Settings).min_coverage
    show(accounted(found, minimum, read_prices(config).currency), console())
    short = any(each.below(minimum) for each in found)
    return ExitCode.INCOMPLETE if short else ExitCode.OK


tasks = (judge,)
