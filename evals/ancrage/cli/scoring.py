"""What the commands share that score answers: their options, and what is said at the end."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from ancrage.cli.shell import Amount, Count, Size
from ancrage.errors import ExitCode, IncompleteError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ancrage.evaluator import Evaluator
    from ancrage.llm import Budget, Models
    from ancrage.runs import RunFolder, RunView
    from ancrage.runs.record import ScoringFolder
    from ancrage.snapshot import Snapshot


@dataclass(frozen=True)
class Calls:
    """Options of every command that can call a model."""

    dry_run: Annotated[
        bool, "Say how many calls it would make, with an estimate of tokens and cost, and stop."
    ] = False
    budget_tokens: Annotated[
        Size | None, "Stop before this many tokens are spent; 0 spends none (default: no bound)."
    ] = None
    budget_cost: Annotated[
        Amount | None,
        "Stop before this much money is spent, by [prices]; 0 spends none (default: no bound).",
    ] = None
    no_cache: Annotated[
        bool, "Call the model also where its answer to the very same call is on disk."
    ] = False

    def budget(self) -> "Budget":
        """What may be spent, counted from now on."""
        from ancrage.llm import Budget

        return Budget(tokens=self.budget_tokens, cost=self.budget_cost)

    def models(self, concurrency: int) -> "Models":
        """The door to language models, with that budget and that cache."""
        from ancrage.llm import CACHE, Models

        cache = None if self.no_cache else CACHE
        return Models(concurrency=concurrency, budget=self.budget(), cache=cache)


@dataclass(frozen=True)
class Scoring:
    """Which evaluators score besides the code checks."""

    judges: Annotated[
        str,
        "LLM judges to add to the code checks: none, three (each focused), one (a single judge "
        "with the modes of all), or names with commas between (default: none, which is free and "
        "needs no network).",
    ] = "none"
    judge_repeat: Annotated[
        Count, "How many times each answer is judged, to measure the judges' own noise."
    ] = 1
    scorers: Annotated[
        str,
        "Scorers to add, with commas between: abstention, support, lexical, verify "
        "(default: none). See [verify].",
    ] = ""

    def evaluators(self, calls: Calls, concurrency: int) -> "list[Evaluator]":
        """Code checks, judges and scorers, in this order.

        Raises:
            UsageError: a name is unknown, or what it needs is not configured.
        """
        from ancrage.evaluators import select

        asks = self.judges != "none" or self.scorers
        models = calls.models(concurrency) if asks else None
        return select(self.judges, self.scorers, models=models, judge_repeat=self.judge_repeat)

    def words(self) -> str:
        """The options as they are typed again."""
        judges = f" --judges {self.judges}" if self.judges != "none" else ""
        return judges + (f" --scorers {self.scorers}" if self.scorers else "")


def require_models(evaluators: "Sequence[Evaluator]", calls: Calls) -> None:
    """Say at once where judges or scorers would call a server that is not there.

    Raises:
        IncompleteError: no connection, and no answer on disk that could take a call's place.
    """
    from ancrage.llm import CACHE
    from ancrage.llm.estimate import Caller

    callers = [evaluator for evaluator in evaluators if isinstance(evaluator, Caller)]
    if not callers:
        return
    from ancrage.llm.preflight import require_reachable
    from ancrage.report.terminal import console

    try:
        require_reachable(tier for caller in callers for tier in caller.tiers.values())
    except IncompleteError as error:
        if calls.no_cache or not CACHE.exists():
            raise IncompleteError(
                f"{error}; start the server, or leave out --judges and --scorers"
            ) from None
        words = f"{error}: judging goes on with the answers on disk alone"
        console().print(words, style="bold red")


def print_estimate(
    data: "Snapshot", evaluators: "Sequence[Evaluator]", folder: "RunFolder | None" = None
) -> ExitCode:
    """Print what evaluating a run's outputs (or a snapshot's answers) would take."""
    import asyncio
    from collections.abc import AsyncIterator

    from ancrage.config import load
    from ancrage.evaluator import Subject
    from ancrage.judges.terminal import estimates
    from ancrage.llm import read_prices
    from ancrage.llm.estimate import Caller, estimate
    from ancrage.report.terminal import console, show
    from ancrage.runs import recorded
    from ancrage.studies import Studies

    callers = [each for each in evaluators if isinstance(each, Caller)]
    sources = Studies(data)

    async def subjects() -> AsyncIterator[Subject]:
        if folder:
            for output in folder.outputs():
                yield sources.subject(data.case(output.case_id), output)
            return
        for case in data.cases():
            yield sources.subject(case, await recorded(case))

    out = console()
    prices = read_prices(load())
    found = asyncio.run(estimate(callers, subjects(), prices))
    show(estimates(found, prices.currency), out)
    return ExitCode.OK


def print_accounts(folder: "RunFolder") -> ExitCode:
    """Print what judges and the verification of claims did in a run's newest scoring.

    INCOMPLETE when a judge fell short of [judges] min_coverage.
    """
    scorings = folder.scorings()
    evaluators = scorings[-1].scoring.evaluators if scorings else ()
    if any(info.name == "verify" for info in evaluators):
        _print_claims(scorings[-1])
    if any("judge" in info.details for info in evaluators):
        return _print_judges(folder, scorings[-1])
    return ExitCode.OK


def _print_claims(scoring: "ScoringFolder") -> None:
    from ancrage.report.terminal import console, show
    from ancrage.verify.account import account_of_claims

    if words := account_of_claims(scoring):
        show(words, console())


def _print_judges(folder: "RunFolder", scoring: "ScoringFolder") -> ExitCode:
    from ancrage.config import load
    from ancrage.judges.account import accounts
    from ancrage.judges.select import Settings
    from ancrage.judges.terminal import accounted
    from ancrage.report.terminal import console, show

    found = accounts(folder, scoring)
    minimum = load().table("judges", Settings).min_coverage
    if words := accounted(found, minimum):
        show(words, console())
    short = any(each.below(minimum) for each in found)
    return ExitCode.INCOMPLETE if short else ExitCode.OK


def shortfalls_of(view: "RunView") -> list[str]:
    """Evaluators that failed, or scored fewer answers than [checks] min_coverage asks."""
    from ancrage.checks import ChecksConfig
    from ancrage.config import load

    return view.shortfalls(load().table("checks", ChecksConfig).min_coverage)


def conclude(folder: "RunFolder") -> ExitCode:
    """Print a run's newest scoring, and what is missing from it."""
    from rich.text import Text

    from ancrage.cli.reporting import next_step, print_run
    from ancrage.report.terminal import console, show

    found = print_run(folder)
    judged = print_accounts(folder)
    shortfalls = shortfalls_of(found.view)
    if idle := found.view.not_run:
        text = f"Not run, since a file of questions has no study: {', '.join(idle)}."
        show(Text(text), console())
    for said in shortfalls:
        show(Text(f"Incomplete: {said}.", "bold yellow"), console())
    console().print(f"\n{next_step(found)}", soft_wrap=True)
    return ExitCode.INCOMPLETE if found.incomplete or shortfalls else judged
