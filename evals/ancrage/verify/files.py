"""Verifying a file of answers: JSON lines in, one verification a line out, a summary printed."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from pydantic import AliasChoices, Field

from ancrage.domain import Frozen, JsonValue
from ancrage.errors import ExitCode, UsageError
from ancrage.files import lines, parse_line, read_jsonl
from ancrage.report.terminal import console
from ancrage.report.text import visible
from ancrage.runs.journal import Journal
from ancrage.runs.loop import for_each
from ancrage.verify.account import Tally
from ancrage.verify.context import make_run
from ancrage.verify.llm import RULES_ALONE
from ancrage.verify.result import Verification
from ancrage.verify.scorer import ClaimScorer

_WORST = 5
"""Answers whose reasons are printed."""


class Line(Frozen):
    """One line of the file that ``ancrage verify`` reads."""

    id: str | None = None
    question: str = ""
    answer: str | None
    context: str | tuple[str, ...] = Field(
        default=(), validation_alias=AliasChoices("context", "reference")
    )

    @property
    def digest(self) -> str:
        """SHA-256 of all that is verified."""
        return hashlib.sha256(self.model_dump_json(exclude={"id"}).encode()).hexdigest()


@dataclass
class _Told:
    """What a file came to."""

    tally: Tally = field(default_factory=Tally)
    faults: list[str] = field(default_factory=list)
    corrections: Counter[str] = field(default_factory=Counter)
    disagreements: int = 0
    worst: list[tuple[float, str, str]] = field(default_factory=list)

    def add(self, result: Verification) -> None:
        deciders = [verdict.decided_by for verdict in result.verdicts]
        self.tally.add(result.state, result.counts, result.best, result.worst, deciders)
        self.corrections.update(
            "used" if v.correction.used else "failed" for v in result.verdicts if v.correction
        )
        self.disagreements += sum(verdict.disagreement for verdict in result.verdicts)
        if result.worst > 0:
            self.worst.append((result.worst, result.run_id, result.reason))
            self.worst = sorted(self.worst, reverse=True)[:_WORST]


def verify_file(
    file: str,
    out: str,
    load: Callable[[], ClaimScorer],
    *,
    resume: bool = False,
    concurrency: int = 8,
) -> ExitCode:
    """Verify each answer of ``file`` into ``out``; see ``Line`` for what a line holds.

    ``load`` makes the scorer, its models with it: only once both files are known to be usable.
    Returns ``INCOMPLETE`` when a line could not be read or a claim has no verdict.

    Raises:
        UsageError: the file cannot be used; or ``out`` exists and is not to be resumed, is no file
            of verifications, or was made of other answers or by another scorer. It is left as it
            is.
    """
    source = Path(file)
    target = Path(out) if out else source.with_suffix(".verified.jsonl")
    if not source.is_file():
        raise UsageError(f"{file}: no such file")
    if target.exists() and not resume:
        raise UsageError(f"{target} exists: give another --out, or --resume")
    told = _Told()
    done = _done(source, target)
    scorer = load()
    for result in _results(target):
        _refuse_another_scorer(result, scorer, target)
        told.add(result)
    target.parent.mkdir(parents=True, exist_ok=True)
    answers = ((name, line) for name, line in _answers(source, told.faults) if name not in done)
    asyncio.run(_verify(scorer, answers, target, told, concurrency))
    _print(told, target, scorer.scale)
    return ExitCode.INCOMPLETE if told.faults or told.tally.left else ExitCode.OK


def _results(target: Path) -> Iterator[Verification]:
    if target.exists():
        for _, result in read_jsonl(target, Verification, complete=True):
            yield result


def _done(source: Path, target: Path) -> set[str]:
    """The ids that ``target`` holds, known to be verifications of the answers of ``source``."""
    if not target.exists():
        return set()
    try:
        found = {result.run_id: result.digest for result in _results(target)}
    except UsageError as error:
        raise UsageError(f"not a file of verifications, left as it is: {error}") from None
    torn = target.read_bytes()[:64] if not found else b""
    if torn and not torn.startswith(b'{"run_id":'[: len(torn)]):
        raise UsageError(f"{target} is not a file of verifications: it is left as it is")
    given = {name: line.digest for name, line in _answers(source, [])}
    for name, digest in found.items():
        if name not in given:
            raise UsageError(f"{target} has {name!r}, which {source} has not: give another --out")
        if given[name] != digest:
            raise UsageError(
                f"{name!r} has changed in {source} since {target} was made: give another --out"
            )
    return set(found)


def _refuse_another_scorer(result: Verification, scorer: ClaimScorer, target: Path) -> None:
    extractor = result.versions["extractor"].removesuffix(RULES_ALONE)
    made_by = {**result.versions, "extractor": extractor}
    for name in sorted(made_by.keys() | scorer.versions.keys()):
        if made_by.get(name) != scorer.versions.get(name):
            raise UsageError(
                f"{target} was made by another scorer ({name} {made_by.get(name, 'not used')}, now "
                f"{scorer.versions.get(name, 'not used')}): give another --out"
            )
    if result.scale != scorer.scale:
        raise UsageError(f"{target} has scale {result.scale:g}: give another --out")


async def _verify(
    scorer: ClaimScorer,
    answers: Iterator[tuple[str, Line]],
    target: Path,
    told: _Told,
    concurrency: int,
) -> None:
    with Journal[Verification](target) as journal:

        async def one(answer: tuple[str, Line]) -> None:
            name, line = answer
            texts: JsonValue = line.context if isinstance(line.context, str) else [*line.context]
            run = make_run(line.question, line.answer, id=name, metadata={"context": texts})
            result = await scorer.score(run)
            journal.append(result.model_copy(update={"digest": line.digest}))
            told.add(result)

        try:
            await for_each(one, answers, concurrency)
        finally:
            await scorer.aclose()


def _answers(source: Path, faults: list[str]) -> Iterator[tuple[str, Line]]:
    """The answers with their ids; what cannot be read goes to ``faults``, one line each."""
    seen: set[str] = set()
    for raw in lines(source):
        try:
            line = parse_line(source, raw, Line)
        except UsageError as error:
            faults.append(str(error))
            continue
        name = line.id or f"line-{raw.number}"
        if name in seen:
            faults.append(f"{source}:{raw.number}: id: {name!r} occurs twice")
            continue
        seen.add(name)
        yield name, line


def _print(told: _Told, target: Path, scale: float) -> None:
    out = console()
    if told.tally.states:
        out.print(told.tally.words(), markup=False)
    out.print(f"The score of an answer of which every claim is hallucinated is {scale:g}.")
    if told.disagreements:
        out.print(f"Verifiers disagree on {told.disagreements} claims.")
    for kind, number in sorted(told.corrections.items()):
        out.print(f"Corrections {kind}: {number}.")
    for _, name, reason in told.worst:
        out.print(f"\n{visible(name)}: {visible(reason)}")
    if told.faults:
        out.print(f"\nLines that could not be read: {len(told.faults)}.", style="red")
    for fault in told.faults:
        out.print(visible(fault), style="red")
    out.print(f"\nResults in {target}")
