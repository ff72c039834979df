"""Scoring a file of answers: JSON lines in, one result a line out, a summary on the terminal."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import ValidationError
from rich.console import Console
from rich.table import Table

from ancrage.domain import Frozen, JsonValue
from ancrage.errors import AncrageError, ExitCode, UsageError, describe
from ancrage.hallucination.context import make_run, recorded_context
from ancrage.hallucination.extract import RULES_ALONE
from ancrage.hallucination.model import HallucinationResult, State, Verdict
from ancrage.hallucination.scorer import HallucinationScorer
from ancrage.hallucination.settings import HallucinationSettings, scorer_of
from ancrage.llm import Models
from ancrage.report.terminal import console, show
from ancrage.report.text import visible
from ancrage.runs.journal import Journal, read

_WORST = 5
"""Answers whose reasons are printed."""


class Line(Frozen):
    """One line of the file that ``invoke hallucination`` reads."""

    id: str | None = None
    question: str = ""
    answer: str | None
    context: str | tuple[str, ...] = ()


@dataclass
class _Tally:
    """What a file came to; memory does not grow with it."""

    faults: list[str] = field(default_factory=list)
    states: Counter[str] = field(default_factory=Counter)
    verdicts: Counter[str] = field(default_factory=Counter)
    deciders: Counter[str] = field(default_factory=Counter)
    disagreements: int = 0
    total: float = 0.0
    best: float = 0.0
    worst: float = 0.0
    shown: list[tuple[float, str, str]] = field(default_factory=list)

    def add(self, result: HallucinationResult) -> None:
        self.states[result.state] += 1
        self.verdicts.update(each.verdict.value for each in result.verdicts)
        self.deciders.update(each.decided_by for each in result.verdicts if each.decided_by)
        self.disagreements += sum(each.disagreement for each in result.verdicts)
        self.total += result.score or 0.0
        self.best += result.best
        self.worst += result.worst
        if result.worst > 0:
            self.shown.append((result.worst, result.run_id, result.reason))
            self.shown = sorted(self.shown, reverse=True)[:_WORST]


def score_file(
    file: str,
    out: str,
    settings: HallucinationSettings,
    models: Models,
    *,
    resume: bool = False,
    concurrency: int = 8,
) -> ExitCode:
    """Score each answer of ``file`` into ``out``; see ``Line`` for what a line holds.

    Returns ``INCOMPLETE`` when a line could not be read or a claim has no verdict.

    Raises:
        UsageError: the file or the settings cannot be used, or ``out`` exists and is not to be
            continued, or was made by other versions.
    """
    source = Path(file)
    if not source.is_file():
        raise UsageError(f"{file}: no such file")
    target = Path(out) if out else source.with_suffix(".hallucination.jsonl")
    if target.exists() and not resume:
        raise UsageError(f"{target} exists: give another --out, or --resume")
    scorer = scorer_of(settings, models, recorded_context)
    tally = _Tally()
    done = _done(target, scorer, tally)
    target.parent.mkdir(parents=True, exist_ok=True)
    asyncio.run(_score(scorer, _lines(source, tally.faults), done, target, tally, concurrency))
    _print(tally, target, settings.scale)
    whole = (
        not tally.faults and not tally.states[State.PARTIAL] and not tally.states[State.UNSCORED]
    )
    return ExitCode.OK if whole else ExitCode.INCOMPLETE


def _done(target: Path, scorer: HallucinationScorer, tally: _Tally) -> set[str]:
    found: set[str] = set()
    for result in read(target, HallucinationResult):
        extractor = result.versions["extractor"].removesuffix(RULES_ALONE)
        told = {**result.versions, "extractor": extractor}
        if told != scorer.versions or result.scale != scorer.scale:
            raise UsageError(f"{target} was made by another scorer: give another --out")
        found.add(result.run_id)
        tally.add(result)
    return found


async def _score(
    scorer: HallucinationScorer,
    lines: Iterator[tuple[str, Line]],
    done: set[str],
    target: Path,
    tally: _Tally,
    concurrency: int,
) -> None:
    known: list[BaseException] = []
    with Journal[HallucinationResult](target) as journal:

        async def worker() -> None:
            for name, line in lines:
                if name in done:
                    continue
                texts: JsonValue = (
                    line.context if isinstance(line.context, str) else [*line.context]
                )
                run = make_run(line.question, line.answer, id=name, metadata={"context": texts})
                result = await scorer.score(run)
                journal.append(result)
                tally.add(result)

        try:
            async with asyncio.TaskGroup() as group:
                for _ in range(max(1, concurrency)):
                    group.create_task(worker())
        except* AncrageError as errors:
            known += errors.exceptions
        finally:
            await scorer.aclose()
    if known:
        raise known[0]


def _lines(source: Path, faults: list[str]) -> Iterator[tuple[str, Line]]:
    """The answers with their ids; what cannot be read goes to ``faults``, one line each."""
    seen: set[str] = set()
    with source.open("rb") as file:
        for number, raw in enumerate(file, start=1):
            if not raw.strip(b"\xef\xbb\xbf \t\r\n"):
                continue
            try:
                line = Line.model_validate_json(raw.removeprefix(b"\xef\xbb\xbf"))
            except ValidationError as error:
                faults.append(f"{source}:{number}: {describe(error)}")
                continue
            name = line.id or f"line-{number}"
            if name in seen:
                faults.append(f"{source}:{number}: id: {name!r} occurs twice")
                continue
            seen.add(name)
            yield name, line


def _print(tally: _Tally, target: Path, scale: float) -> None:
    out: Console = console()
    table = Table("Answers", "", box=None)
    count = tally.states.total()
    table.add_row("scored", str(tally.states[State.SCORED]))
    for state in (State.NO_CLAIMS, State.EMPTY, State.PARTIAL, State.UNSCORED):
        table.add_row(state.replace("_", " "), str(tally.states[state]))
    table.add_row("all", str(count))
    if tally.faults:
        table.add_row("unreadable lines", str(len(tally.faults)))
    table.add_row("", "")
    for verdict in Verdict:
        table.add_row(f"claims {verdict}", str(tally.verdicts[verdict]))
    table.add_row("claims", str(tally.verdicts.total()))
    if tally.disagreements:
        table.add_row("verifiers disagree on", str(tally.disagreements))
    show(table, out)
    decided = ", ".join(f"{name} {n}" for name, n in tally.deciders.most_common())
    out.print(f"\nDecided by: {decided or 'nobody'}")
    known = count - tally.states[State.PARTIAL] - tally.states[State.UNSCORED]
    if known:
        out.print(
            f"Mean score {tally.total / known:.3f} of {scale:g}, over {known} of {count} answers"
        )
    if known < count:
        low, high = tally.best / count, tally.worst / count
        out.print(f"Over all {count}, the mean lies between {low:.3f} and {high:.3f}")
    for _, name, reason in tally.shown:
        out.print(f"\n{visible(name)}: {visible(reason)}")
    for fault in tally.faults:
        out.print(visible(fault), style="red")
    out.print(f"\nResults in {target}")
